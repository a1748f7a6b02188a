import { DAY, SECOND } from "../../src/kernel/time.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { activePeriods } from "../../src/whatif/periods/active-periods.ts";
import { type Bounds, PeriodBounds } from "../../src/whatif/periods/period-bounds.ts";
import { operationColumns } from "../../test/support/account/operation-columns.ts";
import { syntheticCompute, underDelay } from "../../test/support/account/synthetic-account.ts";
import { arrivalsOfKind, FIRST_DAY, TRAFFIC_KINDS } from "../decisions/traffic-kinds.ts";
import { requestsOf } from "./short-gap-error.ts";

const DAYS = 1;
const END = FIRST_DAY + DAYS * DAY;
const IN_FORCE_S = [60, 120, 300, 600];
const DELAYS_S = [60, 90, 120, 300, 301, 600, 3_600, 86_400];
const START_MS = 350;

export type FleetsOutside = {
  /** Number of figures outside their bounds. */
  readonly outside: number;
  /** Number of `outside` figures of delays at least as long as the one in force, which should be exact. */
  readonly differences: number;
};

/**
 * Compares the bounds of random fleets with the requests of each. Kinds, delays and starts at the creation take turns.
 */
export function fleetsOutside(fleets: number): FleetsOutside {
  let [outside, differences] = [0, 0];
  for (let fleet = 0; fleet < fleets; fleet += 1) {
    const kind = TRAFFIC_KINDS[fleet % TRAFFIC_KINDS.length];
    const inForceS = IN_FORCE_S[fleet % IN_FORCE_S.length];
    if (kind === undefined || inForceS === undefined) throw new Error("there is no such fleet");
    const startsAtCreation = fleet % 3 === 0;
    const bounds = new PeriodBounds(DELAYS_S, 0);
    const truth = DELAYS_S.map(() => ({ activeMs: 0, coldStarts: 0 }));
    for (const arrivals of arrivalsOfKind(kind, DAYS, randomFrom(fleet))) {
      const { busy, operations } = syntheticCompute(
        requestsOf(arrivals),
        ...([FIRST_DAY, END, inForceS, START_MS, startsAtCreation] as const),
      );
      const createdAt = startsAtCreation ? FIRST_DAY : FIRST_DAY - DAY;
      const { periods } = activePeriods(
        operationColumns(operations),
        [{ at: END, delay: inForceS }],
        createdAt,
      );
      bounds.addCompute(periods, END, 1);
      for (const [index, delayS] of DELAYS_S.entries()) {
        const own = underDelay(busy, END, delayS * SECOND);
        const sum = truth[index];
        if (sum === undefined) continue;
        sum.activeMs += own.activeMs;
        sum.coldStarts += own.coldStarts;
      }
    }
    for (const [index, { activeMs, coldStarts }] of bounds.results().entries()) {
      const own = truth[index];
      if (own === undefined) continue;
      if (isWithin(own.activeMs, activeMs) && isWithin(own.coldStarts, coldStarts)) continue;
      outside += 1;
      if ((DELAYS_S[index] ?? 0) >= inForceS) differences += 1;
    }
  }
  return { outside, differences };
}

function isWithin(value: number, { least, most }: Bounds): boolean {
  return value >= least && value <= most;
}
