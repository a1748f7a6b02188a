import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { timestamp } from "../../http/timestamps.ts";
import { SECOND } from "../../kernel/time.ts";
import type { Branch } from "../../platform/model/branch.ts";
import { objectKey, objectName } from "../../platform/model/service-record.ts";
import type { SettingsRecordOf } from "../../platform/model/settings-record.ts";
import { findServiceRecord, servicesOf } from "../../platform/rules/branch/services/decide-service-record.ts";
import type { World } from "../../platform/world/world.ts";
import { newServiceSecret } from "../../worlds/secrets.ts";
import { type BranchRequest, branchParams, branchTarget, requestedBranch } from "../http/branch-request.ts";
import { cursorParameter, encodeCursor, limitParameter } from "../http/paging.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { presignedUrl } from "./presigned-url.ts";
import { readObject, requireBucket } from "./stored-objects.ts";

const LIST = "objects";
const MAX_PAGE = 1_000; // S
const MAX_KEY = 1_024; // S
const DEFAULT_EXPIRY_S = 900; // S
const MAX_EXPIRY_S = 604_800; // S

const BUCKET = "/projects/:project_id/branches/:branch_id/buckets/:bucket_name";
const bucketParams = branchParams.extend({ bucket_name: z.string() });
const objectParams = bucketParams.extend({ object_key: z.string().min(1).max(MAX_KEY) });
const PREFIX_RULE = "must end with / and contain no control characters";

/** S: the objects of a bucket. They are uploaded and downloaded by presigned URLs of this server. */
export function bucketObjectRoutes(): readonly ApiRoute[] {
  return [
    listProjectBranchBucketObjects,
    deleteProjectBranchBucketObject,
    getProjectBranchBucketObject,
    deleteProjectBranchBucketObjectsByPrefix,
    presignProjectBranchBucketObject,
  ];
}

const listProjectBranchBucketObjects = route(
  `GET ${BUCKET}/objects`,
  {
    params: bucketParams,
    query: z.object({
      prefix: z.string().default(""),
      delimiter: z.string().min(1).optional(),
      cursor: cursorParameter(LIST, z.tuple([z.string()])),
      limit: limitParameter(MAX_PAGE, MAX_PAGE),
    }),
  },
  (request) => {
    const { prefix, delimiter, cursor, limit } = request.query;
    const { bucket_name } = request.params;
    const branch = requestedBranch(request);
    requireBucket(request.transaction, branch, bucket_name);
    const items = new Map<string, Stored | undefined>();
    for (const object of objectsOf(request.transaction.world, branch, bucket_name)) {
      const name = objectName(object.fields.key);
      if (!name.startsWith(prefix)) continue;
      const end = delimiter === undefined ? -1 : name.indexOf(delimiter, prefix.length);
      // A folder ends with the delimiter.
      if (end < 0) items.set(name, object);
      else items.set(name.slice(0, end + (delimiter?.length ?? 0)), undefined);
    }
    const rest = [...items].filter(([name]) => name > (cursor?.[0] ?? ""));
    const page = rest.slice(0, limit);
    const isTruncated = page.length < rest.length;
    return {
      folders: page.flatMap(([name, object]) => (object === undefined ? [name] : [])),
      objects: page.flatMap(([, object]) => (object === undefined ? [] : [renderObject(object)])),
      prefix,
      next_cursor: isTruncated ? encodeCursor(LIST, [page.at(-1)?.[0] ?? ""]) : "",
      is_truncated: isTruncated,
    } satisfies public_.BucketObjectsListResponse;
  },
);

const deleteProjectBranchBucketObject = route(
  `DELETE ${BUCKET}/objects/:object_key`,
  { status: 204, params: objectParams },
  (request) => {
    const { bucket_name, object_key } = request.params;
    requireBucket(request.transaction, requestedBranch(request), bucket_name);
    deleteObjects(request, [objectKey(bucket_name, object_key)]);
    return undefined;
  },
);

const getProjectBranchBucketObject = route(
  `GET ${BUCKET}/objects/:object_key/download`,
  { params: objectParams },
  (request) => {
    const { bucket_name, object_key } = request.params;
    return readObject(request.transaction, requestedBranch(request), bucket_name, object_key);
  },
);

const deleteProjectBranchBucketObjectsByPrefix = route(
  `DELETE ${BUCKET}/objects-by-prefix`,
  {
    params: bucketParams,
    query: z.object({
      prefix: z
        .string()
        .refine((text) => text.endsWith("/") && !/\p{Cc}/u.test(text), PREFIX_RULE)
        .refine((text) => Buffer.byteLength(text) <= MAX_KEY, `must be at most ${MAX_KEY} bytes`),
    }),
  },
  (request) => {
    const { bucket_name } = request.params;
    const branch = requestedBranch(request);
    requireBucket(request.transaction, branch, bucket_name);
    const keys = objectsOf(request.transaction.world, branch, bucket_name)
      // S: inherited objects are out of scope.
      .filter(({ fields }) => fields.isInherited !== true)
      .map(({ fields }) => fields.key)
      .filter((key) => objectName(key).startsWith(request.query.prefix));
    deleteObjects(request, keys);
    return { deleted: keys.length } satisfies public_.BucketObjectsDeletePrefixResponse;
  },
);

const presignProjectBranchBucketObject = route(
  `POST ${BUCKET}/objects/:object_key/presign`,
  {
    params: objectParams,
    // S: a download needs read access only.
    permissionIn: ({ operation }) => (operation === "download" ? "read" : "write"),
    body: z.object({
      operation: z.enum(["upload", "download"]),
      content_type: z.string().min(1).optional(),
      expires_in_seconds: z.int().min(1).max(MAX_EXPIRY_S).default(DEFAULT_EXPIRY_S),
    }),
  },
  (request) => {
    const { operation, content_type, expires_in_seconds } = request.body;
    const { bucket_name, object_key } = request.params;
    const branch = requestedBranch(request);
    const expiresAt = request.transaction.now + expires_in_seconds * SECOND;
    const method = operation === "upload" ? "PUT" : "GET";
    const contentType = operation === "upload" ? content_type : undefined;
    const transfer = {
      method,
      branchId: branch.id,
      bucket: bucket_name,
      name: object_key,
      contentType,
      expiresAt,
    } as const;
    return {
      url: presignedUrl(request.worldUrl, signingSecret(request, branch, bucket_name), transfer),
      method,
      headers: contentType === undefined ? {} : { "Content-Type": contentType },
      expires_at: timestamp(expiresAt),
    } satisfies public_.PresignResponse;
  },
);

type Stored = SettingsRecordOf<"bucketObject">;

/** In the order of their names. */
function objectsOf(world: World, branch: Branch, bucket: string): Stored[] {
  const prefix = objectKey(bucket, "");
  return servicesOf(world, branch.id)
    .filter(
      (record): record is Stored => record.kind === "bucketObject" && record.fields.key.startsWith(prefix),
    )
    .sort((one, other) => (one.fields.key < other.fields.key ? -1 : 1));
}

function deleteObjects(request: BranchRequest, keys: readonly string[]): void {
  request.execute({ type: "DeleteServiceRecords", ...branchTarget(request), kind: "bucketObject", keys });
}

/** The secret that signs the URLs of a bucket. The first URL creates it. */
function signingSecret(request: BranchRequest, branch: Branch, bucket: string): string {
  const { transaction } = request;
  const { secretId } = requireBucket(transaction, branch, bucket).fields;
  const stored = secretId === undefined ? undefined : transaction.readSecret(secretId);
  if (stored !== undefined) return stored;
  const target = { ...branchTarget(request), kind: "bucket" as const, key: bucket };
  request.execute({ type: "UpdateServiceRecord", ...target, settings: {}, replaces: false, secret: "new" });
  const created = findServiceRecord(transaction.world, branch.id, "bucket", bucket)?.fields.secretId;
  if (created === undefined) throw new Error("a bucket that was given a secret has one");
  const secret = newServiceSecret("");
  transaction.storeSecret(created, secret);
  return secret;
}

function renderObject({ fields, updatedAt }: Stored) {
  const { size, etag } = fields.settings;
  return {
    key: objectName(fields.key),
    size,
    last_modified: timestamp(updatedAt),
    etag,
  } satisfies public_.BucketObject;
}
