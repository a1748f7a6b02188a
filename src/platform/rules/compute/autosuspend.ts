import { SECOND, type SimTime } from "../../../kernel/time.ts";
import type { Profile } from "../../catalog/defaults-and-limits.ts";
import type { Plan } from "../../catalog/plan.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import {
  DEFAULT_SUSPEND_TIMEOUT,
  delayOfSuspendTimeout,
  NEVER_SUSPEND,
} from "../../catalog/suspend-timeout.ts";
import type { ActivePhase, Compute } from "../../model/compute.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { World } from "../../world/world.ts";
import { recordOperation } from "../operation/schedule-operations.ts";

/** The delay in seconds for a setting; `undefined` if the compute never suspends. */
export function suspendDelaySeconds(profile: Profile, suspendTimeoutSeconds: number): number | undefined {
  const delay = delayOfSuspendTimeout(suspendTimeoutSeconds, profile.suspendTimeout.defaultS);
  return delay === "never" ? undefined : delay;
}

/** R: a paid-plan setting, at most 7 days, can be disabled; S: at least 60 s, 0 and -1. */
export function checkSuspendTimeout(
  plan: Plan,
  profile: Profile,
  suspendTimeoutSeconds: number,
): Result<number> {
  const { defaultS, minimumS, maximumS } = profile.suspendTimeout;
  const isSpecial =
    suspendTimeoutSeconds === DEFAULT_SUSPEND_TIMEOUT || suspendTimeoutSeconds === NEVER_SUSPEND;
  if (!isSpecial && (suspendTimeoutSeconds < minimumS || suspendTimeoutSeconds > maximumS)) {
    return refuse(
      "SUSPEND_TIMEOUT_NOT_ALLOWED",
      `suspend_timeout_seconds: ${suspendTimeoutSeconds} is not allowed; it must be ${minimumS} to ${maximumS}, 0 for the default of ${defaultS}, or -1 for never`,
    );
  }
  const isDefault = suspendTimeoutSeconds === DEFAULT_SUSPEND_TIMEOUT || suspendTimeoutSeconds === defaultS;
  if (!plan.autosuspendSetting && !isDefault)
    return refuse("SUSPEND_TIMEOUT_NOT_PERMITTED", profile.suspendTimeoutNotPermitted, {
      hint: `the ${plan.name} plan has the default of ${defaultS} s; another delay needs a paid plan`,
    });
  return accept(suspendTimeoutSeconds);
}

/**
 * Since when an active compute is idle: in the future while a query runs, `undefined` while a transaction or
 * a span is open.
 */
export function idleSince(compute: Compute, phase: ActivePhase): SimTime | undefined {
  if (phase.openTransactions > 0 || phase.spanSince !== undefined) return undefined;
  // Without any activity, idle time counts from the start.
  return Math.max(phase.startedAt, compute.lastActiveAt ?? phase.startedAt);
}

/** When the compute suspends if nothing happens before. Inclusive: it suspends at exactly this instant. */
export function suspendDueAt(compute: Compute, profile: Profile): SimTime | undefined {
  const { phase } = compute;
  if (phase.state !== "active" || phase.suspending) return undefined;
  const delayS = suspendDelaySeconds(profile, compute.suspendTimeoutSeconds);
  const since = idleSince(compute, phase);
  return delayS === undefined || since === undefined ? undefined : since + delayS * SECOND;
}

export function decideAutosuspend(world: World, compute: Compute, context: Context): Result<Event[]> {
  const { now, profile } = context;
  const dueAt = suspendDueAt(compute, profile);
  if (dueAt === undefined || now < dueAt)
    return refuse("NOT_DUE", `the autosuspend of ${compute.id} is not due`);
  const operation = recordOperation(
    world,
    compute.projectId,
    { action: "suspend_compute", branchId: compute.branchId, endpointId: compute.id, cause: "autosuspend" },
    context,
  );
  return accept([
    operation,
    { type: "ComputeSuspended", at: now, endpointId: compute.id, cause: "autosuspend" },
  ]);
}
