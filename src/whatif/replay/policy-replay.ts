import type { SimTime } from "../../platform/core/time.ts";
import { type Period, type Requests, untilGone } from "../../recordings/trace/trace.ts";
import type { Keeper, Plan } from "../policies/policy.ts";
import type { OwnSetting, Witness } from "./fixed-replay.ts";
import { bookAwake, noOutcome, type Outcome } from "./replay-outcome.ts";
import type { LatencySource } from "./start-latency.ts";

/**
 * Replays one compute after another under any policy, by the rules of `FixedReplay`; each in as many consecutive parts as one likes. A
 * resume starts the compute like an arrival, and nobody waits for it but who arrives meanwhile.
 */
export class PolicyReplay {
  readonly outcome: Outcome;
  readonly #period: Period;
  readonly #witness: Witness | undefined;
  readonly #plan: Plan = { sleepAt: 0, resumeAt: 0, holdMs: 0 };
  /** Of the compute: shorter where it was deleted. */
  #there: Period;
  #keeper: Keeper | undefined;
  #latencies: LatencySource | undefined;
  #cu = 1;
  #isNew = true;
  #awakeSince: SimTime = 0;
  #readyAt: SimTime = 0;
  #busyEnd: SimTime = 0;

  constructor(period: Period, outcome: Outcome = noOutcome(period), witness?: Witness) {
    this.#period = period;
    this.#there = period;
    this.outcome = outcome;
    this.#witness = witness;
  }

  /** The requests that come are those of a compute that this keeper decides for and whose starts take this long, at this size. */
  begin(keeper: Keeper, latencies: LatencySource, { cu = 1, goneAt }: Omit<OwnSetting, "delay"> = {}): void {
    this.#there = untilGone(this.#period, goneAt);
    this.#keeper = keeper;
    this.#cu = cu;
    this.#latencies = latencies;
    this.#isNew = true;
  }

  add({ at, durationMs }: Requests): void {
    for (let i = 0; i < at.length; i += 1) {
      const arrival = at[i] as number;
      if (this.#isNew) {
        this.#isNew = false;
        this.outcome.firstStarts += 1;
        this.#start(arrival);
      } else if (arrival > this.#busyEnd) {
        this.#endIdle(arrival);
      }
      const begin = Math.max(arrival, this.#readyAt);
      this.outcome.waits.add(begin - arrival);
      this.#busyEnd = Math.max(this.#busyEnd, begin + (durationMs[i] as number));
    }
    this.outcome.requests += at.length;
  }

  end(): void {
    if (!this.#isNew) {
      this.#keeper?.plan(this.#busyEnd, this.#plan, Number.POSITIVE_INFINITY);
      if (this.#sleepUntil(this.#there.endAt)) this.#sleep(Number.POSITIVE_INFINITY);
    }
    this.#isNew = true;
  }

  #endIdle(arrival: SimTime): void {
    const idleSince = this.#busyEnd;
    this.#keeper?.plan(idleSince, this.#plan, arrival);
    if (!this.#sleepUntil(arrival)) {
      this.outcome.coldStarts += 1;
      this.#start(arrival);
    }
    this.#keeper?.learn?.(arrival - idleSince, arrival);
  }

  /** Sleeps and resumes as planned until `at`; gives whether it is awake, or starting, then. */
  #sleepUntil(at: SimTime): boolean {
    const plan = this.#plan;
    let isAwake = at <= plan.sleepAt;
    for (let sleepAt = plan.sleepAt; !isAwake; ) {
      this.#sleep(sleepAt);
      const { resumeAt } = plan;
      if (resumeAt > at || resumeAt >= this.#there.endAt) return false;
      if (resumeAt < sleepAt) throw new Error(`a policy resumes at ${resumeAt}, before it sleeps at ${sleepAt}`);
      this.#start(resumeAt);
      const next = this.#readyAt + plan.holdMs;
      isAwake = at <= next;
      if (isAwake) this.outcome.resumesUsed += at < this.#there.endAt ? 1 : 0;
      else this.outcome.resumesWasted += 1;
      // What a policy plans next must come later, or this would never end.
      if (!isAwake) {
        if (next <= sleepAt) throw new Error(`a policy resumes at ${resumeAt} for no time at all`);
        sleepAt = next;
        plan.resumeAt = Number.POSITIVE_INFINITY;
        this.#keeper?.planAgain?.(sleepAt, plan);
      }
    }
    return true;
  }

  #start(at: SimTime): void {
    if (this.#latencies === undefined) throw new Error("a replay begins with a compute");
    this.#awakeSince = at;
    this.#readyAt = at + this.#latencies.at(at);
    this.#busyEnd = this.#readyAt;
    this.#witness?.started(at, this.#readyAt);
  }

  #sleep(at: SimTime): void {
    bookAwake(this.outcome, this.#there, { from: this.#awakeSince, readyAt: this.#readyAt, busyEnd: this.#busyEnd, to: at }, this.#cu);
    if (at < this.#there.endAt) this.#witness?.suspended(at);
  }
}
