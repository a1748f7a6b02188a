import type { ActivePhase, Compute } from "../compute/compute.ts";
import { HOUR, type SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import { type UsageTotals, ZERO_USAGE } from "./hourly-usage.ts";
import { addSpan } from "./usage-periods.ts";

/** Books what a compute used since its last metering on its branch and project. The caller moves `meteredAt`. */
export function meter(world: World, { phase, branchId, projectId }: Compute, at: SimTime): void {
  if (phase.state !== "active") return;
  addUsage(world, branchId, phase, at);
  addUsage(world, projectId, phase, at);
}

function addUsage(world: World, id: string, { meteredAt, sizeCu }: ActivePhase, at: SimTime): void {
  const usage = world.usage.get(id) ?? { id, ...ZERO_USAGE };
  const activeMs = usage.activeMs + at - meteredAt;
  const cuMs = usage.cuMs + (at - meteredAt) * sizeCu;
  if (world.settings.hourlyUsage !== true) {
    world.usage.set({ id, activeMs, cuMs });
    return;
  }
  const { hour } = usage;
  // Mostly within the hour that is open: then nothing of it changes.
  const isWithin = hour !== undefined && meteredAt >= hour.hour * HOUR && at <= (hour.hour + 1) * HOUR;
  world.usage.set({
    id,
    activeMs,
    cuMs,
    hour: isWithin ? hour : addSpan(world, usage, { from: meteredAt, to: at, sizeCu }),
  });
}

/** Usage of a branch or project at `now`: what is booked and what its computes are running up. */
export function usageAt(
  world: World,
  id: string,
  computes: Iterable<Compute>,
  now: SimTime,
): UsageTotals & { readonly id: string } {
  const stored = world.usage.get(id);
  let activeMs = stored?.activeMs ?? 0;
  let cuMs = stored?.cuMs ?? 0;
  for (const { phase } of computes) {
    if (phase.state !== "active") continue;
    activeMs += now - phase.meteredAt;
    cuMs += (now - phase.meteredAt) * phase.sizeCu;
  }
  return { id, activeMs, cuMs };
}

/** For a branch or project that is gone for good. */
export function deleteUsage(world: World, id: string): void {
  world.usage.delete(id);
  world.hourlyUsage.deleteFor(id);
}
