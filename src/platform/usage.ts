import type { Compute } from "./compute.ts";
import type { DurationMs, SimTime } from "./time.ts";
import type { World } from "./world.ts";

/** What the computes of a branch, or of a project, have used up to their last metering. */
export type Usage = {
  /** Id of the branch or of the project. */
  readonly id: string;
  /** Σ time in which a compute was active. */
  readonly activeMs: DurationMs;
  /** Σ compute units × that time: `cpu_used_sec` is a thousandth of it (PLATFORM, "Life of a compute"). */
  readonly cuMs: number;
};

/** Books what a compute used since its last metering on its branch and project. The caller moves `meteredAt`. */
export function meter(world: World, compute: Compute, at: SimTime): void {
  if (compute.phase.state !== "active") return;
  const activeMs = at - compute.phase.meteredAt;
  const cuMs = activeMs * compute.phase.sizeCu;
  for (const id of [compute.branchId, compute.projectId]) {
    const usage = world.usage.get(id);
    world.usage.set({ id, activeMs: (usage?.activeMs ?? 0) + activeMs, cuMs: (usage?.cuMs ?? 0) + cuMs });
  }
}

/** Usage of a branch or project at `now`: what is booked and what its computes are running up. */
export function usageAt(world: World, id: string, computes: Iterable<Compute>, now: SimTime): Usage {
  const booked = world.usage.get(id);
  let activeMs = booked?.activeMs ?? 0;
  let cuMs = booked?.cuMs ?? 0;
  for (const { phase } of computes) {
    if (phase.state !== "active") continue;
    activeMs += now - phase.meteredAt;
    cuMs += (now - phase.meteredAt) * phase.sizeCu;
  }
  return { id, activeMs, cuMs };
}
