import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { styleText } from "node:util";
import type { Command } from "commander";
import type { Chart, Page } from "../whatif/report/page.ts";
import { terminalText } from "../whatif/report/terminal.ts";
import { CliError } from "./cli-error.ts";
import { VERSION } from "./version.ts";
import { recordsCsv } from "./whatif-csv.ts";
import type { OutputOptions } from "./whatif-options.ts";
import { repeatOf, type Settled } from "./whatif-repeat.ts";

const DEFAULT_WIDTH = 100;

/** What a command has found out, in all the forms that it may be wanted in. */
export type Finding = {
  /** The JSON, and summary.json. */
  readonly summary: object;
  readonly page: Page;
  /** Drawn only where somebody will look at them. */
  readonly charts: () => Promise<readonly Chart[]>;
  /** Further files by name. */
  readonly files?: () => Readonly<Record<string, string>>;
};

/** What repeats a report: the command, what its flags came to, and what it was made from. */
export type Manifest = {
  readonly command: Command;
  readonly settled: Settled;
  readonly inputs: readonly object[];
  readonly question: object;
};

/** Prints a finding, and writes its files where there is `--out`. */
export async function present(finding: Finding, manifest: Manifest, { json, out }: OutputOptions): Promise<void> {
  if (out !== undefined) await write(finding, manifest, out);
  if (json === true) {
    process.stdout.write(`${JSON.stringify(finding.summary, null, 2)}\n`);
    return;
  }
  const isColoured = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  const text = terminalText(finding.page, process.stdout.columns ?? DEFAULT_WIDTH, (colour, part) =>
    isColoured && part !== "" ? styleText(colour, part) : part,
  );
  process.stdout.write(`${text}\n${out === undefined ? "" : `\nThe report is in ${join(out, "report.html")}.\n`}`);
}

async function write(finding: Finding, { command, settled, inputs, question }: Manifest, out: string): Promise<void> {
  const [{ reportHtml }, { standalone }] = await Promise.all([import("../whatif/report/html.ts"), import("../whatif/report/draw.ts")]);
  const charts = await finding.charts();
  const repeat = repeatOf(process.argv.slice(2), command, settled);
  const manifest = { standin: VERSION, command: command.name(), repeat, question, inputs };
  const files: Record<string, string> = {
    "report.html": reportHtml(finding.page, charts, manifest),
    "summary.json": `${JSON.stringify(finding.summary, null, 2)}\n`,
    "manifest.json": `${JSON.stringify(manifest, null, 2)}\n`,
    ...Object.fromEntries(charts.map((chart) => [`${chart.name}.svg`, standalone(chart)])),
    ...Object.fromEntries(finding.page.tables.map(({ name, records }) => [`${name}.csv`, recordsCsv(records)])),
    ...finding.files?.(),
  };
  try {
    mkdirSync(out, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(out, name), text);
  } catch (error) {
    throw new CliError(`--out ${out}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
