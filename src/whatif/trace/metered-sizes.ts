import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { type SizeRange, sizeForLoad } from "../../platform/catalog/sizes.ts";
import type { AccessNoun, ContentNoun, EventTypeOf, RecordedEvent } from "../../platform/model/events.ts";
import type { WorldSettings } from "../../platform/model/world-settings.ts";

/** The metered usage of a compute. */
export type MeteredSize = { readonly activeMs: DurationMs; readonly cuMs: number };

type ComputeMeter = {
  range: SizeRange;
  /** Present while active. */
  active: { since: SimTime; sizeCu: number; isSuspending: boolean } | undefined;
  /** The highest load that waits for a start: it decided the first size in earlier releases. */
  waitingLoad: number;
  activeMs: DurationMs;
  cuMs: number;
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
        this.#computes.set(id, { range, active: undefined, waitingLoad: 0, activeMs: 0, cuMs: 0 });
        return;
      }
      case "ActivityRecorded":
        this.#wait(event.activity.endpointId, event.activity.load ?? 0);
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

  /** The usage of each compute up to `now`. Computes whose creation is no longer in the journal are absent. */
  until(now: SimTime): ReadonlyMap<string, MeteredSize> {
    return new Map(
      [...this.#computes].map(([id, { active, activeMs, cuMs }]) => {
        const open = active === undefined ? 0 : now - active.since;
        return [id, { activeMs: activeMs + open, cuMs: cuMs + open * (active?.sizeCu ?? 0) }];
      }),
    );
  }

  #wait(endpointId: string, load: number): void {
    const meter = this.#computes.get(endpointId);
    if (meter !== undefined && (meter.active === undefined || meter.active.isSuspending))
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
        meter.active = { since: at, sizeCu: this.#firstSize(meter), isSuspending: false };
        meter.waitingLoad = 0;
        return;
      case "ComputeResized":
        if (meter.active === undefined) return;
        this.#end(meter, at);
        meter.active = { since: at, sizeCu: event.sizeCu, isSuspending: false };
        return;
      case "ComputeSuspending":
      case "ComputeSuspendFailed":
        if (meter.active !== undefined) meter.active.isSuspending = event.type === "ComputeSuspending";
        return;
      case "ComputeStartFailed":
        this.#end(meter, at);
        meter.waitingLoad = 0;
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

  #end(meter: ComputeMeter, at: SimTime): void {
    const { active } = meter;
    if (active === undefined) return;
    meter.activeMs += at - active.since;
    meter.cuMs += (at - active.since) * active.sizeCu;
    meter.active = undefined;
  }
}

/** Events that change neither the size of a compute nor whether it is active. */
type ChangesNoSize =
  | EventTypeOf<AccessNoun | ContentNoun | "project" | "branch" | "operation" | "span" | "fault">
  | "ActivityScheduled"
  | "ActivityDropped";
