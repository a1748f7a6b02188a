import { isOfShard, type Shard } from "../../../kernel/shard.ts";
import type { SimTime } from "../../../kernel/time.ts";
import type { BadInputRow } from "../rows/bad-rows.ts";
import type { InputReading } from "../rows/input-reading.ts";
import { Intake, type IntakeOptions, type RowSink } from "../rows/intake.ts";
import { mergeSegments, type RunSegment } from "../rows/merged-rows.ts";
import { RecordingError } from "../rows/recording-error.ts";
import { RunBuffer, type SortedRun } from "../rows/row-run.ts";
import type { Period } from "../trace/trace.ts";
import { EqualInputs } from "./equal-inputs.ts";
import { type FileInput, readFileInput } from "./file-input.ts";
import { RepeatedRequests } from "./repeated-requests.ts";
import { SpillFile } from "./spill.ts";
import type { TraceHeader } from "./trace-header.ts";
import { estimateTraceBytes, TraceWriter } from "./trace-writer.ts";

/** Progress so far. `rowsPerSecond` needs a clock. */
export type ImportProgress = {
  readonly input: string;
  readonly rows: number;
  readonly badRows: number;
  /** Bytes read of all inputs together, as stored on disk. */
  readonly bytes: number;
  readonly totalBytes: number;
  readonly rowsPerSecond: number | undefined;
  /** Size of the trace, extrapolated from the rows so far; `undefined` for the first rows. */
  readonly estimatedBytes: number | undefined;
};

/** An input that is not a file, such as a world. */
type RowsInput = { readonly name: string; readonly read: (intake: Intake) => void | Promise<void> };
export type TraceInput = FileInput | RowsInput;

export type ImportOptions = IntakeOptions & {
  /** Rows held in memory, 44 bytes each; more rows are sorted on disk. */
  readonly rowsInMemory?: number | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void | Promise<void>) | undefined;
  /** Largest size of the trace; a larger one is a `RecordingError`. */
  readonly maxBytes?: number | undefined;
  /** Lists all computes, but omits the requests of computes outside of this part. */
  readonly shard?: Shard | undefined;
  /** Milliseconds of a monotonic clock, for the rate. */
  readonly clock?: (() => number) | undefined;
};

export type ImportReport = {
  readonly header: TraceHeader;
  readonly rows: number;
  readonly badRows: number;
  readonly skippedRows: number;
  readonly outsideRows: number;
  /** The first bad rows. */
  readonly bad: readonly BadInputRow[];
  /** Guesses and caveats. */
  readonly notes: readonly string[];
  /** How each input was read. */
  readonly readings: readonly InputReading[];
};

const ROWS_IN_MEMORY = 4_194_304;
/** Least number of rows for an estimate. */
const MIN_ESTIMATED_ROWS = 10_000;

/**
 * Imports inputs into one `.standin-trace`: computes in the order of their first rows, requests by arrival,
 * those of one instant in the order of the inputs. Throws a `RecordingError` that starts with the input's
 * name; `path` then stays unchanged.
 */
export async function importTrace(
  inputs: readonly TraceInput[],
  path: string,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const sort = new ExternalSort(path, options.rowsInMemory ?? ROWS_IN_MEMORY);
  try {
    // Two that are equal have half of all requests twice, which is noted without digests.
    const equal = inputs.length > 2 ? new EqualInputs() : undefined;
    const intake = new Intake(equal === undefined ? sort.run : withDigests(sort.run, equal), options);
    await readInputs(inputs, intake, options, equal);
    if (intake.rows === 0)
      throw new RecordingError(
        `no usable request in ${inputs.map(({ name }) => name).join(", ")}${firstProblem(intake)}`,
      );
    intake.noteStrayInstants();
    equal?.noteIn(intake);
    const header = writeSortedTrace(path, sort, intake, inputs, options);
    const { rows, badRows, skippedRows, outsideRows, bad, notes, readings } = intake;
    return { header, rows, badRows, skippedRows, outsideRows, bad, notes, readings };
  } finally {
    sort.end();
  }
}

function withDigests(sink: RowSink, equal: EqualInputs): RowSink {
  return {
    add(compute, at, durationMs, source, load) {
      equal.add(compute, at, durationMs, source);
      sink.add(compute, at, durationMs, source, load);
    },
  };
}

async function readInputs(
  inputs: readonly TraceInput[],
  intake: Intake,
  { onProgress, clock }: ImportOptions,
  equal: EqualInputs | undefined,
): Promise<void> {
  const startedAt = clock?.() ?? 0;
  const totalBytes = inputs.reduce((sum, input) => sum + ("path" in input ? input.bytes : 0), 0);
  let bytesBefore = 0;
  for (const input of inputs) {
    intake.begin(input.name);
    try {
      if (!("path" in input)) await input.read(intake);
      else {
        await readFileInput(input, intake, async (bytes) => {
          const elapsedMs = (clock?.() ?? 0) - startedAt;
          const rowsPerSecond = elapsedMs > 0 ? (intake.rows / elapsedMs) * 1_000 : undefined;
          const estimatedBytes =
            intake.rows < MIN_ESTIMATED_ROWS
              ? undefined
              : estimateTraceBytes((intake.rows * totalBytes) / (bytesBefore + bytes));
          await onProgress?.({
            input: input.name,
            rows: intake.rows,
            badRows: intake.badRows,
            bytes: bytesBefore + bytes,
            totalBytes,
            rowsPerSecond,
            estimatedBytes,
          });
        });
        bytesBefore += input.bytes;
      }
      intake.end();
      equal?.endInput(input.name);
    } catch (error) {
      if (error instanceof RecordingError) throw new RecordingError(`${input.name}: ${error.message}`);
      throw error;
    }
  }
}

function writeSortedTrace(
  path: string,
  sort: ExternalSort,
  intake: Intake,
  inputs: readonly TraceInput[],
  options: ImportOptions,
): TraceHeader {
  const writer = new TraceWriter(path, options.maxBytes);
  try {
    const segmentsOf = sort.segments();
    const repeated = new RepeatedRequests();
    const take = (at: SimTime, durationMs: number, source: number) => {
      repeated.add(at, durationMs, source);
      writer.add(at, durationMs, source);
    };
    intake.computeNames.forEach((name, compute) => {
      const segments = segmentsOf(compute);
      // All rows of a compute may have been rejected.
      if (segments.length === 0) return;
      if (options.shard === undefined || isOfShard(name, options.shard)) mergeSegments(segments, take);
      writer.endCompute(name);
      repeated.endCompute();
    });
    repeated.noteIn(intake);
    const { badRows, skippedRows, outsideRows, notes } = intake;
    return writer.finish(periodOf(intake, options), intake.sourceNames, {
      inputs: inputs.map(({ name }) => name),
      badRows,
      skippedRows,
      outsideRows,
      notes,
      shard: options.shard,
    });
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

/**
 * The requested bounds; otherwise the period that the inputs state; otherwise from the first arrival to the
 * last one.
 */
function periodOf(intake: Intake, { startAt, endAt }: IntakeOptions): Period {
  const { period, firstAt, lastAt } = intake;
  return {
    startAt: startAt ?? Math.min(period?.startAt ?? firstAt, firstAt),
    endAt: endAt ?? Math.max(period?.endAt ?? 0, lastAt + 1),
  };
}

function firstProblem({ bad: [first], outsideRows, wrongGuess }: Intake): string {
  const hint = wrongGuess === undefined ? "" : `; ${wrongGuess}`;
  if (first !== undefined) return ` (${first.input}, line ${first.line}: ${first.reason})${hint}`;
  return outsideRows > 0 ? ` (${outsideRows} outside the period)` : "";
}

/** Sorts one run in memory, and further runs on disk. */
class ExternalSort {
  readonly run: RunBuffer;
  readonly #path: string;
  #spill: SpillFile | undefined;

  constructor(path: string, rowsInMemory: number) {
    this.#path = path;
    this.run = new RunBuffer(rowsInMemory, () => this.#spillRun());
  }

  /** Call it after the last row, once per compute, with ascending numbers. */
  segments(): (compute: number) => RunSegment[] {
    if (this.#spill === undefined) return segmentsIn(this.run.group());
    this.#spillRun();
    return this.#spill.segmentsOf();
  }

  end(): void {
    this.#spill?.remove();
  }

  #spillRun(): void {
    if (this.run.count === 0) return;
    this.#spill ??= new SpillFile(this.#path);
    this.#spill.write(this.run.group());
    this.run.clear();
  }
}

function segmentsIn({ rows, computes, starts }: SortedRun): (compute: number) => RunSegment[] {
  let nextGroup = 0;
  return (compute) => {
    if (computes[nextGroup] !== compute) return [];
    const [start, end] = [starts[nextGroup] as number, starts[nextGroup + 1] as number];
    nextGroup += 1;
    return [
      {
        length: end - start,
        read(from, { at, durationMs, source }) {
          const to = Math.min(start + from + at.length, end);
          at.set(rows.at.subarray(start + from, to));
          durationMs.set(rows.durationMs.subarray(start + from, to));
          source.set(rows.source.subarray(start + from, to));
        },
      },
    ];
  };
}
