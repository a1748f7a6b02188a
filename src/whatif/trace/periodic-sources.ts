import { type DurationMs, SECOND } from "../../kernel/time.ts";
import { eachPart } from "../../traffic/recorded/trace/trace.ts";
import type { Traffic } from "./traffic.ts";

/** A source that sends requests at a constant interval, such as a health check. */
export type PeriodicSource = { readonly source: string; readonly everyMs: DurationMs };

/** Most gaps stored per source; the first ones of each compute. */
const MAX_GAPS = 10_000;
const MIN_GAPS = 20;
/** A source is periodic if at least `MIN_REGULAR_SHARE` of its gaps are this close to their median. */
const MIN_REGULAR_SHARE = 0.8;
const TOLERANCE = 0.1;
/** Shorter gaps are within a burst, which both people and programs send. */
const MIN_GAP_MS = SECOND;

/** The periodic sources, in the order of the traffic's sources. Nobody waits for their requests. */
export function periodicSources(traffic: Traffic): readonly PeriodicSource[] {
  const gaps = traffic.sources.map((): DurationMs[] => []);
  for (const compute of traffic.computes.keys()) {
    const lastAt = new Float64Array(traffic.sources.length).fill(Number.NaN);
    eachPart(traffic.arrivals(compute), ({ at, source }) => {
      for (let i = 0; i < at.length; i += 1) {
        const from = source?.[i] ?? 0;
        const gapMs = (at[i] as number) - (lastAt[from] as number);
        lastAt[from] = at[i] as number;
        const own = gaps[from];
        if (gapMs >= MIN_GAP_MS && own !== undefined && own.length < MAX_GAPS) own.push(gapMs);
      }
    });
  }
  return traffic.sources.flatMap((source, index) => {
    const everyMs = intervalOf(gaps[index] ?? []);
    return source === "" || everyMs === undefined ? [] : [{ source, everyMs }];
  });
}

/** The source whose interval is about this long. */
export function sourceWithGaps(
  periodic: readonly PeriodicSource[],
  gapMs: DurationMs,
): PeriodicSource | undefined {
  return periodic.find(({ everyMs }) => Math.abs(gapMs - everyMs) <= TOLERANCE * everyMs);
}

function intervalOf(gaps: readonly DurationMs[]): DurationMs | undefined {
  if (gaps.length < MIN_GAPS) return undefined;
  const sorted = Float64Array.from(gaps).sort();
  const median = sorted[Math.floor(sorted.length / 2)] as number;
  const regular = sorted.filter((gap) => Math.abs(gap - median) <= TOLERANCE * median).length;
  return regular >= MIN_REGULAR_SHARE * sorted.length ? median : undefined;
}
