import { type Context, Hono } from "hono";
import { readLimitedBytes } from "../../http/body.ts";
import { badRequest } from "../../http/errors.ts";
import {
  errorResponseFrom,
  fail,
  RequestError,
  respondWithError,
  tooLarge,
  type WorldResolver,
} from "../../http/request.ts";
import { MAX } from "../../input-limits/limits.ts";
import type { Branch } from "../../platform/model/branch.ts";
import { findServiceRecord } from "../../platform/rules/branch/services/decide-service-record.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { claimedTransfer, isSigned, TRANSFER_PATH, type Transfer } from "./presigned-url.ts";
import { readObject, writeObject } from "./stored-objects.ts";

/** Uploads and downloads by presigned URLs, which need no key. */
export function transferRoute(worldOf: WorldResolver, onBug: (error: unknown) => void): Hono {
  const app = new Hono();
  const answered = (work: (context: Context) => Promise<Response>) => async (context: Context) => {
    try {
      return await work(context);
    } catch (error) {
      return respondWithError(context, errorResponseFrom(error, onBug));
    }
  };
  app.put(
    TRANSFER_PATH,
    answered(async (context) => {
      const claim = claimOf(context, "PUT");
      const world = worldOf(context);
      // Nothing is read for a URL that allows nothing.
      const check = (transaction: Transaction) => checkClaim(transaction, claim);
      refusedOutside(await world.transact((transaction) => outcome(() => check(transaction))));
      const { contentType } = claim.transfer;
      if (contentType !== undefined && context.req.header("content-type") !== contentType)
        fail(badRequest(`Content-Type: must be "${contentType}", as in the presigned URL`));
      const bytes = await bodyOf(context);
      const { etag } = refusedOutside(
        await world.transact((transaction) =>
          outcome(() =>
            writeObject(
              transaction,
              check(transaction),
              { ...claim.transfer, contentType: contentType ?? context.req.header("content-type") },
              bytes,
            ),
          ),
        ),
      );
      return context.body(null, 200, { ETag: `"${etag}"` });
    }),
  );
  app.get(
    TRANSFER_PATH,
    answered(async (context) => {
      const claim = claimOf(context, "GET");
      const { bytes, headers } = refusedOutside(
        await worldOf(context).transact((transaction) =>
          outcome(() => {
            const branch = checkClaim(transaction, claim);
            return readObject(transaction, branch, claim.transfer.bucket, claim.transfer.name);
          }),
        ),
      );
      return new Response(new Uint8Array(bytes), { headers });
    }),
  );
  return app;
}

type Claim = ReturnType<typeof claimedTransfer>;

function claimOf({ req }: Context, method: Transfer["method"]): Claim {
  return claimedTransfer(req.url, method, [
    req.param("branch_id"),
    req.param("bucket_name"),
    req.param("object_key"),
  ]);
}

/** The branch of a transfer that its URL allows. A bucket without a secret has signed nothing. */
function checkClaim(transaction: Transaction, { transfer, signature }: Claim): Branch {
  const { world, now } = transaction;
  const branch = world.branches.get(transfer.branchId);
  const bucket = branch && findServiceRecord(world, branch.id, "bucket", transfer.bucket);
  const secret = bucket && transaction.readSecret(bucket.fields.secretId ?? "");
  if (branch === undefined || secret === undefined || !isSigned(secret, transfer, signature))
    return fail({
      status: 403,
      code: "FORBIDDEN",
      message: "the signature of the presigned URL is not valid",
    });
  if (now >= transfer.expiresAt)
    return fail({ status: 403, code: "FORBIDDEN", message: "the presigned URL has expired" });
  return branch;
}

async function bodyOf(context: Context): Promise<Uint8Array> {
  const limits = { bytes: MAX.storedObject, smallBytes: MAX.storedObject, admit: async () => true };
  const { bytes } = await readLimitedBytes(context, limits).catch(() =>
    fail(badRequest("the request body ended before it was complete")),
  );
  return bytes ?? fail(tooLarge(MAX.storedObject));
}

/** An error that leaves a transaction would count as a bug, so it is carried out as a value. */
function outcome<T>(work: () => T): { readonly value: T } | { readonly error: RequestError } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof RequestError) return { error };
    throw error;
  }
}

function refusedOutside<T>(result: { readonly value: T } | { readonly error: RequestError }): T {
  if ("error" in result) throw result.error;
  return result.value;
}
