import { rescaleDueAt } from "../platform/autoscaling.ts";
import { suspendDueAt } from "../platform/autosuspend.ts";
import type { DueWork } from "../platform/commands.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { SimTime } from "../platform/time.ts";
import { profileOf, type World } from "../platform/world.ts";
import { Agenda } from "./agenda.ts";

/** When `work` is really due in this world; `undefined` where it is not, or no longer. */
export function dueAt(world: World, work: DueWork): SimTime | undefined {
  switch (work.kind) {
    case "operation": {
      const state = world.operations.get(work.id)?.state;
      return state?.status === "running" ? state.dueAt : undefined;
    }
    case "activity":
      return world.scheduledActivities.get(work.id)?.at;
    case "rescale":
    case "autosuspend": {
      const compute = world.computes.get(work.id);
      if (compute === undefined) return undefined;
      return work.kind === "rescale" ? rescaleDueAt(compute, profileOf(world)) : suspendDueAt(compute, profileOf(world));
    }
    default:
      return work satisfies never;
  }
}

/** Plans what an event that was just folded in makes due. */
export function planAfter(agenda: Agenda, world: World, event: RecordedEvent): void {
  switch (event.type) {
    case "OperationScheduled":
      plan(agenda, world, { kind: "operation", id: event.operation.id });
      return;
    case "OperationStarted":
      plan(agenda, world, { kind: "operation", id: event.operationId });
      return;
    case "ActivityScheduled":
      plan(agenda, world, { kind: "activity", id: String(event.scheduled.number) });
      return;
    case "ActivityRecorded":
      planCompute(agenda, world, event.activity.endpointId);
      return;
    case "ComputeActivated":
    case "ComputeUpdated":
    case "ComputeResized":
      planCompute(agenda, world, event.endpointId);
      return;
    case "WorldReset":
      agenda.clear();
      return;
  }
}

/** Plans everything that this world has due: what a world from a file needs before it can go on. */
export function planAll(agenda: Agenda, world: World): void {
  agenda.clear();
  for (const operation of world.operations.values()) plan(agenda, world, { kind: "operation", id: operation.id });
  for (const scheduled of world.scheduledActivities.values()) plan(agenda, world, { kind: "activity", id: String(scheduled.number) });
  for (const compute of world.computes.values()) planCompute(agenda, world, compute.id);
}

/** Work of this world that should have been done before `now`; there is none, unless the agenda forgot it. */
export function overdue(world: World, now: SimTime): DueWork[] {
  const agenda = new Agenda();
  planAll(agenda, world);
  const late: DueWork[] = [];
  for (let next = agenda.peek(); next !== undefined && next.at < now; next = agenda.peek()) {
    late.push(next.work);
    agenda.take();
  }
  return late;
}

/**
 * Plans one piece of work for when it is due, if it is. What a change has made due in the past (a shortened delay) is due now:
 * nothing happens before what has happened already.
 */
export function plan(agenda: Agenda, world: World, work: DueWork): void {
  const at = dueAt(world, work);
  if (at !== undefined) agenda.plan(work, orderOf(world, work), Math.max(at, world.at));
}

function planCompute(agenda: Agenda, world: World, id: string): void {
  plan(agenda, world, { kind: "rescale", id });
  plan(agenda, world, { kind: "autosuspend", id });
}

/** The number of the object that the work concerns. */
function orderOf(world: World, work: DueWork): number {
  if (work.kind === "activity") return Number(work.id);
  return (work.kind === "operation" ? world.operations : world.computes).get(work.id)?.number ?? 0;
}
