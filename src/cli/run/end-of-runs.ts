/** The channel with which the process ends the runs of its threads. */
export const END_OF_RUNS = "standin-end-of-runs";
