import { isoInstant } from "../../kernel/calendar.ts";
import { columnsText, type FirstRow, type InputReading } from "../../traffic/recorded/rows/input-reading.ts";
import { formatTable } from "../terminal/text-table.ts";

/** Many inputs, such as the files of a month, are read alike. */
const MAX_INPUTS_SHOWN = 5;

/** How the inputs were read, for a person: inputs with the columns of an earlier one are omitted. */
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

/** The same for JSON: all inputs. */
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
