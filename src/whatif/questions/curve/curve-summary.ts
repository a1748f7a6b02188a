import type { DecisionSummary } from "../../choice/decision-summary.ts";
import type { DelayChoice, SuspendDelay } from "../../gap-curve/delay.ts";
import type { HeldOutSummary } from "../../held-out/held-out-summary.ts";
import type { ChangeMargins, FigureMargins } from "../../held-out/margins.ts";
import type { NamedMargins } from "../../held-out/named-margins.ts";
import type { QuestionSummary } from "../../input/question-summary.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import type { OutcomeFigures, PointFigures } from "../../replay/figures.ts";
import type { ComputeDistributions } from "../../replay/starts-by-compute.ts";
import type { TrafficSummary } from "../../trace/traffic-summary.ts";
import type { TrafficChangeSummary } from "../../units/traffic-change.ts";
import type { ComputeSummary } from "./compute-summary.ts";
import type { ComputeWaitLimit } from "./compute-wait-limits.ts";
import type { SizeSensitivity } from "./curve-scaling.ts";
import type { SimulatedFigures } from "./curve-simulation.ts";
import type { Saving } from "./fleet-curve.ts";
import type { ParetoSummary } from "./pareto-summary.ts";

/** The JSON of `whatif curve`. */
export type CurveSummary = {
  readonly question: QuestionSummary;
  /** Worth of a cold start in seconds, given the start latency and the waiting requests of this traffic. */
  readonly cold_start_worth_here_s: number;
  readonly traffic: TrafficSummary;
  readonly present: PointFigures;
  /** The delay with the lowest weighted cost. */
  readonly best: PointFigures;
  readonly decision: DecisionSummary;
  /** Absent if no compute scales. */
  readonly size_sensitivity?: SizeSensitivity;
  /** How the number of requests changes within the traffic; null if it stays as it is. */
  readonly traffic_change: TrafficChangeSummary | null;
  /**
   * Sources that send at a constant interval and whose waits count; see `ignore_waits_of` of the question. Empty with
   * `--fast`.
   */
  readonly programs_that_wait: readonly { readonly source: string; readonly every_s: number }[];
  /** Savings on later days of delays that are chosen on some days. */
  readonly held_out: HeldOutSummary;
  /** Savings of the best delay compared with the current one; negative if it costs more. */
  readonly saving: Saving;
  /**
   * Perfect foresight: the lower bound of the weighted cost for policies that only decide when to suspend.
   */
  readonly clairvoyant: Omit<PointFigures, "delay_s"> & NamedMargins<ForesightMargins>;
  readonly never: PointFigures & NamedMargins<FigureMargins>;
  /** Time in which requests ran: no delay has less active time. */
  readonly busy_s: number;
  /** The cheapest delay within the limits; null if none is, absent without limits. */
  readonly cheapest_within?: PointFigures | null;
  readonly max_cold_per_day?: number;
  readonly max_wait_p99_ms?: number;
  readonly max_cost_dollars_per_month?: number;
  /** Points at `SHOWN_DELAYS` and at the delays named above; `curve.csv` of `--out` has the whole curve. */
  readonly curve: readonly PointFigures[];
  /** Delays whose added wait comes from a replay. For the others, one request per start is assumed to wait. */
  readonly replayed_delays: readonly DelayChoice[];
  /** Replays of the delays named above, if starts take time. */
  readonly with_latency: readonly LatencyFigures[];
  /** How the computes with requests differ under the delays named above, from the same replays. */
  readonly over_computes: readonly ({ readonly delay_s: DelayChoice } & ComputeDistributions)[];
  /** Simulations of the delays named above with clients, if any were given. */
  readonly with_clients?: {
    readonly clients: readonly string[];
    readonly delays: readonly SimulatedFigures[];
  };
  readonly pareto: ParetoSummary;
  /** Present with a limit on the wait and figures by compute. */
  readonly compute_wait_limit?: ComputeWaitLimit;
  /** Computes by descending gain. */
  readonly computes?: readonly ComputeSummary[];
  readonly limits: ReportLimits;
};

/** The part of the JSON of one delay that its text shows. */
export type DelayFigures = PointFigures &
  NamedMargins<FigureMargins> & {
    readonly cost_dollars_per_month: number;
    /** Why there are no intervals; null if there are. */
    readonly no_margins: string | null;
    readonly traffic: TrafficSummary;
  };

/** Margins of the lower bound. `weighted_cost_percent`: of its difference to the best delay. */
export type ForesightMargins = Pick<
  ChangeMargins,
  "cost_dollars_per_month" | "cold_starts_per_day" | "weighted_cost_percent"
>;

/**
 * `cold_starts_least` and `cold_starts_most` follow from the curve alone; the previous needs a fixed start
 * latency.
 */
export type LatencyFigures = OutcomeFigures & {
  readonly delay_s: DelayChoice;
  readonly cold_starts_least: number | null;
  readonly cold_starts_most: number;
};

export type CurveConstraints = {
  readonly maxColdPerDay?: number | undefined;
  readonly maxWaitP99Ms?: number | undefined;
  readonly maxCostPerMonth?: number | undefined;
  /** Shortest delay that the other limits allow; null if there is none. */
  readonly shortestDelay?: SuspendDelay | null | undefined;
};
