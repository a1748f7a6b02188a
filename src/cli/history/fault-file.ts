import { parse } from "yaml";
import { MAX } from "../../input-limits/limits.ts";
import { unreadableInput } from "../terminal/input-file.ts";
import { readText } from "../terminal/read-text.ts";

const STANDARD_INPUT_FD = 0;

/** Reads faults from a YAML file, or from stdin for `-`. JSON is a subset of YAML. */
export function readFaultFile(file: string): unknown {
  try {
    return parse(readText(file === "-" ? STANDARD_INPUT_FD : file, MAX.settingsFile)) ?? [];
  } catch (error) {
    throw unreadableInput(faultFileName(file), error);
  }
}

export function faultFileName(file: string): string {
  return file === "-" ? "stdin" : file;
}
