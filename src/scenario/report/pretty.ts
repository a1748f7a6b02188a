import { formatMeasurement, type MeasureName } from "../file/expectation.ts";
import type { ComputeTimeline } from "../measure/run-figures.ts";
import type { CouldNotRun, ExpectationResult, RunFailure, StepResult, Verdict } from "../run/verdict.ts";

type Colour = "green" | "red" | "yellow" | "dim" | "bold";
/** Colours a text if the terminal supports it. */
type TextPainter = (colour: Colour, text: string) => string;
export type ReportStyle = { readonly width: number; readonly paint: TextPainter };

const MAX_LABEL_WIDTH = 32;
const MAX_TIMELINES = 20;
const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/** The measures in the summary line; the JSON report has the others. */
const SUMMARY_MEASURES: readonly MeasureName[] = [
  "activities",
  "refused",
  "cold_starts",
  "active_time",
  "compute_time",
  "wait_p99",
  "wait_max",
  "requests",
  "errors",
];

export function runTitle({ scenario, values }: Pick<Verdict, "scenario" | "values">): string {
  const shown = Object.entries(values).map(([name, value]) => `${name} ${value}`);
  return shown.length === 0 ? scenario : `${scenario} (${shown.join(", ")})`;
}

export function prettyStep({ ok, name, at, place, detail }: StepResult, { paint }: ReportStyle): string {
  const indent = "  ".repeat(place.split(".").length);
  const shown = detail === undefined ? "" : paint("dim", `  ${detail}`);
  return `${indent}${ok ? paint("green", "✓") : paint("red", "✗")} ${paint("dim", at)} ${name}${shown}`;
}

export function prettyReason(run: CouldNotRun, { paint }: ReportStyle): string {
  return `${paint("red", "could not run")} ${runTitle(run)}: ${run.reason}`;
}

/** The summary of a run: its timelines, its measures and its failures. */
export function prettyVerdict(verdict: Verdict, style: ReportStyle): string {
  const { paint } = style;
  const isPassed = verdict.verdict === "passed";
  const mark = isPassed ? paint("green", "passed") : paint("red", "failed");
  return [
    ...timelines(verdict, style),
    `  ${paint("dim", formatMeasures(verdict))}`,
    ...prettyExpectations(verdict, style),
    ...verdict.failures.flatMap((failure) => prettyFailure(verdict.file, failure, style)),
    ...(isPassed ? [] : [`  ${paint("dim", "repeat with:")} ${verdict.repeat}`]),
    `${mark} ${paint("bold", runTitle(verdict))}`,
  ].join("\n");
}

function formatMeasures({ measures, events }: Verdict): string {
  const shown = SUMMARY_MEASURES.map((name) => `${name} ${formatMeasurement(name, measures[name] ?? 0)}`);
  return [...shown, `events ${events.toLocaleString("en")}`].join(" · ");
}

/** One line per expectation: its result, its value and its margin. */
function prettyExpectations({ expectations }: Verdict, { paint }: ReportStyle): string[] {
  const rows = expectations.map((expectation) => ({
    ...expectation,
    actual:
      expectation.value === undefined
        ? "not checked"
        : formatMeasurement(expectation.measure, expectation.value),
  }));
  const width = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const whatWidth = width(rows.map(({ what }) => what));
  const expectedWidth = width(rows.map(({ expected }) => expected));
  const actualWidth = width(rows.map(({ actual }) => actual));
  return rows.map((row) => {
    const mark =
      row.result === "passed"
        ? paint("green", "✓")
        : row.result === "failed"
          ? paint("red", "✗")
          : paint("yellow", "-");
    const margin = marginText(row);
    const line = `${row.what.padEnd(whatWidth)}  ${row.expected.padEnd(expectedWidth)}  ${row.actual.padEnd(actualWidth)}`;
    return `  ${mark} ${margin === undefined ? line.trimEnd() : `${line}  ${paint("dim", margin)}`}`;
  });
}

/** The distance of an expectation to its bound; `undefined` for states. */
export function marginText({
  measure,
  margin,
  result,
}: Pick<ExpectationResult, "measure" | "margin" | "result">): string | undefined {
  if (margin === undefined) return undefined;
  const distance = formatMeasurement(measure, Math.abs(margin));
  if (result === "failed") return margin < 0 ? `misses the bound by ${distance}` : "at the bound";
  return `margin ${distance}`;
}

/** Names of the event that broke an expectation, and of its causes. */
export function explanationLines({ broken_by, last_change, caused_by }: RunFailure): [string, string][] {
  const change: [string, string][] =
    broken_by !== undefined
      ? [["broken by", broken_by]]
      : last_change === undefined
        ? []
        : [["last change", last_change]];
  return [...change, ...caused_by.map((cause): [string, string] => ["caused by", cause])];
}

function prettyFailure(file: string, failure: RunFailure, { paint }: ReportStyle): string[] {
  const { what, at, expected, actual, line, column } = failure;
  return [
    `  ${paint("red", "✗")} ${paint("bold", what)} at ${at}`,
    ...(line === undefined ? [] : [`      ${file}:${line}:${column}`]),
    `      expected     ${paint("green", expected)}`,
    `      actual       ${paint("red", actual)}`,
    ...explanationLines(failure).map(([name, text]) => `      ${name.padEnd(11)}  ${paint("dim", text)}`),
  ];
}

/** One line per compute, as wide as the terminal. */
function timelines(
  { timelines: all, timelines_left_out, started_at, ended_at }: Verdict,
  { width, paint }: ReportStyle,
): string[] {
  if (all.length === 0) return [];
  const shown = all.slice(0, MAX_TIMELINES);
  const labelWidth = Math.min(MAX_LABEL_WIDTH, Math.max(...shown.map(({ label }) => label.length)));
  const columns = Math.max(10, width - labelWidth - 4);
  const lines = shown.map(
    (timeline) =>
      `  ${fitLabel(timeline.label, labelWidth)}  ${paintBar(timelineBar(timeline, columns), paint)}`,
  );
  const scale = `${started_at}${" ".repeat(Math.max(1, columns - started_at.length - ended_at.length))}${ended_at}`;
  const hidden = all.length - shown.length + timelines_left_out;
  return [
    ...lines,
    ...(hidden === 0
      ? []
      : [`  ${paint("dim", `and ${hidden} more ${hidden === 1 ? "compute" : "computes"}`)}`]),
    `  ${" ".repeat(labelWidth)}  ${paint("dim", scale)}`,
    `  ${paint("dim", "· idle  ░ starting  ▁…█ active (height: share of the time)")}`,
  ];
}

/** Exported for its test. The height of a column is the active share of its time. */
export function timelineBar(
  { active, starting }: Pick<ComputeTimeline, "active" | "starting">,
  columns: number,
): string {
  return Array.from({ length: columns }, (_, column) => {
    const share = mean(active, column, columns);
    if (share > 0) return BARS[Math.min(BARS.length - 1, Math.floor(share * BARS.length))] ?? "█";
    return mean(starting, column, columns) > 0 ? "░" : "·";
  }).join("");
}

/** The mean of the values in one of `columns` equal parts. */
function mean(values: readonly number[], column: number, columns: number): number {
  const from = Math.floor((column * values.length) / columns);
  const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / columns));
  const part = values.slice(from, to);
  return part.reduce((sum, value) => sum + value, 0) / Math.max(1, part.length);
}

function paintBar(text: string, paint: TextPainter): string {
  return text
    .replaceAll(/[▁-█]+/g, (run) => paint("green", run))
    .replaceAll(/░+/g, (run) => paint("yellow", run))
    .replaceAll(/·+/g, (run) => paint("dim", run));
}

function fitLabel(text: string, width: number): string {
  return text.length <= width ? text.padEnd(width) : `…${text.slice(text.length - width + 1)}`;
}
