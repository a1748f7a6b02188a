import type { SimTime } from "../../kernel/time.ts";
import { releaseAt } from "../../platform/catalog/release.ts";
import { RECORDED_USE } from "../../platform/model/activity.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { Context } from "../../platform/model/context.ts";
import type { Event } from "../../platform/model/events.ts";
import { scales } from "../../platform/rules/compute/autoscaling/autoscaling.ts";
import { nextNumber, type World } from "../../platform/world/world.ts";
import type { ComputePast } from "./account-past.ts";
import { knownUse } from "./known-use.ts";
import { OperationCourse } from "./operation-course.ts";
import { operationEnded, operationScheduled, type RecordedOperation } from "./operation-events.ts";
import type { OmitPast, RecordedFact } from "./recorded-fact.ts";

/** The operations of a compute, its starts and suspends, and its use as far as it is known; oldest first. */
export function* computeFacts(
  past: ComputePast,
  defaultDelayS: number,
  omit: OmitPast,
): Generator<RecordedFact> {
  const course = new OperationCourse(past);
  if (course.unknown > 0)
    omit(`${course.unknown} operations of compute ${past.id}`, "standin does not know their actions");
  if (course.unfinished > 0)
    omit(`${course.unfinished} operations of compute ${past.id}`, "they had not ended at the last pull");
  const usedUntil = knownUse(past, course, defaultDelayS);
  let scheduled = 0;
  for (let ended = 0; ended < course.length; ) {
    const isNextScheduled =
      scheduled === ended ||
      (scheduled < course.length &&
        (course.createdAt[scheduled] as number) < (course.endsAt[ended] as number));
    if (isNextScheduled) {
      yield scheduling(past, course, scheduled, usedUntil[scheduled] as number);
      // An autosuspend is recorded when it has happened.
      if (isAtOnce(course, scheduled) && scheduled === ended) ended += 1;
      scheduled += 1;
    } else {
      yield ending(past, course, ended, ended + 1 < scheduled ? usedUntil[ended + 1] : undefined);
      ended += 1;
    }
  }
}

function isAtOnce(course: OperationCourse, index: number): boolean {
  return course.suspends(index) && course.endsAt[index] === course.createdAt[index];
}

function scheduling(
  past: ComputePast,
  course: OperationCourse,
  index: number,
  usedUntil: SimTime,
): RecordedFact {
  const at = course.createdAt[index] as number;
  const [beginsAt, endsAt] = [course.beginsAt[index] as number, course.endsAt[index] as number];
  return fact(at, past, (world, compute) => {
    const operation = operationOf(compute, course, index);
    if (isAtOnce(course, index)) {
      const state = { status: "finished", startedAt: at, finishedAt: at } as const;
      return [operationScheduled(world, operation, state, at), ...suspended(compute, at)];
    }
    const state =
      beginsAt > at
        ? ({ status: "scheduling" } as const)
        : ({ status: "running", startedAt: at, dueAt: endsAt } as const);
    const scheduled = operationScheduled(world, operation, state, at);
    return beginsAt > at
      ? [scheduled]
      : [
          ...(isActiveAfter(compute, []) ? lostSuspend(compute.id, course, index, at) : []),
          scheduled,
          ...begun(compute.id, course, index, usedUntil, at),
        ];
  });
}

/** A start of an active compute shows that it was suspended in the meantime, though not when. */
function lostSuspend(
  endpointId: string,
  course: OperationCourse,
  index: number,
  at: SimTime,
): readonly Event[] {
  return course.starts(index) ? [{ type: "ComputeSuspended", at, endpointId, cause: "recorded" }] : [];
}

function isActiveAfter({ phase }: Compute, events: readonly Event[]): boolean {
  const last = events.findLast(
    ({ type }) => type === "ComputeActivated" || type === "ComputeSuspended" || type === "ComputeStartFailed",
  );
  return last === undefined ? phase.state === "active" : last.type === "ComputeActivated";
}

/** Facts that follow from the begin of an operation. A failed or cancelled suspend may not have closed connections. */
function begun(
  endpointId: string,
  course: OperationCourse,
  index: number,
  usedUntil: SimTime,
  at: SimTime,
): readonly Event[] {
  if (course.suspends(index)) return [{ type: "ComputeSuspending", at, endpointId }];
  return Number.isNaN(usedUntil)
    ? []
    : [useRecorded(endpointId, at, course.endsAt[index] as number, usedUntil)];
}

/** Records one request for a period of use, whose single requests are not known. */
function useRecorded(endpointId: string, at: SimTime, activeAt: SimTime, usedUntil: SimTime): Event {
  return {
    type: "ActivityRecorded",
    at,
    activity: { endpointId, kind: "query", durationMs: usedUntil - activeAt, source: RECORDED_USE },
    waitedMs: activeAt - at,
  };
}

/** `nextUsedUntil`: the use of the operation after it, if that waits for its end. */
function ending(
  past: ComputePast,
  course: OperationCourse,
  index: number,
  nextUsedUntil: SimTime | undefined,
): RecordedFact {
  const at = course.endsAt[index] as number;
  const operationId = course.ids[index] ?? "";
  return fact(at, past, (world, compute, context) => {
    if (world.operations.get(operationId) === undefined) return [];
    const own = effects(world, compute, course, index, at, context);
    return [
      operationEnded(operationId, course.endOf(index), at),
      ...own,
      ...(nextUsedUntil === undefined
        ? []
        : [
            ...(isActiveAfter(compute, own) ? lostSuspend(compute.id, course, index + 1, at) : []),
            operationStarted(course, index + 1, at),
            ...begun(compute.id, course, index + 1, nextUsedUntil, at),
          ]),
    ];
  });
}

function operationStarted(course: OperationCourse, index: number, at: SimTime): Event {
  return {
    ...{ type: "OperationStarted", at, operationId: course.ids[index] ?? "" },
    dueAt: course.endsAt[index] as number,
  };
}

function effects(
  world: World,
  compute: Compute,
  course: OperationCourse,
  index: number,
  at: SimTime,
  { random }: Context,
): readonly Event[] {
  const [action, end] = [course.actionOf(index), course.endOf(index)];
  const endpointId = compute.id;
  if (end === "cancelled") return [];
  if (action === "start_compute") {
    if (end === "failed") return [{ type: "ComputeStartFailed", at, endpointId }];
    const seed =
      world.settings.loadAverage === true && scales(compute.range)
        ? { readingSeed: random.stream("load-readings", nextNumber(world, "operation"))() }
        : {};
    return [{ type: "ComputeActivated", at, endpointId, release: releaseAt(at), ...seed }];
  }
  if (action !== "suspend_compute") return [];
  if (end === "finished") return suspended(compute, at);
  return compute.phase.state === "active" ? [{ type: "ComputeSuspendFailed", at, endpointId }] : [];
}

/** A compute that was active before the oldest operation is not known to have been started. */
function suspended({ id: endpointId, phase }: Compute, at: SimTime): readonly Event[] {
  return phase.state === "active" ? [{ type: "ComputeSuspended", at, endpointId, cause: "recorded" }] : [];
}

function operationOf(compute: Compute, course: OperationCourse, index: number): RecordedOperation {
  return {
    ...{ id: course.ids[index] ?? "", project: compute.projectId, branch: compute.branchId },
    ...{ endpoint: compute.id, action: course.actionOf(index), end: course.endOf(index) },
    durationMs: (course.endsAt[index] as number) - (course.beginsAt[index] as number),
    failures: course.failures[index] ?? 0,
  };
}

function fact(
  at: SimTime,
  { id }: ComputePast,
  eventsOf: (world: World, compute: Compute, context: Context) => readonly Event[],
): RecordedFact {
  return {
    at,
    eventsIn(world, context) {
      const compute = world.computes.get(id);
      return compute === undefined ? [] : eventsOf(world, compute, context);
    },
  };
}
