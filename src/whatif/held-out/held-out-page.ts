import { type PageTable, pageTable } from "../page/page-table.ts";
import { delayText, gainText, moneyWithMargin, percentWithMargin } from "../units/number-format.ts";
import type { HeldOutChoice, HeldOutSummary } from "./held-out-summary.ts";

const TITLES: Readonly<Record<HeldOutChoice["choice"], string>> = {
  current: "current setting",
  fleet: "one delay for all",
  per_compute: "best delay of each compute",
  per_compute_shrunk: "each compute, shrunk",
};

/** Sentences about held-out days. */
export function heldOutLines(summary: HeldOutSummary): string[] {
  if ("missing" in summary) return [`Not tested on other days: ${summary.missing}.`];
  const { train, test, choices, recommended, pseudo_gaps } = summary;
  const named = (name: HeldOutChoice["choice"]) =>
    choices.find(({ choice }) => choice === name) as HeldOutChoice;
  const gain = (name: HeldOutChoice["choice"]) => {
    const { promised, held_out } = named(name);
    return {
      promised: gainText(promised.gain_percent),
      held: gainText(held_out.gain_percent, held_out.margin_95?.gain_percent),
    };
  };
  const fleet = named("fleet");
  const [one, own, shrunk] = [gain("fleet"), gain("per_compute"), gain("per_compute_shrunk")];
  return [
    `Tested on other days: chosen on ${train.days} days, ${delayText(fleet.delay_s)} for all computes promised ${one.promised} weighted cost. On the ${test.days} days from ${test.from.slice(0, 10)} it gave ${one.held}${monthText(fleet)}.`,
    `The best delay of each compute promised ${own.promised} and gave ${own.held}${monthText(named("per_compute"))}. ${
      pseudo_gaps === null
        ? "Cross-validation prefers one delay for all."
        : `Shrunk towards the fleet, the delays promised ${shrunk.promised} and gave ${shrunk.held}${monthText(named("per_compute_shrunk"))}.`
    } ${recommended === "fleet" ? "One delay for all is enough." : "A delay per compute is worth setting: see --by-compute."}`,
  ];
}

export function heldOutTables(summary: HeldOutSummary): PageTable[] {
  if ("missing" in summary) return [];
  const { choices, train, test } = summary;
  return [
    pageTable({
      name: "held-out",
      title: `Chosen on ${train.days} days, judged on ${test.days} others`,
      columns: [
        { heading: "choice", cell: ({ choice }) => TITLES[choice] },
        { heading: "delay", cell: ({ delay_s }) => delayText(delay_s) },
        { heading: "weighted cost, promised", cell: ({ promised }) => gainText(promised.gain_percent) },
        {
          heading: "held out",
          cell: ({ held_out: { gain_percent, margin_95 } }) =>
            gainText(gain_percent, margin_95?.gain_percent),
        },
        { heading: "cost, promised", cell: ({ promised }) => percentWithMargin(promised.cost_percent, null) },
        {
          heading: "held out",
          cell: ({ held_out: { cost_percent, margin_95 } }) =>
            percentWithMargin(cost_percent, margin_95?.cost_percent),
        },
        { heading: "$ a month, held out", cell: ({ held_out }) => costText(held_out) },
      ],
      rows: choices,
      mark: ({ choice }) =>
        choice === "current" ? "current" : choice === summary.recommended ? "best" : undefined,
      records: choices,
    }),
  ];
}

function monthText({ held_out }: HeldOutChoice): string {
  return ` at ${costText(held_out)} a month`;
}

function costText({ cost_dollars_per_month: cost, margin_95 }: HeldOutChoice["held_out"]): string {
  return moneyWithMargin(cost, margin_95?.cost_dollars_per_month);
}
