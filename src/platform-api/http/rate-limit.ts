import type { ErrorResponse } from "../../http/errors.ts";
import { MAX } from "../../input-limits/limits.ts";
import { MINUTE, SECOND } from "../../kernel/time.ts";

/** D: 700 requests a minute, and bursts of 40 a second, per route and account. */
const RATE_LIMITS = [
  { windowMs: SECOND, requests: 40 },
  { windowMs: MINUTE, requests: 700 },
] as const;

type RequestWindow = { startedAt: number; requests: number };

/** Counts requests in fixed windows, on the clock that `now` is read from. */
export class RateLimiter {
  readonly #windows = new Map<string, RequestWindow[]>();

  /** Counts one request of `key`; returns the error if it exceeds a limit. */
  countAndCheck(key: string, now: number): ErrorResponse | undefined {
    let windows = this.#windows.get(key);
    if (windows === undefined) {
      if (this.#windows.size >= MAX.countedAddresses)
        this.#windows.delete(this.#windows.keys().next().value as string);
      windows = RATE_LIMITS.map(() => ({ startedAt: now, requests: 0 }));
      this.#windows.set(key, windows);
    }
    for (const [index, { windowMs, requests }] of RATE_LIMITS.entries()) {
      const window = windows[index] as RequestWindow;
      if (now - window.startedAt >= windowMs) {
        window.startedAt = now;
        window.requests = 0;
      }
      if (window.requests >= requests)
        return tooManyRequests(requests, windowMs, window.startedAt + windowMs - now);
    }
    for (const window of windows) window.requests += 1;
    return undefined;
  }
}

function tooManyRequests(requests: number, windowMs: number, remainingMs: number): ErrorResponse {
  return {
    status: 429,
    code: "TOO_MANY_REQUESTS",
    message: `too many requests: at most ${requests} in ${windowMs / SECOND} s are allowed for this route`,
    headers: { "Retry-After": String(Math.max(1, Math.ceil(remainingMs / SECOND))) },
  };
}
