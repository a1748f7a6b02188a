import { type Coverage, coveredShare, INTERVALS, type KindVerdict } from "./judge.ts";

/** One line per kind of traffic: the share of intervals that contain the truth, then what decisions were worth. */
export function verdictTable(verdicts: readonly KindVerdict[]): string {
  const heads = [
    "traffic",
    ...INTERVALS,
    "warned",
    "promised − held out",
    "− true",
    "regret",
    "losses",
    "worst",
  ];
  const rows = verdicts.map((verdict) => [
    verdict.kind,
    ...INTERVALS.map((name) => coverageText(verdict.intervals[name])),
    `${percent(verdict.warned / verdict.replications)} %`,
    points(verdict.promisedMinusHeldOut),
    points(verdict.promisedMinusTrue),
    `${verdict.regretPercent.toFixed(2)} %`,
    `${verdict.losses} of ${verdict.changes}`,
    `${verdict.worstLossPercent.toFixed(1)} %`,
  ]);
  return [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

export function coverageText(coverage: Coverage): string {
  const { covered, missed, unknown } = coverage;
  const all = covered + missed + unknown;
  if (all === 0) return "–";
  const share = unknown / all;
  if (share === 1) return "not known";
  const text = `${percent(coveredShare(coverage))} %`;
  return share === 0 ? text : `${text} (${percent(share)} % not known)`;
}

function percent(share: number): string {
  return (Math.round(share * 1_000) / 10).toString();
}

function points(value: number): string {
  return value.toFixed(2);
}
