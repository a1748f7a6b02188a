import { isoInstant } from "../../kernel/calendar.ts";
import { findLoneSurrogate } from "../../kernel/text.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";
import { escapeReferences } from "../file/references.ts";
import { METHODS } from "../file/request-step.ts";

const API_PATH = /^(\/w\/[^/]+)?\/api\/v2/;

/**
 * Omits requests without effect: reads that succeeded, unknown paths, and rejected requests whose text is not available
 * or that only the rate limit rejected.
 */
export function isReplayable(request: RequestLogEntry, hasFaults: boolean): boolean {
  const { method, operationId, status, fault, path, body } = request;
  if (!METHODS.some((one) => one === method) || operationId === undefined) return false;
  const wasRefused = status !== undefined && status >= 400 && fault === undefined;
  if (isRateLimited(request) || (method === "GET" && !wasRefused && !hasFaults)) return false;
  return !(
    wasRefused &&
    (isBodyOmitted(body) ||
      path.endsWith(CUT) ||
      REMOVED_SECRET.test(`${path}${JSON.stringify(body)}`) ||
      findLoneSurrogate(body) !== undefined)
  );
}

/** A run has no rate limit, so the request would succeed in it. */
export function isRateLimited({ status, fault }: RequestLogEntry): boolean {
  return status === 429 && fault === undefined;
}

/** The end of a path that was too long to store. A sent path has no such character. */
const CUT = "…";
const REMOVED_SECRET = /\[removed\]/;

function isBodyOmitted(body: unknown): boolean {
  return (body as { not_kept?: unknown } | undefined)?.not_kept !== undefined;
}

export function requestStep(
  request: RequestLogEntry,
  captured: Set<number>,
  keyOf: (keyId: number) => string,
  omitted: string[],
): object {
  const { at, method, path, body, status, keyId, operationId, answered } = request;
  const createdKeyId =
    /^create\w*ApiKey$/.test(operationId ?? "") && status !== undefined && status < 300
      ? Number(createdIds(answered)[0])
      : undefined;
  if (createdKeyId !== undefined) captured.add(createdKeyId);
  const what = `${method} ${path} at ${isoInstant(at)}`;
  if (REMOVED_SECRET.test(`${path}${JSON.stringify(body)}`))
    omitted.push(`${what}: a secret in it was not stored`);
  if (path.endsWith(CUT)) omitted.push(`${what}: only the beginning of its path was stored`);
  if (isBodyOmitted(body)) omitted.push(`${what}: its body was not stored`);
  return {
    at: isoInstant(at),
    request: {
      method,
      path: escapeReferences(path.replace(API_PATH, "")),
      ...(body === undefined ? {} : { body: escapeReferences(body) }),
      key: keyId === undefined ? "no-key" : captured.has(keyId) ? `{key_${keyId}}` : keyOf(keyId),
      // A lost connection has no status.
      status: status ?? 0,
      ...(createdKeyId === undefined ? {} : { capture: { [`key_${createdKeyId}`]: "key" } }),
    },
  };
}

export function createdIds(answered: unknown): string[] {
  if (typeof answered !== "object" || answered === null) return [];
  return Object.values(answered).flat().map(String);
}
