import { parse } from "yaml";
import { MAX } from "../../input-limits/limits.ts";
import { CliError } from "../terminal/cli-error.ts";
import { readText, TextTooLarge } from "../terminal/read-text.ts";

const STANDARD_INPUT_FD = 0;

/** Reads faults from a YAML file, or from stdin for `-`. JSON is a subset of YAML. */
export function readFaultFile(file: string): unknown {
  try {
    return parse(readText(file === "-" ? STANDARD_INPUT_FD : file, MAX.settingsFile)) ?? [];
  } catch (error) {
    if (error instanceof TextTooLarge) throw new CliError(`${faultFileName(file)}: ${error.message}`);
    throw new CliError(
      `${faultFileName(file)}: cannot read the faults: ${error instanceof Error ? error.message : error}`,
    );
  }
}

export function faultFileName(file: string): string {
  return file === "-" ? "stdin" : file;
}
