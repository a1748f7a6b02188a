import fc from "fast-check";
import type { ComputeTrace, Trace } from "../../../src/traffic/recorded/trace/trace.ts";
import type { GapRow } from "../../../src/whatif/trace/gap-row.ts";
import { gapRowsCsv } from "../../../src/whatif/trace/gap-row-reader.ts";
import { GapTable } from "../../../src/whatif/trace/gap-table.ts";
import { BEGIN, DAY, type Row, requestsOf, SECOND } from "./traces.ts";

/** One request, as a table of a database has it. */
export type Request = { readonly compute: string; readonly at: number; readonly durationMs: number };

const gapMs = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 1, 59_999, 60_000, 60_001, 61_000, 299_500, 300_000, 300_001) },
  { weight: 4, arbitrary: fc.nat(20 * 60 * SECOND) },
  { weight: 2, arbitrary: fc.nat(DAY) },
  { weight: 1, arbitrary: fc.constantFrom(7 * DAY, 7 * DAY + 1, 9 * DAY) },
);

/** Requests of a few computes over some days: overlapping, at one instant, over midnight, idle for over a week. */
export const anyRequests: fc.Arbitrary<readonly Request[]> = fc
  .array(
    fc.array(
      fc.record({
        gapMs,
        fromEnd: fc.boolean(),
        durationMs: fc.oneof(fc.constantFrom(0, 0, 1, 60_000), fc.nat(2 * 3_600 * SECOND)),
      }),
      { minLength: 1, maxLength: 30 },
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((computes) =>
    computes.flatMap((steps, number) => {
      let [at, end] = [BEGIN + number, BEGIN + number];
      return steps.map((step) => {
        at = Math.max(at, step.fromEnd ? end + step.gapMs : at + step.gapMs);
        end = Math.max(end, at + step.durationMs);
        return { compute: `compute, "${number}"`, at, durationMs: step.durationMs };
      });
    }),
  );

/** A trace as an import reads it from a file sorted by time: computes are in order of their first request. */
export function traceOfRequests(requests: readonly Request[]): Trace {
  const computes = new Map<string, Row[]>();
  for (const { compute, at, durationMs } of requests.toSorted((a, b) => a.at - b.at))
    computes.set(compute, [...(computes.get(compute) ?? []), [at - BEGIN, durationMs]]);
  const ats = requests.map(({ at }) => at);
  return {
    period: { startAt: Math.min(...ats), endAt: Math.max(...ats) + 1 },
    computes: [...computes].map(([id, rows]): ComputeTrace => ({ id, arrivals: requestsOf(rows) })),
  };
}

/** One row for each request, by the definition: rows of one key are for a table to add up. */
export function gapRowsOf(requests: readonly Request[]): GapRow[] {
  const ends = new Map<string, number>();
  return requests
    .toSorted((a, b) => a.at - b.at || a.durationMs - b.durationMs)
    .map(({ compute, at, durationMs }) => {
      const before = ends.get(compute) ?? at;
      const end = Math.max(before, at + durationMs);
      ends.set(compute, end);
      const gap = Math.max(0, at - before);
      const isOverMidnight = gap > 60 * SECOND && Math.floor(before / DAY) < Math.floor(at / DAY);
      return {
        compute,
        day: Math.floor(at / DAY),
        gapS: Math.min(604_801, Math.ceil(gap / SECOND)),
        overMidnight: isOverMidnight ? 1 : 0,
        requests: 1,
        gapMs: gap,
        busyMs: end - Math.max(before, at),
        firstAt: at,
        lastAt: at,
        lastEnd: at + durationMs,
      };
    });
}

export function tableOf(rows: Iterable<GapRow>): GapTable {
  const table = new GapTable();
  for (const row of rows) table.add(row);
  return table;
}

export const csvOf = (table: GapTable) => [...gapRowsCsv(table.sortedRows())].join("");
