import type { Benchmark } from "../benchmark.ts";
import { type AdviceVerdict, judgeAdvice } from "../decisions/advice-judge.ts";
import { adviceTable } from "../decisions/advice-table.ts";
import { coveredShare } from "../decisions/judge.ts";
import { TRAFFIC_KINDS } from "../decisions/traffic-kinds.ts";
import { type Figure, plainFigure } from "../figure.ts";

const LOWEST_COVERAGE = 88;

export const advice: Benchmark = {
  name: "advice",
  measures: "what standin advise decides, judged on traffic whose truth is known",
  async run({ quick }, progress) {
    const extent = quick ? { replications: 10, truths: 10 } : { replications: 200, truths: 40 };
    const verdicts: AdviceVerdict[] = [];
    for (const kind of TRAFFIC_KINDS) {
      const ofKind = judgeAdvice(kind, extent, (done) => {
        if (done % 50 === 0) progress(`${kind.name}, ${done} of ${extent.replications}`);
      });
      verdicts.push(...ofKind);
      progress(`\n${adviceTable(ofKind)}`);
    }
    progress(`all kinds\n\n${adviceTable(verdicts)}`);
    return [...verdicts.flatMap(figuresOf), ...summedFigures(verdicts)];
  },
};

function figuresOf(verdict: AdviceVerdict): Figure[] {
  const subject = `${verdict.kind}, ${verdict.plan}`;
  return [
    plainFigure(
      `${subject}: savings, 95 % intervals that contain it`,
      "%",
      100 * coveredShare(verdict.savings),
      {
        of: "value",
        atLeast: LOWEST_COVERAGE,
      },
    ),
    ...knownFigure(`${subject}: promised minus held-out saving`, "points", verdict.promisedMinusHeldOut),
    ...knownFigure(`${subject}: regret of the advice`, "%", verdict.regretPercent),
  ];
}

function summedFigures(verdicts: readonly AdviceVerdict[]): Figure[] {
  const sum = (of: (verdict: AdviceVerdict) => number) => verdicts.reduce((total, one) => total + of(one), 0);
  const differences = verdicts.flatMap(({ promisedMinusHeldOut: own }) => (own === undefined ? [] : [own]));
  const difference = differences.reduce((total, one) => total + one, 0) / differences.length;
  const losses = (100 * sum((one) => one.losses)) / sum((one) => one.replications);
  return [
    plainFigure("promised minus held-out saving, mean", "points", difference, { of: "value", atMost: 1 }),
    plainFigure("advice that costs more on later days", "%", losses, { of: "value", atMost: 2 }),
    plainFigure("the worst of it", "%", Math.max(...verdicts.map((one) => one.worstLossPercent)), {
      of: "value",
      atMost: 5,
    }),
  ];
}

function knownFigure(figure: string, unit: string, value: number | undefined): Figure[] {
  return value === undefined ? [] : [plainFigure(figure, unit, value)];
}
