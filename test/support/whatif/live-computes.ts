import type { DurationDistribution } from "../../../src/kernel/distribution.ts";
import { DAY } from "../../../src/kernel/time.ts";
import type { SizeRange } from "../../../src/platform/catalog/sizes.ts";
import type { RecordedEvent } from "../../../src/platform/model/events.ts";
import type { Command } from "../../../src/platform/rules/commands.ts";
import { usageAt } from "../../../src/platform/rules/usage/meter.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import type { Trace } from "../../../src/traffic/recorded/trace/trace.ts";
import type { SuspendDelay } from "../../../src/whatif/gap-curve/delay.ts";

export const LIVE_SEED = 5;

export type LiveSettings = {
  readonly delay: SuspendDelay;
  readonly startDelay: DurationDistribution;
  readonly operations: "timed" | "immediate";
  /** The quota of each project, in CU-seconds a month. Its computes have 0.25 CU. */
  readonly computeTimeSeconds?: number;
  /** Size range; default: 0.25 CU. */
  readonly range?: SizeRange;
  /** All computes belong to one project, each on a branch of its own. */
  readonly oneProject?: boolean;
};

/**
 * The history of one compute: each start with its end, each suspend, the waits of its requests, and its
 * metered usage.
 */
export type LiveCompute = {
  readonly starts: readonly (readonly [at: number, readyAt: number])[];
  readonly suspends: readonly number[];
  readonly waitsMs: readonly number[];
  readonly meteredMs: number;
  /** Metered time × size. */
  readonly cuMs: number;
  readonly resizes: readonly (readonly [at: number, sizeCu: number])[];
  /** Requests that were rejected because the quota was reached. */
  readonly dropped: number;
};

/**
 * Runs a trace against the live rules, one compute per project, all idle at its beginning. The clock stops at
 * its end.
 */
export function simulateComputes(trace: Trace, settings: LiveSettings): LiveCompute[] {
  const { made: created, events, metered } = simulateTrace(trace, settings);
  return created.map(({ project, endpointId }) => ({
    ...computeResult(events, endpointId, trace.period.endAt),
    meteredMs: metered(project).activeMs,
    cuMs: metered(project).cuMs,
  }));
}

/**
 * The one project of all computes of a trace: when its quota stopped them, its usage, and the rejected
 * requests.
 */
export function simulateProject(trace: Trace, settings: LiveSettings) {
  const { made: created, events, metered } = simulateTrace(trace, { ...settings, oneProject: true });
  return {
    stoppedAt: events
      .filter((event) => event.type === "ComputeSuspended" && event.cause === "quota")
      .map(({ at }) => at),
    refusedAt: events.filter((event) => event.type === "ActivityDropped").map(({ at }) => at),
    meteredMs: metered(created[0]?.project ?? "").activeMs,
  };
}

/**
 * A trace whose period ends when all requests have been served, however long starts take. Up to there the
 * live computes are billed, and the cut falls where they are idle.
 */
export function extendToLastDeparture({ period, computes }: Trace): Trace {
  const ends = computes.map(({ arrivals: { at, durationMs } }) =>
    at.reduce((end, own, i) => Math.max(end, own + (durationMs[i] ?? 0)), 0),
  );
  return {
    period: { ...period, endAt: Math.max(period.endAt, ...ends.map((end) => end + LONGEST_START_MS)) },
    computes,
  };
}

const LONGEST_START_MS = 600_000;

function simulateTrace(
  { period, computes }: Trace,
  { delay, startDelay, operations, computeTimeSeconds, range, oneProject }: LiveSettings,
) {
  // In the month before, so that the month of the trace begins without usage.
  const before = period.startAt - 40 * DAY;
  const simulation = new Simulation(emptyWorld(), new MemoryJournal());
  const execute = (command: Command, at = before): readonly RecordedEvent[] => {
    const decided = simulation.execute(command, at);
    if (!decided.ok) throw new Error(`${command.type}: ${decided.refusal.message}`);
    return decided.value;
  };
  execute({
    type: "CreateWorld",
    settings: { seed: LIVE_SEED, profile: "2024", plan: "paid", operations, startDelay, startAt: before },
  });
  execute({ type: "CreateAccount", name: "live" });
  const accountId = [...simulation.world.accounts.values()][0]?.id ?? "";
  const suspendTimeoutSeconds = delay === "never" ? -1 : delay;
  let project = "";
  const created = computes.map(({ arrivals: requests }, index) => {
    if (oneProject === true && index > 0) {
      const options = { suspendTimeoutSeconds };
      execute({
        type: "CreateBranch",
        accountId,
        projectId: project,
        queue: true,
        computes: [{ computeType: "read_write", options }],
      });
    } else {
      const events = execute({
        type: "CreateProject",
        accountId,
        defaultEndpointSettings: { suspendTimeoutSeconds, ...range },
      });
      project = events.find((event) => event.type === "ProjectCreated")?.project.id ?? "";
    }
    return {
      project,
      endpointId: [...simulation.world.computes.by("project", project).values()].at(-1)?.id ?? "",
      requests,
    };
  });
  const suspendedAt = period.startAt - DAY;
  if (delay === "never") {
    for (const { project, endpointId } of created) {
      execute({ type: "SuspendCompute", accountId, projectId: project, computeId: endpointId }, suspendedAt);
    }
  }
  for (const { endpointId, requests } of created) {
    for (const [index, at] of requests.at.entries()) {
      const durationMs = requests.durationMs[index];
      const load = requests.load?.[index];
      execute(
        { type: "ScheduleActivity", at, activity: { endpointId, kind: "query", durationMs, load } },
        suspendedAt,
      );
    }
  }
  // Set while all computes are idle, in the month before, so that none of the quota is used at the beginning.
  if (computeTimeSeconds !== undefined) {
    const settings = { quota: { compute_time_seconds: computeTimeSeconds } };
    for (const projectId of new Set(created.map((own) => own.project)))
      execute({ type: "UpdateProject", accountId, projectId, settings }, suspendedAt);
  }
  simulation.runDueUntil(period.startAt - 1);
  const since = simulation.world.seq;
  const usedBy = (projectId: string, at: number) =>
    usageAt(simulation.world, projectId, simulation.world.computes.by("project", projectId).values(), at);
  const used = new Map(created.map((own) => [own.project, usedBy(own.project, period.startAt - 1)]));
  simulation.runDueUntil(period.endAt - 1);
  simulation.commit({ mode: "manual", factor: 0, simAnchor: period.endAt, wallAnchor: 0 }, period.endAt);
  const events = simulation.journal.events(since, Number.MAX_SAFE_INTEGER);
  return {
    made: created,
    events,
    metered(own: string) {
      const [before, after] = [used.get(own), usedBy(own, period.endAt)];
      return {
        activeMs: after.activeMs - (before?.activeMs ?? 0),
        cuMs: after.cuMs - (before?.cuMs ?? 0),
      };
    },
  };
}

function computeResult(
  events: readonly RecordedEvent[],
  endpointId: string,
  endAt: number,
): Omit<LiveCompute, "meteredMs" | "cuMs"> {
  const [starts, suspends, waitsMs, dropped]: [(readonly [number, number])[], number[], number[], string[]] =
    [[], [], [], []];
  const resizes: (readonly [number, number])[] = [];
  for (const event of events) {
    if (
      event.type === "OperationScheduled" &&
      event.operation.endpointId === endpointId &&
      event.operation.action === "start_compute"
    ) {
      starts.push([event.at, event.at + event.operation.durationMs]);
    }
    if (event.type === "ComputeSuspended" && event.endpointId === endpointId) suspends.push(event.at);
    if (event.type === "ComputeResized" && event.endpointId === endpointId)
      resizes.push([event.at, event.sizeCu]);
    if (event.type === "ActivityRecorded" && event.activity.endpointId === endpointId)
      waitsMs.push(event.waitedMs);
    if (event.type === "ActivityDropped" && event.endpointId === endpointId) dropped.push(event.reason);
  }
  const activated = events
    .filter((event) => event.type === "ComputeActivated" && event.endpointId === endpointId)
    .map(({ at }) => at);
  const expectedReadyAt = starts.map(([, readyAt]) => readyAt).filter((at) => at < endAt);
  if (String(activated) !== String(expectedReadyAt))
    throw new Error(`starts end at ${activated}, not at ${expectedReadyAt}`);
  if (dropped.some((reason) => reason !== "QUOTA_EXCEEDED")) throw new Error(`dropped: ${dropped}`);
  return { starts, suspends, waitsMs, resizes, dropped: dropped.length };
}
