import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { type SizeRange, sizeForLoad } from "../../platform/catalog/sizes.ts";
import type { AccessNoun, ContentNoun, EventTypeOf, RecordedEvent } from "../../platform/model/events.ts";
import type { WorldSettings } from "../../platform/model/world-settings.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import type { RecordedStarts } from "../sizes/load-readings-source.ts";

/** The metered usage of a compute, or of several. */
export type MeteredUsage = {
  readonly activeMs: DurationMs;
  readonly cuMs: number;
  /**
   * The part of `cuMs` in active times that no request began (after a creation or a start by the API), until their
   * first request.
   */
  readonly cuMsWithoutRequests: number;
};

type ComputeMeter = {
  range: SizeRange;
  /** Undefined while the compute is suspended. */
  active: { since: SimTime; sizeCu: number; isSuspending: boolean; hasRequests: boolean } | undefined;
  /** Whether requests wait for a start. */
  hasWaiting: boolean;
  /** Highest load of the waiting requests, which determined the first size in earlier releases. */
  waitingLoad: number;
  readonly times: MeteredTime[];
  readonly starts: { readonly readyAt: SimTime; readonly readingSeed: number | undefined }[];
};

/** Active time at one size. */
type MeteredTime = {
  readonly from: SimTime;
  readonly to: SimTime;
  readonly sizeCu: number;
  readonly hasRequests: boolean;
};

type SizeEvent = Exclude<
  Extract<RecordedEvent, { readonly type: EventTypeOf<"compute"> }>,
  { readonly type: "ComputeCreated" }
>;

/** Meters each compute of a world as the world does, from its starts, resizes and suspends. */
export class MeteredSizes {
  readonly #computes = new Map<string, ComputeMeter>();
  #settings: Pick<WorldSettings, "profile" | "loadAverage"> | undefined;

  add(event: RecordedEvent): void {
    switch (event.type) {
      case "WorldCreated":
        this.#settings = event.world;
        return;
      case "WorldConfigured":
        if (this.#settings !== undefined && event.changes.loadAverage === true)
          this.#settings = { ...this.#settings, loadAverage: true };
        return;
      case "WorldReset":
        for (const meter of this.#computes.values()) this.#end(meter, event.at);
        return;
      case "ComputeCreated": {
        const { id, range } = event.compute;
        this.#computes.set(id, {
          range,
          active: undefined,
          hasWaiting: false,
          waitingLoad: 0,
          times: [],
          starts: [],
        });
        return;
      }
      case "ActivityRecorded":
        if (event.activity.kind !== "disconnect")
          this.#request(event.activity.endpointId, event.at, event.activity.load ?? 0);
        return;
      case "SpanBegan":
        this.#request(event.endpointId, event.at, 0);
        return;
      case "ComputeUpdated":
      case "ComputeActivated":
      case "ComputeResized":
      case "ComputeSuspending":
      case "ComputeSuspended":
      case "ComputeSuspendFailed":
      case "ComputeStartFailed":
      case "ComputeDeleted": {
        const meter = this.#computes.get(event.endpointId);
        if (meter !== undefined) this.#change(meter, event);
        return;
      }
      default:
        event.type satisfies ChangesNoSize;
    }
  }

  /** The starts of each compute. Computes whose creation is no longer in the journal are absent. */
  starts(): ReadonlyMap<string, RecordedStarts> {
    return new Map(
      [...this.#computes].map(([id, { starts }]) => [
        id,
        {
          readyAt: starts.map(({ readyAt }) => readyAt),
          readingSeeds: starts.map(({ readingSeed }) => readingSeed ?? null),
        },
      ]),
    );
  }

  /** The usage of these computes within a period. Computes whose creation is no longer in the journal have none. */
  usage(computes: Iterable<string>, { startAt, endAt }: Period): MeteredUsage {
    let [activeMs, cuMs, cuMsWithoutRequests] = [0, 0, 0];
    for (const id of computes) {
      const meter = this.#computes.get(id);
      for (const { from, to, sizeCu, hasRequests } of meter === undefined ? [] : timesUntil(meter, endAt)) {
        const ms = Math.max(0, Math.min(to, endAt) - Math.max(from, startAt));
        activeMs += ms;
        cuMs += ms * sizeCu;
        cuMsWithoutRequests += hasRequests ? 0 : ms * sizeCu;
      }
    }
    return { activeMs, cuMs, cuMsWithoutRequests };
  }

  #request(endpointId: string, at: SimTime, load: number): void {
    const meter = this.#computes.get(endpointId);
    if (meter === undefined) return;
    const { active } = meter;
    if (active !== undefined && !active.isSuspending) {
      if (active.hasRequests) return;
      this.#end(meter, at);
      meter.active = { ...active, since: at, hasRequests: true };
      return;
    }
    meter.hasWaiting = true;
    meter.waitingLoad = Math.max(meter.waitingLoad, load);
  }

  #change(meter: ComputeMeter, event: SizeEvent): void {
    const { at } = event;
    switch (event.type) {
      case "ComputeUpdated":
        meter.range = event.changes.range ?? meter.range;
        return;
      case "ComputeActivated":
        this.#end(meter, at);
        meter.starts.push({ readyAt: at, readingSeed: event.readingSeed });
        meter.active = {
          since: at,
          sizeCu: this.#firstSize(meter),
          isSuspending: false,
          hasRequests: meter.hasWaiting,
        };
        this.#serveWaiting(meter);
        return;
      case "ComputeResized":
        this.#resize(meter, at, event.sizeCu);
        return;
      case "ComputeSuspending":
      case "ComputeSuspendFailed":
        if (meter.active !== undefined) meter.active.isSuspending = event.type === "ComputeSuspending";
        return;
      case "ComputeStartFailed":
        this.#end(meter, at);
        this.#serveWaiting(meter);
        return;
      case "ComputeSuspended":
      case "ComputeDeleted":
        this.#end(meter, at);
        return;
      default:
        event satisfies never;
    }
  }

  #firstSize({ range, waitingLoad }: ComputeMeter): number {
    const { profile, loadAverage } = this.#settings ?? { profile: "2024" };
    return loadAverage === true ? range.minCu : sizeForLoad(PROFILES[profile], range, waitingLoad);
  }

  #resize(meter: ComputeMeter, at: SimTime, sizeCu: number): void {
    const { active } = meter;
    if (active === undefined) return;
    this.#end(meter, at);
    meter.active = { ...active, since: at, sizeCu, isSuspending: false };
  }

  #serveWaiting(meter: ComputeMeter): void {
    meter.hasWaiting = false;
    meter.waitingLoad = 0;
  }

  #end(meter: ComputeMeter, at: SimTime): void {
    if (meter.active !== undefined) meter.times.push(openTime(meter.active, at));
    meter.active = undefined;
  }
}

function timesUntil({ times, active }: ComputeMeter, at: SimTime): readonly MeteredTime[] {
  return active === undefined ? times : [...times, openTime(active, at)];
}

function openTime(
  { since, sizeCu, hasRequests }: NonNullable<ComputeMeter["active"]>,
  to: SimTime,
): MeteredTime {
  return { from: since, to, sizeCu, hasRequests };
}

/** Events that change neither the size of a compute nor whether it is active. */
type ChangesNoSize =
  | EventTypeOf<AccessNoun | ContentNoun | "project" | "branch" | "operation" | "fault">
  | "SpanEnded"
  | "ActivityScheduled"
  | "ActivityDropped";
