import { statSync } from "node:fs";
import { MissingInput } from "../../ports/user-error.ts";
import { CliError } from "./cli-error.ts";
import { fileProblem, refusedAccess } from "./file-problem.ts";

const STANDARD_INPUT = "-";

/** Throws a usage error if a file that the user named as input does not exist, before the command begins its work. */
export function checkInputExists(path: string, place?: string): void {
  if (path === STANDARD_INPUT) return;
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  } catch (error) {
    // A directory above it cannot be searched.
    if (refusedAccess(error) !== undefined)
      throw unreadableInput(place === undefined ? path : `${place}: ${path}`, error);
  }
  throw new MissingInput(path, place);
}

/** The usage error for a file that the user named as input and that cannot be read. `place`: its option or path. */
export function unreadableInput(place: string, error: unknown): CliError {
  return new CliError(`${place}: ${fileProblem(error)}`, true);
}
