import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { styleText } from "node:util";
import type { Command } from "commander";
import { RANDOM_INSTANTS_NOTE } from "../../traffic/recorded/formats/minute-counts.ts";
import {
  type Chart,
  type InputNotes,
  limitsFor,
  type ReportLimits,
  type ReportPage,
} from "../../whatif/page/page-layout.ts";
import type { PageTable } from "../../whatif/page/page-table.ts";
import { terminalText } from "../../whatif/page/terminal-style.ts";
import { VERSION } from "../server/version.ts";
import { CliError } from "../terminal/cli-error.ts";
import { writeProblem } from "../terminal/file-problem.ts";
import { print } from "../terminal/print.ts";
import { recordsCsv } from "./csv-output.ts";
import { type ResolvedFlags, repeatCommand } from "./manifest.ts";
import type { InputSummary } from "./open-traffic.ts";
import type { OutputOptions } from "./question-options.ts";

const DEFAULT_WIDTH = 100;

/** The result of a command in all output forms. */
export type WhatifResult = {
  /** Printed by --json and written to summary.json, with the input. */
  readonly summary: { readonly limits: ReportLimits };
  readonly page: ReportPage;
  /** Tables that only --out writes, after the others. */
  readonly details?: () => Promise<readonly PageTable[]>;
  /** Drawn only for --out. */
  readonly charts: () => Promise<readonly Chart[]>;
  /** Additional files by name. */
  readonly files?: () => Readonly<Record<string, string>>;
};

/** Data with which the manifest makes a report repeatable. */
export type ManifestInput = {
  readonly command: Command;
  readonly resolvedFlags: ResolvedFlags;
  readonly question: object;
};

/** Describes how to repeat a report. */
export type Manifest = Omit<ManifestInput, "command" | "resolvedFlags"> & {
  readonly standin: string;
  readonly command: string;
  readonly repeat: string;
  readonly inputs: readonly object[];
};

/** A result with what the reports say about its input. */
type Output = WhatifResult & { readonly summary: { readonly input: InputSummary } };

/** Prints a result and, with `--out`, writes its files. */
export async function outputResult(
  given: WhatifResult,
  input: InputSummary,
  manifestInput: ManifestInput | Manifest,
  { json, out, lastLine }: OutputOptions & { readonly lastLine?: string | undefined },
): Promise<void> {
  const manifest = "repeat" in manifestInput ? manifestInput : manifestOf(manifestInput, input);
  const result = withInput(given, input);
  if (out !== undefined)
    await (isFile(out) ? writeReportFile : writeReportDirectory)(await withDetails(result), manifest, out);
  if (json === true) {
    print(`${JSON.stringify(result.summary, null, 2)}\n`);
    return;
  }
  const isColoured = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  const text = terminalText(result.page, process.stdout.columns ?? DEFAULT_WIDTH, (colour, part) =>
    isColoured && part !== "" ? styleText(colour, part) : part,
  );
  const report = out === undefined ? "" : `\nReport: ${isFile(out) ? out : join(out, REPORT_FILE)}\n`;
  print(`${text}\n${report}${lastLine === undefined ? "" : `\n${lastLine}\n`}`);
}

function withInput({ summary, page, ...result }: WhatifResult, input: InputSummary): Output {
  const limits = limitsFor(summary.limits, input.notes.includes(RANDOM_INSTANTS_NOTE));
  return { ...result, summary: { ...summary, limits, input }, page: { ...page, limits } };
}

/** Whether `--out` names the report itself instead of a directory. */
function isFile(out: string): boolean {
  return /\.html?$/i.test(out);
}

/** Only the report, which contains its charts and its manifest. */
async function writeReportFile(result: Output, input: Manifest, out: string): Promise<void> {
  const { reportHtml, REPORT_MARK } = await import("../../whatif/page/html.ts");
  const manifest = { ...input, files: [basename(out)] };
  const html = reportHtml(result.page, await result.charts(), manifest, inputNotes(result.summary.input));
  writing(out, () => {
    if (existsSync(out) && !readFileSync(out, "utf8").includes(REPORT_MARK))
      throw new CliError(`--out ${out}: the file already exists and is not a report; choose another file`);
    writeFileSync(out, html);
  });
}

/** The tables of the terminal, and the additional tables of a report. */
export async function reportTables({ page, details }: WhatifResult): Promise<readonly PageTable[]> {
  return [...page.tables, ...((await details?.()) ?? [])];
}

async function withDetails(result: Output): Promise<Output> {
  return { ...result, page: { ...result.page, tables: await reportTables(result) } };
}

export function manifestOf(
  { command, resolvedFlags, question }: ManifestInput,
  { files }: InputSummary,
): Manifest {
  const repeat = repeatCommand(process.argv.slice(2), command, resolvedFlags);
  return { standin: VERSION, command: command.name(), repeat, question, inputs: files };
}

/** Names the option in errors of the file system. */
function writing(out: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`--out ${out}: cannot write the report: ${writeProblem(error)}`);
  }
}

async function writeReportDirectory(result: Output, input: Manifest, out: string): Promise<void> {
  const [{ reportHtml }, { standaloneSvg: standalone }] = await Promise.all([
    import("../../whatif/page/html.ts"),
    import("../../whatif/page/svg.ts"),
  ]);
  const charts = await result.charts();
  const parts: Record<string, string> = {
    "summary.json": `${JSON.stringify(result.summary, null, 2)}\n`,
    ...Object.fromEntries(charts.map((chart) => [`${chart.name}.svg`, standalone(chart)])),
    ...Object.fromEntries(
      result.page.tables.map(({ name, records }) => [`${name}.csv`, recordsCsv(records)]),
    ),
    ...result.files?.(),
  };
  const names = [REPORT_FILE, ...Object.keys(parts)];
  const manifest = { ...input, files: names };
  writing(out, () => {
    mkdirSync(out, { recursive: true });
    removePreviousReport(out, [MANIFEST_FILE, ...names]);
    // Written first: it lists the files of the report even if writing them fails.
    writeFileSync(join(out, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
    for (const [name, text] of Object.entries(parts)) writeFileSync(join(out, name), text);
    writeFileSync(
      join(out, REPORT_FILE),
      reportHtml(result.page, charts, manifest, inputNotes(result.summary.input)),
    );
  });
}

function inputNotes({ files, notes, bad }: InputSummary): InputNotes {
  return { notes, bad, badRows: files.reduce((sum, file) => sum + Number(file["bad_rows"] ?? 0), 0) };
}

const REPORT_FILE = "report.html";
const MANIFEST_FILE = "manifest.json";

/**
 * Removes the previous report, whose files would look like part of the new one. Never overwrites other files.
 */
function removePreviousReport(out: string, names: readonly string[]): void {
  const previousFiles = filesOfPreviousReport(join(out, MANIFEST_FILE));
  const unrelated = names.find((name) => !previousFiles.includes(name) && existsSync(join(out, name)));
  if (unrelated !== undefined)
    throw new CliError(
      `--out ${out}: ${unrelated} already exists and is not part of a report; choose another directory`,
    );
  for (const name of previousFiles) if (name !== MANIFEST_FILE) rmSync(join(out, name), { force: true });
}

/** The files that a manifest lists, including itself; none if it is not the manifest of a report. */
function filesOfPreviousReport(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  try {
    const manifest = JSON.parse(readFileSync(path, "utf8")) as {
      readonly standin?: unknown;
      readonly files?: unknown;
    };
    const files: unknown[] = Array.isArray(manifest.files) ? manifest.files : [];
    const isOwnFile = (name: unknown): name is string => typeof name === "string" && basename(name) === name;
    return typeof manifest.standin === "string" && files.length > 0 && files.every(isOwnFile)
      ? [MANIFEST_FILE, ...files]
      : [];
  } catch {
    return [];
  }
}
