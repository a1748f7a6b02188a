import { OPERATION_IDS } from "../../app/create-app.ts";
import { readText } from "../../app/read-text.ts";
import { faultFields } from "../../control-api/http/fault-fields.ts";
import { issueText } from "../../input-limits/issue-text.ts";
import { MAX } from "../../input-limits/limits.ts";
import { formatProblems, type Problem, SourceDocument } from "../../scenario/file/yaml-document.ts";
import { CliError } from "../terminal/cli-error.ts";
import { unreadableInput } from "../terminal/input-file.ts";

const STANDARD_INPUT_FD = 0;

/**
 * Reads faults from a YAML file, or from stdin for `-`. JSON is a subset of YAML. They are validated as the control API
 * does, which does not know their places in the file.
 */
export function readFaultFile(file: string): unknown {
  const source = new SourceDocument(textOf(file));
  const failWith = (problems: readonly Problem[]): never => {
    throw new CliError(formatProblems(faultFileName(file), problems), true);
  };
  if (source.problems.length > 0) return failWith(source.problems);
  const parsed = faultFields(OPERATION_IDS).all.safeParse(source.value, { error: issueText });
  return parsed.success ? source.value : failWith(source.problemsOf(parsed.error));
}

export function faultFileName(file: string): string {
  return file === "-" ? "stdin" : file;
}

function textOf(file: string): string {
  try {
    return readText(file === "-" ? STANDARD_INPUT_FD : file, MAX.settingsFile);
  } catch (error) {
    throw unreadableInput(faultFileName(file), error);
  }
}
