import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";

/** A file of a failure has this key at the top level. */
const FAILED_KEY = /^failed:/m;

/**
 * Creates the directory of `--failures`. A run replaces its file there, so files that are not of an
 * earlier failure are rejected before any run begins, and so are the scenarios of these runs.
 */
export function prepareFailurePlaces(
  directory: string,
  files: readonly string[],
  scenarios: readonly string[],
): void {
  const reject = (problem: string): never => {
    throw new CliError(`--failures ${JSON.stringify(directory)}: ${problem}; name another directory`, true);
  };
  if (directory === "") reject("expected a directory");
  if (existsSync(directory) && !statSync(directory).isDirectory()) reject("is not a directory");
  const executed = new Set(scenarios.filter((path) => existsSync(path)).map((path) => realpathSync(path)));
  for (const file of files.filter((path) => existsSync(path))) {
    if (executed.has(realpathSync(file))) reject(`a failure would replace the scenario ${file}`);
    if (!FAILED_KEY.test(readFileSync(file, "utf8")))
      reject(`a failure would replace ${file}, which is not a file of a failure`);
  }
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    reject(fileProblem(error));
  }
}
