import { escapeHtml } from "../../kernel/escape-html.ts";
import { htmlPage } from "../../kernel/html-page.ts";
import { formatMeasurement, type MeasureName } from "../file/expectation.ts";
import type { CouldNotRun, RunFailure, Verdict } from "../run/verdict.ts";
import { RUN_REPORT_STYLE } from "./html-style.ts";
import { htmlTable } from "./html-text.ts";
import { htmlTimeline } from "./html-timeline.ts";
import { explanationLines, marginText, runTitle } from "./pretty.ts";

const VERDICT_TEXT = { passed: "passed", failed: "failed", could_not_run: "could not run" } as const;
const RESULT_TEXT = { passed: "passed", failed: "failed", not_checked: "not checked" } as const;

/** One HTML file without references to other files. The same runs give the same bytes. */
export function htmlReport(runs: readonly (Verdict | CouldNotRun)[]): string {
  const passed = runs.filter(({ verdict }) => verdict === "passed").length;
  const heading = `${passed} of ${runs.length} runs passed`;
  return htmlPage(
    `${heading} – standin run`,
    RUN_REPORT_STYLE,
    `<p class="kicker">standin run</p>
<h1>${heading}</h1>
${runs.length > 1 ? overview(runs) : ""}
${runs.map(runSection).join("\n")}`,
  );
}

function badge(verdict: keyof typeof VERDICT_TEXT): string {
  return `<span class="badge ${verdict}">${VERDICT_TEXT[verdict]}</span>`;
}

function overview(runs: readonly (Verdict | CouldNotRun)[]): string {
  const rows = runs.map((run, index) => [
    `<a href="#run-${index + 1}">${escapeHtml(runTitle(run))}</a>`,
    badge(run.verdict),
    String(run.seed),
    run.verdict === "could_not_run" ? "" : String(run.failures.length),
  ]);
  return htmlTable(["Run", "Verdict", "Seed", "Failures"], rows);
}

function runSection(run: Verdict | CouldNotRun, index: number): string {
  const title = `<h2>${badge(run.verdict)}${escapeHtml(runTitle(run))}</h2>`;
  const content =
    run.verdict === "could_not_run"
      ? `<p>${escapeHtml(run.reason)}</p>`
      : [
          `<p class="subject">${escapeHtml(run.file)} · seed ${run.seed} · simulated time ${run.started_at} to ${run.ended_at}</p>`,
          htmlTimeline(run),
          ...failures(run),
          "<h3>Expectations</h3>",
          expectations(run),
          "<h3>Measures</h3>",
          measures(run),
          steps(run),
        ].join("\n");
  return `<section class="run" id="run-${index + 1}">${title}
${content}
<p class="note">Repeat with: <code>${escapeHtml(run.repeat)}</code></p></section>`;
}

function failures({ file, failures: all }: Verdict): string[] {
  if (all.length === 0) return [];
  const items = all.map((failure, index) => {
    const entries = [...placeOf(file, failure), ...detailsOf(failure)]
      .map(([name, text]) => `<dt>${name}</dt><dd>${escapeHtml(text)}</dd>`)
      .join("");
    return `<li><h4>${index + 1}. ${escapeHtml(failure.what)} at ${failure.at}</h4><dl>${entries}</dl></li>`;
  });
  return ["<h3>Failures</h3>", `<ol class="failures">${items.join("\n")}</ol>`];
}

function placeOf(file: string, { line, column }: RunFailure): [string, string][] {
  return line === undefined ? [] : [["place", `${file}:${line}:${column}`]];
}

function detailsOf(failure: RunFailure): [string, string][] {
  return [["expected", failure.expected], ["actual", failure.actual], ...explanationLines(failure)];
}

function expectations({ expectations: all }: Verdict): string {
  if (all.length === 0) return '<p class="note">The scenario has no expectations.</p>';
  const rows = all.map((expectation) => [
    `<span class="${expectation.result}">${RESULT_TEXT[expectation.result]}</span>`,
    escapeHtml(expectation.what),
    escapeHtml(expectation.expected),
    expectation.value === undefined ? "" : formatMeasurement(expectation.measure, expectation.value),
    marginText(expectation) ?? "",
  ]);
  return htmlTable(["Result", "Where", "Expected", "Value", "Margin"], rows);
}

function measures({ measures: all, events }: Verdict): string {
  const rows = Object.entries(all).map(([name, value]) => [
    name.replaceAll("_", " "),
    formatMeasurement(name as MeasureName, value),
  ]);
  return htmlTable(["Measure", "Value"], [...rows, ["events", String(events)]]);
}

function steps({ steps: all }: Verdict): string {
  if (all.length === 0) return "";
  const rows = all.map(({ place, name, at, ok, detail }) => [
    `<span class="${ok ? "passed" : "failed"}">${ok ? "ok" : "failed"}</span>`,
    place,
    at,
    escapeHtml(name),
    escapeHtml(detail ?? ""),
  ]);
  return `<details><summary>${all.length} steps</summary>${htmlTable(["Result", "Step", "Time", "Name", "Detail"], rows)}</details>`;
}
