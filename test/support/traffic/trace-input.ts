import type { InputReader } from "../../../src/traffic/recorded/formats/csv-input.ts";
import { Intake, type IntakeOptions } from "../../../src/traffic/recorded/rows/intake.ts";

export type ReadRow = readonly [endpoint: string, at: string, durationMs: number, source: string];

/** The result of an input: rows by name, in the order of the input. */
export type ReadInput = { readonly rows: readonly ReadRow[]; readonly intake: Intake };

/** Reads a text in chunks of this many bytes. */
export function readText(
  text: string,
  reader: (intake: Intake) => InputReader,
  chunkBytes = 7,
  options: IntakeOptions = {},
): ReadInput {
  return readWith((intake) => {
    const input = reader(intake);
    const bytes = new TextEncoder().encode(text);
    for (let from = 0; from < bytes.length; from += chunkBytes)
      input.push(bytes.slice(from, from + chunkBytes));
    input.end();
  }, options);
}

export function readWith(read: (intake: Intake) => void, options: IntakeOptions = {}): ReadInput {
  const { intake, rows } = collectRows(options);
  read(intake);
  return { rows: rows(), intake };
}

export function collectRows(options: IntakeOptions = {}): {
  readonly intake: Intake;
  readonly rows: () => ReadRow[];
} {
  const readRows: (readonly [number, number, number, number])[] = [];
  const intake = new Intake(
    { add: (compute, at, durationMs, source) => readRows.push([compute, at, durationMs, source]) },
    options,
  );
  const rows = () => {
    const { computeNames, sourceNames } = intake;
    return readRows.map(([compute, at, durationMs, source]): ReadRow => {
      return [
        computeNames[compute] ?? "?",
        new Date(at).toISOString(),
        durationMs,
        sourceNames[source] ?? "?",
      ];
    });
  };
  return { intake, rows };
}
