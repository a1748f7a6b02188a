import { TARGET_HIT_RATIO } from "../../../platform/model/cache.ts";
import { sloText } from "../../input/slo.ts";
import {
  amount,
  amountWithMargin,
  millisText,
  money,
  moneyWithMargin,
  plural,
  spanText,
} from "../../units/number-format.ts";
import type { CapacityReport } from "./capacity-report.ts";
import type { CapacityRow } from "./capacity-totals.ts";
import { cheapestSize, isSufficient, refusedConnections, USUAL_SIZES } from "./sufficient-size.ts";

const TARGET_SHARE = TARGET_HIT_RATIO / 100;

/** Sentences of the answer: the cheapest sufficient size with its assumption, then the effect of other loads. */
export function capacityAnswerText(report: CapacityReport): string[] {
  const [decision = "", ...more] = decisionText(report);
  return [
    decision,
    ...more,
    ...usualRangeText(report),
    ...currentText(report),
    intervalText(report),
    ...sensitivityText(report),
    ...cpuShareText(report),
  ];
}

function decisionText(report: CapacityReport): string[] {
  const { sizes, assumptions } = report;
  const sufficient = sizes.filter((row) => isSufficient(row, report));
  const condition = conditionText(assumptions);
  const assumption = assumptionText(report);
  const cheapest = cheapestSize(
    sufficient.filter(({ cache_hit_ratio: hits }) => hits === null || hits >= TARGET_SHARE),
  );
  if (cheapest !== undefined) {
    const cached =
      cheapest.cache_hit_ratio === null ? "" : ` and at least ${TARGET_HIT_RATIO} % of reads from the cache`;
    return [
      `${sizeName(cheapest)}, ${monthlyCostText(cheapest)}, ${assumption}.`,
      `It is the cheapest size ${condition}${cached}${hitRatioText(cheapest)}.${toleratedText(cheapest, report)}`,
    ];
  }
  const cheapestSufficient = cheapestSize(sufficient);
  if (cheapestSufficient !== undefined) {
    const bestHitRatio = Math.max(...sizes.map(({ cache_hit_ratio }) => cache_hit_ratio ?? 0));
    const best =
      cheapestSize(sizes.filter(({ cache_hit_ratio }) => cache_hit_ratio === bestHitRatio)) ??
      cheapestSufficient;
    return [
      `${sizeName(cheapestSufficient)}, ${monthlyCostText(cheapestSufficient)}, ${assumption}.`,
      `It is the cheapest size ${condition}${hitRatioText(cheapestSufficient)}.${toleratedText(cheapestSufficient, report)}`,
      bestHitRatio >= TARGET_SHARE
        ? `Sizes that answer ${TARGET_HIT_RATIO} % of reads from the cache, as recommended for OLTP, throttle or reject more.`
        : `No size answers ${TARGET_HIT_RATIO} % of reads from the cache, as recommended for OLTP. ${sizeName(best)} comes closest with ${amount(bestHitRatio * 100)} %.`,
    ];
  }
  const compareShortfall = (a: CapacityRow, b: CapacityRow) =>
    a.throttled_s - b.throttled_s || refusedConnections(a) - refusedConnections(b) || a.cu_hours - b.cu_hours;
  const least = sizes.reduce((best, row) => (compareShortfall(best, row) > 0 ? row : best));
  return [
    `No size is sufficient, ${assumption}. ${sizeName(least)} comes closest, ${monthlyCostText(least)}: throttled for ${throttledText(least)} of the active time, which adds ${millisText(least.added_wait_mean_ms)} to a request on average; ${plural(least.direct_refused, "direct connection")} and ${least.pooled_refused.toLocaleString("en")} pooled rejected${hitRatioText(least)}.${tolerableText(report)}`,
  ];
}

function intervalText({ no_margins }: CapacityReport): string {
  return no_margins === null
    ? "± is half the width of a 95 % interval, for these computes on other days."
    : `No intervals: ${no_margins}.`;
}

/** Throttled share of the active time in percent, with its margin. */
export function throttledText({ throttled_share, margin_95 }: CapacityRow): string {
  return throttled_share < SMALLEST_SHARE
    ? shareText(throttled_share)
    : `${amountWithMargin(throttled_share * 100, (margin_95?.throttled_share ?? 0) * 100)} %`;
}

/** Names the cheapest size that is sufficient if `LITTLE` is tolerated; empty with an SLO. */
function tolerableText(report: CapacityReport): string {
  const { assumptions, sizes } = report;
  if (assumptions.slo !== undefined) return "";
  const tolerant = { ...report, assumptions: { ...assumptions, tolerate: LITTLE } };
  const admitted = cheapestSize(sizes.filter((row) => isSufficient(row, tolerant)));
  return admitted === undefined
    ? ""
    : ` With --tolerate ${LITTLE * 100}%, ${sizeName(admitted)} is sufficient.`;
}

const LITTLE = 0.001;

/** States the tolerated throttling; empty if nothing is throttled. */
function toleratedText(row: CapacityRow, { assumptions: { slo } }: CapacityReport): string {
  if (slo !== undefined && row.throttled_share > 0)
    return ` Throttling adds ${millisText(row.added_wait_mean_ms)} to a request on average; ${shareText(row.slo_missed_share ?? 0)} of the requests${slo.source === undefined ? "" : ` for ${slo.source}`} exceed the limit.`;
  return row.throttled_share === 0 ? "" : ` It is throttled for ${throttledText(row)} of the active time.`;
}

function conditionText({ tolerate = 0, slo }: CapacityReport["assumptions"]): string {
  if (slo !== undefined)
    return `that meets "${sloText(slo, shortDuration)}", where a rejected request exceeds any wait`;
  return tolerate === 0
    ? "with no throttling and no rejected connections"
    : `that throttles at most ${shareText(tolerate)} of the active time and rejects at most ${shareText(tolerate)} of the requests`;
}

function assumptionText({ loads, assumptions: { loadPerRequest } }: CapacityReport): string {
  const assumed = `assuming ${plainNumber(loadPerRequest)} vCPU per running request`;
  if (loads === "recorded") return "with the loads that the journal of the world states";
  return loads === "assumed"
    ? `${assumed}, which the trace cannot tell`
    : `${assumed} where the journal of the world states no load`;
}

/** Lists the loads that would lead to another size, in ascending order. */
function sensitivityText(report: CapacityReport): string[] {
  const { sizes, sensitivity, loads, assumptions } = report;
  const chosenSize = (
    shares: readonly Pick<CapacityRow, "throttled_share" | "slo_missed_share" | "cu_hours">[],
  ) =>
    shares.reduce<number | undefined>((best, row, index) => {
      const size = sizes[index] as CapacityRow;
      const { throttled_share, slo_missed_share } = row;
      if (!isSufficient({ ...size, throttled_share, slo_missed_share }, report)) return best;
      return best === undefined || row.cu_hours < (shares[best]?.cu_hours ?? 0) ? index : best;
    }, undefined);
  const chosen = chosenSize(sizes);
  const others = sensitivity.flatMap(({ factor, sizes: shares }) => {
    const index = chosenSize(shares);
    if (index === chosen) return [];
    const load =
      loads === "assumed"
        ? `${plainNumber(assumptions.loadPerRequest * factor)} vCPU`
        : `${factor} times the load`;
    const name =
      index === undefined
        ? "no size is sufficient"
        : `${sizeName(sizes[index] as CapacityRow)} is sufficient`;
    return [`with ${load}, ${name}`];
  });
  const range = loads === "assumed" ? " per running request" : "";
  return others.length === 0
    ? ["A quarter to four times that load would not change the size."]
    : [`The answer depends on the load${range}: ${others.join("; ")}.`];
}

function hitRatioText({ cache_hit_ratio, cache_recovered_after_s }: CapacityRow): string {
  if (cache_hit_ratio === null) return "";
  const recovered =
    cache_recovered_after_s === null
      ? ""
      : `, close to that within ${spanText(cache_recovered_after_s)} of a start`;
  return `, ${amount(cache_hit_ratio * 100)} % of reads from the cache${recovered}`;
}

export function sizeName({ min_cu, max_cu }: CapacityRow): string {
  return min_cu === max_cu ? `${min_cu} CU` : `${min_cu}–${max_cu} CU`;
}

export function plainNumber(value: number): string {
  return String(Number(value.toPrecision(3)));
}

export function shareText(share: number): string {
  return share > 0 && share < SMALLEST_SHARE ? "<0.01 %" : `${amount(share * 100)} %`;
}

/** Positive shares below this are shown as "<0.01 %". */
const SMALLEST_SHARE = 0.0001;

function monthlyCostText({ cost_per_month, cu_hours, margin_95 }: CapacityRow): string {
  return cost_per_month === null
    ? `${amount(cu_hours)} CU-hours`
    : `${moneyWithMargin(cost_per_month, margin_95?.cost_per_month)} a month`;
}

/** Compares the usual range, unless it is the answer. */
function usualRangeText(report: CapacityReport): string[] {
  const { sizes } = report;
  const usual = sizes.find(
    ({ min_cu, max_cu }) => min_cu === USUAL_SIZES.minCu && max_cu === USUAL_SIZES.maxCu,
  );
  const sufficient = sizes.filter((row) => isSufficient(row, report));
  if (usual === undefined || cheapestSize(sufficient) === usual) return [];
  const { added_wait_p99_ms: p99 } = usual;
  return [
    `The usual range, ${sizeName(usual)}: ${monthlyCostText(usual)}, ${isSufficient(usual, report) ? "also sufficient" : "not sufficient"}, throttled for ${throttledText(usual)} of the active time, p99 wait ${millisText(p99)}.`,
  ];
}

/** Compares the replayed use of the current sizes with the meter of the world. */
function currentText({ current_sizes: current, sizes }: CapacityReport): string[] {
  if (current === null) return [];
  const { cu_hours, metered_cu_hours: metered, metered_without_requests_cu_hours: without } = current;
  const rest = without === 0 ? "" : `, ${amount(without)} of them in starts without a request`;
  const price = sizes.find(({ cost }) => cost !== null);
  const dollars =
    price === undefined || price.cost === null || price.cu_hours === 0
      ? ""
      : ` (${money((cu_hours * price.cost) / price.cu_hours)})`;
  return [
    `Current sizes, in the whole period: ${amount(cu_hours)} CU-hours replayed${dollars}; the world has metered ${amount(metered)}${rest}.`,
  ];
}

/** States how much the answer depends on the load of a running request. */
function cpuShareText({ sizes, sensitivity, assumptions }: CapacityReport): string[] {
  const share = assumptions.cpuShare ?? 1;
  const index = sizes.findIndex(({ min_cu, max_cu }) => min_cu < max_cu);
  const own = sizes[index];
  const half = sensitivity.find(({ factor }) => factor === 0.5)?.sizes[index];
  if (own === undefined || half === undefined) return [];
  return [
    `${sizeName(own)} takes ${amount(own.cu_hours)} CU-hours in the period if a request keeps its vCPUs busy for ${shareText(share)} of its duration, and ${amount(half.cu_hours)} if for ${shareText(share / 2)} (--cpu-share).`,
  ];
}

function shortDuration(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}
