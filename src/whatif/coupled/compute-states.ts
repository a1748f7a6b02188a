import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import type { StartWorth } from "../gap-curve/costs.ts";
import { addActiveTime, addStartWorth, type ReplayOutcome } from "../replay/replay-outcome.ts";
import type { CoupledFleet } from "./coupled-fleet.ts";

export const SUSPENDED = 0;
/** Queued for a start. */
export const QUEUED = 1;
export const STARTING = 2;
export const ACTIVE = 3;

/** The state of each compute of a fleet. Arrays are by compute. */
export class ComputeStates {
  readonly phase: Uint8Array;
  /** When the current activity began, with the start. */
  readonly activeSince: Float64Array;
  readonly readyAt: Float64Array;
  /** When the last of the requests served so far ends. */
  readonly busyEnd: Float64Array;
  readonly #startCount: Uint32Array;
  readonly #cu: Float64Array;
  readonly #deletedAt: Float64Array | undefined;
  readonly #startWorths: readonly StartWorth[] | undefined;

  constructor({ cu, deletedAt, startWorths }: Pick<CoupledFleet, "cu" | "deletedAt" | "startWorths">) {
    const { length } = cu;
    this.phase = new Uint8Array(length);
    this.activeSince = new Float64Array(length);
    this.readyAt = new Float64Array(length);
    this.busyEnd = new Float64Array(length);
    this.#startCount = new Uint32Array(length);
    this.#cu = cu;
    this.#deletedAt = deletedAt;
    this.#startWorths = startWorths;
  }

  /** When the compute is deleted; infinite if it is not. */
  deletedAt(compute: number): SimTime {
    return this.#deletedAt?.[compute] ?? Number.POSITIVE_INFINITY;
  }

  /**
   * When an active compute suspends if nothing more arrives. Activity that began before the deletion ends
   * with it, or with the last request. Activity that begins after it is from repeated days of the trace,
   * which know of no deletion.
   */
  suspendAt(compute: number, delayMs: DurationMs): SimTime {
    const busyEnd = this.busyEnd[compute] as number;
    const suspendAt = busyEnd + delayMs;
    const deletedAt = this.deletedAt(compute);
    return (this.activeSince[compute] as number) <= deletedAt
      ? Math.min(suspendAt, Math.max(deletedAt, busyEnd))
      : suspendAt;
  }

  /** The first start of a compute counts apart: no policy can avoid it. */
  countStart(compute: number, outcome: ReplayOutcome): void {
    const started = this.#startCount[compute] as number;
    if (started > 0) {
      outcome.coldStarts += 1;
      outcome.cuColdStarts += this.#cu[compute] as number;
    } else outcome.firstStarts += 1;
    this.#startCount[compute] = started + 1;
  }

  /** Adds the worth of the start that ends, unless it is the first one. */
  addStartWorth(compute: number, waitMs: DurationMs, outcome: ReplayOutcome): void {
    const startWorth = this.#startWorths?.[compute];
    if (startWorth === undefined || (this.#startCount[compute] as number) < 2) return;
    addStartWorth(outcome, startWorth(waitMs), this.#cu[compute] as number);
  }

  /** Adds the activity that ends at `to`. */
  addActiveTime(compute: number, to: SimTime, period: Period, outcome: ReplayOutcome): void {
    const active = {
      from: this.activeSince[compute] as number,
      readyAt: this.readyAt[compute] as number,
      busyEnd: this.busyEnd[compute] as number,
      to,
    };
    addActiveTime(outcome, period, active, this.#cu[compute] as number);
  }
}
