import fc from "fast-check";
import { renderState } from "../../../src/control-api/routes/state.ts";
import type { RecordedEvent } from "../../../src/platform/model/events.ts";
import type { Operation } from "../../../src/platform/model/operation.ts";
import type { World } from "../../../src/platform/world/world.ts";
import { foldOperation } from "../../../src/simulation/fold-operation.ts";
import { type RecordedCall, recordCalls, replayCall } from "../double/call-log.ts";
import { createDouble, type Double, type DoubleOptions } from "../double/double.ts";
import { type CommandSequence, runCommands } from "./commands.ts";

/** Durations are drawn, so that each of these worlds depends on its seed. */
export const RANDOM_STARTS = {
  seed: 7,
  durations: "varied",
} as const satisfies DoubleOptions;

/** The requests of a random run, to be sent to other doubles with the same seed. */
export async function recordRun(commands: CommandSequence): Promise<readonly RecordedCall[]> {
  const { double, calls } = recordCalls(await createDouble(RANDOM_STARTS));
  try {
    await runCommands(commands, { double: () => double }, "drawn");
    return calls;
  } finally {
    await double.close();
  }
}

export async function replayRun(double: Double, calls: readonly RecordedCall[]): Promise<void> {
  for (const call of calls) await replayCall(double, call);
}

/** A run, split at a fraction of its requests. */
export function splitAt<T>(
  calls: readonly T[],
  share: number,
): readonly [before: readonly T[], after: readonly T[]] {
  const at = Math.floor(share * calls.length);
  return [calls.slice(0, at), calls.slice(at)];
}

export function eventsOf(double: Double): Promise<readonly RecordedEvent[]> {
  return double.world.events(0, Number.MAX_SAFE_INTEGER);
}

/** The whole world from the control API, now or at a point of its history. */
export async function worldStateText(double: Double, at?: string | number): Promise<string> {
  const { status, body } = await double.sim(
    "GET",
    at === undefined ? "/state" : `/state?at=${encodeURIComponent(at)}`,
  );
  if (status !== 200) throw new Error(`GET /_sim/state: ${status} ${JSON.stringify(body)}`);
  return JSON.stringify(body);
}

export function renderedState(world: World): string {
  return JSON.stringify(renderState(world));
}

export type OperationsByProject = ReadonlyMap<string, readonly Operation[]>;

/** The operations of these projects from the API, newest first, including finished ones. */
export async function operationsOf(
  double: Double,
  projects: readonly string[],
): Promise<OperationsByProject> {
  return double.world.transact(
    (turn) => new Map(projects.map((id) => [id, turn.operations(id, Number.MAX_SAFE_INTEGER)])),
  );
}

/** The same, derived from events alone. */
export function operationsIn(
  events: readonly RecordedEvent[],
  projects: readonly string[],
): OperationsByProject {
  const operations = new Map<string, Operation>();
  for (const event of events) foldOperation(operations, event);
  const newestFirst = [...operations.values()].sort((a, b) => b.number - a.number);
  return new Map(projects.map((id) => [id, newestFirst.filter(({ projectId }) => projectId === id)]));
}

/** All projects, including deleted ones. */
export function projectsIn(events: readonly RecordedEvent[]): readonly string[] {
  return [...new Set(events.flatMap((event) => (event.type === "ProjectCreated" ? [event.project.id] : [])))];
}

/** A point of a future history: an event, or an instant at or next to one. */
export type PointChoice = {
  readonly kind: "event" | "instant";
  readonly share: number;
  readonly offMs: number;
};

export const pointChoice: fc.Arbitrary<PointChoice> = fc.record({
  kind: fc.constantFrom("event" as const, "instant" as const),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  offMs: fc.constantFrom(0, 0, -1, 1, 400),
});

/** A point as requested, the last event up to it, and its instant. */
export type ResolvedPoint = {
  readonly requested: number | string;
  readonly seq: number;
  readonly at: number;
};

/** Resolves a point by searching all events after `from` up to `now`. */
export function resolvePoint(
  events: readonly RecordedEvent[],
  now: number,
  { kind, share, offMs }: PointChoice,
): ResolvedPoint {
  const some = events[Math.min(events.length - 1, Math.floor(share * events.length))];
  const first = events[0];
  if (some === undefined || first === undefined) throw new Error("there are no events");
  if (kind === "event") {
    const last = events.findLast(({ decision }) => decision === some.decision) ?? some;
    return { requested: some.seq, seq: last.seq, at: last.at };
  }
  const at = Math.min(now, Math.max(first.at, some.at + offMs));
  const last = events.findLast((event) => event.at <= at) ?? first;
  return { requested: new Date(at).toISOString(), seq: last.seq, at };
}
