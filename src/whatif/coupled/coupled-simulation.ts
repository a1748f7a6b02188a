import { nextMonthStart } from "../../platform/core/calendar.ts";
import type { Random } from "../../platform/core/random-port.ts";
import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import type { ComputeArrivals, Period } from "../../recordings/trace/trace.ts";
import { addActiveTime, emptyOutcome, type ReplayOutcome } from "../replay/replay-outcome.ts";
import { type LatencySource, latenciesOf, type StartLatency } from "../replay/start-latency.ts";
import { type Client, Clients } from "./clients.ts";
import { EventHeap } from "./event-heap.ts";
import { RequestQueue } from "./request-queue.ts";
import { membersOf, type Quotas, SharedQuota } from "./shared-quota.ts";
import { StartLimiter, type StartLimits } from "./start-limiter.ts";
import { TraceCursors } from "./trace-cursors.ts";

/** Computes that meet on one clock; all by the computes' index. */
export type CoupledFleet = {
  readonly period: Period;
  /** Infinite for never. */
  readonly delayMs: Float64Array;
  /** Size while active. */
  readonly cu: Float64Array;
  /** When it is deleted, infinite for never; absent where none is. It sleeps then, and its clients come no more. */
  readonly deletedAt?: Float64Array | undefined;
  /** What arrives whatever happens. */
  readonly arrivals: readonly (ComputeArrivals | undefined)[];
  /** What arrives when something has happened. */
  readonly clients: readonly Client[];
  readonly latency: StartLatency;
  /** Of a start that gets a prepared compute. */
  readonly preparedLatency?: StartLatency | undefined;
  readonly starts: StartLimits;
  readonly quotas?: Quotas | undefined;
  readonly random: Random;
};

/** Waits are those for the turn and for the start together, be it behind the end of the period; active time begins with the start. */
export type CoupledOutcome = ReplayOutcome & {
  /** Requests that came while the quota was reached. */
  refused: number;
  /** When each group reached its quota, in order. */
  readonly quotaReached: { readonly group: number; readonly at: SimTime }[];
  /** Arrivals, ends of starts, and suspends. */
  events: number;
  readonly limiter: Pick<StartLimiter, "mostUnderWay" | "mostQueued" | "poolHits" | "poolMisses">;
};

/**
 * Runs a fleet through its period, event by event. What arrives at a compute while it is awake changes nothing for any other one, as long as
 * no client waits for it and no quota can stop it: such arrivals are read at once when the start is over, and only starts and suspends
 * meet on the common clock.
 */
export function simulateCoupled(fleet: CoupledFleet, observer?: CoupledObserver): CoupledOutcome {
  return new CoupledSimulation(fleet, observer).run();
}

export type CoupledObserver = {
  /** Of those who wait for a turn when the period ends, behind its end. */
  started(compute: number, at: SimTime, readyAt: SimTime): void;
  /** Of those who are busy when the period ends, behind its end; of those who are idle then, never. */
  suspended(compute: number, at: SimTime): void;
  /** A request came while the quota was reached. */
  refused?(compute: number, at: SimTime): void;
};

const SUSPENDED = 0;
const QUEUED = 1;
const STARTING = 2;
const ACTIVE = 3;

// At one instant: a month begins, starts end, requests arrive, a quota is reached, computes sleep (the order of the live double's agenda).
// Instants are whole milliseconds, so what comes earlier or later within one is told by a part of a millisecond.
const MONTH_OFFSET = -0.375;
const READY_OFFSET = -0.25;
const QUOTA_OFFSET = 0.25;
const SLEEP_OFFSET = 0.375;
const NEVER = Number.POSITIVE_INFINITY;

class CoupledSimulation {
  readonly #fleet: CoupledFleet;
  readonly #observer: CoupledObserver | undefined;
  readonly #outcome: CoupledOutcome;
  readonly #heap: EventHeap;
  readonly #clients: Clients;
  readonly #limiter: StartLimiter;
  readonly #queue: RequestQueue;
  readonly #traces: TraceCursors;
  readonly #quota: SharedQuota | undefined;
  readonly #latencies: readonly LatencySource[];
  readonly #preparedLatencies: readonly LatencySource[];
  readonly #membersOf: readonly (readonly number[])[];
  /** The first nodes of each kind: a compute's own events, its trace, clients, groups, the month. */
  readonly #firstTrace: number;
  readonly #firstClient: number;
  readonly #firstGroup: number;
  readonly #month: number;
  /** By compute. */
  readonly #phase: Uint8Array;
  readonly #wasUsed: Uint8Array;
  readonly #activeSince: Float64Array;
  readonly #readyAt: Float64Array;
  readonly #busyEnd: Float64Array;
  /** 1 where nobody else looks at what happens while it is awake. All of its events are then at its trace's node. */
  readonly #isIndependent: Uint8Array;
  #now: SimTime;
  /** Nobody comes any more, and whoever is idle sleeps. */
  #isPeriodOver = false;
  /** Those who had something to do when the period ended, and still have. */
  #unfinished = 0;

  constructor(fleet: CoupledFleet, observer: CoupledObserver | undefined) {
    const { period, delayMs, arrivals, clients, quotas, starts, random } = fleet;
    const computes = delayMs.length;
    const groups = quotas?.computeSeconds.length ?? 0;
    this.#fleet = fleet;
    this.#observer = observer;
    this.#now = period.startAt;
    this.#firstTrace = computes;
    this.#firstClient = 2 * computes;
    this.#firstGroup = this.#firstClient + clients.length;
    this.#month = this.#firstGroup + groups;
    this.#heap = new EventHeap(this.#month + 1);
    this.#clients = new Clients(clients, computes, random);
    this.#limiter = new StartLimiter(starts, computes);
    this.#queue = new RequestQueue(computes);
    this.#quota = quotas === undefined ? undefined : new SharedQuota(quotas, period.startAt);
    this.#latencies = latenciesOf(fleet.latency, random, computes);
    this.#preparedLatencies = latenciesOf(fleet.preparedLatency ?? fleet.latency, random, computes);
    this.#membersOf = membersOf(quotas);
    this.#phase = new Uint8Array(computes);
    this.#wasUsed = new Uint8Array(computes);
    this.#activeSince = new Float64Array(computes);
    this.#readyAt = new Float64Array(computes);
    this.#busyEnd = new Float64Array(computes);
    this.#isIndependent = independentComputesIn(fleet);
    this.#outcome = {
      ...emptyOutcome(period),
      refused: 0,
      quotaReached: [],
      events: 0,
      limiter: this.#limiter,
    };
    this.#traces = new TraceCursors(arrivals, period, this.#outcome);
    for (let compute = 0; compute < computes; compute += 1)
      this.#heap.set(this.#firstTrace + compute, this.#traces.nextAt(compute));
    for (let client = 0; client < clients.length; client += 1) {
      this.#heap.set(this.#firstClient + client, this.#clients.firstAt(client, period.startAt));
    }
    if (groups > 0) this.#heap.set(this.#month, nextMonthStart(period.startAt) + MONTH_OFFSET);
  }

  run(): CoupledOutcome {
    const heap = this.#heap;
    const { endAt } = this.#fleet.period;
    for (let at = heap.firstAt; at < endAt - 0.5; at = heap.firstAt) this.#event(at);
    this.#endPeriod(endAt);
    while (this.#unfinished > 0) this.#event(heap.firstAt);
    return this.#outcome;
  }

  #event(at: number): void {
    const node = this.#heap.first;
    this.#now = Math.round(at);
    if (node < this.#firstTrace) this.#computeEvent(node);
    else if (node < this.#firstClient) this.#traceEvent(node - this.#firstTrace);
    else if (node < this.#firstGroup) this.#clientArrival(node - this.#firstClient);
    else if (node < this.#month) this.#checkQuota(node - this.#firstGroup);
    else this.#beginMonth();
  }

  /** What has arrived is served to its end, whoever has to wait for a turn; what is idle is charged until here. */
  #endPeriod(endAt: SimTime): void {
    this.#isPeriodOver = true;
    this.#now = endAt;
    for (let compute = 0; compute < this.#firstTrace; compute += 1) {
      const phase = this.#phase[compute] as number;
      const busyEnd = this.#busyEnd[compute] as number;
      if (phase === SUSPENDED) continue;
      if (phase === ACTIVE && busyEnd <= endAt) {
        this.#sleep(compute);
        continue;
      }
      this.#unfinished += 1;
      if (phase === ACTIVE) this.#heap.set(this.#nodeOf(compute), busyEnd + SLEEP_OFFSET);
    }
  }

  #traceEvent(compute: number): void {
    if (this.#isIndependent[compute] === 0) this.#traceArrival(compute);
    else if (this.#phase[compute] === STARTING) this.#finishIndependentStart(compute);
    else if (this.#phase[compute] === ACTIVE) this.#suspend(compute);
    else this.#requestStart(compute);
  }

  #traceArrival(compute: number): void {
    const durationMs = this.#traces.take(compute);
    this.#heap.set(this.#firstTrace + compute, this.#traces.nextAt(compute));
    this.#arrive(compute, durationMs, NO_CLIENT);
  }

  /** Who comes is the first to wait; requests are read when it is known until when they do. */
  #requestStart(compute: number): void {
    this.#countStart(compute);
    this.#phase[compute] = QUEUED;
    if (this.#limiter.acquire(compute)) this.#start(compute);
    else this.#heap.set(this.#nodeOf(compute), NEVER);
  }

  #finishIndependentStart(compute: number): void {
    const delayMs = this.#delayOf(compute);
    this.#outcome.events += 1;
    this.#phase[compute] = ACTIVE;
    const busyEnd = this.#traces.readActive(
      compute,
      delayMs,
      this.#traces.readWaiting(compute, this.#now, this.#now),
    );
    this.#busyEnd[compute] = busyEnd;
    this.#heap.set(this.#nodeOf(compute), this.#sleepAt(compute) + SLEEP_OFFSET);
    this.#releaseStart();
  }

  #clientArrival(client: number): void {
    this.#heap.set(this.#firstClient + client, NEVER);
    const compute = this.#clients.computeOf(client);
    if (!this.#isPeriodOver && this.#now < this.#deletedAt(compute))
      this.#arrive(compute, this.#clients.durationOf(client), client);
  }

  #arrive(compute: number, durationMs: DurationMs, client: number): void {
    const now = this.#now;
    const phase = this.#phase[compute] as number;
    this.#outcome.arrivals += 1;
    this.#outcome.events += 1;
    if (phase === ACTIVE) {
      this.#serve(compute, durationMs, client);
      return;
    }
    if (this.#isOverQuota(compute)) {
      this.#outcome.refused += 1;
      this.#observer?.refused?.(compute, now);
      if (client !== NO_CLIENT)
        this.#heap.set(this.#firstClient + client, this.#clients.refusedAt(client, now));
      return;
    }
    this.#queue.add(compute, now, durationMs, client);
    if (phase !== SUSPENDED) return;
    this.#countStart(compute);
    this.#phase[compute] = QUEUED;
    if (this.#limiter.acquire(compute)) this.#start(compute);
  }

  #countStart(compute: number): void {
    if (this.#wasUsed[compute] === 1) this.#outcome.coldStarts += 1;
    else this.#outcome.firstStarts += 1;
    this.#wasUsed[compute] = 1;
  }

  /** The deadline on the heap stays where it is: whoever takes it looks whether it has moved. */
  #serve(compute: number, durationMs: DurationMs, client: number): void {
    const endsAt = this.#now + durationMs;
    if (endsAt > (this.#busyEnd[compute] as number)) this.#busyEnd[compute] = endsAt;
    if (client !== NO_CLIENT)
      this.#heap.set(this.#firstClient + client, this.#clients.servedUntil(client, endsAt));
  }

  #start(compute: number): void {
    const now = this.#now;
    this.#phase[compute] = STARTING;
    this.#activeSince[compute] = now;
    this.#heap.set(this.#nodeOf(compute), this.#beginStart(compute, now) + READY_OFFSET);
  }

  /** Its turn has come; gives when it is ready. */
  #beginStart(compute: number, now: SimTime): SimTime {
    const latencies = this.#limiter.takePrepared(now) ? this.#preparedLatencies : this.#latencies;
    const readyAt = now + (latencies[compute] as LatencySource).at(now);
    this.#readyAt[compute] = readyAt;
    this.#observer?.started(compute, now, readyAt);
    return readyAt;
  }

  #computeEvent(compute: number): void {
    if (this.#phase[compute] === STARTING) {
      this.#ready(compute);
      return;
    }
    const sleepAt = this.#sleepAt(compute);
    if (sleepAt > this.#now) this.#heap.set(compute, sleepAt + SLEEP_OFFSET);
    else this.#suspend(compute);
  }

  #ready(compute: number): void {
    this.#outcome.events += 1;
    this.#phase[compute] = ACTIVE;
    this.#busyEnd[compute] = this.#now;
    this.#queue.drain(compute, (at, durationMs, client) => {
      this.#outcome.waits.add(this.#now - at);
      this.#serve(compute, durationMs, client);
    });
    this.#heap.set(compute, this.#sleepAt(compute) + SLEEP_OFFSET);
    this.#meter(compute, this.#fleet.cu[compute] as number);
    this.#releaseStart();
  }

  #releaseStart(): void {
    const next = this.#limiter.release();
    if (next !== -1) this.#start(next);
  }

  #suspend(compute: number): void {
    this.#outcome.events += 1;
    this.#sleep(compute);
    if (this.#isPeriodOver) this.#unfinished -= 1;
    else
      this.#clients.eachDisconnected(compute, (client, afterMs) =>
        this.#heap.set(this.#firstClient + client, this.#now + afterMs),
      );
    this.#observer?.suspended(compute, this.#now);
  }

  #sleep(compute: number): void {
    this.#phase[compute] = SUSPENDED;
    this.#addActiveTime(compute);
    if (this.#isIndependent[compute] === 1) {
      this.#heap.set(this.#nodeOf(compute), this.#traces.nextAt(compute));
    } else {
      this.#heap.set(compute, NEVER);
      this.#meter(compute, -(this.#fleet.cu[compute] as number));
    }
  }

  #delayOf(compute: number): DurationMs {
    return this.#isPeriodOver ? 0 : (this.#fleet.delayMs[compute] as number);
  }

  /** If nobody comes before. What began before its deletion ends with it; days that come again behind that know of no deletion. */
  #sleepAt(compute: number): SimTime {
    const busyEnd = this.#busyEnd[compute] as number;
    const sleepAt = busyEnd + this.#delayOf(compute);
    const deletedAt = this.#deletedAt(compute);
    return (this.#activeSince[compute] as number) <= deletedAt
      ? Math.min(sleepAt, Math.max(deletedAt, busyEnd))
      : sleepAt;
  }

  #deletedAt(compute: number): SimTime {
    return this.#fleet.deletedAt?.[compute] ?? NEVER;
  }

  /** Where its starts and suspends are. */
  #nodeOf(compute: number): number {
    return this.#isIndependent[compute] === 1 ? this.#firstTrace + compute : compute;
  }

  #addActiveTime(compute: number): void {
    const [from, readyAt] = [this.#activeSince[compute] as number, this.#readyAt[compute] as number];
    const active = { from, readyAt, busyEnd: this.#busyEnd[compute] as number, to: this.#now };
    addActiveTime(this.#outcome, this.#fleet.period, active, this.#fleet.cu[compute] as number);
  }

  #isOverQuota(compute: number): boolean {
    const group = this.#fleet.quotas?.groupOf[compute];
    return group !== undefined && this.#quota?.isReached(group, this.#now) === true;
  }

  #meter(compute: number, cu: number): void {
    const group = this.#fleet.quotas?.groupOf[compute];
    if (group === undefined || this.#quota === undefined) return;
    this.#quota.changeActiveCu(group, cu, this.#now);
    this.#heap.set(this.#firstGroup + group, this.#quota.dueAt(group, this.#now) + QUOTA_OFFSET);
  }

  /** R: all that is active is suspended, and nothing can start until the month is over. */
  #checkQuota(group: number): void {
    this.#heap.set(this.#firstGroup + group, NEVER);
    if (this.#quota?.isReached(group, this.#now) !== true) return;
    const { quotaReached } = this.#outcome;
    quotaReached.push({ group, at: this.#now });
    for (const compute of this.#membersOf[group] ?? [])
      if (this.#phase[compute] === ACTIVE) this.#suspend(compute);
  }

  #beginMonth(): void {
    this.#quota?.reset(this.#now);
    this.#heap.set(this.#month, nextMonthStart(this.#now) + MONTH_OFFSET);
    for (const group of this.#membersOf.keys()) {
      this.#heap.set(
        this.#firstGroup + group,
        (this.#quota?.dueAt(group, this.#now) ?? NEVER) + QUOTA_OFFSET,
      );
    }
  }
}

/** In the place of a client: a request of a trace waits for no answer. */
const NO_CLIENT = -1;

/** 1 where nobody else looks at what happens while it is awake: no client waits for it, and no quota can stop it. */
function independentComputesIn({ delayMs, clients, quotas }: CoupledFleet): Uint8Array {
  const isIndependent = new Uint8Array(delayMs.length).fill(1);
  for (const { compute } of clients) isIndependent[compute] = 0;
  quotas?.groupOf.forEach((group, compute) => {
    if (Number.isFinite(quotas.computeSeconds[group])) isIndependent[compute] = 0;
  });
  return isIndependent;
}
