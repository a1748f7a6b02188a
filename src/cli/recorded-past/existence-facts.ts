import type { SettingsRow } from "../../account/account-file.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { ComputeOptions } from "../../platform/model/compute.ts";
import type { Context } from "../../platform/model/context.ts";
import type { Event } from "../../platform/model/events.ts";
import { removeProject } from "../../platform/rules/branch/removal.ts";
import type { Command } from "../../platform/rules/commands.ts";
import { decide } from "../../platform/rules/decide.ts";
import { computesOnBranch } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import { changesOf } from "../../whatif/periods/compute-operations.ts";
import type { ComputePast, ProjectPast } from "./account-past.ts";
import { isRecordedAction, recordedEnd } from "./operation-course.ts";
import { operationEnded, operationScheduled } from "./operation-events.ts";
import type { OmitPast, RecordedFact } from "./recorded-fact.ts";

/** The account that owns all recorded projects. */
export const RECORDED_ACCOUNT = "mirrored";

/** Events that the rules give for a command, without the operations that they would schedule: the account shows its own. */
function decided(
  world: World,
  command: Command,
  context: Context,
  onRefusal: (message: string) => void,
): readonly Event[] {
  const result = decide(world, command, context);
  if (result.ok) return result.value.filter(({ type }) => type !== "OperationScheduled");
  onRefusal(result.refusal.message);
  return [];
}

/** The project with the branch of its oldest compute; which branch is the default one, the file does not say. */
export function* projectCreation(project: ProjectPast, omit: OmitPast): Generator<RecordedFact> {
  const { id, name, existsFrom: at } = project;
  const branch = project.computes.find((compute) => compute.branch !== "")?.branch;
  yield {
    at,
    eventsIn(world, context) {
      const command: Command = {
        ...{ type: "CreateProject", accountId: RECORDED_ACCOUNT, id, name },
        branch: branch === undefined ? {} : { id: branch, name: branch },
      };
      const events = decided(world, command, context, (message) => omit(`project ${id}`, message));
      return events.filter(({ type }) => type !== "ComputeCreated").flatMap(becomesReady);
    },
  };
}

function becomesReady(event: Event): readonly Event[] {
  return event.type === "BranchCreated"
    ? [event, { type: "BranchBecameReady", at: event.at, branchId: event.branch.id }]
    : [event];
}

/** The compute, with its branch if that is new, and the settings that pulls have seen. */
export function* computeExistence(past: ComputePast, omit: OmitPast): Generator<RecordedFact> {
  const { existsFrom: at, project: projectId, settings } = past;
  const rootOf = (world: World) => world.branches.by("project", projectId).toArray()[0];
  const branchOf = (world: World) => (past.branch === "" ? (rootOf(world)?.id ?? "") : past.branch);
  const owner = { accountId: RECORDED_ACCOUNT, projectId };
  const what = `compute ${past.id}`;
  yield {
    at,
    eventsIn(world, context) {
      const id = branchOf(world);
      const parent = rootOf(world);
      if (parent === undefined || world.branches.get(id) !== undefined) return [];
      const command: Command = {
        ...{ type: "CreateBranch", ...owner, id, name: id, parentId: parent.id, queue: true },
      };
      return decided(world, command, context, (because) => omit(`branch ${id}`, because)).flatMap(
        becomesReady,
      );
    },
  };
  yield {
    at,
    eventsIn(world, context) {
      const branchId = branchOf(world);
      const computeType = typeOf(world, past, branchId);
      const base = {
        type: "CreateCompute",
        ...owner,
        id: past.id,
        branchId,
        computeType,
        queue: true,
      } as const;
      return firstAccepted(what, settings[0], omit, (options, onRefusal) =>
        decided(world, { ...base, options }, context, onRefusal),
      ).map(asIdle);
    },
  };
  for (const [index, changed] of settings.entries()) {
    const before = settings[index - 1];
    if (before === undefined) continue;
    const changedAt = changeBetween(past, before.last_seen_at, changed.first_seen_at);
    const base = { type: "UpdateCompute", ...owner, computeId: past.id } as const;
    yield {
      at: changedAt,
      eventsIn: (world, context) =>
        world.computes.get(past.id) === undefined
          ? []
          : firstAccepted(what, changed, omit, (options, onRefusal) =>
              decided(world, { ...base, options }, context, onRefusal),
            ),
    };
  }
}

/** The events with the settings as they were seen, or else without the size: no profile has every size. */
function firstAccepted(
  what: string,
  seen: SettingsRow | undefined,
  omit: OmitPast,
  eventsWith: (options: ComputeOptions, onRefusal: (message: string) => void) => readonly Event[],
): readonly Event[] {
  if (seen === undefined) return eventsWith({}, (because) => omit(what, because));
  let problem = "";
  const { min_cu: minCu, max_cu: maxCu, suspend_timeout_seconds: suspendTimeoutSeconds } = seen;
  const others = { suspendTimeoutSeconds, disabled: seen.disabled === 1 };
  const events = eventsWith({ minCu, maxCu, ...others }, (message) => {
    problem = message;
  });
  if (events.length > 0) return events;
  const withoutSize = eventsWith(others, (because) => omit(what, because));
  if (withoutSize.length > 0) omit(`${what}: ${minCu} to ${maxCu} CU`, problem);
  return withoutSize;
}

/** Makes a created compute idle: the recorded operations start it. */
function asIdle(event: Event): Event {
  if (event.type !== "ComputeCreated") return event;
  return { ...event, compute: { ...event.compute, phase: { state: "idle" } } };
}

/** A compute that only operations name is a replica if its branch has a primary compute at that time. */
function typeOf(world: World, { type, isTypeKnown }: ComputePast, branchId: string) {
  if (isTypeKnown) return type === "read_only" ? "read_only" : "read_write";
  return computesOnBranch(world, branchId).some((compute) => compute.type === "read_write")
    ? "read_only"
    : "read_write";
}

/** A: a change of settings is recorded as `apply_config`. Otherwise it was known at the latest when it was seen. */
function changeBetween({ operations }: ComputePast, after: SimTime, until: SimTime): SimTime {
  return changesOf(operations).findLast((at) => at > after && at <= until) ?? until;
}

/** The operations of branches and of the project. */
export function* otherOperationFacts(
  { id: project, otherOperations }: ProjectPast,
  omit: OmitPast,
): Generator<RecordedFact> {
  const facts: RecordedFact[] = [];
  let skipped = 0;
  for (const row of otherOperations) {
    const end = recordedEnd(row.status);
    if (end === undefined || !isRecordedAction(row.action)) {
      skipped += 1;
      continue;
    }
    const { id, action, created_at: at, duration_ms: durationMs, failures } = row;
    const branch = row.branch ?? undefined;
    const endsAt = at + durationMs;
    facts.push({
      at,
      eventsIn: (world) =>
        world.projects.get(project) === undefined ||
        (branch !== undefined && world.branches.get(branch) === undefined)
          ? []
          : [
              operationScheduled(
                world,
                { id, project, branch, action, end, durationMs, failures },
                { status: "running", startedAt: at, dueAt: endsAt },
                at,
              ),
            ],
    });
    facts.push({
      at: endsAt,
      eventsIn: (world) => (world.operations.get(id) === undefined ? [] : [operationEnded(id, end, endsAt)]),
    });
  }
  if (skipped > 0)
    omit(
      `${skipped} operations of project ${project}`,
      "standin does not know their actions, or they had not ended",
    );
  yield* facts.sort((one, other) => one.at - other.at);
}

export function* computeDeletion({ id, existsUntil }: ComputePast): Generator<RecordedFact> {
  if (existsUntil === undefined) return;
  const at = existsUntil;
  yield {
    at,
    eventsIn: (world) =>
      world.computes.get(id) === undefined
        ? []
        : [
            ...[...world.operations.values()]
              .filter(({ endpointId }) => endpointId === id)
              .map((operation): Event => ({ type: "OperationCancelled", at, operationId: operation.id })),
            { type: "ComputeDeleted", at, endpointId: id },
          ],
  };
}

export function* projectDeletion({ id, existsUntil }: ProjectPast): Generator<RecordedFact> {
  if (existsUntil === undefined) return;
  const at = existsUntil;
  yield {
    at,
    eventsIn(world) {
      const project = world.projects.get(id);
      if (project === undefined) return [];
      return [{ type: "ProjectDeleted", at, projectId: id }, ...removeProject(world, project, at)];
    },
  };
}
