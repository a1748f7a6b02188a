import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { CliError } from "../terminal/cli-error.ts";

/** The faults in a file of YAML, and so of JSON, too; `-` is stdin. */
export function readFaultFile(file: string): unknown {
  try {
    return parse(readFileSync(file === "-" ? 0 : file, "utf8")) ?? [];
  } catch (error) {
    throw new CliError(
      `${faultFileName(file)} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}

export function faultFileName(file: string): string {
  return file === "-" ? "stdin" : file;
}
