import { dayStart } from "../../kernel/calendar.ts";
import { nameHash } from "../../kernel/shard.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";

/** With more long gaps (about 1 GB), they are not stored. */
export const MAX_LONG_GAPS = 40_000_000;

/** Most days that are treated one by one: ten years. A longer period comes from a misdated request. */
export const MAX_DAYS = 3_660;

/**
 * The gaps that are longer than the shortest delay, one by one, with their day and compute. Together with the
 * other active time of each day, they give the figures of any delay on any days. Plain values, so a worker can
 * transfer them.
 */
export type LongGaps = {
  /** The first UTC day of the period. Days are numbered from it. */
  readonly firstDay: SimTime;
  readonly days: number;
  /** Number of computes of the whole traffic, even if the gaps are those of only some. */
  readonly computes: number;
  /** Index in `gapMs`, `endAt`, `day` and `waitMs` of the first gap of each compute; a last element marks the end. */
  readonly firstOf: Float64Array;
  readonly gapMs: Float64Array;
  /** When the gap ends, with an arrival. */
  readonly endAt: Float64Array;
  /** The day of the arrival that ends the gap. */
  readonly day: Uint16Array;
  /** Total time that requests wait for the start after the gap, if the compute is suspended. */
  readonly waitMs: Float64Array;
  /** 1 for gaps at whose end nobody waits, so that the start is not a cold start; undefined if there are none. */
  readonly unwaited?: Uint16Array | undefined;
  /** By compute: time from the last request to the end of the period. No request waits after it. */
  readonly tailMs: Float64Array;
  readonly tailFrom: Float64Array;
  /** By compute: time that requests wait for its first start. */
  readonly firstWaitMs: Float64Array;
  /** Group of each compute; see `computeGroups`. */
  readonly groupOf: Uint8Array;
  /** Requests, and the active time apart from long gaps, by group of computes and day; see `computeGroups`. */
  readonly requests: Float64Array;
  readonly activeMs: Float64Array;
  /** Active time weighted by size (CU-milliseconds), indexed as `activeMs`. */
  readonly cuMs: Float64Array;
};

/** Number of groups. With more computes, several share a group. */
const MAX_GROUPS = 256;

/**
 * The group of each compute, used to estimate how computes differ. With up to `MAX_GROUPS` computes each has a group of
 * its own, otherwise a pseudorandom one. It depends only on the names and not on their order, so the margins do not
 * depend on the order either. Values by group and day are at `group * days + day`.
 */
export function computeGroups(names: readonly string[]): Uint8Array {
  if (names.length > MAX_GROUPS) return Uint8Array.from(names, (name) => nameHash(name) % MAX_GROUPS);
  const groups = new Uint8Array(names.length);
  const byName = [...names.keys()].sort((a, b) => ((names[a] as string) < (names[b] as string) ? -1 : 1));
  for (const [group, compute] of byName.entries()) groups[compute] = group;
  return groups;
}

export function groupCount(computes: number): number {
  return Math.min(MAX_GROUPS, computes);
}

/** Number of UTC days that the period overlaps, partial days included. */
export function dayCount({ startAt, endAt }: Period): number {
  return Math.ceil((endAt - dayStart(startAt)) / DAY);
}

/**
 * Joins the long gaps of parts of the computes, in their order. Undefined if a part is undefined or if there are more
 * than `MAX_LONG_GAPS` gaps.
 */
export function mergeLongGaps(parts: readonly (LongGaps | undefined)[]): LongGaps | undefined {
  const known = parts.filter((part) => part !== undefined);
  const [first] = known;
  const count = known.reduce((sum, { gapMs }) => sum + gapMs.length, 0);
  if (first === undefined || known.length < parts.length || count > MAX_LONG_GAPS) return undefined;
  const firstOf = [0];
  for (const part of known) {
    const offset = firstOf.at(-1) as number;
    for (const index of part.firstOf.subarray(1)) firstOf.push(offset + index);
  }
  const joined = <T extends Float64Array | Uint16Array | Uint8Array>(
    of: (part: LongGaps) => T,
    into: T,
  ): T => {
    let next = 0;
    for (const part of known) {
      into.set(of(part), next);
      next += of(part).length;
    }
    return into;
  };
  const ofGaps = (of: (part: LongGaps) => Float64Array) => joined(of, new Float64Array(count));
  const ofComputes = (of: (part: LongGaps) => Float64Array) =>
    joined(of, new Float64Array(firstOf.length - 1));
  const added = (of: (part: LongGaps) => Float64Array) =>
    of(first).map((_, cell) => known.reduce((sum, part) => sum + (of(part)[cell] as number), 0));
  return {
    firstDay: first.firstDay,
    days: first.days,
    computes: first.computes,
    firstOf: Float64Array.from(firstOf),
    gapMs: ofGaps(({ gapMs }) => gapMs),
    endAt: ofGaps(({ endAt }) => endAt),
    day: joined(({ day }) => day, new Uint16Array(count)),
    waitMs: ofGaps(({ waitMs }) => waitMs),
    unwaited: known.some(({ unwaited }) => unwaited !== undefined)
      ? joined((part) => part.unwaited ?? new Uint16Array(part.gapMs.length), new Uint16Array(count))
      : undefined,
    tailMs: ofComputes(({ tailMs }) => tailMs),
    tailFrom: ofComputes(({ tailFrom }) => tailFrom),
    firstWaitMs: ofComputes(({ firstWaitMs }) => firstWaitMs),
    groupOf: joined(({ groupOf }) => groupOf, new Uint8Array(firstOf.length - 1)),
    requests: added(({ requests }) => requests),
    activeMs: added(({ activeMs }) => activeMs),
    cuMs: added(({ cuMs }) => cuMs),
  };
}
