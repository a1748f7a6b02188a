import type { SimTime } from "../../kernel/time.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";

/** The delay that a reading of the account has seen. */
export type SeenDelay = { readonly at: SimTime; readonly delay: SuspendDelay };

/**
 * The delay in force at an instant. A reading of the account holds for the time before and after it until the settings
 * of the compute were changed, or until another reading differs. A: each change of the delay is recorded as
 * `apply_config`, so readings on both sides of one bracket the change.
 */
export class DelayLookup {
  /** The readings between two changes, oldest first: one element more than there are changes. */
  readonly #readings: readonly ReadingsBetweenChanges[];
  readonly #changes: readonly SimTime[];

  /** `seen` and `changes` are oldest first. */
  constructor(seen: readonly SeenDelay[], changes: readonly SimTime[]) {
    this.#changes = changes;
    const groups = Array.from({ length: changes.length + 1 }, (): SeenDelay[] => []);
    const isClear = ({ at }: SeenDelay) => changes[countBefore(changes, at)] !== at;
    for (const reading of seen) if (isClear(reading)) groups[countBefore(changes, reading.at)]?.push(reading);
    const unclear = seen.flatMap((reading) => {
      const group = isClear(reading) ? undefined : groupOfUnclear(reading, groups, changes);
      return group === undefined ? [] : [{ reading, group }];
    });
    for (const { reading, group } of unclear) groups[group]?.push(reading);
    this.#readings = groups.map(
      (group) => new ReadingsBetweenChanges(group.sort((one, other) => one.at - other.at)),
    );
  }

  /** The delay from `from` to `to`, both inclusive; undefined if no reading holds for all of that time. */
  between(from: SimTime, to: SimTime): SuspendDelay | undefined {
    const before = countBefore(this.#changes, from);
    const next = this.#changes[before];
    if (next !== undefined && next <= to) return undefined;
    return this.#readings[before]?.between(from, to);
  }
}

/**
 * A reading in the second of a change may have seen either delay. The nearest readings on both sides show which if one
 * of them differs: then it belongs to the other side. A script that pulls and then changes a delay makes such readings.
 */
function groupOfUnclear(
  { at, delay }: SeenDelay,
  groups: readonly (readonly SeenDelay[])[],
  changes: readonly SimTime[],
): number | undefined {
  const before = countBefore(changes, at);
  if (countUpTo(changes, at) - before !== 1) return undefined;
  const [earlier, later] = [groups[before]?.at(-1), groups[before + 1]?.[0]];
  const isEarlierOther = earlier !== undefined && earlier.delay !== delay;
  const isLaterOther = later !== undefined && later.delay !== delay;
  if (isEarlierOther === isLaterOther) return undefined;
  return isLaterOther ? before : before + 1;
}

class ReadingsBetweenChanges {
  readonly #at: readonly SimTime[];
  readonly #delays: readonly SuspendDelay[];
  /** Element i: how many readings up to i differ from the one before. */
  readonly #differences: readonly number[];

  constructor(readings: readonly SeenDelay[]) {
    this.#at = readings.map(({ at }) => at);
    this.#delays = readings.map(({ delay }) => delay);
    let count = 0;
    this.#differences = this.#delays.map((delay, index) => {
      if (index > 0 && delay !== this.#delays[index - 1]) count += 1;
      return count;
    });
  }

  between(from: SimTime, to: SimTime): SuspendDelay | undefined {
    if (this.#at.length === 0) return undefined;
    const last = this.#at.length - 1;
    const first = Math.max(0, countUpTo(this.#at, from) - 1);
    const end = Math.min(last, countBefore(this.#at, to));
    const isSame =
      first <= end
        ? this.#differences[first] === this.#differences[end]
        : this.#delays[first] === this.#delays[end];
    return isSame ? this.#delays[first] : undefined;
  }
}

/** Number of instants before `at`. `instants`: ascending. */
function countBefore(instants: readonly SimTime[], at: SimTime): number {
  let [low, high] = [0, instants.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((instants[middle] as number) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function countUpTo(instants: readonly SimTime[], at: SimTime): number {
  let [low, high] = [0, instants.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((instants[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
