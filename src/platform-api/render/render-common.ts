import { timestamp } from "../../http/timestamps.ts";
import { SECOND, type SimTime } from "../../kernel/time.ts";

export const CREATION_SOURCE = "console"; // S

/** For `satisfies`: allows only fields of the public document. Undefined fields are absent in JSON. */
export type AllowUndefined<T> = { [K in keyof T]?: T[K] | undefined };

export function optionalTimestamp(at: SimTime | undefined): string | undefined {
  return at === undefined ? undefined : timestamp(at);
}

/** The API counts whole seconds; the world counts milliseconds. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND);
}
