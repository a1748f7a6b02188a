import { setTimeout as sleep } from "node:timers/promises";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { type PublicResponse, printable, type ServerApi } from "../../ports/server-api.ts";
import { UserError } from "../../ports/user-error.ts";

/** Longer than any answer of a management API takes. */
const REQUEST_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 64 * 1024 ** 2;
/** How often a request is repeated after a 429, and the longest wait before one repetition. */
const MAX_RETRIES = 5;
const MAX_RETRY_WAIT_MS = 60_000;
const DEFAULT_RETRY_WAIT_MS = 1_000;

/** The v2 API of one server, called with one key. */
export class PublicApi implements ServerApi {
  readonly url: string;
  readonly #key: string;
  readonly #signal: AbortSignal | undefined;

  /** `url` is the base URL and ends in /api/v2. */
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

  /**
   * Resolves for every status; rejects only if the server does not answer. Repeats after a 429, as
   * `Retry-After` says.
   */
  call(method: string, path: string, body?: unknown): Promise<PublicResponse> {
    return this.#fetchWithRetries(path, {
      method,
      ...omitUndefined({
        headers: omitUndefined({
          Authorization: `Bearer ${this.#key}`,
          "Content-Type": body === undefined ? undefined : "application/json",
        }),
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    });
  }

  /** Text of the other server, safe for a terminal. Hides the key if the server echoed it. */
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

  /** Waits. Rejects if the signal aborts in the meantime. */
  async pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, omitUndefined({ signal: this.#signal }));
    } catch {
      throw new UserError("interrupted");
    }
  }

  async #fetchOnce(path: string, init: RequestInit): Promise<{ response: PublicResponse; waitMs: number }> {
    const signal = AbortSignal.any([
      AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      ...(this.#signal === undefined ? [] : [this.#signal]),
    ]);
    try {
      // A redirect is not followed: the key must not reach another server.
      const httpResponse = await fetch(this.url + path, { ...init, redirect: "manual", signal });
      const serverTime = Date.parse(httpResponse.headers.get("date") ?? "");
      const response = {
        status: httpResponse.status,
        body: parseJson(await readBodyText(httpResponse)),
        ...(Number.isNaN(serverTime) ? {} : { serverTime }),
      };
      return { response, waitMs: retryWaitMs(httpResponse.headers.get("retry-after")) };
    } catch (error) {
      if (this.#signal?.aborted === true) throw new UserError("interrupted");
      if (error instanceof UserError) throw error;
      throw new UserError(`no server answers at ${this.url} (${this.sanitize(failureReason(error))})`);
    }
  }
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
      throw new UserError(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
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
  // An AggregateError of several attempts has a code, but no message.
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || String((cause as NodeJS.ErrnoException).code ?? error.message);
}
