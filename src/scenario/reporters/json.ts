import type { Verdict } from "../verdict.ts";

/** All that was found, for machines: the same bytes for the same scenarios, values and seeds. */
export function jsonReport(verdicts: readonly Verdict[]): string {
  const passed = verdicts.filter(({ verdict }) => verdict === "passed").length;
  return `${JSON.stringify({ version: 1, passed, failed: verdicts.length - passed, runs: verdicts }, undefined, 2)}\n`;
}
