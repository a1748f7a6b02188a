import { expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/kernel/time.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { AccountCompute } from "../../src/whatif/periods/account-fleet.ts";
import { accountFleet } from "../../src/whatif/periods/account-fleet.ts";
import { planExperiment } from "../../src/whatif/periods/experiment-plan.ts";
import { type DelayBounds, PeriodBounds } from "../../src/whatif/periods/period-bounds.ts";
import { IndexedStreams } from "../../src/whatif/units/draws.ts";
import { type ComputeOperation, operationColumns } from "../support/account/operation-columns.ts";
import { type SyntheticRequest, syntheticCompute, underDelay } from "../support/account/synthetic-account.ts";

const START = 1_767_225_600_000;
const MIDDLE = START + 4 * DAY;
const END = MIDDLE + 3 * DAY;
const IN_FORCE_S = 300;
const WORTH_S = 60;
const DELAYS = [60, 120, 180, 240, 300, 600] as const;
const COMPUTES = 12;
const FLEETS = 40;
const FIRST_SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20_260_101);
const BUDGET = { maxExtraColdStartsPerDay: 60, days: 3, maxCost: undefined };
const PRICES = { pricePerCuHour: 0.16, coldStartS: WORTH_S };

type Busy = readonly (readonly [number, number])[];
type ShownCompute = Omit<AccountCompute, "operations"> & { readonly operations: readonly ComputeOperation[] };
type Experimented = { readonly compute: ShownCompute; readonly busy: Busy };

/** The computes of one fleet: sessions of requests with gaps of their own, and pauses between them. */
class RandomFleet {
  readonly #before: readonly SyntheticRequest[][];
  readonly #after: readonly SyntheticRequest[][];

  constructor(seed: number) {
    const draws = new IndexedStreams(randomFrom(seed), "requests", COMPUTES);
    const shapes = Array.from({ length: COMPUTES }, (_, compute) => ({
      gapMs: 5 * SECOND + draws.uniform(compute) * 3 * MINUTE,
      pauseMs: 10 * MINUTE + draws.uniform(compute) * 12 * HOUR,
      each: 1 + Math.floor(draws.uniform(compute) * 30),
    }));
    const requests = (lengthMs: number) =>
      shapes.map(({ gapMs, pauseMs, each }, compute) => {
        const own: SyntheticRequest[] = [];
        let at = 0;
        for (let index = 0; ; index += 1) {
          const gap = draws.exponential(compute, index % each === 0 ? pauseMs : gapMs);
          at += gap;
          if (at > lengthMs) return own;
          own.push({ gapMs: gap, durationMs: 0 });
        }
      });
    // Idle when the delay changes.
    this.#before = requests(MIDDLE - START - 20 * MINUTE);
    this.#after = requests(END - MIDDLE);
  }

  /** With these delays from the middle on; the others keep theirs. Pulls at the middle and at the end have seen them. */
  with(changed: ReadonlyMap<string, number>): readonly Experimented[] {
    return this.#before.map((requests, index) => {
      const id = `ep-${String(index).padStart(2, "0")}`;
      const delayS = changed.get(id) ?? IN_FORCE_S;
      const before = syntheticCompute(requests, START, MIDDLE, IN_FORCE_S, 350);
      const after = syntheticCompute(this.#after[index] ?? [], MIDDLE, END, delayS, 350);
      const change = { action: "apply_config", status: "finished", createdAt: MIDDLE, durationMs: 100 };
      const reading = (at: number, suspendTimeoutSeconds: number) => ({
        ...{ firstSeenAt: at, lastSeenAt: at, suspendTimeoutSeconds, minCu: 1 },
      });
      return {
        compute: {
          ...{ id, project: id, projectName: id, createdAt: START - DAY, deletedAt: undefined },
          operations: [...before.operations, ...(changed.has(id) ? [change] : []), ...after.operations],
          settings: [reading(MIDDLE - MINUTE, IN_FORCE_S), reading(END, delayS)],
        },
        busy: [...before.busy, ...after.busy],
      };
    });
  }

  /** What is known at the middle. */
  history() {
    const computes = this.with(new Map()).map(({ compute }) => ({
      ...compute,
      operations: compute.operations.filter(({ createdAt }) => createdAt < MIDDLE),
    }));
    return accountFleet(computes.map(asRead), [], MIDDLE, IN_FORCE_S);
  }
}

function asRead(compute: ShownCompute): AccountCompute {
  return { ...compute, operations: operationColumns(compute.operations) };
}

function boundsOf(computes: readonly Experimented[]): readonly DelayBounds[] {
  const bounds = new PeriodBounds(DELAYS, WORTH_S * SECOND);
  const fleet = accountFleet(
    computes.map(({ compute }) => asRead(compute)),
    [],
    END,
    IN_FORCE_S,
  );
  for (const { periods, endAt, cu } of fleet.computes) bounds.addCompute(periods, endAt, cu);
  return bounds.results();
}

function widthOf(bounds: readonly DelayBounds[]): number {
  return bounds.reduce((sum, { netSavingCuMs: { least, most } }) => sum + most - least, 0);
}

function figuresOutside(computes: readonly Experimented[], bounds: readonly DelayBounds[]): string[] {
  return bounds.flatMap(({ delay, coldStarts, activeMs }) => {
    const limitMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
    const sum = { coldStarts: 0, activeMs: 0 };
    for (const { busy } of computes) {
      const truth = underDelay(busy, END, limitMs);
      sum.coldStarts += truth.coldStarts;
      sum.activeMs += truth.activeMs;
    }
    return [
      ...(sum.coldStarts < coldStarts.least || sum.coldStarts > coldStarts.most
        ? [`${delay}: cold starts`]
        : []),
      ...(sum.activeMs < activeMs.least || sum.activeMs > activeMs.most ? [`${delay}: active time`] : []),
    ];
  });
}

/** As many computes with the same delays, in random order, which fit the same budget. */
function randomChoice(fleet: RandomFleet, count: number, delayS: number, seed: number) {
  const draws = new IndexedStreams(randomFrom(seed), "choice", 1);
  const one = planExperiment(
    fleet.history(),
    (delay) => delay === delayS,
    { ...BUDGET, maxExtraColdStartsPerDay: Number.POSITIVE_INFINITY },
    PRICES,
  );
  const order = one.computes
    .map((planned) => ({ planned, key: draws.uniform(0) }))
    .sort((a, b) => a.key - b.key);
  const chosen = new Map<string, number>();
  let extra = 0;
  for (const { planned } of order) {
    if (chosen.size === count) break;
    if (extra + planned.extra_cold_starts_per_day > BUDGET.maxExtraColdStartsPerDay) continue;
    extra += planned.extra_cold_starts_per_day;
    chosen.set(planned.compute, delayS);
  }
  return chosen;
}

test("a planned experiment narrows the bounds more than as many random computes, and the truth stays inside", () => {
  let [planned, random, before, wins] = [0, 0, 0, 0];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + FLEETS; seed += 1) {
    const fleet = new RandomFleet(seed);
    const plan = planExperiment(fleet.history(), (delayS) => delayS < IN_FORCE_S, BUDGET, PRICES);
    expect(plan.extra_cold_starts_per_day).toBeLessThanOrEqual(BUDGET.maxExtraColdStartsPerDay);
    expect(plan.computes.length).toBeGreaterThan(0);
    const set = new Map(plan.computes.map(({ compute, set_delay_s }) => [compute, set_delay_s]));
    const experimented = fleet.with(set);
    const bounds = boundsOf(experimented);
    expect({ seed, outside: figuresOutside(experimented, bounds) }).toEqual({ seed, outside: [] });
    const others = fleet.with(randomChoice(fleet, set.size, Math.min(...set.values()), seed));
    expect({ seed, outside: figuresOutside(others, boundsOf(others)) }).toEqual({ seed, outside: [] });
    const [own, other] = [widthOf(bounds), widthOf(boundsOf(others))];
    planned += own;
    random += other;
    before += widthOf(boundsOf(fleet.with(new Map())));
    if (own <= other) wins += 1;
  }
  expect(planned).toBeLessThan(before);
  expect(planned).toBeLessThan(random);
  expect(wins).toBeGreaterThan(0.75 * FLEETS);
});
