import { GOLDEN_STEP, MIX_FACTOR, mix } from "../../kernel/mixed-word.ts";
import type { Random } from "../../kernel/random-port.ts";
import type { SimTime } from "../../kernel/time.ts";
import { LoadAverage, NO_LOAD } from "../../platform/model/load-average.ts";
import { LoadReadingTimes } from "../../platform/model/load-reading-times.ts";

/** When the load of a compute is read after a start that ends at `readyAt`. */
export type LoadReadingsSource = { from(readyAt: SimTime): LoadReadingTimes };

/** The starts of a compute in the journal of a world. Columns of equal length, in the order of time. */
export type RecordedStarts = {
  readonly readyAt: readonly SimTime[];
  /** Seeds of the readings by start; null: loads were read at every whole 5 s. */
  readonly readingSeeds: readonly (number | null)[];
};

/**
 * Reads loads at the same instants as the recorded world: in step with the latest recorded start at or before a start.
 * Without one, the instants depend only on the compute and the end of the start, so settings that start it at the same
 * instant read its load at the same instants.
 */
export function loadReadingsOf(
  random: Random,
  compute: number,
  recorded?: RecordedStarts,
): LoadReadingsSource {
  const key = random.stream("whatif-load-readings", compute)();
  return {
    from(readyAt) {
      const index = recorded === undefined ? -1 : lastUpTo(recorded.readyAt, readyAt);
      const startedAt = recorded?.readyAt[index];
      if (startedAt !== undefined)
        return new LoadReadingTimes(startedAt, recorded?.readingSeeds[index] ?? undefined);
      const drawn = mix(key ^ mix(readyAt >>> 0, GOLDEN_STEP) ^ Math.floor(readyAt / 2 ** 32), MIX_FACTOR);
      return new LoadReadingTimes(readyAt, drawn);
    },
  };
}

/** The index of the last instant up to `at` (inclusive); -1 if there is none. */
function lastUpTo(instants: readonly SimTime[], at: SimTime): number {
  let [low, high] = [0, instants.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((instants[middle] as SimTime) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The load average of a compute that is ready at `readyAt`: zero, with all readings up to then done. */
export function loadAverageFrom(times: LoadReadingTimes, readyAt: SimTime): LoadAverage {
  const reading = times.lastBefore(readyAt + 1);
  return new LoadAverage({ ...NO_LOAD, reading, since: reading });
}
