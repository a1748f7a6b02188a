import { escapeHtml } from "../../kernel/escape-html.ts";
import { htmlPage } from "../../kernel/html-page.ts";
import { plural } from "../units/number-format.ts";
import { REPORT_STYLE } from "./html-style.ts";
import {
  type Chart,
  type Fact,
  type InputNotes,
  LIMIT_TITLES,
  type ReportLimits,
  type ReportPage,
} from "./page-layout.ts";
import type { PageTable } from "./page-table.ts";
import { PALETTE } from "./palette.ts";

/** Text that every report contains and no other file: identifies a report. */
export const REPORT_MARK = '<p class="kicker">standin what-if</p>';

/** One HTML file without scripts or external resources. */
export function reportHtml(
  page: ReportPage,
  charts: readonly Chart[],
  manifest: object,
  input: InputNotes,
): string {
  const { title, subject, answer, facts, tables, limits } = page;
  const [first = "", ...others] = answer;
  return htmlPage(
    title,
    `${PALETTE}\n${REPORT_STYLE}`,
    `<header>
${REPORT_MARK}
<h1>${escapeHtml(title)}</h1>
<p class="answer">${escapeHtml(first)}</p>
${others.map((sentence) => `<p class="also">${escapeHtml(sentence)}</p>`).join("\n")}
<p class="subject">${escapeHtml(subject)}</p>
</header>
${factsHtml(facts)}
${limitsHtml(limits)}
${charts.map(figureHtml).join("\n")}
${tables.map(tableHtml).join("\n")}
${inputHtml(input)}
<details class="manifest">
<summary>How to reproduce this report</summary>
<pre>${escapeHtml(JSON.stringify(manifest, null, 2))}</pre>
</details>`,
  );
}

function figureHtml({ title, caption, svg, narrowSvg }: Chart): string {
  return `<figure>\n<h2>${escapeHtml(title)}</h2>\n<div class="wide">${svg}</div>\n<div class="narrow">${narrowSvg}</div>\n<figcaption>${escapeHtml(caption)}</figcaption>\n</figure>`;
}

export function factsHtml(facts: readonly Fact[]): string {
  const boxes = facts.map(
    ({ label, value, note }) =>
      `<div class="fact"><span class="label">${escapeHtml(label)}</span><span class="value">${escapeHtml(value)}</span><span class="note">${escapeHtml(note)}</span></div>`,
  );
  return `<section class="facts">\n${boxes.join("\n")}\n</section>`;
}

export function tableHtml({ title, headings, rows, note }: PageTable): string {
  const head = headings.map((heading) => `<th scope="col">${escapeHtml(heading)}</th>`).join("");
  const columns = headings
    .slice(1)
    .map((_, column) => columnHtml(rows.map(({ cells }) => cells[column + 1] ?? "")));
  const body = rows.map(({ cells: [name = ""], mark }, row) => {
    const tag = mark === undefined ? "" : ` <span class="tag">${mark}</span>`;
    const numbers = columns.map((cells) => `<td>${cells[row]}</td>`);
    return `<tr${mark === undefined ? "" : ` class="${mark}"`}><th scope="row">${escapeHtml(name)}${tag}</th>${numbers.join("")}</tr>`;
  });
  const width = estimatedWidth(headings, rows);
  const hint =
    width > PHONE_WIDTH
      ? `<p class="hint${width > PAGE_WIDTH ? " always" : ""}">More columns: scroll the table sideways.</p>\n`
      : "";
  return `<section class="table">\n<h2>${escapeHtml(title)}</h2>\n${hint}<div class="scroll" role="region" aria-label="${escapeHtml(title)}" tabindex="0"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join("\n")}\n</tbody>\n</table></div>${note === undefined ? "" : `\n<p class="note">${escapeHtml(note)}</p>`}\n</section>`;
}

/** Figures align at their decimal points, and margins, which are muted, at their signs. */
function columnHtml(cells: readonly string[]): string[] {
  const parts = cells.map((cell) => cell.split(" ± "));
  const paddings = decimalPaddings(parts.map(([figure = ""]) => figure));
  const width = Math.max(...parts.map(([, margin = ""]) => margin.length));
  return parts.map(([figure = "", margin], row) => {
    const figureHtml = `${escapeHtml(figure)}${paddingHtml(paddings[row] ?? "")}`;
    if (width === 0) return figureHtml;
    // Two characters for the sign and its space.
    const text = margin === undefined ? "" : `± ${escapeHtml(margin)}`;
    return `${figureHtml} <span class="margin" style="min-width:${width + 2}ch">${text}</span>`;
  });
}

const DECIMAL = /^([−+±$<]*[\d,]+)(?:\.(\d+))?(\D*)$/;

/** Padding per cell, up to the longest fraction, so that the decimal points of numbers in the same unit align. */
function decimalPaddings(cells: readonly string[]): string[] {
  const parts = cells.map((cell) => DECIMAL.exec(cell));
  const units = new Set(parts.flatMap((part) => (part === null ? [] : [part[3]])));
  if (units.size !== 1) return [];
  const fractions = parts.map((part) => (part?.[2] === undefined ? "" : `.${part[2]}`));
  const longest = fractions.reduce((most, fraction) => (fraction.length > most.length ? fraction : most), "");
  return parts.map((part, row) =>
    part === null ? "" : longest.slice(fractions[row]?.length ?? 0).replaceAll(/\d/g, "0"),
  );
}

/** An element as wide as the text. It is invisible and is not copied with the page. */
function paddingHtml(text: string): string {
  return text === "" ? "" : `<i data-pad="${text}"></i>`;
}

const PHONE_WIDTH = 388;
const PAGE_WIDTH = 884;
const CHARACTER_WIDTH = 7;
const CELL_PADDING = 20;

function estimatedWidth(headings: readonly string[], rows: PageTable["rows"]): number {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  return widths.reduce((sum, width) => sum + width * CHARACTER_WIDTH + CELL_PADDING, 0);
}

function inputHtml({ notes, badRows, bad }: InputNotes): string {
  if (notes.length === 0 && badRows === 0) return "";
  const items = [
    ...notes,
    ...(badRows === 0
      ? []
      : [`${plural(badRows, "bad row")} skipped${bad.length === 0 ? "" : ", of which the first are:"}`]),
    ...bad.map(({ input, line, reason }) => `${input}, line ${line}: ${reason}`),
  ];
  return `<section class="input">\n<h2>Input</h2>\n<ul>\n${items.map((item) => `<li>${escapeHtml(item)}</li>`).join("\n")}\n</ul>\n</section>`;
}

function limitsHtml(limits: ReportLimits): string {
  const kinds = (Object.keys(LIMIT_TITLES) as (keyof ReportLimits)[]).filter(
    (kind) => limits[kind].length > 0,
  );
  if (kinds.length === 0) return "";
  const parts = kinds.map((kind) => {
    const sentences = limits[kind].map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join("");
    return `<div class="limit ${kind}"><h3>${LIMIT_TITLES[kind]}</h3>${sentences}</div>`;
  });
  return `<details class="limits">\n<summary>How far to trust these figures</summary>\n<div class="columns">\n${parts.join("\n")}\n</div>\n</details>`;
}
