import { meteredText } from "../../input/question-summary.ts";
import { amount, money } from "../../units/number-format.ts";
import type { CurveSummary } from "./curve-summary.ts";

/**
 * Lines about the sizes of a world: the meter next to the replay, and how much sizes depend on the load of running
 * requests.
 */
export function sizeLines({
  question,
  present,
  with_latency,
  decision,
  size_sensitivity: half,
}: CurveSummary): string[] {
  const replayed = with_latency.find(({ delay_s }) => delay_s === present.delay_s) ?? present;
  const metered = meteredText(replayed.cu_hours, question);
  const current = money(decision.current.cost_dollars_per_month);
  return [
    ...(metered === undefined ? [] : [metered]),
    ...(half === undefined
      ? []
      : [
          `If requests keep their vCPUs busy for ${amount(half.cpu_share * 100)} % of their duration instead of ${amount(half.cpu_share * 200)} % (--cpu-share), the current setting costs ${money(half.cost_dollars_per_month)} a month instead of ${current}.`,
        ]),
  ];
}
