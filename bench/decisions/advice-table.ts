import type { AdviceVerdict } from "./advice-judge.ts";
import { coverageText } from "./verdict-table.ts";

/** One line per kind of traffic and plan. */
export function adviceTable(verdicts: readonly AdviceVerdict[]): string {
  const heads = [
    "traffic",
    "plan",
    "savings",
    "decisions",
    "not known",
    "promised − held out",
    "regret",
    "losses",
    "worst",
  ];
  const rows = verdicts.map((verdict) => [
    verdict.kind,
    verdict.plan,
    coverageText(verdict.savings),
    decisionsText(verdict),
    verdict.notKnown.toString(),
    verdict.promisedMinusHeldOut?.toFixed(2) ?? "–",
    verdict.regretPercent === undefined ? "–" : `${verdict.regretPercent.toFixed(2)} %`,
    verdict.losses.toString(),
    `${verdict.worstLossPercent.toFixed(1)} %`,
  ]);
  return [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

function decisionsText({ decisions }: AdviceVerdict): string {
  const texts = [...decisions].map(([kind, count]) => `${count} ${KIND_TEXTS[kind]}`);
  return texts.length === 0 ? "none" : texts.join(", ");
}

const KIND_TEXTS = {
  delay: "delay",
  delays_by_compute: "own delays",
  source: "source",
  plan: "plan",
  size: "size",
} as const;
