import { escapeControls } from "../../kernel/text.ts";

/** A table in plain text; each column is as wide as its widest cell. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const shownRows = rows.map((row) => row.map((cell) => escapeControls(cell).replaceAll("\n", "\\n")));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...shownRows.map((row) => row[column]?.length ?? 0)),
  );
  return [headings, ...shownRows]
    .map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd())
    .join("\n");
}
