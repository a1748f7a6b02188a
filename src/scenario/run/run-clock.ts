import { type DurationMs, HOUR, SECOND, type SimTime } from "../../kernel/time.ts";
import type { Scenario } from "../file/scenario-schema.ts";
import type { Wakeup } from "./parallel.ts";
import type { RunObservation } from "./run-observation.ts";
import type { RunWatcher } from "./run-watcher.ts";
import { type RecordingsBySource, ScenarioArrivals } from "./scenario-arrivals.ts";
import type { StepTimes } from "./step-times.ts";
import type { ScenarioTarget } from "./target.ts";
import type { Watches } from "./watches.ts";

export type RunProgress = {
  readonly now: SimTime;
  readonly start: SimTime;
  readonly end: SimTime | undefined;
  readonly events: number;
};

type ClockOptions = {
  readonly recordings: RecordingsBySource;
  readonly onProgress?: (progress: RunProgress) => void;
  readonly signal?: AbortSignal | undefined;
  readonly watcher?: RunWatcher | undefined;
};

/** A long advance is split into this many parts; the invariants are checked after each. */
const INVARIANT_CHECKS_PER_ADVANCE = 50;
const MIN_ADVANCE_MS = HOUR;
/** A watcher sees the parts of short advances, too. */
const MIN_WATCHED_ADVANCE_MS = SECOND;

/** Advances the world of a run with its traffic. Every event reaches the observation and the watches. */
export class RunClock {
  readonly #scenario: Scenario;
  readonly #target: ScenarioTarget;
  readonly #options: ClockOptions;
  readonly #start: SimTime;
  readonly #times: StepTimes;
  readonly #observation: RunObservation;
  readonly #watches: Watches;
  /** Called after each part of an advance. */
  readonly #onAdvanced: () => void | Promise<void>;
  #arrivals: ScenarioArrivals;

  constructor(
    scenario: Scenario,
    target: ScenarioTarget,
    options: ClockOptions,
    times: StepTimes,
    observation: RunObservation,
    watches: Watches,
    onAdvanced: () => void | Promise<void>,
  ) {
    this.#scenario = scenario;
    this.#target = target;
    this.#options = options;
    this.#start = target.now();
    this.#times = times;
    this.#observation = observation;
    this.#watches = watches;
    this.#onAdvanced = onAdvanced;
    this.#arrivals = this.#createArrivals(undefined);
  }

  get arrivals(): ScenarioArrivals {
    return this.#arrivals;
  }

  /** The world was restored to the current instant; later arrivals have not happened. */
  restored(): void {
    this.#arrivals = this.#createArrivals(this.#target.now());
  }

  async advanceToWakeup({ at, arrival }: Wakeup): Promise<void> {
    this.forwardEvents();
    this.#observation.callEnded();
    const to = Math.max(at, this.#target.now());
    if (arrival !== undefined) {
      this.#observation.arrivalInjected(arrival.step);
      this.#arrivals.inject(to, arrival.activity);
    }
    await this.runUntil(to);
    // Arrivals at the current instant.
    if (this.#arrivals.at <= to) await this.#target.runUntil(this.#arrivals, to);
  }

  async runUntil(to: SimTime): Promise<void> {
    const from = this.#target.now();
    const minimum = this.#options.watcher === undefined ? MIN_ADVANCE_MS : MIN_WATCHED_ADVANCE_MS;
    const advanceMs = Math.max(minimum, Math.ceil((to - from) / INVARIANT_CHECKS_PER_ADVANCE));
    for (let at = from; at < to; ) {
      this.#options.signal?.throwIfAborted();
      this.#watches.openWindowsAt(at);
      at = Math.min(to, at + advanceMs, this.#watches.nextOpeningAfter(at));
      await this.#target.runUntil(this.#arrivals, at);
      this.#watches.advanceTo(at);
      this.#options.signal?.throwIfAborted();
      await this.#onAdvanced();
      this.#options.onProgress?.({
        now: at,
        start: this.#start,
        end: plannedEnd(this.#start, this.#scenario.length),
        events: this.#observation.metrics.events,
      });
    }
  }

  /** Observes the events that calls have caused. */
  forwardEvents(): void {
    for (const event of this.#target.takeEvents()) this.#arrivals.observe(event);
  }

  #createArrivals(restoredTo: SimTime | undefined): ScenarioArrivals {
    return new ScenarioArrivals(
      this.#scenario.traffic,
      this.#target.labels,
      {
        seed: this.#scenario.world.seed,
        start: this.#start,
        restoredTo,
        end: plannedEnd(this.#start, this.#scenario.length),
        world: () => this.#target.world(),
        recordings: this.#options.recordings,
        instant: (when) => this.#times.resolve(when),
      },
      {
        observe: (event) => {
          this.#watches.before(event);
          this.#observation.observe(event);
          // The world applies a whole decision before it reports the first event of it.
          this.#watches.after(event, event.seq === this.#target.world().seq);
        },
        refused: ({ endpointId, source }, code, at) => {
          this.#observation.refused(endpointId, source, code, at);
          this.#watches.refused(at);
        },
      },
    );
  }
}

function plannedEnd(start: SimTime, length: DurationMs | undefined): SimTime | undefined {
  return length === undefined ? undefined : start + length;
}
