import type { Verdict } from "../verdict.ts";

/** All that was found, for machines: the same bytes for the same scenarios, values and seeds. */
export function jsonReport(verdicts: readonly Verdict[]): string {
  const passed = verdicts.filter(({ verdict }) => verdict === "passed").length;
  const text = JSON.stringify({ version: 1, passed, failed: verdicts.length - passed, runs: verdicts }, undefined, 2);
  return `${text.replaceAll(LIST_OF_NUMBERS, (list) => list.replaceAll(/\s+/g, ""))}\n`;
}

/** A timeline is one line, not hundreds. */
const LIST_OF_NUMBERS = /\[(\s+[\d.]+,?)+\s+\]/g;
