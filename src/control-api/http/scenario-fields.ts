import type { PointSelector } from "../../simulation/replay.ts";

/** A scenario that repeats a part of a world's history. */
export type RecordedScenario = {
  /** The file, in YAML. It contains the initial world. */
  readonly scenario: string;
  /** Number of steps. */
  readonly steps: number;
  /** Digest of the final state; null if something could not be reproduced. */
  readonly state: string | null;
  /** Parts of the history that the scenario does not reproduce. */
  readonly omitted: readonly string[];
};

/** Too many recordings are unfinished. */
export class RecordingsBusy extends Error {
  override readonly name = "RecordingsBusy";

  constructor(limit: number) {
    super(`${limit} scenarios are being recorded, which is the limit; try again later`);
  }
}

/**
 * Records what happened between two points; defaults are those of `standin record`. Throws a `RangeError` if
 * that is impossible, and `RecordingsBusy` if others must be finished first. Everything to record must be in the world's file.
 */
export type RecordScenario = (
  world: string,
  period: { readonly from?: PointSelector | undefined; readonly to?: PointSelector | undefined },
) => Promise<RecordedScenario>;
