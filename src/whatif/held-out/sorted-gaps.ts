import type { DurationMs } from "../../kernel/time.ts";
import type { LongGaps } from "../trace/long-gaps.ts";

/**
 * Maximum number of groups of days. A gap and its group are stored as one number, so that a plain sort keeps them
 * together.
 */
const MAX_GROUPS = 8;

/**
 * The gaps of some days, ascending for each compute. Sorted once, because delays are chosen on several selections
 * of these days.
 */
export class SortedGaps {
  /** Gaps with their groups, by compute. */
  readonly #gapMs: Float64Array;
  readonly #group: Uint8Array;
  readonly #firstOf: Float64Array;
  readonly #selected: Float64Array;
  /** The gaps at whose end nobody waits, which are also among `#gapMs`; undefined if there are none. */
  readonly #unwaited: SortedGaps | undefined;

  /** `groupOf`: group of each day; days without one are not used. `only`: 1 for gaps that count; default: all gaps. */
  constructor(gaps: LongGaps, groupOf: ReadonlyMap<number, number>, only?: Uint16Array) {
    this.#unwaited =
      only === undefined && gaps.unwaited !== undefined
        ? new SortedGaps(gaps, groupOf, gaps.unwaited)
        : undefined;
    const groups = new Int8Array(gaps.days).fill(-1);
    for (const [day, group] of groupOf) groups[day] = group;
    // Each gap with its group: `gapMs * MAX_GROUPS + group`.
    const values = new Float64Array(gaps.gapMs.length);
    this.#firstOf = new Float64Array(gaps.firstOf.length);
    let [count, most] = [0, 0];
    for (let compute = 0; compute + 1 < gaps.firstOf.length; compute += 1) {
      const [from, to] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
      const first = count;
      for (let i = from; i < to; i += 1) {
        const group = groups[gaps.day[i] as number] as number;
        if (group < 0 || only?.[i] === 0) continue;
        values[count] = (gaps.gapMs[i] as number) * MAX_GROUPS + group;
        count += 1;
      }
      values.subarray(first, count).sort();
      this.#firstOf[compute + 1] = count;
      most = Math.max(most, count - first);
    }
    this.#selected = new Float64Array(most);
    this.#group = new Uint8Array(count);
    this.#gapMs = values.subarray(0, count);
    for (let i = 0; i < count; i += 1) {
      const value = values[i] as number;
      const gapMs: DurationMs = Math.floor(value / MAX_GROUPS);
      this.#group[i] = value - gapMs * MAX_GROUPS;
      values[i] = gapMs;
    }
  }

  get computes(): number {
    return this.#firstOf.length - 1;
  }

  /** The gaps of `ofCompute` at whose end nobody waits. */
  unwaitedOf(compute: number, groups: GapGroups): Float64Array<ArrayBufferLike> {
    return this.#unwaited?.ofCompute(compute, groups) ?? NO_GAPS;
  }

  /** The gaps of a group, or of all groups but one, or of all. Valid until the next call. */
  ofCompute(compute: number, { only, without }: GapGroups): Float64Array<ArrayBufferLike> {
    const [from, to] = [this.#firstOf[compute] as number, this.#firstOf[compute + 1] as number];
    const [gapsMs, groups, selected] = [this.#gapMs, this.#group, this.#selected];
    let count = 0;
    if (only === undefined && without === undefined) return this.#gapMs.subarray(from, to);
    for (let i = from; i < to; i += 1) {
      if (only === undefined ? groups[i] === without : groups[i] !== only) continue;
      selected[count] = gapsMs[i] as number;
      count += 1;
    }
    return selected.subarray(0, count);
  }
}

const NO_GAPS = new Float64Array(0);

export type GapGroups = { readonly only?: number | undefined; readonly without?: number | undefined };
