import type { InputReader } from "../../src/recordings/formats/csv-input.ts";
import { Intake, type IntakeOptions } from "../../src/recordings/rows/intake.ts";

export type TakenRow = readonly [endpoint: string, at: string, durationMs: number, source: string];

/** What came of an input: rows by name, in the order of the input. */
export type Taken = { readonly rows: readonly TakenRow[]; readonly intake: Intake };

/** Reads a text, cut into chunks of so many bytes. */
export function take(text: string, reader: (intake: Intake) => InputReader, chunkBytes = 7, options: IntakeOptions = {}): Taken {
  return takeWith((intake) => {
    const input = reader(intake);
    const bytes = new TextEncoder().encode(text);
    for (let from = 0; from < bytes.length; from += chunkBytes) input.push(bytes.slice(from, from + chunkBytes));
    input.end();
  }, options);
}

export function takeWith(read: (intake: Intake) => void, options: IntakeOptions = {}): Taken {
  const { intake, rows } = collecting(options);
  read(intake);
  return { rows: rows(), intake };
}

export function collecting(options: IntakeOptions = {}): { readonly intake: Intake; readonly rows: () => TakenRow[] } {
  const taken: (readonly [number, number, number, number])[] = [];
  const intake = new Intake({ add: (...row) => taken.push(row) }, options);
  const rows = () => {
    const { computeNames, sourceNames } = intake;
    return taken.map(([compute, at, durationMs, source]): TakenRow => {
      return [computeNames[compute] ?? "?", new Date(at).toISOString(), durationMs, sourceNames[source] ?? "?"];
    });
  };
  return { intake, rows };
}
