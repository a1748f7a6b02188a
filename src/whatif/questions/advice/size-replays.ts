import type { Random } from "../../../kernel/random-port.ts";
import type { DurationMs } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import { collectParts } from "../../../traffic/recorded/trace/trace.ts";
import { tooManyDays } from "../../held-out/day-statistics.ts";
import { LeftOutDays, noMarginsReason } from "../../held-out/left-out-days.ts";
import type { Question } from "../../input/question.ts";
import { type Slo, sloSource } from "../../input/slo.ts";
import { ignoredSources } from "../../trace/ignored-waits.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { type CapacityAssumptions, CapacityTotals } from "../capacity/capacity-totals.ts";
import { CurrentUse } from "../capacity/current-use.ts";
import { DEFAULT_SLO, isWithinSlo, missedShare } from "../capacity/missed-share.ts";
import { currentScalingSetting } from "../capacity/scaling-setting.ts";
import { DEFAULT_RESERVED_CONNECTIONS } from "../capacity/sufficient-size.ts";

/** Criteria for comparing sizes. */
export type SizeTerms = {
  readonly profile: Profile;
  /** Limit on the wait for starts and throttling together. Undefined: `DEFAULT_SLO`, for throttling only. */
  readonly slo: Slo | undefined;
  /** vCPUs of a running request, where the traffic states no load; undefined: unknown. */
  readonly loadPerRequest: number | undefined;
};

/** Use of a fleet under its sizes, and whether they are sufficient. */
export type SizeOutcome = {
  readonly cuMs: number;
  /** CU-milliseconds by UTC day of the period; empty if there are no intervals. */
  readonly cuMsByDay: Float64Array;
  readonly starts: number;
  /** Whether the waits meet the SLO. A rejected request exceeds any wait. */
  readonly isSufficient: boolean;
  /** Wait at the percentile of the SLO. Computes are grouped by size; this is the highest wait of a group. */
  readonly waitMs: DurationMs;
};

/** Replays sizes as `whatif capacity` does, with waits for starts if an SLO is given. */
export class SizeReplays {
  readonly #traffic: Traffic;
  readonly #question: Question;
  readonly #terms: SizeTerms;
  readonly #random: Random;
  readonly #leftOut: LeftOutDays | undefined;

  constructor(traffic: Traffic, question: Question, terms: SizeTerms, random: Random) {
    const { period } = traffic;
    this.#traffic = traffic;
    this.#question = question;
    this.#terms = terms;
    this.#random = random;
    this.#leftOut = (tooManyDays(period) ?? noMarginsReason(period)) ? undefined : new LeftOutDays(period);
  }

  /** Replays the choices, each of which assigns a size to every compute. Yields the number of computes done. */
  *under(
    choices: readonly ((compute: number) => SizeRange)[],
    loadFactor = 1,
  ): Generator<number, readonly SizeOutcome[]> {
    const { computes, period } = this.#traffic;
    const { metered } = this.#question;
    const assumptions = this.#assumptions(loadFactor);
    // The observed durations contain the throttling of the world's own sizes under the recorded loads.
    const recorded =
      metered === undefined
        ? undefined
        : new CurrentUse(this.#question, this.#terms.profile, this.#assumptions(1));
    const fleets = choices.map((rangeOf) => ({ rangeOf, bySize: new Map<string, CapacityTotals>() }));
    for (const compute of computes.keys()) {
      const own = collectParts(this.#traffic.arrivals(compute));
      const setting = currentScalingSetting(this.#question, period, compute, this.#random);
      const needed = recorded?.add(own, setting, compute) ?? own;
      for (const { rangeOf, bySize } of fleets) {
        const totals = this.#totalsOf(rangeOf(compute), bySize, assumptions);
        totals.addConnections(own, period);
        totals.addScaling(needed, setting);
      }
      yield compute + 1;
    }
    return fleets.map(({ bySize }) => outcomeOf([...bySize.values()], assumptions.slo));
  }

  #assumptions(loadFactor: number): CapacityAssumptions & { readonly slo: Slo } {
    const { loadPerRequest = 0, slo = DEFAULT_SLO } = this.#terms;
    return {
      loadPerRequest,
      cpuShare: loadFactor * (this.#question.scaling?.cpuShare ?? 1),
      slo,
      reserved: DEFAULT_RESERVED_CONNECTIONS,
      poolBy: "compute",
    };
  }

  #totalsOf(
    range: SizeRange,
    bySize: Map<string, CapacityTotals>,
    assumptions: CapacityAssumptions,
  ): CapacityTotals {
    const key = `${range.minCu}..${range.maxCu}`;
    const { sources, period } = this.#traffic;
    const { profile, slo } = this.#terms;
    const judged = sloSource(slo, sources);
    const totals =
      bySize.get(key) ??
      new CapacityTotals(range, profile, assumptions, period, this.#leftOut, judged, {
        hasStartWaits: slo !== undefined,
        // A limit for a source counts its waits, even if waits of that source are otherwise ignored.
        ignored: judged === undefined ? ignoredSources(this.#question.ignoredWaits, sources) : undefined,
      });
    bySize.set(key, totals);
    return totals;
  }
}

function outcomeOf(totals: readonly CapacityTotals[], slo: Slo): SizeOutcome {
  const cuMsByDay = new Float64Array(totals[0]?.outcome.days?.cuMs.length ?? 0);
  let [cuMs, starts, waitMs] = [0, 0, 0];
  for (const { outcome } of totals) {
    const { addedWaits, requests } = outcome.judged ?? outcome;
    cuMs += outcome.cuMs;
    starts += outcome.starts;
    waitMs = Math.max(waitMs, addedWaits.quantile(slo.share, requests));
    outcome.days?.cuMs.forEach((used, day) => {
      cuMsByDay[day] = (cuMsByDay[day] as number) + used;
    });
  }
  const isSufficient = totals.every(({ outcome, rejected }) =>
    isWithinSlo(missedShare(slo, outcome, rejected), slo),
  );
  return { cuMs, cuMsByDay, starts, waitMs, isSufficient };
}
