// The control API's answers that the console reads, with the types of the control API's own document.

import type { ControlAnswer } from "../../control-api/document/answers.ts";

export type Clock = ControlAnswer<"GET /clock">;
export type Advance = ControlAnswer<"POST /clock/advance">;

/** The fields of the state that the console reads. `index.html` requests them before the script. */
export const STATE_FIELDS = "accounts,projects,branches,endpoints,operations";
type State = ControlAnswer<"GET /state">;
type ReadField = "seq" | "at" | "accounts" | "projects" | "branches" | "endpoints" | "operations";
export type WorldState = { readonly [F in ReadField]: NonNullable<State[F]> };
export type Account = WorldState["accounts"][number];
export type Project = WorldState["projects"][number];
export type Branch = WorldState["branches"][number];
export type Compute = WorldState["endpoints"][number];

export type ComputeList = ControlAnswer<"GET /endpoints">;
export type ComputeStats = ComputeList["endpoints"][number];
export type Explanation = ControlAnswer<"GET /explain/endpoints/:endpoint_id">;
export type WorldEvent = ControlAnswer<"GET /events">["events"][number];

export type BranchData = ControlAnswer<"GET /branches/:branch_id/data">;

export type Shadow = ControlAnswer<"GET /shadow">;
export type Agreement = NonNullable<Shadow["agreement"]>;

export type AccountReport = NonNullable<ControlAnswer<"GET /account-report">["report"]>;

export type RunState = ControlAnswer<"GET /run">;
export type RecordedScenario = ControlAnswer<"GET /scenario">;

export type Timeline = ControlAnswer<"GET /timeline">;
export type TimelineLane = Timeline["endpoints"][number];
export type TimelineSpan = TimelineLane["spans"][number];

export type RequestList = Extract<ControlAnswer<"GET /requests">, { readonly requests: unknown }>;
export type LoggedRequest = RequestList["requests"][number];
export type FaultList = ControlAnswer<"GET /faults">;
export type WorldList = ControlAnswer<"GET /worlds">;
export type SnapshotList = ControlAnswer<"GET /snapshots">;
export type KeyList = ControlAnswer<"GET /api_keys">;
export type NewKey = ControlAnswer<"POST /api_keys">;

export type AdvisedPlan = "launch" | "scale";
type Change = {
  readonly kind: "delay" | "delays_by_compute" | "source" | "plan" | "size";
  readonly saves_dollars_per_month: number;
  /** Half the width of the 95 % interval; null without intervals. */
  readonly margin_95: number | null;
  /** Additional ones. */
  readonly cold_starts_per_day: number;
  readonly delay_s?: number | "never" | "own";
};
// The answer of `POST /whatif/advice` is the output of `standin advise --json` and its text.
export type Advice = {
  readonly bill: { readonly dollars_per_month: number };
  readonly current: {
    readonly cold_starts_per_day: number;
    /** Upper limit with 95 % confidence; only if there were no cold starts. */
    readonly cold_starts_per_day_at_most_95?: number;
    readonly wait_p99_ms: number | null;
  };
  readonly decision: Change | null;
  readonly text: {
    readonly decision: string;
    readonly warning: string | null;
    readonly next: readonly string[];
    readonly free_plan: string | null;
    readonly would_change: readonly string[];
    readonly not_known: readonly string[];
  };
};
// The answer of `POST /whatif` is that of `standin whatif compare --json`, which has no schema.
export type Figures = Readonly<
  Record<
    string,
    {
      readonly value: number;
      readonly difference: number;
      /** Half the width of the 95 % interval; absent if nothing is random. */
      readonly plus_minus?: number;
      /** Half the width of the 95 % interval over other days; absent if the period is too short. */
      readonly margin_95?: number;
    } | null
  >
>;
export type ComputeFigures = {
  readonly endpoint_id: string;
  readonly requests: number;
  readonly figures: Figures;
};
export type PolicyFigures = {
  readonly policy: string;
  readonly figures: Figures;
  /** The computes whose cost changes most. */
  readonly by_compute?: readonly ComputeFigures[];
};
export type WhatIfAnswer = {
  readonly question: {
    readonly present_delay_s?: number;
    readonly price_per_cu_hour: number;
    readonly price_list: string;
    readonly price_plan: string;
  };
  readonly traffic: {
    readonly computes: number;
    readonly requests: number;
    readonly from: string;
    readonly to: string;
    readonly days: number;
  };
  readonly policies: readonly PolicyFigures[];
};
