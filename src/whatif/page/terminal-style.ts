import { LIMIT_TITLES, type ReportLimits, type ReportPage } from "./page-layout.ts";
import type { PageTable } from "./page-table.ts";

export type TextStyler = (colour: "green" | "yellow" | "dim" | "bold" | "cyan", text: string) => string;

const MARKS = { best: "★", current: "●", bound: "◇" } as const;
const COLOURS = { best: "green", current: "yellow", bound: "cyan" } as const;
const MEANINGS = { best: "best", current: "current", bound: "bound, not achievable" } as const;

/** The page as text, beginning with the answer. */
export function terminalText(page: ReportPage, width: number, style: TextStyler): string {
  const answer = page.answer.flatMap((sentence, index) =>
    wrapped(sentence, width).map((line) => (index === 0 ? style("bold", line) : line)),
  );
  const parts = [
    answer,
    wrapped(page.subject, width).map((line) => style("dim", line)),
    ...page.tables.map((table) => tableLines(table, style)),
  ];
  return [...parts, limitLines(page.limits, width, style)].map((lines) => lines.join("\n")).join("\n\n");
}

function tableLines({ title, headings, rows }: PageTable, style: TextStyler): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ");
  const marks = [...new Set(rows.flatMap(({ mark }) => (mark === undefined ? [] : [mark])))];
  const legend = marks.map((mark) => `${MARKS[mark]} ${MEANINGS[mark]}`).join("  ");
  return [
    style("bold", title),
    style("dim", `  ${line(headings)}`.trimEnd()),
    ...rows.map(({ cells, mark }) =>
      mark === undefined
        ? `  ${line(cells)}`.trimEnd()
        : style(COLOURS[mark], `${MARKS[mark]} ${line(cells)}`.trimEnd()),
    ),
    ...(legend === "" ? [] : [style("dim", `  ${legend}`)]),
  ];
}

function limitLines(limits: ReportLimits, width: number, style: TextStyler): string[] {
  return (Object.keys(LIMIT_TITLES) as (keyof ReportLimits)[]).flatMap((kind) =>
    limits[kind].flatMap((sentence, index) => {
      const label = index === 0 ? `${LIMIT_TITLES[kind]}: ` : "";
      return wrapped(sentence, width - 12).map((line, row) =>
        style("dim", `${(row === 0 ? label : "").padEnd(12)}${line}`),
      );
    }),
  );
}

/** Wraps at spaces; the width is at least 40. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > Math.max(40, width)) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
