import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { foreignFile } from "../history/failure-files.ts";
import { shellWord } from "../shell/quote.ts";
import { CliError } from "../terminal/cli-error.ts";
import { writeProblem } from "../terminal/file-problem.ts";
import { printError } from "../terminal/print.ts";
import { enginesOption } from "./repeating-command.ts";

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
  for (const file of files) {
    if (existsSync(file) && executed.has(realpathSync(file)))
      reject(`a failure would replace the scenario ${file}`);
    const foreign = foreignFile(file, ["failed"]);
    if (foreign !== undefined) reject(`a failure would replace ${foreign}, which no earlier failure wrote`);
  }
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    reject(writeProblem(error));
  }
}

/** Names the file of a failed run, and what to do with it. */
export function reportFailedFile(
  run: {
    readonly failedFile?: string | undefined;
    readonly title: string;
    readonly file: string;
    readonly recordings: { readonly size: number };
    readonly needs: { readonly sql: boolean };
  },
  { filesFrom, data }: { readonly filesFrom?: string; readonly data?: string },
): void {
  const { failedFile, title, file, recordings, needs } = run;
  if (failedFile === undefined) return;
  const options = [
    ...(recordings.size > 0 ? ["--files-from", shellWord(filesFrom ?? dirname(file))] : []),
    ...enginesOption(needs.sql, data),
  ];
  const repeating = ["standin run", shellWord(failedFile), ...options].join(" ");
  printError(
    `standin: wrote the world of ${title} at its first failure to ${failedFile}; open it with: standin open ${shellWord(failedFile)}; repeat it with: ${repeating}\n`,
  );
}
