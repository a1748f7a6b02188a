import type { Random } from "../../../kernel/random-port.ts";
import { MINUTE, type SimTime } from "../../../kernel/time.ts";
import { type ComputeArrivals, type Period, untilDeleted } from "../../../traffic/recorded/trace/trace.ts";
import { sizeOf } from "../../gap-curve/costs.ts";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import { effectiveDelay, type Question } from "../../input/question.ts";
import { FixedReplay } from "../../replay/fixed-replay.ts";
import { emptyOutcome } from "../../replay/replay-outcome.ts";
import { loadSizesOf } from "../../sizes/scaling-computes.ts";
import { StartLatencies } from "../../units/start-latency.ts";

const SLOT_MS = 5 * MINUTE;

/**
 * Use of the computes of a project over time without a quota, in slots of five minutes. Use and requests are assumed to
 * be constant within a slot.
 */
export class UseProfile {
  readonly #period: Period;
  /**
   * CU-milliseconds and requests from the start of the period to the start of each slot, and to the end of the last
   * one.
   */
  readonly #cuMs: Float64Array;
  readonly #requests: Float64Array;

  /** `add` fills slots, which the profile then adds up. */
  constructor(period: Period, add: (cuMs: Float64Array, requests: Float64Array) => void) {
    const slots = Math.ceil((period.endAt - period.startAt) / SLOT_MS);
    this.#period = period;
    this.#cuMs = new Float64Array(slots + 1);
    this.#requests = new Float64Array(slots + 1);
    // Slot i is at index i + 1, so that the sums before each slot can be made in place.
    add(this.#cuMs.subarray(1), this.#requests.subarray(1));
    for (const values of [this.#cuMs, this.#requests])
      for (let slot = 1; slot <= slots; slot += 1)
        values[slot] = (values[slot] as number) + (values[slot - 1] as number);
  }

  cuMsBetween(from: SimTime, to: SimTime): number {
    return this.#sumUntil(this.#cuMs, to) - this.#sumUntil(this.#cuMs, from);
  }

  requestsBetween(from: SimTime, to: SimTime): number {
    return Math.round(this.#sumUntil(this.#requests, to)) - Math.round(this.#sumUntil(this.#requests, from));
  }

  /** The first instant by which `cuMs` were used since `from`. They must be used at some time. */
  usedAt(from: SimTime, cuMs: number): SimTime {
    const target = this.#sumUntil(this.#cuMs, from) + cuMs;
    let [low, high] = [0, this.#cuMs.length - 1];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#cuMs[middle] as number) < target) low = middle;
      else high = middle;
    }
    const [before, after] = [this.#cuMs[low] as number, this.#cuMs[high] as number];
    const share = after === before ? 0 : (target - before) / (after - before);
    return Math.max(from, Math.ceil(this.#period.startAt + (low + Math.max(0, share)) * SLOT_MS - 1e-6));
  }

  #sumUntil(values: Float64Array, at: SimTime): number {
    const slots = Math.min(values.length - 1, Math.max(0, (at - this.#period.startAt) / SLOT_MS));
    const slot = Math.floor(slots);
    const before = values[slot] as number;
    return slot === slots ? before : before + (slots - slot) * ((values[slot + 1] as number) - before);
  }
}

/** `arrivals`: requests of each compute. */
export function useProfile(
  period: Period,
  computes: readonly number[],
  arrivals: readonly ComputeArrivals[],
  delay: DelayChoice,
  question: Question,
  random: Random,
): UseProfile {
  return new UseProfile(period, (cuMs, requests) => {
    const slotOf = (at: SimTime) => Math.floor((at - period.startAt) / SLOT_MS);
    for (const [index, compute] of computes.entries()) {
      const own = arrivals[index] as ComputeArrivals;
      for (const at of own.at) requests[slotOf(at)] = (requests[slotOf(at)] as number) + 1;
      const cu = sizeOf(question.costs, compute);
      const deletedAt = question.deletedAt?.[compute];
      const { endAt } = untilDeleted(period, deletedAt);
      const observer = {
        started: () => {},
        suspended: () => {},
        sized: (from: SimTime, to: SimTime, sizeCu: number) => {
          for (let at = from; at < Math.min(to, endAt); ) {
            const slot = slotOf(at);
            const until = Math.min(to, endAt, period.startAt + (slot + 1) * SLOT_MS);
            cuMs[slot] = (cuMs[slot] as number) + (until - at) * sizeCu;
            at = until;
          }
        },
      };
      const ownDelay = effectiveDelay(question, delay, compute);
      const replay = new FixedReplay(period, ownDelay, emptyOutcome(period), observer);
      const sizes = loadSizesOf(question.scaling, compute, random);
      replay.begin(new StartLatencies(question.latency, random, index), { cu, deletedAt, sizes });
      replay.add(own);
      replay.end();
    }
  });
}
