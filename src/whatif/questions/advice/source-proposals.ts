import { DAY, type DurationMs, SECOND } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import type { MonthlyBill } from "../../units/bill.ts";
import { spanText } from "../../units/number-format.ts";
import {
  type Change,
  computeDollars,
  dollarsPerStart,
  type Proposal,
  type ProposalInput,
  proposal,
  startDollars,
} from "./proposal.ts";

/**
 * Proposals to stop a program on a timer, or to give it a longer interval. With a longer interval the compute starts
 * for each of its requests, which can be worth less than nothing, so the proposal to stop it has figures of its own.
 */
export function sourceProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const slower = slowerProposals(input, bill);
  const dropped = dropProposals(input, bill).map((one) => {
    const lessOften = slower.find(({ source }) => source === one.source);
    return lessOften === undefined ? one : { ...one, less_often: lessOften };
  });
  return [...dropped, ...slower];
}

function dropProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const { attribution, periodic, maxWaitMs = Number.POSITIVE_INFINITY } = input;
  if (attribution === undefined) return [];
  const intervals = new Map(periodic.map(({ source, everyMs }) => [source, everyMs]));
  return (
    attribution.sources
      // Without a check that keeps computes active, requests of other sources wait for starts.
      .filter(
        ({ source, saves_cost, without }) =>
          intervals.has(source) &&
          saves_cost > 0 &&
          (input.waitWithoutMs(source) ?? without.wait_p99_ms) <= maxWaitMs,
      )
      .map(({ source, saves_cost, more_cold_starts, margin_95 }) =>
        proposal(input, bill, {
          kind: "source",
          change: `Drop ${source} (${everyText(intervals.get(source) ?? 0)}), or send it elsewhere`,
          source,
          ...savings(input, saves_cost, more_cold_starts, margin_95),
        }),
      )
  );
}

function slowerProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const { slower, maxWaitMs = Number.POSITIVE_INFINITY } = input;
  return slower
    .filter(
      ({ source, savesDollars, waitP99Ms }) =>
        savesDollars > 0 && (input.waitSlowerMs(source) ?? waitP99Ms) <= maxWaitMs,
    )
    .map(({ source, everyMs, newEveryMs, savesDollars, moreColdStarts, margins }) =>
      proposal(input, bill, {
        kind: "source",
        change: `Send ${source} ${everyText(newEveryMs)} instead of ${everyText(everyMs)}`,
        source,
        every_s: newEveryMs / SECOND,
        ...savings(input, savesDollars, moreColdStarts, margins),
      }),
    );
}

/** Converts savings over the period to a change per month. */
function savings(
  input: ProposalInput,
  savedDollars: number,
  moreStarts: number,
  margins: { readonly saves_cost: number; readonly more_cold_starts: number } | null,
): Omit<Change, "kind" | "change"> {
  const { currentDelay, traffic } = input;
  const baseMs = traffic.month_base_days * DAY;
  const perStart = dollarsPerStart(input);
  const known = "missing" in input.margins ? null : margins;
  const margin = known === null ? null : perMonth(known.saves_cost, baseMs);
  return {
    computeDollars: computeDollars(input, currentDelay) - perMonth(savedDollars, baseMs),
    coldStartsPerDay: input.figuresAt(currentDelay).cold_starts_per_day + moreStarts / traffic.days,
    startDollars: startDollars(input, currentDelay) + perMonth(moreStarts, baseMs) * perStart,
    marginDollars: margin,
    // Cost and cold starts vary together, so the sum of their margins is an upper bound.
    worthMarginDollars:
      margin === null || known === null ? null : margin + perMonth(known.more_cold_starts, baseMs) * perStart,
  };
}

function everyText(everyMs: DurationMs): string {
  return `every ${spanText(everyMs / SECOND)}`;
}
