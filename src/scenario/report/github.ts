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

/** The summary of a job in Markdown: the number of runs of each verdict, and each failure in a row of a table. */
export function githubSummary(runs: readonly (Verdict | CouldNotRun)[]): string {
  const count = (verdict: Verdict["verdict"] | "could_not_run") =>
    runs.filter((run) => run.verdict === verdict).length;
  const rows = runs.flatMap((run) => {
    if (run.verdict === "could_not_run") return [[runTitle(run), "could not run", run.reason, ""]];
    return run.failures.map(({ what, at, expected, actual }) => [
      runTitle(run),
      `${what} at ${at}`,
      expected,
      String(actual),
    ]);
  });
  const table = [["Scenario", "Failure", "Expected", "Actual"], ["---", "---", "---", "---"], ...rows]
    .map((cells) => `| ${cells.map(escapeCell).join(" | ")} |\n`)
    .join("");
  const title = `### standin run: ${count("passed")} passed, ${count("failed")} failed, ${count("could_not_run")} could not run\n`;
  return rows.length === 0 ? title : `${title}\n${table}`;
}

function escapeCell(text: string): string {
  return text
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replaceAll(/\s*\n\s*/g, " ");
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
