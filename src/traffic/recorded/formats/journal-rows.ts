import type { DurationMs, SimTime } from "../../../kernel/time.ts";
import type { ActivityRecorded } from "../../../platform/model/activity.ts";
import type { Intake } from "../rows/intake.ts";

/** Events that affect running and waiting arrivals of a compute. */
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

/** The part of an event that a trace needs, in camel case. */
export type JournalActivity = Pick<ActivityRecorded, "type" | "at" | "activity" | "opened"> &
  Partial<Pick<ActivityRecorded, "waitedMs">>;
export type JournalEvent =
  | JournalActivity
  | ComputeLifecycleEvent
  | { readonly type: "WorldReset"; readonly at: SimTime };

/** Served from `from` on; while it waits for a start, `from` is the expected end of the start. */
type RunningArrival = {
  readonly line: number;
  readonly compute: number;
  readonly at: SimTime;
  readonly source: number;
  readonly connection: string | undefined;
  readonly load: number | undefined;
  /** Infinite for a transaction without a known end. */
  readonly durationMs: DurationMs;
  from: SimTime;
  isWaiting: boolean;
};

const FIRST_PRUNE = 64;

/**
 * The arrivals in a world's journal. Waits for a start are not part of the trace, because another delay would
 * change them. Running arrivals end when their connection closes: by the client, a suspend, a restart, a
 * failed start or a deletion. Open transactions last until then.
 */
export class JournalRows {
  readonly #intake: Intake;
  readonly #running = new Map<string, RunningOnCompute>();
  readonly #encoder = new TextEncoder();

  constructor(intake: Intake) {
    this.#intake = intake;
  }

  /** `line` is a line or a sequence number. Events come in the order of the journal. */
  take(line: number, event: JournalEvent): void {
    if (event.type === "ActivityRecorded") this.#activity(line, event);
    else if (event.type === "WorldReset")
      for (const endpointId of this.#running.keys()) this.#close(endpointId, () => true, event.at);
    else this.#lifecycleEvent(event);
  }

  /**
   * `until` is the end of the journal, where open transactions end. Arrivals with a known duration keep it.
   */
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
      // The platform serves a waiting query even if its client has left.
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
    const { load } = activity;
    if (durationMs === 0) this.#intake.take(line, compute, at, 0, source, load);
    else
      this.#track(endpointId, {
        line,
        compute,
        at,
        source,
        connection,
        load,
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
    // Arrivals during a suspend wait for the next start (D: suspend). A failed start and a deletion end that
    // wait, too.
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
    // Ended arrivals cannot be truncated any more; pruning at doubling sizes keeps this cheap.
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

  #finish({ line, compute, at, source, load, from, durationMs }: RunningArrival, end: SimTime): void {
    // A transaction without a known end runs nothing.
    const own = Number.isFinite(durationMs) ? load : undefined;
    this.#intake.take(line, compute, at, Math.max(0, Math.min(durationMs, end - from)), source, own);
  }

  #number(name: string, numberOf: (bytes: Uint8Array, start: number, end: number) => number): number {
    const bytes = this.#encoder.encode(name);
    return numberOf(bytes, 0, bytes.length);
  }
}

type RunningOnCompute = { list: RunningArrival[]; pruneAt: number };
