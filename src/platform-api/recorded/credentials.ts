import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { fail } from "../../http/request.ts";
import { timestamp } from "../../http/timestamps.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { newServiceSecret } from "../../worlds/secrets.ts";
import { optionalTimestamp } from "../render/render-common.ts";
import { recorded, type Shown } from "./recorded-operation.ts";

const MAX_SCOPES = 16; // S
const MAX_NAME = 256; // S

const OF_TOKEN = {
  kind: "credential",
  params: {
    token_id: z.string().regex(/^nak_live_[0-9a-f]{32}$/, "must be nak_live_ and 32 hexadecimal digits"),
  },
  keys: ({ params }: { readonly params: Readonly<Record<string, string>> }) => [params["token_id"] ?? ""],
} as const;

/** The secrets of a credential, as they are stored. */
const secretPair = z.object({ api_token: z.string(), s3_secret_access_key: z.string() });
type SecretPair = z.output<typeof secretPair>;

/** S: credentials of a branch. C: `reveal` and `rotate`, which only newer clients have. */
export const CREDENTIAL_OPERATIONS = [
  recorded({
    route: "GET /credentials",
    kind: "credential",
    does: "list",
    answer: (credentials) =>
      ({ credentials: credentials.map(renderCredential) }) satisfies public_.ListCredentialsResponse,
  }),
  recorded({
    route: "POST /credentials",
    status: 201,
    kind: "credential",
    does: "create",
    body: z.object({
      name: z.string().max(MAX_NAME).exactOptional(),
      scopes: z
        .array(z.enum(["storage:read", "storage:write", "ai_gateway:invoke", "functions:invoke"]))
        .min(1)
        .max(MAX_SCOPES),
      principal_type: z.literal("user"),
    }),
    settings: (body) => body,
    secret: newSecrets,
    answer: renderNewCredential,
  }),
  recorded({ ...OF_TOKEN, route: "DELETE /credentials/:token_id", status: 204, does: "delete" }),
  recorded({
    ...OF_TOKEN,
    route: "POST /credentials/:token_id/reveal",
    does: "read",
    answer: (shown) => ({ token_id: shown.record.fields.key, ...storedSecrets(live(shown)) }),
  }),
  recorded({
    ...OF_TOKEN,
    route: "POST /credentials/:token_id/rotate",
    does: "update",
    settings: () => ({}),
    secret: newSecrets,
    answer: (shown) => ({ ...renderNewCredential(shown), principal_type: shown.settings.principal_type }),
  }),
];

/** A: the form of the token. */
function newSecrets(): string {
  const pair: SecretPair = {
    api_token: newServiceSecret("nat_live_"),
    s3_secret_access_key: newServiceSecret("nsk_live_"),
  };
  return JSON.stringify(pair);
}

/** C: 409 for a credential whose secrets are not stored, such as one of an older release. */
function storedSecrets({ secret }: Shown<"credential">): SecretPair {
  if (secret !== undefined) return secretPair.parse(JSON.parse(secret));
  return fail({
    status: 409,
    code: "SECRET_NOT_STORED",
    message: "the secrets of this credential are not stored; rotate it to get new ones",
  });
}

/** A: the secrets of a revoked credential are gone. */
function live(shown: Shown<"credential">): Shown<"credential"> {
  const { key, markedAt } = shown.record.fields;
  if (markedAt === undefined) return shown;
  return fail({
    status: 404,
    code: "SERVICE_RECORD_NOT_FOUND",
    message: `credential "${key}" is revoked`,
  });
}

function renderCredential({ branch, record, settings }: Shown<"credential">) {
  return {
    ...identityOf(record.fields.key),
    ...omitUndefined({ name: settings.name }),
    scopes: settings.scopes as public_.CredentialScope[],
    branch_id: branch.id,
    principal_type: settings.principal_type,
    created_at: timestamp(record.createdAt),
    ...omitUndefined({ revoked_at: optionalTimestamp(record.fields.markedAt) }),
  } satisfies public_.CredentialMeta;
}

function renderNewCredential(shown: Shown<"credential">) {
  const { principal_type: _, ...credential } = renderCredential(shown);
  return { ...credential, ...storedSecrets(shown) } satisfies public_.CreateCredentialResponse;
}

/** S: the short id is the first 12 hexadecimal digits. */
function identityOf(tokenId: string) {
  return { token_id: tokenId, token_id_short: tokenId.slice("nak_live_".length).slice(0, 12) };
}
