import { HOUR, type SimTime } from "../../../kernel/time.ts";
import type { ActivePhase, Compute } from "../../model/compute.ts";
import { type DataTraffic, sumOfData } from "../../model/data-traffic.ts";
import type { Usage } from "../../model/usage.ts";
import { type UsageTotals, ZERO_USAGE } from "../../model/usage-totals.ts";
import type { World } from "../../world/world.ts";
import { meterStorage } from "./meter-storage.ts";
import { addInterval } from "./usage-periods.ts";

/** Books the usage of a compute since its last metering. The caller updates `meteredAt`. */
export function meter(world: World, { phase, branchId, projectId }: Compute, at: SimTime): void {
  if (phase.state !== "active") return;
  let ofBranch = world.usage.get(branchId);
  if (ofBranch?.data?.storage !== undefined) {
    // First, because booking discards old hours, from which the retained log is calculated.
    meterStorage(world, branchId, at);
    ofBranch = world.usage.get(branchId);
  }
  addUsage(world, branchId, ofBranch, phase, at);
  addUsage(world, projectId, world.usage.get(projectId), phase, at);
}

function addUsage(
  world: World,
  id: string,
  stored: Usage | undefined,
  { meteredAt, sizeCu }: ActivePhase,
  at: SimTime,
): void {
  const usage: Usage = stored ?? { id, ...ZERO_USAGE };
  const activeMs = usage.activeMs + at - meteredAt;
  const cuMs = usage.cuMs + (at - meteredAt) * sizeCu;
  const { data } = usage;
  let { hour } = usage;
  if (world.settings.hourlyUsage === true) {
    // Usually the interval is within the open hour, which then stays the same.
    const isWithin = hour !== undefined && meteredAt >= hour.hour * HOUR && at <= (hour.hour + 1) * HOUR;
    if (!isWithin) hour = addInterval(world, usage, { from: meteredAt, to: at, sizeCu });
  }
  // Without spreads, which take as long as the rest: two rows are replaced for each interval of every compute.
  if (data !== undefined)
    world.usage.set(hour === undefined ? { id, activeMs, cuMs, data } : { id, activeMs, cuMs, hour, data });
  else world.usage.set(hour === undefined ? { id, activeMs, cuMs } : { id, activeMs, cuMs, hour });
}

/** Books the traffic of a compute, in the period of `at`, and what its branch has stored until then. */
export function meterTraffic(
  world: World,
  { branchId, projectId }: Compute,
  data: DataTraffic,
  at: SimTime,
): void {
  meterStorage(world, branchId, at);
  for (const id of [branchId, projectId]) {
    const usage = world.usage.get(id) ?? { id, ...ZERO_USAGE };
    const hour =
      world.settings.hourlyUsage === true
        ? { hour: addInterval(world, usage, { from: at, to: at, sizeCu: 0 }) }
        : {};
    world.usage.set({ ...usage, ...hour, ...sumOfData(usage, { data }) });
  }
}

/**
 * Usage of a branch or project at `now`: booked usage plus that of its active computes since their last
 * metering.
 */
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
  return { id, activeMs, cuMs, ...sumOfData(stored ?? {}, {}) };
}

/** For a branch or project that is removed. */
export function deleteUsage(world: World, id: string): void {
  world.usage.delete(id);
  world.hourlyUsage.deleteFor(id);
}
