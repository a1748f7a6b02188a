import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MeasuredRun } from "./measured-run.ts";
import { cells, HEADS } from "./table.ts";

const PAGE = join(import.meta.dirname, "../docs/explanation/benchmarks.md");
const BEGIN = "<!-- Written by npm run bench -- --record, from bench/measured. -->\n";
const END = "\n<!-- End of the recorded results. -->";

/** Writes the tables of these runs to the page. With `isCheck`, it returns whether they are there, and writes nothing. */
export function updateResultsPage(runs: readonly MeasuredRun[], isCheck = false): boolean {
  const text = readFileSync(PAGE, "utf8");
  const [begin, end] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)];
  if (begin < BEGIN.length || end < begin) throw new Error(`${PAGE} has no place for the recorded results`);
  const updated = `${text.slice(0, begin)}${renderResults(runs)}${text.slice(end)}`;
  if (!isCheck) writeFileSync(PAGE, updated);
  return updated === text;
}

/** A section of Markdown for each run, with the table that the benchmark prints. */
export function renderResults(runs: readonly MeasuredRun[]): string {
  return runs.map(renderRun).join("");
}

function renderRun({ name, measures, measuredOn, node, cores, loadBefore, figures }: MeasuredRun): string {
  const sentence = measures.charAt(0).toUpperCase() + measures.slice(1);
  const machine = `${measuredOn}, ${cores} cores, Node ${node}, load average before the run ${loadBefore}.`;
  const rows = [[...HEADS].map(capitalized), HEADS.map(() => "---"), ...figures.map(cells).map(escaped)];
  return `
### ${name}

${sentence}. ${machine}

${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}
`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A figure that belongs to the one above begins with spaces, which Markdown would drop. */
function escaped(row: readonly string[]): string[] {
  return row.map((cell) => cell.replaceAll("|", "\\|").replace(/^ +/, "&emsp;"));
}
