import { isoInstant } from "../../kernel/calendar.ts";
import { columnsText, type FirstRow, type InputReading } from "../../traffic/recorded/rows/input-reading.ts";
import { formatTable } from "../terminal/text-table.ts";

/** Inputs such as the files of a month are all read in the same way, so the first few suffice. */
const MAX_INPUTS_SHOWN = 5;

/** Describes how the inputs were read. Omits inputs with the same columns as an earlier one. */
export function readingLines(readings: readonly InputReading[]): string[] {
  const seen = new Set<string>();
  const different = readings.filter(({ columns }) => {
    const text = columns === undefined ? "" : columnsText(columns);
    return !seen.has(text) && seen.add(text);
  });
  return different
    .slice(0, MAX_INPUTS_SHOWN)
    .flatMap(({ input, columns, first }) => [
      `${input}: ${columns === undefined ? "" : `${columnsText(columns)}; `}first requests as read:`,
      formatTable(["compute", "at", "duration ms", "source"], first.map(cellsOf)).trimEnd(),
    ]);
}

function cellsOf({ compute, at, durationMs, source }: FirstRow): string[] {
  return [compute, isoInstant(at), String(durationMs), source];
}

/** How an input was read, for JSON. */
export function readingSummary({ input, columns, first }: InputReading) {
  return {
    input,
    columns: columns?.mapping ?? null,
    duration_unit: columns?.durationUnit ?? null,
    columns_not_read: columns?.unread ?? [],
    first_requests: first.map(({ compute, at, durationMs, source }) => ({
      compute,
      at: isoInstant(at),
      duration_ms: durationMs,
      source,
    })),
  };
}
