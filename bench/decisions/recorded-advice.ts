import { runToEnd } from "../../src/kernel/run-to-end.ts";
import { newestPriceList, PRICED_PLANS, type PricedPlan } from "../../src/platform/catalog/price-lists.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { ComputeArrivals, Period } from "../../src/traffic/recorded/trace/trace.ts";
import { readCurve } from "../../src/whatif/gap-curve/curve-reading.ts";
import { ALL_DELAYS } from "../../src/whatif/gap-curve/settable-delays.ts";
import { type Question, questionFrom } from "../../src/whatif/input/question.ts";
import { questionSummary } from "../../src/whatif/input/question-summary.ts";
import type { Advice } from "../../src/whatif/questions/advice/advice.ts";
import {
  type AnsweredQuestions,
  adviceOfAnswers,
} from "../../src/whatif/questions/advice/advice-of-answers.ts";
import { slowerSources } from "../../src/whatif/questions/advice/slower-sources.ts";
import { attributionReport } from "../../src/whatif/questions/attribution/attribution-report.ts";
import { CurveAnswer } from "../../src/whatif/questions/curve/curve-answer.ts";
import { trafficOf } from "../../src/whatif/trace/traffic.ts";
import { CURRENT_DELAY_S, START_MS } from "./recorded-answer.ts";
import { SOURCES } from "./traffic-kinds.ts";

/** The plan of a user who asks for advice, and the plans to choose from. */
export type AdvisedPlan = {
  readonly name: string;
  readonly plan: PricedPlan;
  /** Plans that the user may move to, including the current one. */
  readonly plans: readonly PricedPlan[];
};

export const ADVISED_PLANS: readonly AdvisedPlan[] = [
  { name: "scale, no other plan", plan: "scale", plans: ["scale"] },
  { name: "scale", plan: "scale", plans: PRICED_PLANS },
  { name: "launch", plan: "launch", plans: PRICED_PLANS },
];

export type RecordedAdvice = {
  readonly advised: AdvisedPlan;
  readonly advice: Advice;
  /** Worth of a cold start with this traffic, in seconds. */
  readonly worthS: number;
};

/** The answers of `standin advise` on each of the plans. */
export function recordedAdvice(arrivals: readonly ComputeArrivals[], period: Period): RecordedAdvice[] {
  return PRICED_PLANS.flatMap((plan) => {
    const question = questionOn(plan);
    const answers = answersOn(arrivals, period, question);
    const { answer } = answers;
    return ADVISED_PLANS.filter((advised) => advised.plan === plan).map((advised) => ({
      advised,
      advice: adviceOn(advised, question, answers),
      worthS: answer.cold_start_worth_here_s,
    }));
  });
}

export function computeName(compute: number): string {
  return `app-${compute}`;
}

function questionOn(plan: PricedPlan): Question {
  return questionFrom({
    plan,
    present: CURRENT_DELAY_S,
    cu: 1,
    startLatency: { kind: "fixed", ms: START_MS },
  });
}

function answersOn(
  arrivals: readonly ComputeArrivals[],
  period: Period,
  question: Question,
): AnsweredQuestions {
  const sources = arrivals.some(({ source }) => source !== undefined) ? SOURCES : [];
  const traffic = trafficOf({
    period,
    sources,
    computes: arrivals.map((own, compute) => ({ id: computeName(compute), arrivals: own })),
  });
  const { currentDelay, costs, settable, seed } = question;
  const detail = { byCompute: true, byDay: true, from: 0, to: arrivals.length };
  const reading = runToEnd(
    readCurve(traffic, { currentDelay, costs, settable, startMs: START_MS, ...detail }),
  );
  const curve = new CurveAnswer(traffic, reading, question, randomFrom(seed));
  return {
    curve,
    answer: curve.summary({}),
    attribution:
      sources.length === 0 ? undefined : runToEnd(attributionReport(traffic, question, randomFrom(seed))),
    computes: traffic.computes,
    slower: runToEnd(slowerSources(traffic, question, curve.periodic, randomFrom(seed))),
    sizes: { missing: "the requests state no load" },
    waits: {
      shortestDelay: ALL_DELAYS.shortest,
      currentMs: undefined,
      withoutMs: undefined,
      slowerMs: undefined,
    },
  };
}

/** A price that is not from a list is one of no other plan. */
function adviceOn({ plan, plans }: AdvisedPlan, question: Question, answers: AnsweredQuestions): Advice {
  const stated = plans.length === 1 ? ({ ...question, priceSource: "flag" } as const) : question;
  return adviceOfAnswers(
    question,
    {
      plan,
      priceList: newestPriceList(),
      usage: {},
      requirements: { budget_dollars_per_month: null, max_wait: null },
      defaultDelayS: CURRENT_DELAY_S,
    },
    { ...answers, answer: { ...answers.answer, question: questionSummary(stated) } },
  );
}
