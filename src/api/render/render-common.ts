import { timestamp } from "../../http/timestamps.ts";
import { SECOND, type SimTime } from "../../platform/core/time.ts";

// What all answers have in common.

export const CREATION_SOURCE = "console"; // S
/** For `satisfies`: every field that the document requires, and none that it does not know. */
export type AllowUndefined<T> = { [K in keyof T]?: T[K] | undefined };

export function optionalTimestamp(at: SimTime | undefined): string | undefined {
  return at === undefined ? undefined : timestamp(at);
}

/** The API counts whole seconds; the world counts milliseconds, and loses none. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND);
}
