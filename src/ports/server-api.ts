import { UserError } from "./user-error.ts";

/** An answer of the v2 API. */
export type PublicResponse = {
  readonly status: number;
  /** The parsed JSON; `undefined` if the body is not JSON. */
  readonly body: unknown;
  /** The instant of the `Date` header, in milliseconds since 1970. A server of a simulated clock has its own time. */
  readonly serverTime?: number | undefined;
};

/** The v2 API of one server, called with one key. Rejects with a `UserError` if the server does not answer. */
export interface ServerApi {
  /** The base URL; ends in /api/v2. */
  readonly url: string;
  get(path: string): Promise<PublicResponse>;
  getWithoutKey(path: string): Promise<PublicResponse>;
  /** Resolves for every status. Repeats after a 429. */
  call(method: string, path: string, body?: unknown): Promise<PublicResponse>;
  /** Waits. Rejects if the command is interrupted in the meantime. */
  pause(ms: number): Promise<void>;
  /** Text of the server, safe for a terminal and without the key. */
  sanitize(text: string): string;
}

/** The control API of one server. */
export type ControlApi = {
  /** Calls `path`, relative to /_sim; rejects with a `UserError` when the server answers with an error. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
};

export function isSuccess({ status }: PublicResponse): boolean {
  return status >= 200 && status < 300;
}

/** The error for a body that is not as the public document says. `issue` is the first one that the schema found. */
export function mismatch(
  api: ServerApi,
  path: string,
  issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined,
): UserError {
  return new UserError(
    `GET ${api.url}${path}: the answer does not match the public document: ${issue?.path.join(".")}: ${issue?.message}`,
  );
}

/** Code and message of an error answer. */
export function apiErrorOf({ body }: PublicResponse): { readonly code?: string; readonly message?: string } {
  if (typeof body !== "object" || body === null) return {};
  const { code, message } = body as { code?: unknown; message?: unknown };
  return {
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof message === "string" ? { message } : {}),
  };
}

/** Replaces control characters: text of another server must not move the cursor of the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}
