import { DAY, HOUR, type SimTime } from "../../kernel/time.ts";
import type { Account } from "../../platform/model/account.ts";
import type { Branch } from "../../platform/model/branch.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { Granularity } from "../../platform/model/usage-totals.ts";
import { canRead, type Principal } from "../../platform/rules/account/access.ts";
import {
  type ConsumptionWindow,
  consumptionOf,
  type Timeframe,
} from "../../platform/rules/usage/consumption.ts";
import { computesOnBranch } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import { SumByStart } from "./render-consumption.ts";

/** Periods that are read, or rendered, in a step of a few milliseconds. */
const PERIODS_READ_PER_STEP = 2_000;
const PERIODS_RENDERED_PER_STEP = 500;
/** The work for each project or branch, in periods. */
const PERIODS_OF_EACH = 5;
/** Days and hours of the month that are read before the first period. */
const PERIODS_BEFORE_FIRST = 30 + 23;

/** The usage of all projects of the organization that the caller may see. */
export function* sumSteps(
  world: World,
  principal: Principal,
  account: Account,
  window: ConsumptionWindow,
  now: SimTime,
): Generator<undefined, Timeframe[]> {
  const sum = new SumByStart();
  const perStep = countPerStep(PERIODS_READ_PER_STEP, window, now);
  let count = 0;
  let last = 0;
  do {
    count = 0;
    for (const project of world.projects.ordered("owner", account.id).after(last)) {
      if (count === perStep) break;
      if (canRead(world, principal, project))
        sum.add(timeframesOf(world, project, ofProject(world, project.id), window, now));
      last = project.number;
      count += 1;
    }
    yield;
  } while (count === perStep);
  return sum.timeframes();
}

/** The JSON text of an answer with this list. */
export function* listSteps<T>(
  name: string,
  items: readonly T[],
  window: ConsumptionWindow,
  now: SimTime,
  pagination: object | undefined,
  render: (item: T) => object,
): Generator<undefined, string> {
  const perStep = countPerStep(PERIODS_RENDERED_PER_STEP, window, now);
  const rendered: string[] = [];
  for (const item of items) {
    rendered.push(JSON.stringify(render(item)));
    if (rendered.length % perStep === 0) yield;
  }
  const end = pagination === undefined ? "" : `,"pagination":${JSON.stringify(pagination)}`;
  return `{"${name}":[${rendered.join(",")}]${end}}`;
}

const LENGTHS: Readonly<Record<Granularity, number>> = { hourly: HOUR, daily: DAY, monthly: 28 * DAY };

/** The number of projects or branches in a step. */
function countPerStep(periods: number, { from, to, granularity }: ConsumptionWindow, now: SimTime): number {
  const inWindow = Math.max(0, Math.min(to, now) - from) / LENGTHS[granularity];
  const before = granularity === "monthly" ? 0 : PERIODS_BEFORE_FIRST;
  return Math.max(1, Math.floor(periods / (PERIODS_OF_EACH + before + inWindow)));
}

/** Whose usage is included. */
type Consumers = { readonly computes: Iterable<Compute>; readonly branches: Iterable<Branch> };

export function ofProject(world: World, projectId: string): Consumers {
  return {
    computes: world.computes.by("project", projectId).values(),
    branches: world.branches.by("project", projectId).values(),
  };
}

export function ofBranch(world: World, branch: Branch): Consumers {
  return { computes: computesOnBranch(world, branch.id), branches: [branch] };
}

/** A: timeframes begin at the creation of the project or branch. */
export function timeframesOf(
  world: World,
  resource: { readonly id: string; readonly createdAt: SimTime },
  { computes, branches }: Consumers,
  { from, to, granularity }: ConsumptionWindow,
  now: SimTime,
): Timeframe[] {
  return consumptionOf(
    world,
    resource.id,
    computes,
    { from: Math.max(from, resource.createdAt), to, granularity },
    now,
    branches,
  );
}
