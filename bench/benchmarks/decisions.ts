import type { Benchmark } from "../benchmark.ts";
import { coveredShare, INTERVALS, judgeKind, type KindVerdict } from "../decisions/judge.ts";
import { TRAFFIC_KINDS } from "../decisions/traffic-kinds.ts";
import { verdictTable } from "../decisions/verdict-table.ts";
import { type Figure, plainFigure } from "../figure.ts";

const LOWEST_COVERAGE = 88;

export const decisions: Benchmark = {
  name: "decisions",
  measures: "intervals and recommendations of what-if, judged on traffic whose truth is known",
  async run({ quick }, progress) {
    const extent = quick ? { replications: 20, truths: 20 } : { replications: 200, truths: 40 };
    const verdicts: KindVerdict[] = [];
    for (const kind of TRAFFIC_KINDS) {
      const verdict = judgeKind(kind, extent, (done) => {
        if (done % 50 === 0) progress(`${kind.name}, ${done} of ${extent.replications}`);
      });
      verdicts.push(verdict);
      progress(`\n${verdictTable([verdict])}`);
    }
    progress(`all kinds\n\n${verdictTable(verdicts)}`);
    return [...verdicts.flatMap(figuresOf), ...summedFigures(verdicts)];
  },
};

function figuresOf(verdict: KindVerdict): Figure[] {
  const { kind, intervals } = verdict;
  return [
    ...INTERVALS.map((name) =>
      plainFigure(
        `${kind}: ${name}, 95 % intervals that contain it`,
        "%",
        100 * coveredShare(intervals[name]),
        {
          of: "value",
          atLeast: LOWEST_COVERAGE,
        },
      ),
    ),
    plainFigure(`${kind}: promised minus held-out gain`, "points", verdict.promisedMinusHeldOut),
    plainFigure(`${kind}: regret of the recommended delay`, "%", verdict.regretPercent),
  ];
}

function summedFigures(verdicts: readonly KindVerdict[]): Figure[] {
  const sum = (of: (verdict: KindVerdict) => number) => verdicts.reduce((total, one) => total + of(one), 0);
  const difference = sum(({ promisedMinusHeldOut }) => promisedMinusHeldOut) / verdicts.length;
  const losses = (100 * sum((one) => one.losses)) / sum((one) => one.replications);
  return [
    plainFigure("promised minus held-out gain, mean over kinds", "points", difference, {
      of: "value",
      atMost: 1,
    }),
    plainFigure("recommendations that cost more on new days", "%", losses, { of: "value", atMost: 2 }),
    plainFigure("the worst of them", "%", Math.max(...verdicts.map((one) => one.worstLossPercent)), {
      of: "value",
      atMost: 5,
    }),
  ];
}
