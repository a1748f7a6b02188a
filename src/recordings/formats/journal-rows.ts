import type { ActivityRecorded } from "../../platform/compute/activity.ts";
import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import type { Intake } from "../rows/intake.ts";

/** What becomes of a compute while something runs on it, or waits for it. */
export const COMPUTE_LIFECYCLE_EVENTS = [
  "ComputeActivated",
  "ComputeSuspending",
  "ComputeSuspended",
  "ComputeStartFailed",
  "ComputeDeleted",
] as const;
type ComputeLifecycleEvent = {
  readonly type: (typeof COMPUTE_LIFECYCLE_EVENTS)[number];
  readonly at: SimTime;
  readonly endpointId: string;
};

/** What a trace needs of an event: its names in camel case. */
export type JournalActivity = Pick<ActivityRecorded, "type" | "at" | "activity" | "opened"> &
  Partial<Pick<ActivityRecorded, "waitedMs">>;
export type JournalEvent =
  | JournalActivity
  | ComputeLifecycleEvent
  | { readonly type: "WorldReset"; readonly at: SimTime };

/** It is served from `from` on: of what waits for a start that is when it was expected to, until the start is over. */
type RunningArrival = {
  readonly line: number;
  readonly compute: number;
  readonly at: SimTime;
  readonly source: number;
  readonly connection: string | undefined;
  /** Infinite where nobody has said the end of a transaction. */
  readonly durationMs: DurationMs;
  from: SimTime;
  isWaiting: boolean;
};

const FIRST_PRUNE = 64;

/**
 * Requests out of a world's journal. A query begins when its compute is there; that it waited for a start is not of the trace, for
 * under another delay it would not have. What still runs when its connection closes ends then, be it that the client closed it or that
 * the platform did: with a suspend, a restart, a start that fails, a deletion. Open transactions last until that.
 */
export class JournalRows {
  readonly #intake: Intake;
  readonly #running = new Map<string, RunningOnCompute>();
  readonly #encoder = new TextEncoder();

  constructor(intake: Intake) {
    this.#intake = intake;
  }

  /** `line` is its place: a line, or a sequence number. Events come in the order of the journal. */
  take(line: number, event: JournalEvent): void {
    if (event.type === "ActivityRecorded") this.#activity(line, event);
    else if (event.type === "WorldReset")
      for (const endpointId of this.#running.keys()) this.#close(endpointId, () => true, event.at);
    else this.#lifecycleEvent(event);
  }

  /** `until`: how far the journal tells. An open transaction is as long as that; what has said how long it takes goes on. */
  end(until: SimTime): void {
    for (const { list } of this.#running.values()) {
      for (const row of list)
        this.#finish(row, Number.isFinite(row.durationMs) ? Number.POSITIVE_INFINITY : until);
    }
    this.#running.clear();
  }

  #activity(line: number, { at, activity, opened, waitedMs = 0 }: JournalActivity): void {
    const { endpointId, kind, connectionId: connection = opened } = activity;
    if (kind === "disconnect") {
      this.#intake.skip();
      // A query that waits is served though nobody waits for its answer any more, as the double has it.
      const isClosed = (row: RunningArrival) =>
        row.connection === connection && !(row.isWaiting && Number.isFinite(row.durationMs));
      this.#close(endpointId, isClosed, at);
      return;
    }
    const compute = this.#number(endpointId, (...name) => this.#intake.compute(...name));
    const source = this.#number(activity.source ?? "", (...name) => this.#intake.source(...name));
    const isOpenEnded =
      kind === "transaction" && activity.durationMs === undefined && activity.connectionId !== undefined;
    const durationMs = isOpenEnded
      ? Number.POSITIVE_INFINITY
      : kind === "connect"
        ? 0
        : (activity.durationMs ?? 0);
    if (durationMs === 0) this.#intake.take(line, compute, at, 0, source);
    else
      this.#track(endpointId, {
        line,
        compute,
        at,
        source,
        connection,
        durationMs,
        from: at + waitedMs,
        isWaiting: waitedMs > 0,
      });
  }

  #lifecycleEvent({ type, at, endpointId }: ComputeLifecycleEvent): void {
    if (type === "ComputeActivated") {
      for (const row of this.#running.get(endpointId)?.list ?? []) {
        if (row.isWaiting) Object.assign(row, { from: at, isWaiting: false });
      }
      return;
    }
    // What came during a suspend waits on for the next start (D: suspend); a start that fails, and a deletion, end that, too.
    const endsWaiting = type === "ComputeStartFailed" || type === "ComputeDeleted";
    this.#close(endpointId, ({ isWaiting }) => endsWaiting || !isWaiting, at);
  }

  #track(endpointId: string, row: RunningArrival): void {
    let running = this.#running.get(endpointId);
    if (running === undefined) {
      running = { list: [], pruneAt: FIRST_PRUNE };
      this.#running.set(endpointId, running);
    }
    running.list.push(row);
    if (running.list.length < running.pruneAt) return;
    // Seldom enough to cost nothing: what has ended cannot be cut off any more.
    this.#close(
      endpointId,
      ({ isWaiting, from, durationMs }) => !isWaiting && from + durationMs <= row.at,
      row.at,
    );
    running.pruneAt = Math.max(FIRST_PRUNE, 2 * running.list.length);
  }

  #close(endpointId: string, isClosed: (row: RunningArrival) => boolean, at: SimTime): void {
    const running = this.#running.get(endpointId);
    if (running === undefined) return;
    running.list = running.list.filter((row) => {
      if (!isClosed(row)) return true;
      this.#finish(row, at);
      return false;
    });
  }

  #finish({ line, compute, at, source, from, durationMs }: RunningArrival, end: SimTime): void {
    this.#intake.take(line, compute, at, Math.max(0, Math.min(durationMs, end - from)), source);
  }

  #number(name: string, numberOf: (bytes: Uint8Array, start: number, end: number) => number): number {
    const bytes = this.#encoder.encode(name);
    return numberOf(bytes, 0, bytes.length);
  }
}

type RunningOnCompute = { list: RunningArrival[]; pruneAt: number };
