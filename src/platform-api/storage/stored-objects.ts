import { hash } from "node:crypto";
import { fail, unwrap } from "../../http/request.ts";
import type { Branch } from "../../platform/model/branch.ts";
import { objectKey } from "../../platform/model/service-record.ts";
import type { SettingsRecordOf } from "../../platform/model/settings-record.ts";
import {
  findEnabledService,
  findServiceRecord,
} from "../../platform/rules/branch/services/decide-service-record.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { StoredBytes } from "../http/stored-bytes.ts";

/** Ends the request with an error if there is none. */
export function requireBucket(
  { world }: Transaction,
  branch: Branch,
  bucket: string,
): SettingsRecordOf<"bucket"> {
  const found = unwrap(findEnabledService(world, branch, "bucket", bucket));
  if (found === undefined) throw new Error("a bucket has no defaults");
  return found;
}

/** The bytes of an object. Ends the request with an error if there is no such object. */
export function readObject(
  transaction: Transaction,
  branch: Branch,
  bucket: string,
  name: string,
): StoredBytes {
  requireBucket(transaction, branch, bucket);
  const object = findServiceRecord(transaction.world, branch.id, "bucketObject", objectKey(bucket, name));
  const { secretId = "", settings } = object?.fields ?? {};
  const stored = transaction.readSecret(secretId);
  if (settings === undefined || stored === undefined)
    return fail({
      status: 404,
      code: "SERVICE_RECORD_NOT_FOUND",
      message: `object "${name}" not found in bucket "${bucket}"`,
    });
  return new StoredBytes(Buffer.from(stored, "base64"), settings.etag);
}

/** Creates the object or replaces it. Ends the request with an error if its bucket does not exist. */
export function writeObject(
  transaction: Transaction,
  branch: Branch,
  {
    bucket,
    name,
    contentType,
  }: { readonly bucket: string; readonly name: string; readonly contentType?: string | undefined },
  bytes: Uint8Array,
): { readonly etag: string } {
  const accountId = transaction.world.projects.get(branch.projectId)?.accountId ?? "";
  const etag = hash("md5", bytes);
  const key = objectKey(bucket, name);
  unwrap(
    transaction.execute({
      type: "UpdateServiceRecord",
      accountId,
      projectId: branch.projectId,
      branchId: branch.id,
      kind: "bucketObject",
      key,
      settings: {
        size: bytes.byteLength,
        etag,
        ...(contentType === undefined ? {} : { content_type: contentType }),
      },
      replaces: true,
      secret: "new",
    }),
  );
  const secretId = findServiceRecord(transaction.world, branch.id, "bucketObject", key)?.fields.secretId;
  if (secretId !== undefined) transaction.storeSecret(secretId, Buffer.from(bytes).toString("base64"));
  return { etag };
}
