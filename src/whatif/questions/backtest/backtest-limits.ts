import type { Question } from "../../input/question.ts";
import { sizeSentence } from "../../input/question-summary.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import type { BacktestPolicy } from "./backtest-policies.ts";

export function backtestLimits(
  { latency, costs }: Question,
  policies: readonly BacktestPolicy[],
): ReportLimits {
  const bounds = policies.filter(({ knows }) => knows === "future").map(({ name }) => name);
  const isRandom = latency.kind !== "fixed";
  return {
    exact: [
      "Every request is replayed under the rules of the platform, from the start of the trace. A request counts in the fold that it arrives in.",
    ],
    simulated: isRandom
      ? [
          "Start latencies are drawn once from the seed, the same for all policies. There are no replications.",
        ]
      : [],
    left_out: [
      "A policy that is trained on the days before a fold is replayed on those days, too. What it gives there is what it promises.",
      "The best policy of few folds is partly luck. Compare the folds with each other.",
      ...(bounds.length === 0
        ? []
        : [
            `Policies that know the future (${bounds.join(", ")}) are bounds for the others and cannot be achieved.`,
          ]),
      "The platform itself offers only fixed delays of at least 60 s, and never. Any other policy needs a program of your own that suspends and starts computes through the API. The effort for that is not counted.",
      "Clients that reconnect after a suspend or wait for responses, queries slowed by a cold cache, quotas, and start limits.",
      `${sizeSentence(costs)} The bill counts from the end of each start.`,
    ],
  };
}
