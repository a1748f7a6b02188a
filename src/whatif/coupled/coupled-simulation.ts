import { nextMonthStart } from "../../platform/core/calendar.ts";
import type { Chance } from "../../platform/core/random-port.ts";
import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import type { Period, Requests } from "../../recordings/trace/trace.ts";
import { bookAwake, noOutcome, type Outcome } from "../replay/replay-outcome.ts";
import { type LatencySource, latenciesOf, type StartLatency } from "../replay/start-latency.ts";
import { type Client, Clients } from "./clients.ts";
import { EventHeap } from "./event-heap.ts";
import { WaitingLine } from "./request-queue.ts";
import { membersOf, type Quotas, SharedQuota } from "./shared-quota.ts";
import { StartGate, type StartLimits } from "./start-limiter.ts";
import { TraceCursors } from "./trace-cursors.ts";

/** Computes that meet on one clock; all by the computes' index. */
export type CoupledFleet = {
  readonly period: Period;
  /** Infinite for never. */
  readonly delayMs: Float64Array;
  /** Size while active. */
  readonly cu: Float64Array;
  /** When it is deleted, infinite for never; absent where none is. It sleeps then, and its clients come no more. */
  readonly goneAt?: Float64Array | undefined;
  /** What arrives whatever happens. */
  readonly requests: readonly (Requests | undefined)[];
  /** What arrives when something has happened. */
  readonly clients: readonly Client[];
  readonly latency: StartLatency;
  /** Of a start that gets a prepared compute. */
  readonly preparedLatency?: StartLatency | undefined;
  readonly starts: StartLimits;
  readonly quotas?: Quotas | undefined;
  readonly chance: Chance;
};

/** Waits are those for the turn and for the start together, be it behind the end of the period; active time begins with the start. */
export type CoupledOutcome = Outcome & {
  /** Requests that came while the quota was reached. */
  refused: number;
  /** When each group reached its quota, in order. */
  readonly quotaReached: { readonly group: number; readonly at: SimTime }[];
  /** Arrivals, ends of starts, and suspends. */
  events: number;
  readonly gate: Pick<StartGate, "mostUnderWay" | "mostQueued" | "poolHits" | "poolMisses">;
};

/**
 * Runs a fleet through its period, event by event. What arrives at a compute while it is awake changes nothing for any other one, as long as
 * no client waits for it and no quota can stop it: such arrivals are read at once when the start is over, and only starts and suspends
 * meet on the common clock.
 */
export function simulateCoupled(fleet: CoupledFleet, witness?: CoupledWitness): CoupledOutcome {
  return new CoupledSimulation(fleet, witness).run();
}

export type CoupledWitness = {
  /** Of those who wait for a turn when the period ends, behind its end. */
  started(compute: number, at: SimTime, readyAt: SimTime): void;
  /** Of those who are busy when the period ends, behind its end; of those who are idle then, never. */
  suspended(compute: number, at: SimTime): void;
  /** A request came while the quota was reached. */
  refused?(compute: number, at: SimTime): void;
};

const ASLEEP = 0;
const QUEUED = 1;
const STARTING = 2;
const ACTIVE = 3;

// At one instant: a month begins, starts end, requests arrive, a quota is reached, computes sleep (the order of the live double's agenda).
// Instants are whole milliseconds, so what comes earlier or later within one is told by a part of a millisecond.
const MONTH = -0.375;
const READY = -0.25;
const QUOTA = 0.25;
const SLEEP = 0.375;
const NEVER = Number.POSITIVE_INFINITY;

class CoupledSimulation {
  readonly #fleet: CoupledFleet;
  readonly #witness: CoupledWitness | undefined;
  readonly #outcome: CoupledOutcome;
  readonly #heap: EventHeap;
  readonly #clients: Clients;
  readonly #gate: StartGate;
  readonly #line: WaitingLine;
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
  readonly #awakeSince: Float64Array;
  readonly #readyAt: Float64Array;
  readonly #busyEnd: Float64Array;
  /** 1 where nobody else looks at what happens while it is awake. All of its events are then at its trace's node. */
  readonly #isAlone: Uint8Array;
  #now: SimTime;
  /** Nobody comes any more, and whoever is idle sleeps. */
  #isOver = false;
  /** Those who had something to do when the period ended, and still have. */
  #unfinished = 0;

  constructor(fleet: CoupledFleet, witness: CoupledWitness | undefined) {
    const { period, delayMs, requests, clients, quotas, starts, chance } = fleet;
    const computes = delayMs.length;
    const groups = quotas?.computeSeconds.length ?? 0;
    this.#fleet = fleet;
    this.#witness = witness;
    this.#now = period.startAt;
    this.#firstTrace = computes;
    this.#firstClient = 2 * computes;
    this.#firstGroup = this.#firstClient + clients.length;
    this.#month = this.#firstGroup + groups;
    this.#heap = new EventHeap(this.#month + 1);
    this.#clients = new Clients(clients, computes, chance);
    this.#gate = new StartGate(starts, computes);
    this.#line = new WaitingLine(computes);
    this.#quota = quotas === undefined ? undefined : new SharedQuota(quotas, period.startAt);
    this.#latencies = latenciesOf(fleet.latency, chance, computes);
    this.#preparedLatencies = latenciesOf(fleet.preparedLatency ?? fleet.latency, chance, computes);
    this.#membersOf = membersOf(quotas);
    this.#phase = new Uint8Array(computes);
    this.#wasUsed = new Uint8Array(computes);
    this.#awakeSince = new Float64Array(computes);
    this.#readyAt = new Float64Array(computes);
    this.#busyEnd = new Float64Array(computes);
    this.#isAlone = aloneIn(fleet);
    this.#outcome = { ...noOutcome(period), refused: 0, quotaReached: [], events: 0, gate: this.#gate };
    this.#traces = new TraceCursors(requests, period, this.#outcome);
    for (let compute = 0; compute < computes; compute += 1) this.#heap.set(this.#firstTrace + compute, this.#traces.nextAt(compute));
    for (let client = 0; client < clients.length; client += 1) {
      this.#heap.set(this.#firstClient + client, this.#clients.firstAt(client, period.startAt));
    }
    if (groups > 0) this.#heap.set(this.#month, nextMonthStart(period.startAt) + MONTH);
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
    if (node < this.#firstTrace) this.#ownEvent(node);
    else if (node < this.#firstClient) this.#traceEvent(node - this.#firstTrace);
    else if (node < this.#firstGroup) this.#clientArrival(node - this.#firstClient);
    else if (node < this.#month) this.#quotaDue(node - this.#firstGroup);
    else this.#monthBegins();
  }

  /** What has arrived is served to its end, whoever has to wait for a turn; what is idle is charged until here. */
  #endPeriod(endAt: SimTime): void {
    this.#isOver = true;
    this.#now = endAt;
    for (let compute = 0; compute < this.#firstTrace; compute += 1) {
      const phase = this.#phase[compute] as number;
      const busyEnd = this.#busyEnd[compute] as number;
      if (phase === ASLEEP) continue;
      if (phase === ACTIVE && busyEnd <= endAt) {
        this.#sleep(compute);
        continue;
      }
      this.#unfinished += 1;
      if (phase === ACTIVE) this.#heap.set(this.#nodeOf(compute), busyEnd + SLEEP);
    }
  }

  #traceEvent(compute: number): void {
    if (this.#isAlone[compute] === 0) this.#traceArrival(compute);
    else if (this.#phase[compute] === STARTING) this.#readyAlone(compute);
    else if (this.#phase[compute] === ACTIVE) this.#suspend(compute);
    else this.#wake(compute);
  }

  #traceArrival(compute: number): void {
    const durationMs = this.#traces.take(compute);
    this.#heap.set(this.#firstTrace + compute, this.#traces.nextAt(compute));
    this.#arrive(compute, durationMs, NOBODY);
  }

  /** Who comes is the first to wait; requests are read when it is known until when they do. */
  #wake(compute: number): void {
    this.#countStart(compute);
    this.#phase[compute] = QUEUED;
    if (this.#gate.enter(compute)) this.#start(compute);
    else this.#heap.set(this.#nodeOf(compute), NEVER);
  }

  #readyAlone(compute: number): void {
    const delayMs = this.#delayOf(compute);
    this.#outcome.events += 1;
    this.#phase[compute] = ACTIVE;
    const busyEnd = this.#traces.readAwake(compute, delayMs, this.#traces.readWaiting(compute, this.#now, this.#now));
    this.#busyEnd[compute] = busyEnd;
    this.#heap.set(this.#nodeOf(compute), this.#sleepAt(compute) + SLEEP);
    this.#leaveGate();
  }

  #clientArrival(client: number): void {
    this.#heap.set(this.#firstClient + client, NEVER);
    const compute = this.#clients.computeOf(client);
    if (!this.#isOver && this.#now < this.#goneAt(compute)) this.#arrive(compute, this.#clients.durationOf(client), client);
  }

  #arrive(compute: number, durationMs: DurationMs, client: number): void {
    const now = this.#now;
    const phase = this.#phase[compute] as number;
    this.#outcome.requests += 1;
    this.#outcome.events += 1;
    if (phase === ACTIVE) {
      this.#serve(compute, durationMs, client);
      return;
    }
    if (this.#isOverQuota(compute)) {
      this.#outcome.refused += 1;
      this.#witness?.refused?.(compute, now);
      if (client !== NOBODY) this.#heap.set(this.#firstClient + client, this.#clients.refusedAt(client, now));
      return;
    }
    this.#line.add(compute, now, durationMs, client);
    if (phase !== ASLEEP) return;
    this.#countStart(compute);
    this.#phase[compute] = QUEUED;
    if (this.#gate.enter(compute)) this.#start(compute);
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
    if (client !== NOBODY) this.#heap.set(this.#firstClient + client, this.#clients.servedUntil(client, endsAt));
  }

  #start(compute: number): void {
    const now = this.#now;
    this.#phase[compute] = STARTING;
    this.#awakeSince[compute] = now;
    this.#heap.set(this.#nodeOf(compute), this.#begin(compute, now) + READY);
  }

  /** Its turn has come; gives when it is ready. */
  #begin(compute: number, now: SimTime): SimTime {
    const latencies = this.#gate.takePrepared(now) ? this.#preparedLatencies : this.#latencies;
    const readyAt = now + (latencies[compute] as LatencySource).at(now);
    this.#readyAt[compute] = readyAt;
    this.#witness?.started(compute, now, readyAt);
    return readyAt;
  }

  #ownEvent(compute: number): void {
    if (this.#phase[compute] === STARTING) {
      this.#ready(compute);
      return;
    }
    const sleepAt = this.#sleepAt(compute);
    if (sleepAt > this.#now) this.#heap.set(compute, sleepAt + SLEEP);
    else this.#suspend(compute);
  }

  #ready(compute: number): void {
    this.#outcome.events += 1;
    this.#phase[compute] = ACTIVE;
    this.#busyEnd[compute] = this.#now;
    this.#line.serve(compute, (at, durationMs, client) => {
      this.#outcome.waits.add(this.#now - at);
      this.#serve(compute, durationMs, client);
    });
    this.#heap.set(compute, this.#sleepAt(compute) + SLEEP);
    this.#meter(compute, this.#fleet.cu[compute] as number);
    this.#leaveGate();
  }

  #leaveGate(): void {
    const next = this.#gate.leave();
    if (next !== -1) this.#start(next);
  }

  #suspend(compute: number): void {
    this.#outcome.events += 1;
    this.#sleep(compute);
    if (this.#isOver) this.#unfinished -= 1;
    else this.#clients.eachDisconnected(compute, (client, afterMs) => this.#heap.set(this.#firstClient + client, this.#now + afterMs));
    this.#witness?.suspended(compute, this.#now);
  }

  #sleep(compute: number): void {
    this.#phase[compute] = ASLEEP;
    this.#bookAwake(compute);
    if (this.#isAlone[compute] === 1) {
      this.#heap.set(this.#nodeOf(compute), this.#traces.nextAt(compute));
    } else {
      this.#heap.set(compute, NEVER);
      this.#meter(compute, -(this.#fleet.cu[compute] as number));
    }
  }

  #delayOf(compute: number): DurationMs {
    return this.#isOver ? 0 : (this.#fleet.delayMs[compute] as number);
  }

  /** If nobody comes before. What began before its deletion ends with it; days that come again behind that know of no deletion. */
  #sleepAt(compute: number): SimTime {
    const busyEnd = this.#busyEnd[compute] as number;
    const sleepAt = busyEnd + this.#delayOf(compute);
    const goneAt = this.#goneAt(compute);
    return (this.#awakeSince[compute] as number) <= goneAt ? Math.min(sleepAt, Math.max(goneAt, busyEnd)) : sleepAt;
  }

  #goneAt(compute: number): SimTime {
    return this.#fleet.goneAt?.[compute] ?? NEVER;
  }

  /** Where its starts and suspends are. */
  #nodeOf(compute: number): number {
    return this.#isAlone[compute] === 1 ? this.#firstTrace + compute : compute;
  }

  #bookAwake(compute: number): void {
    const [from, readyAt] = [this.#awakeSince[compute] as number, this.#readyAt[compute] as number];
    const awake = { from, readyAt, busyEnd: this.#busyEnd[compute] as number, to: this.#now };
    bookAwake(this.#outcome, this.#fleet.period, awake, this.#fleet.cu[compute] as number);
  }

  #isOverQuota(compute: number): boolean {
    const group = this.#fleet.quotas?.groupOf[compute];
    return group !== undefined && this.#quota?.isReached(group, this.#now) === true;
  }

  #meter(compute: number, cu: number): void {
    const group = this.#fleet.quotas?.groupOf[compute];
    if (group === undefined || this.#quota === undefined) return;
    this.#quota.change(group, cu, this.#now);
    this.#heap.set(this.#firstGroup + group, this.#quota.dueAt(group, this.#now) + QUOTA);
  }

  /** R: all that is active is suspended, and nothing can start until the month is over. */
  #quotaDue(group: number): void {
    this.#heap.set(this.#firstGroup + group, NEVER);
    if (this.#quota?.isReached(group, this.#now) !== true) return;
    const { quotaReached } = this.#outcome;
    quotaReached.push({ group, at: this.#now });
    for (const compute of this.#membersOf[group] ?? []) if (this.#phase[compute] === ACTIVE) this.#suspend(compute);
  }

  #monthBegins(): void {
    this.#quota?.renew(this.#now);
    this.#heap.set(this.#month, nextMonthStart(this.#now) + MONTH);
    for (const group of this.#membersOf.keys()) {
      this.#heap.set(this.#firstGroup + group, (this.#quota?.dueAt(group, this.#now) ?? NEVER) + QUOTA);
    }
  }
}

/** In the place of a client: a request of a trace waits for no answer. */
const NOBODY = -1;

/** 1 where nobody else looks at what happens while it is awake: no client waits for it, and no quota can stop it. */
function aloneIn({ delayMs, clients, quotas }: CoupledFleet): Uint8Array {
  const isAlone = new Uint8Array(delayMs.length).fill(1);
  for (const { compute } of clients) isAlone[compute] = 0;
  quotas?.groupOf.forEach((group, compute) => {
    if (Number.isFinite(quotas.computeSeconds[group])) isAlone[compute] = 0;
  });
  return isAlone;
}
