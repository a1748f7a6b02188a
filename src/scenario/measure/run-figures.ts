/** How the time of one compute of a run is drawn. */
export type ComputeTimeline = {
  readonly label: string;
  /** For each column, the share of its time in this state, from 0 to 1. */
  readonly active: readonly number[];
  readonly starting: readonly number[];
  /** Number of arrivals in each column. */
  readonly arrivals: readonly number[];
};

/** An operation of the platform on the simulated clock. `to` is absent while it is unfinished. */
export type OperationInterval = {
  readonly action: string;
  readonly of: string;
  readonly cause: string;
  readonly from: string;
  readonly to?: string;
  readonly status: "unfinished" | "finished" | "failed" | "cancelled";
};

/** An effect of a fault on a request or an operation. */
export type FaultMark = {
  readonly at: string;
  readonly fault: string;
  readonly effect: string;
  readonly target: string;
};
