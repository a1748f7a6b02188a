/** Rows with the names and the values of the JSON: what programs read. What lies within a field has the field's name before its own. */
export function recordsCsv(records: readonly object[]): string {
  const rows = records.map((record) => new Map(fieldsOf(record, "")));
  const headings = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  return csvOf(
    headings,
    rows.map((row) => headings.map((heading) => row.get(heading) ?? "")),
  );
}

export function csvOf(headings: readonly string[], rows: Iterable<readonly Value[]>): string {
  const lines = [headings.map(cell).join(",")];
  for (const row of rows) lines.push(row.map(cell).join(","));
  return `${lines.join("\n")}\n`;
}

type Value = string | number | boolean;

/** Lists are tables of their own, and left out; null is nothing. */
function fieldsOf(record: object, before: string): [string, Value][] {
  return Object.entries(record).flatMap(([name, value]): [string, Value][] => {
    if (Array.isArray(value) || value === undefined) return [];
    if (typeof value === "object" && value !== null) return fieldsOf(value, `${before}${name}_`);
    return [[before + name, value ?? ""]];
  });
}

/** Names come from traces: what a spreadsheet would take for a formula gets an apostrophe before it, as one types it there. */
function cell(value: Value): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
