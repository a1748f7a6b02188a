import { printError } from "./print.ts";

const LARGE_OUTPUT_BYTES = 100_000_000;
const MEGABYTE = 1_000_000;

/** Notes on stderr that a command is about to write a large file, so that the user can interrupt it first. */
export function noteLargeOutput(path: string, estimatedBytes: number): void {
  if (estimatedBytes < LARGE_OUTPUT_BYTES) return;
  printError(
    `note: ${path} will take about ${Math.round(estimatedBytes / MEGABYTE).toLocaleString("en")} MB\n`,
  );
}
