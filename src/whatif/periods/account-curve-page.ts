import type { ReportPage } from "../page/page-layout.ts";
import { type PageTable, pageTable } from "../page/page-table.ts";
import { amount, countText, delayPhrase, delayText, money, plural } from "../units/number-format.ts";
import type { AccountCurve, AccountDelay, BoundedFigure } from "./account-curve.ts";
import type { OmittedFigures } from "./account-fleet.ts";

export function accountCurvePage(curve: AccountCurve): ReportPage {
  const { account, recorded } = curve;
  return {
    title: "What each autosuspend delay would have cost, from the operations of an account",
    subject: `${plural(account.computes_used, "compute")} of ${account.computes}, ${plural(account.periods, "active period")} in ${amount(account.days)} days (${account.from.slice(0, 10)} to ${account.to.slice(0, 10)})`,
    answer: answerLines(curve),
    facts: [
      { label: "Recorded", value: money(recorded.cost_dollars_per_month), note: "a month of 730 hours" },
      { label: "Cold starts", value: amount(recorded.cold_starts_per_day), note: "a day" },
    ],
    tables: [delayTable(curve)],
    limits: curve.limits,
  };
}

/** Sentences of the answer: the decision with what is certain, the estimate, and the data that was read. */
function answerLines(curve: AccountCurve): readonly string[] {
  const { delays, recorded, account, reconciliation } = curve;
  const settable = delays.filter(({ is_settable }) => is_settable);
  return [
    certainLine(settable),
    ...estimateLines(settable),
    `Recorded: ${money(recorded.cost_dollars_per_month)} a month and ${amount(recorded.cold_starts_per_day)} cold starts a day, with ${recorded.delays.map(({ delay_s, computes }) => `${delayPhrase(delay_s)} (${plural(computes, "compute")})`).join(", ") || "unknown delays"}.`,
    ...(account.periods_with_known_delay === account.periods
      ? []
      : [
          `The delay in force is unknown for ${countText(account.periods - account.periods_with_known_delay)} of ${plural(account.periods, "period")}, which widens the bounds. Regular pulls narrow them.`,
        ]),
    ...experimentLines(curve),
    ...(recorded.starts_without_request === 0
      ? []
      : [
          `Left out: ${plural(recorded.starts_without_request, "start")} at the creation of a compute without a request, ${amount(recorded.active_h_without_request)} h active.`,
        ]),
    reconciliation.hours === 0
      ? "No hourly consumption was read, so the periods could not be compared with what was metered."
      : `Active by operations ${amount(reconciliation.active_h_by_operations)} h, metered ${amount(reconciliation.metered_active_h)} h; ${reconciliation.hours_that_differ === 0 ? "no hour differs" : `${plural(reconciliation.hours_that_differ, "hour")} of ${countText(reconciliation.hours)} ${reconciliation.hours_that_differ === 1 ? "differs" : "differ"}`} by more than the resolution.`,
    ...omittedLines(reconciliation.omitted),
  ];
}

/** States the totals omitted because of hours that differ; empty if nothing is omitted. */
export function omittedLines(omitted: OmittedFigures | null): readonly string[] {
  if (omitted === null) return [];
  if (omitted.hours === 0) return ["Nothing is omitted, because no hour differs."];
  return [
    `Omitted: ${plural(omitted.hours, "hour")} that ${omitted.hours === 1 ? "differs" : "differ"}, and ${plural(omitted.periods, "period")} that ${omitted.periods === 1 ? "overlaps" : "overlap"} ${omitted.hours === 1 ? "it" : "them"}, ${amount(omitted.active_h)} h active. The figures describe the remaining time.`,
  ];
}

/** One line per delay that computes had. */
function experimentLines({ experiments }: AccountCurve): readonly string[] {
  const delays = [...new Set(experiments.map(({ delay_s }) => delay_s))];
  return delays.map((delay) => {
    const own = experiments.filter(({ delay_s }) => delay_s === delay);
    const gaps = own.reduce((sum, { periods }) => sum + periods, 0);
    const dates = own.flatMap(({ from, to }) => [from, to]).sort();
    return `Experiment: ${plural(own.length, "compute")} had ${delayPhrase(delay)} between ${dates[0]?.slice(0, 10)} and ${dates.at(-1)?.slice(0, 10)}, which showed ${plural(gaps, "gap")} longer than that.`;
  });
}

function certainLine(settable: readonly AccountDelay[]): string {
  const saves = settable
    .filter(({ net_saving_dollars_per_month: net }) => net.least > 0)
    .sort((a, b) => b.net_saving_dollars_per_month.least - a.net_saving_dollars_per_month.least);
  const [best] = saves;
  if (best !== undefined) {
    const { least, most } = best.net_saving_dollars_per_month;
    return `Certain: ${delayPhrase(best.delay_s)} saves at least ${money(least)} and at most ${money(most)} a month, after its cold starts.`;
  }
  if (settable.every(({ net_saving_dollars_per_month: net }) => net.most <= 0))
    return "Certain: no other delay saves anything.";
  // The delays from here on save nothing, whatever the requests were.
  const firstLong = settable.findLastIndex(({ net_saving_dollars_per_month: net }) => net.most > 0) + 1;
  const long = settable[firstLong];
  if (long !== undefined)
    return `Certain: ${delayPhrase(long.delay_s)}${long.delay_s === "never" ? "" : ", or a longer one,"} saves nothing. Whether a shorter one does depends on gaps that operations do not show.`;
  return "Nothing is certain: every delay may save or lose, depending on gaps that operations do not show.";
}

function estimateLines(settable: readonly AccountDelay[]): readonly string[] {
  const [best] = settable
    .filter(({ estimate }) => estimate !== null)
    .sort((a, b) => estimatedSaving(b) - estimatedSaving(a));
  if (best === undefined) return [];
  const saving = estimatedSaving(best);
  return [
    saving > 0
      ? `Estimate by a model of short gaps: ${delayPhrase(best.delay_s)} is the best delay and saves ${money(saving)} a month.`
      : "Estimate by a model of short gaps: no other delay saves anything.",
  ];
}

function estimatedSaving({ estimate }: AccountDelay): number {
  return estimate?.net_saving_dollars_per_month ?? Number.NEGATIVE_INFINITY;
}

function delayTable({ delays }: AccountCurve): PageTable {
  return pageTable({
    name: "delays",
    title: "Each delay: bounds, and the estimate of the model: cold starts a day, $ a month",
    columns: [
      {
        heading: "delay",
        cell: ({ delay_s, is_settable }) =>
          is_settable ? delayText(delay_s) : `${delayText(delay_s)} (not on this plan)`,
      },
      {
        heading: "cold starts a day",
        cell: ({ cold_starts_per_day }) => boundsText(cold_starts_per_day, amount),
      },
      {
        heading: "$ a month",
        cell: ({ cost_dollars_per_month }) => boundsText(cost_dollars_per_month, money),
      },
      {
        heading: "saves $ a month",
        cell: ({ net_saving_dollars_per_month }) => boundsText(net_saving_dollars_per_month, money),
      },
      {
        heading: "estimate",
        cell: ({ estimate }) =>
          estimate === null
            ? "–"
            : `${amount(estimate.cold_starts_per_day)}, ${money(estimate.cost_dollars_per_month)}`,
      },
    ],
    rows: delays,
    records: delays,
  });
}

/** One value if both are shown alike. */
function boundsText({ least, most }: BoundedFigure, show: (value: number) => string): string {
  const [low, high] = [show(least), show(most)];
  return low === high ? low : `${low} to ${high}`;
}
