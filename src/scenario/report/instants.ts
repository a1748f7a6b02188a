import type { SimTime } from "../../kernel/time.ts";
import { parseInstant } from "../../traffic/recorded/rows/instant.ts";

/** An instant of a verdict. */
export function instantOf(text: string): SimTime {
  const at = parseInstant(text);
  if (at === undefined) throw new Error(`a verdict has the instant ${text}`);
  return at;
}

export function secondsBetween(from: string, to: string): number {
  return (instantOf(to) - instantOf(from)) / 1_000;
}
