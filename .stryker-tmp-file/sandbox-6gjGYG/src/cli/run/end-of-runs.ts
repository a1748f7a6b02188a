/** The channel with which the process ends the runs of its threads. */
// @ts-nocheck

export const END_OF_RUNS = "standin-end-of-runs";
