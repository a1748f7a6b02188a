import type { SimTime } from "../kernel/time.ts";
import type { World } from "../platform/world/world.ts";
import { overdueWork } from "./due.ts";
import { ACCOUNT_INVARIANTS } from "./invariants/account-invariants.ts";
import { BRANCH_INVARIANTS } from "./invariants/branch-invariants.ts";
import { COMPUTE_INVARIANTS } from "./invariants/compute-invariants.ts";
import type { Invariant } from "./invariants/invariant.ts";
import { OPERATION_INVARIANTS } from "./invariants/operation-invariants.ts";
import { SETTINGS_INVARIANTS } from "./invariants/settings-invariants.ts";
import { USAGE_INVARIANTS } from "./invariants/usage-invariants.ts";

type Violation = { readonly invariant: string; readonly message: string };

/**
 * Invariants of every world at every instant. Property tests, `verify` and the control API all use this
 * list.
 */
const INVARIANTS: readonly Invariant[] = [
  ...COMPUTE_INVARIANTS,
  ...BRANCH_INVARIANTS,
  ...OPERATION_INVARIANTS,
  ...ACCOUNT_INVARIANTS,
  ...SETTINGS_INVARIANTS,
  ...USAGE_INVARIANTS,
  {
    name: "all due work has run",
    *violations(world, now) {
      for (const work of overdueWork(world, now))
        yield work && `${work.kind} ${work.id} was due before ${now}`;
    },
  },
  {
    name: "no event is later than now",
    *violations(world, now) {
      if (world.at > now) yield `the last event was at ${world.at}, but the clock shows ${now}`;
    },
  },
];

export type InvariantReport = {
  readonly ok: boolean;
  readonly checked: number;
  readonly violations: readonly Violation[];
};

export function checkInvariants(world: World, now: SimTime): InvariantReport {
  const steps = invariantSteps(world, now);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Checks the invariants in steps. The world must not change between steps. */
export function* invariantSteps(world: World, now: SimTime): Generator<undefined, InvariantReport> {
  const violations: Violation[] = [];
  for (const invariant of INVARIANTS) {
    for (const message of invariant.violations(world, now)) {
      if (message === undefined) yield undefined;
      else violations.push({ invariant: invariant.name, message });
    }
    yield undefined;
  }
  return { ok: violations.length === 0, checked: INVARIANTS.length, violations };
}
