/** CSV with the names and values of the JSON. Names of nested fields are joined with `_`. */
// @ts-nocheck

export function recordsCsv(records: readonly object[]): string {
  const rows = records.map((record) => new Map(flattenFields(record, "")));
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  // An object that is null in some records has its fields as columns, and none of its own.
  const headings = names.filter(
    (name) => !names.some((other) => other.startsWith(`${name}_`)) || hasValue(rows, name),
  );
  return toCsv(
    headings,
    rows.map((row) => headings.map((heading) => row.get(heading) ?? "")),
  );
}

function hasValue(rows: readonly ReadonlyMap<string, CsvValue>[], name: string): boolean {
  return rows.some((row) => (row.get(name) ?? "") !== "");
}

export function toCsv(headings: readonly string[], rows: Iterable<readonly CsvValue[]>): string {
  const lines = [headings.map(csvCell).join(",")];
  for (const row of rows) lines.push(row.map(csvCell).join(","));
  return `${lines.join("\n")}\n`;
}

type CsvValue = string | number | boolean;

/** Lists are omitted, because they have their own tables; null becomes an empty cell. */
function flattenFields(record: object, prefix: string): [string, CsvValue][] {
  return Object.entries(record).flatMap(([name, value]): [string, CsvValue][] => {
    if (Array.isArray(value) || value === undefined) return [];
    if (typeof value === "object" && value !== null) return flattenFields(value, `${prefix}${name}_`);
    return [[prefix + name, value ?? ""]];
  });
}

/**
 * Prefixes names that a spreadsheet would evaluate as a formula with an apostrophe: names come from untrusted
 * traces.
 */
function csvCell(value: CsvValue): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
