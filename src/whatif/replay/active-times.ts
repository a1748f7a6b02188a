/** Causes of an active time. */
export const FIRST_START = 0;
export const COLD_START = 1;
export const RESUME = 2;

/** Active times of one compute, in order. Columns, because a replay has millions of them. */
export type ActiveTimes = {
  readonly startedBy: Uint8Array;
  /** Beginning of the start. */
  readonly from: Float64Array;
  readonly readyAt: Float64Array;
  /** The suspend; if that is after the period, the end of the last request. */
  readonly to: Float64Array;
  /** Total time that requests wait for the start. */
  readonly waitMs: Float64Array;
  /** Worth of the start. */
  readonly worthMs: Float64Array;
  readonly count: number;
};
