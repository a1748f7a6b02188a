import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "../terminal/cli-error.ts";
import type { ControlClient } from "./client.ts";

/** No answer of a management API takes this long. */
const REQUEST_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 64 * 1024 ** 2;
/** How often one request is repeated after a 429, and how long one wait for it is at most. */
const MAX_RETRIES = 5;
const MAX_RETRY_WAIT_MS = 60_000;
const DEFAULT_RETRY_WAIT_MS = 1_000;

export type PublicResponse = {
  readonly status: number;
  /** The JSON of the answer; `undefined` where it is none. */
  readonly body: unknown;
};

/** The v2 API of some server, seen through one key. */
export class PublicApi {
  readonly url: string;
  readonly #key: string;
  readonly #signal: AbortSignal | undefined;

  /** `url` is the base URL, which ends in /api/v2; see `apiUrl`. */
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

  /** Any answer is an answer; only a server that gives none is an error. Where it says 429, it is asked again when it says so. */
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

  /** `text` of the other server, fit for a terminal and without the key, should it have come back. */
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

  /** Waits, unless somebody ends the whole work meanwhile. */
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
      // A redirect is an answer as any other: the key goes nowhere else.
      const httpResponse = await fetch(this.url + path, { ...init, redirect: "manual", signal });
      const response = { status: httpResponse.status, body: parseJson(await readBodyText(httpResponse)) };
      return { response, waitMs: retryWaitMs(httpResponse.headers.get("retry-after")) };
    } catch (error) {
      if (this.#signal?.aborted === true) throw new CliError("interrupted");
      if (error instanceof CliError) throw error;
      throw new CliError(`no server answers at ${this.url} (${this.sanitize(failureReason(error))})`);
    }
  }
}

/** A base URL that a user gave; refuses what would send the key where nobody wants it, or would show it. */
export function parseApiUrl(option: string, text: string): string {
  const reject = (reason: string): never => {
    throw new CliError(
      `${option} ${reason}; it is the base URL of an API, like https://console.example.com/api/v2`,
      true,
    );
  };
  const url = URL.canParse(text) ? new URL(text) : reject("is no URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") reject("must begin with https:// or http://");
  if (url.username !== "" || url.password !== "") reject("must have no name and no password in it");
  if (url.search !== "" || url.hash !== "") reject("must have no query and no fragment");
  if (!/\/api\/v2\/?$/.test(url.pathname)) reject("must end in /api/v2");
  return url.origin + url.pathname.replace(/\/$/, "");
}

/** Calls the double with the key that was given; without one, with a key that ends with the work. */
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

/** Text of another server must not move the cursor of a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}

/** What an answer that is an error says of itself. */
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
      throw new CliError(`an answer of more than ${MAX_RESPONSE_BYTES} bytes is not read`);
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
  if (error.name === "TimeoutError") return `not within ${REQUEST_TIMEOUT_MS / 1000} seconds`;
  // The cause of several attempts has no message of its own, only a code.
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || String((cause as NodeJS.ErrnoException).code ?? error.message);
}
