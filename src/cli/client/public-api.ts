import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "../terminal/cli-error.ts";
import type { ControlClient } from "./client.ts";

/** Longer than any response of a management API takes. */
const REQUEST_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 64 * 1024 ** 2;
/** Retries of one request after status 429, and the longest wait between two of them. */
const MAX_RETRIES = 5;
const MAX_RETRY_WAIT_MS = 60_000;
const DEFAULT_RETRY_WAIT_MS = 1_000;

export type PublicResponse = {
  readonly status: number;
  /** The parsed JSON; `undefined` if the body is not JSON. */
  readonly body: unknown;
};

/** Client of the v2 API of any server, with one key. */
export class PublicApi {
  readonly url: string;
  readonly #key: string;
  readonly #signal: AbortSignal | undefined;

  /** `url` is a base URL from `parseApiUrl`, which ends in /api/v2. */
  constructor(url: string, key: string, signal?: AbortSignal) {
    this.url = url;
    this.#key = key;
    this.#signal = signal;
  }

  get(path: string): Promise<PublicResponse> {
    return this.call("GET", path);
  }

  getWithoutKey(path: string): Promise<PublicResponse> {
    return this.#fetchWithRetries(path, { method: "GET" });
  }

  /** Returns responses of any status; throws only if there is no response. Retries status 429. */
  call(method: string, path: string, body?: unknown): Promise<PublicResponse> {
    return this.#fetchWithRetries(path, {
      method,
      headers: {
        Authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /**
   * Makes text of the server safe to print: no control characters, and no key in case the server echoed it.
   */
  sanitize(text: string): string {
    return printable(text.replaceAll(this.#key, "…"));
  }

  async #fetchWithRetries(path: string, init: RequestInit): Promise<PublicResponse> {
    for (let retries = 0; ; retries += 1) {
      const { response, waitMs } = await this.#fetchOnce(path, init);
      if (response.status !== 429 || retries === MAX_RETRIES) return response;
      await this.pause(waitMs);
    }
  }

  /** Sleeps; throws when the command is interrupted. */
  async pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, this.#signal === undefined ? {} : { signal: this.#signal });
    } catch {
      throw new CliError("interrupted");
    }
  }

  async #fetchOnce(path: string, init: RequestInit): Promise<{ response: PublicResponse; waitMs: number }> {
    const signal = AbortSignal.any([
      AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      ...(this.#signal === undefined ? [] : [this.#signal]),
    ]);
    try {
      // Redirects are not followed, so that the key is sent to no other host.
      const httpResponse = await fetch(this.url + path, { ...init, redirect: "manual", signal });
      const response = { status: httpResponse.status, body: parseJson(await readBodyText(httpResponse)) };
      return { response, waitMs: retryWaitMs(httpResponse.headers.get("retry-after")) };
    } catch (error) {
      if (this.#signal?.aborted === true) throw new CliError("interrupted");
      if (error instanceof CliError) throw error;
      throw new CliError(`no response from ${this.url} (${this.sanitize(failureReason(error))})`);
    }
  }
}

/**
 * Parses a base URL. Rejects forms that would reveal the key or a password, or send the key to an unintended
 * path.
 */
export function parseApiUrl(option: string, text: string): string {
  const reject = (reason: string): never => {
    throw new CliError(
      `${option} ${reason}; expected the base URL of an API, such as https://console.example.com/api/v2`,
      true,
    );
  };
  const url = URL.canParse(text) ? new URL(text) : reject("is not a URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") reject("must begin with https:// or http://");
  if (url.username !== "" || url.password !== "") reject("must not contain a user name or password");
  if (url.search !== "" || url.hash !== "") reject("must not have a query or fragment");
  if (!/\/api\/v2\/?$/.test(url.pathname)) reject("must end in /api/v2");
  return url.origin + url.pathname.replace(/\/$/, "");
}

/** Calls `use` with the given key, or with a temporary key that is revoked afterwards. */
export async function withApiKey<T>(
  server: ControlClient,
  givenKey: string | undefined,
  name: string,
  use: (key: string) => Promise<T>,
): Promise<T> {
  if (givenKey !== undefined) return use(givenKey);
  const temporaryKey = await server.call<{ id: number; key: string }>("POST", "/api_keys", {
    key_name: name,
  });
  try {
    return await use(temporaryKey.key);
  } finally {
    await server.call("DELETE", `/api_keys/${temporaryKey.id}`);
  }
}

/** Replaces control characters: text of another server must not move the cursor. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}

/** Code and message of an error response. */
export function apiErrorOf({ body }: PublicResponse): { readonly code?: string; readonly message?: string } {
  if (typeof body !== "object" || body === null) return {};
  const { code, message } = body as { code?: unknown; message?: unknown };
  return {
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof message === "string" ? { message } : {}),
  };
}

function retryWaitMs(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? Number.NaN);
  return seconds >= 0 ? Math.min(seconds * 1000, MAX_RETRY_WAIT_MS) : DEFAULT_RETRY_WAIT_MS;
}

async function readBodyText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES)
      throw new CliError(
        `${response.url} sent a response of more than ${MAX_RESPONSE_BYTES} bytes, which is the limit`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `timed out after ${REQUEST_TIMEOUT_MS / 1000} s`;
  // The cause of several failed connection attempts is an AggregateError, which has a code and no message.
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || String((cause as NodeJS.ErrnoException).code ?? error.message);
}
