import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import type { Question } from "../../../whatif/input/question.ts";
import type { ReplayJob } from "../../../whatif/input/replay-jobs.ts";
import type { ReplayOutcome } from "../../../whatif/replay/replay-outcome.ts";
import type { CoveredTraffic } from "../../../whatif/trace/traffic-summary.ts";
import type { InputSummary, OpenedTraces } from "../open-traffic.ts";
import type { WhatifResult } from "../report-output.ts";

/** Data that a report needs in addition to the outcomes of its replays. Plain values, equal in all parts. */
export type AnswerSetup = {
  readonly question: Question;
  readonly period: Period;
  /** Their number. */
  readonly computes: number;
  readonly input: InputSummary;
};

/** The replays, and the function that reports their outcomes. */
export type Answer = {
  readonly passes: readonly { readonly period: Period; readonly jobs: readonly ReplayJob[] }[];
  /** `outcomes`: by pass and job. */
  readonly result: (outcomes: readonly (readonly ReplayOutcome[])[]) => WhatifResult;
};

/** Coverage of the opened traces. */
export function coverageOf({ traffic, inputSummary }: OpenedTraces): Omit<AnswerSetup, "question"> {
  return { period: traffic.period, computes: traffic.computes.length, input: inputSummary };
}

export function coveredBy({ period, computes }: AnswerSetup): CoveredTraffic {
  return { period, computes: { length: computes } };
}
