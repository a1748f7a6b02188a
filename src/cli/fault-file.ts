import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { CliError } from "./cli-error.ts";

/** The faults in a file of YAML, and so of JSON, too; `-` is stdin. */
export function readFaultFile(file: string): unknown {
  const [name, source] = file === "-" ? ["stdin", 0] : [file, file];
  try {
    return parse(readFileSync(source, "utf8")) ?? [];
  } catch (error) {
    throw new CliError(`${name} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
