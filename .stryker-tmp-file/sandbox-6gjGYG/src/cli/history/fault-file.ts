// @ts-nocheck
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { CliError } from "../terminal/cli-error.ts";

/** Reads faults from a YAML file, or from stdin for `-`. JSON is a subset of YAML. */
export function readFaultFile(file: string): unknown {
  try {
    return parse(readFileSync(file === "-" ? 0 : file, "utf8")) ?? [];
  } catch (error) {
    throw new CliError(
      `${faultFileName(file)}: cannot read the faults: ${error instanceof Error ? error.message : error}`,
    );
  }
}

export function faultFileName(file: string): string {
  return file === "-" ? "stdin" : file;
}
