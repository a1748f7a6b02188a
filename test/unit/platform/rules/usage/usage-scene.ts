import { HOUR, type SimTime } from "../../../../../src/kernel/time.ts";
import type { Compute } from "../../../../../src/platform/model/compute.ts";
import type { Granularity } from "../../../../../src/platform/model/usage-totals.ts";
import { meter } from "../../../../../src/platform/rules/usage/meter.ts";
import { USAGE_PERIODS, usageInPeriod } from "../../../../../src/platform/rules/usage/usage-periods.ts";
import { emptyWorld, type World } from "../../../../../src/platform/world/world.ts";

/** `at("05 10:30")` is 10:30 on January 5, 2026, and `at("2026-02-01T00:00")` another day. */
export function at(text: string): SimTime {
  return Date.parse(`${text.includes("-") ? text : `2026-01-${text.replace(" ", "T")}`}Z`);
}

export function active(from: string, sizeCu = 1): Compute {
  return {
    projectId: "shop",
    branchId: "br-main",
    phase: { state: "active", meteredAt: at(from), sizeCu },
  } as Compute;
}

export const idle = { projectId: "shop", branchId: "br-main", phase: { state: "idle" } } as Compute;

/** A world with hourly usage unless it is `false`, and usage of the branch "br-main" from one instant to another. */
export function worldWith(
  spans: readonly (readonly [from: string, to: string, sizeCu?: number])[],
  hourlyUsage = true,
): World {
  const world = emptyWorld();
  if (hourlyUsage) world.settings = { ...world.settings, hourlyUsage };
  for (const [from, to, sizeCu] of spans) meter(world, active(from, sizeCu), at(to));
  return world;
}

/** The recorded periods of the branch as `{ "05 10:00": minutes }`, without the open one. */
export function recorded(world: World, granularity: Granularity): Record<string, number> {
  const suffix = { hourly: "", daily: "#day", monthly: "#month" }[granularity];
  const rows = world.hourlyUsage.toArray().filter(({ of }) => of === `br-main${suffix}`);
  return Object.fromEntries(
    rows.map(({ hour, activeMs }) => [
      new Date(hour * HOUR).toISOString().slice(5, 16).replace("T", " "),
      activeMs / 60_000,
    ]),
  );
}

/** The minutes of the branch in the period that starts at an instant. */
export function minutesIn(world: World, granularity: Granularity, start: string): number {
  return usageInPeriod(world, "br-main", USAGE_PERIODS[granularity], at(start), []).activeMs / 60_000;
}
