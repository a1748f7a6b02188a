// @ts-nocheck
import type { CouldNotRun, Verdict } from "../run/verdict.ts";
import { explanationLines, runTitle } from "./pretty.ts";

/** Workflow commands of GitHub Actions: one annotation for each failure, at its place in the scenario file. */
export function githubReport(runs: readonly (Verdict | CouldNotRun)[]): string {
  return runs
    .flatMap((run) => {
      const title = runTitle(run);
      if (run.verdict === "could_not_run")
        return [annotation({ file: run.file, title }, `could not run: ${run.reason}`)];
      return run.failures.map((failure) => {
        const { what, at, expected, actual, line, column } = failure;
        const causes = explanationLines(failure).map(([name, text]) => `\n${name}: ${text}`);
        return annotation(
          { file: run.file, line, col: column, title },
          `${what} at ${at}: expected ${expected}, actual ${actual}${causes.join("")}\nrepeat with: ${run.repeat}`,
        );
      });
    })
    .join("");
}

function annotation(fields: Readonly<Record<string, string | number | undefined>>, message: string): string {
  const properties = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${escapeProperty(String(value))}`],
  );
  return `::error ${properties.join(",")}::${escapeMessage(message)}\n`;
}

function escapeMessage(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
