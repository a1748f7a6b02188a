import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { text } from "../../http/fields.ts";
import { timestamp } from "../../http/timestamps.ts";
import { recorded, type Shown } from "./recorded-operation.ts";
import { dataApiUrl } from "./service-urls.ts";

const MAX_BUCKET_NAME = 255; // S

const flag = z.boolean().exactOptional();
const dataApiSettings = z.object({
  db_aggregates_enabled: flag,
  db_anon_role: z.string().exactOptional(),
  db_extra_search_path: z.string().exactOptional(),
  db_max_rows: z.int().exactOptional(),
  db_schemas: z.array(z.string()).exactOptional(),
  jwt_role_claim_key: z.string().exactOptional(),
  jwt_cache_max_lifetime: z.int().exactOptional(),
  openapi_mode: z.string().exactOptional(),
  server_cors_allowed_origins: z.string().exactOptional(),
  server_timing_enabled: flag,
});
/** S: of a setting that was never set. */
const DEFAULT_DATA_API_SETTINGS = {
  db_aggregates_enabled: true,
  db_anon_role: "anonymous",
  db_schemas: ["public"],
  jwt_role_claim_key: ".role",
  openapi_mode: "disabled",
};

const databaseOf = ({ params }: { readonly params: Readonly<Record<string, string>> }) =>
  params["database_name"] ?? "";
const ofDatabase = {
  kind: "dataApi",
  params: { database_name: z.string() },
  keys: (input: Parameters<typeof databaseOf>[0]) => [databaseOf(input)],
  database: databaseOf,
} as const;

/** S: the Data API and the buckets of a branch. */
export const SERVICE_OPERATIONS = [
  recorded({ ...ofDatabase, route: "GET /data-api/:database_name", does: "read", answer: renderDataApi }),
  recorded({
    ...ofDatabase,
    route: "POST /data-api/:database_name",
    status: 201,
    does: "create",
    body: z
      .object({
        auth_provider: z.enum(["neon_auth", "external"]).exactOptional(),
        jwks_url: z.url().exactOptional(),
        provider_name: z.string().exactOptional(),
        jwt_audience: z.string().exactOptional(),
        add_default_grants: flag,
        skip_auth_schema: flag,
        settings: dataApiSettings.exactOptional(),
      })
      .optional(),
    settings: (body = {}) => body,
    answer: ({ world, branch, record }) =>
      ({ url: dataApiUrl(world, branch, record.fields.key) }) satisfies public_.DataAPICreateResponse,
  }),
  recorded({
    ...ofDatabase,
    route: "PATCH /data-api/:database_name",
    status: 201,
    does: "update",
    body: z.object({ settings: dataApiSettings.exactOptional() }).optional(),
    settings: (body = {}) => body,
    answer: () => ({}),
  }),
  recorded({ ...ofDatabase, route: "DELETE /data-api/:database_name", does: "delete", answer: () => ({}) }),

  recorded({
    route: "GET /buckets",
    kind: "bucket",
    does: "list",
    answer: (buckets) => ({ buckets: buckets.map(renderBucket) }) satisfies public_.BucketsListResponse,
  }),
  recorded({
    route: "POST /buckets",
    status: 201,
    kind: "bucket",
    does: "create",
    body: z.object({
      name: text(MAX_BUCKET_NAME),
      access_level: z.enum(["private", "public_read"]).default("private"),
    }),
    keys: ({ body }) => [body.name],
    settings: ({ access_level }) => ({ access_level }),
    answer: (bucket) => ({ bucket: renderBucket(bucket) }) satisfies public_.BucketResponse,
  }),
  recorded({
    route: "DELETE /buckets/:bucket_name",
    status: 204,
    kind: "bucket",
    does: "delete",
    params: { bucket_name: z.string() },
    keys: ({ params }) => [params["bucket_name"] ?? ""],
  }),
];

function renderDataApi({ world, branch, record, settings }: Shown<"dataApi">) {
  return {
    url: dataApiUrl(world, branch, record.fields.key),
    status: "ready", // D
    settings: { ...DEFAULT_DATA_API_SETTINGS, ...settings.settings },
    // A: databases have no schemas but that of Postgres.
    available_schemas: ["public"],
  } satisfies public_.DataAPIReponse;
}

function renderBucket({ record, settings }: Shown<"bucket">) {
  return {
    name: record.fields.key,
    access_level: settings.access_level as public_.BucketAccessLevel,
    created_at: timestamp(record.createdAt),
  } satisfies public_.Bucket;
}
