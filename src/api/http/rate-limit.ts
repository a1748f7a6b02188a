import type { Failure } from "../../http/errors.ts";
import { MINUTE, SECOND, type SimTime } from "../../platform/core/time.ts";

/** D: 700 requests a minute, and bursts of 40 a second, per route and account. */
const LIMITS = [
  { windowMs: SECOND, requests: 40 },
  { windowMs: MINUTE, requests: 700 },
] as const;

type Window = { startedAt: SimTime; requests: number };

/** Counts requests in fixed windows of the world's clock. */
export class RateLimiter {
  readonly #windows = new Map<string, Window[]>();

  /** Counts one request of `caller`; gives the refusal where it is one too many. */
  refuse(caller: string, now: SimTime): Failure | undefined {
    let windows = this.#windows.get(caller);
    if (windows === undefined) {
      windows = LIMITS.map(() => ({ startedAt: now, requests: 0 }));
      this.#windows.set(caller, windows);
    }
    for (const [index, { windowMs, requests }] of LIMITS.entries()) {
      const window = windows[index] as Window;
      if (now - window.startedAt >= windowMs) {
        window.startedAt = now;
        window.requests = 0;
      }
      if (window.requests >= requests) return tooMany(requests, windowMs, window.startedAt + windowMs - now);
    }
    for (const window of windows) window.requests += 1;
    return undefined;
  }
}

function tooMany(requests: number, windowMs: number, leftMs: number): Failure {
  return {
    status: 429,
    code: "TOO_MANY_REQUESTS",
    message: `too many requests: ${requests} in ${windowMs / SECOND} s are allowed for this route`,
    headers: { "Retry-After": String(Math.max(1, Math.ceil(leftMs / SECOND))) },
  };
}
