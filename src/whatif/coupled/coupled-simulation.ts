import { IndexedHeap } from "../../kernel/indexed-heap.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { emptyOutcome } from "../replay/replay-outcome.ts";
import { type LatencySource, latenciesOf } from "../units/start-latency.ts";
import { Clients } from "./clients.ts";
import { ACTIVE, ComputeStates, QUEUED, STARTING, SUSPENDED } from "./compute-states.ts";
import {
  type CoupledFleet,
  type CoupledObserver,
  type CoupledOutcome,
  independentComputesIn,
} from "./coupled-fleet.ts";
import { READY_OFFSET, SUSPEND_OFFSET } from "./event-offsets.ts";
import { QuotaEvents } from "./quota-events.ts";
import { RequestQueue } from "./request-queue.ts";
import { StartLimiter } from "./start-limiter.ts";
import { TraceCursors } from "./trace-cursors.ts";

/**
 * Runs a fleet through its period, event by event. While a compute is active, its arrivals affect no other
 * compute unless a client waits for them or a quota can stop it. Arrivals of such an independent compute are
 * read in one go when its start ends, so only starts and suspends go through the common heap.
 */
export function simulateCoupled(fleet: CoupledFleet, observer?: CoupledObserver): CoupledOutcome {
  return new CoupledSimulation(fleet, observer).run();
}

const NEVER = Number.POSITIVE_INFINITY;
/** Client of a request from a trace: no client waits for its end. */
const NO_CLIENT = -1;

class CoupledSimulation {
  readonly #fleet: CoupledFleet;
  readonly #observer: CoupledObserver | undefined;
  readonly #outcome: CoupledOutcome;
  readonly #heap: IndexedHeap;
  readonly #computes: ComputeStates;
  readonly #clients: Clients;
  readonly #limiter: StartLimiter;
  readonly #queue: RequestQueue;
  readonly #traces: TraceCursors;
  readonly #quota: QuotaEvents | undefined;
  readonly #latencies: readonly LatencySource[];
  readonly #preparedLatencies: readonly LatencySource[];
  // Nodes of the heap: from 0 each compute's own events, then the traces, clients, quota groups, the month.
  readonly #firstTrace: number;
  readonly #firstClient: number;
  readonly #firstGroup: number;
  readonly #month: number;
  /** 1 where activity affects no other compute. All events of such a compute are at its trace's node. */
  readonly #isIndependent: Uint8Array;
  #now: SimTime;
  /** True after the end of the period: no request arrives, and idle computes are suspended. */
  #isPeriodOver = false;
  /** Computes that were queued, starting or busy when the period ended, and still are. */
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
    this.#heap = new IndexedHeap(this.#month + 1);
    this.#computes = new ComputeStates(fleet);
    this.#clients = new Clients(clients, computes, random);
    this.#limiter = new StartLimiter(starts, computes);
    this.#queue = new RequestQueue(computes);
    this.#latencies = latenciesOf(fleet.latency, random, computes);
    this.#preparedLatencies = latenciesOf(fleet.preparedLatency ?? fleet.latency, random, computes);
    this.#isIndependent = independentComputesIn(fleet);
    const limiter = this.#limiter;
    this.#outcome = { ...emptyOutcome(period), refused: 0, quotaReached: [], events: 0, limiter };
    this.#traces = new TraceCursors(arrivals, period, this.#outcome);
    for (let compute = 0; compute < computes; compute += 1)
      this.#heap.set(this.#firstTrace + compute, this.#traces.nextAt(compute));
    for (let client = 0; client < clients.length; client += 1)
      this.#heap.set(this.#firstClient + client, this.#clients.firstAt(client, period.startAt));
    this.#quota = quotas && new QuotaEvents(quotas, period.startAt, this.#heap, this.#firstGroup);
  }

  run(): CoupledOutcome {
    const heap = this.#heap;
    const { endAt } = this.#fleet.period;
    for (let at = heap.firstAt; at < endAt - 0.5; at = heap.firstAt) this.#handleEvent(at);
    this.#endPeriod(endAt);
    while (this.#unfinished > 0) this.#handleEvent(heap.firstAt);
    return this.#outcome;
  }

  #handleEvent(at: number): void {
    const node = this.#heap.first;
    this.#now = Math.round(at);
    if (node < this.#firstTrace) this.#handleComputeEvent(node);
    else if (node < this.#firstClient) this.#handleTraceEvent(node - this.#firstTrace);
    else if (node < this.#firstGroup) this.#handleClientArrival(node - this.#firstClient);
    else if (node < this.#month) this.#checkQuota(node - this.#firstGroup);
    else this.#quota?.beginMonth(this.#now);
  }

  /**
   * Requests that have arrived run to their end, queued ones included. Idle computes are billed up to
   * `endAt`.
   */
  #endPeriod(endAt: SimTime): void {
    this.#isPeriodOver = true;
    this.#now = endAt;
    for (let compute = 0; compute < this.#firstTrace; compute += 1) {
      const phase = this.#computes.phase[compute] as number;
      const busyEnd = this.#computes.busyEnd[compute] as number;
      if (phase === SUSPENDED) continue;
      if (phase === ACTIVE && busyEnd <= endAt) {
        this.#endActivity(compute);
        continue;
      }
      this.#unfinished += 1;
      if (phase === ACTIVE) this.#heap.set(this.#nodeOf(compute), busyEnd + SUSPEND_OFFSET);
    }
  }

  #handleTraceEvent(compute: number): void {
    const phase = this.#computes.phase[compute];
    if (this.#isIndependent[compute] === 0) this.#handleTraceArrival(compute);
    else if (phase === STARTING) this.#finishIndependentStart(compute);
    else if (phase === ACTIVE) this.#suspend(compute);
    else if (!this.#requestStart(compute)) this.#heap.set(this.#nodeOf(compute), NEVER);
  }

  #handleTraceArrival(compute: number): void {
    const durationMs = this.#traces.take(compute);
    this.#heap.set(this.#firstTrace + compute, this.#traces.nextAt(compute));
    this.#arrive(compute, durationMs, NO_CLIENT);
  }

  /** Returns whether the start begins now; otherwise the compute is queued for it. */
  #requestStart(compute: number): boolean {
    this.#computes.countStart(compute, this.#outcome);
    this.#computes.phase[compute] = QUEUED;
    if (!this.#limiter.acquire(compute)) return false;
    this.#start(compute);
    return true;
  }

  /** Reads the arrivals that waited for the start, and then all that keep the compute active. */
  #finishIndependentStart(compute: number): void {
    const now = this.#now;
    this.#outcome.events += 1;
    this.#computes.phase[compute] = ACTIVE;
    const waitedMs = this.#outcome.waits.sumMs;
    const waitingEnd = this.#traces.readWaiting(compute, now, now);
    this.#computes.addStartWorth(compute, this.#outcome.waits.sumMs - waitedMs, this.#outcome);
    const busyEnd = this.#traces.readActive(compute, this.#delayOf(compute), waitingEnd);
    this.#computes.busyEnd[compute] = busyEnd;
    this.#heap.set(
      this.#nodeOf(compute),
      this.#computes.suspendAt(compute, this.#delayOf(compute)) + SUSPEND_OFFSET,
    );
    this.#releaseStart();
  }

  #handleClientArrival(client: number): void {
    this.#heap.set(this.#firstClient + client, NEVER);
    const compute = this.#clients.computeOf(client);
    if (!this.#isPeriodOver && this.#now < this.#computes.deletedAt(compute))
      this.#arrive(compute, this.#clients.durationOf(client), client);
  }

  #arrive(compute: number, durationMs: DurationMs, client: number): void {
    const now = this.#now;
    const phase = this.#computes.phase[compute] as number;
    this.#outcome.arrivals += 1;
    this.#outcome.events += 1;
    if (phase === ACTIVE) {
      this.#serve(compute, durationMs, client);
      return;
    }
    if (this.#quota?.isReachedFor(compute, now) === true) {
      this.#outcome.refused += 1;
      this.#observer?.refused?.(compute, now);
      if (client !== NO_CLIENT)
        this.#heap.set(this.#firstClient + client, this.#clients.refusedAt(client, now));
      return;
    }
    this.#queue.add(compute, now, durationMs, client);
    if (phase === SUSPENDED) this.#requestStart(compute);
  }

  /**
   * Leaves the suspend on the heap where it is: `#handleComputeEvent` checks whether it has moved to a later
   * instant.
   */
  #serve(compute: number, durationMs: DurationMs, client: number): void {
    const endsAt = this.#now + durationMs;
    const { busyEnd } = this.#computes;
    if (endsAt > (busyEnd[compute] as number)) busyEnd[compute] = endsAt;
    if (client !== NO_CLIENT)
      this.#heap.set(this.#firstClient + client, this.#clients.servedUntil(client, endsAt));
  }

  #start(compute: number): void {
    const now = this.#now;
    const latencies = this.#limiter.takePrepared(now) ? this.#preparedLatencies : this.#latencies;
    const readyAt = now + (latencies[compute] as LatencySource).at(now);
    this.#computes.phase[compute] = STARTING;
    this.#computes.activeSince[compute] = now;
    this.#computes.readyAt[compute] = readyAt;
    this.#observer?.started(compute, now, readyAt);
    this.#heap.set(this.#nodeOf(compute), readyAt + READY_OFFSET);
  }

  #handleComputeEvent(compute: number): void {
    if (this.#computes.phase[compute] === STARTING) {
      this.#finishStart(compute);
      return;
    }
    const suspendAt = this.#computes.suspendAt(compute, this.#delayOf(compute));
    if (suspendAt > this.#now) this.#heap.set(compute, suspendAt + SUSPEND_OFFSET);
    else this.#suspend(compute);
  }

  #finishStart(compute: number): void {
    const now = this.#now;
    this.#outcome.events += 1;
    this.#computes.phase[compute] = ACTIVE;
    this.#computes.busyEnd[compute] = now;
    const waitedMs = this.#outcome.waits.sumMs;
    this.#queue.drain(compute, (at, durationMs, client) => {
      this.#outcome.waits.add(now - at);
      this.#serve(compute, durationMs, client);
    });
    this.#computes.addStartWorth(compute, this.#outcome.waits.sumMs - waitedMs, this.#outcome);
    this.#heap.set(compute, this.#computes.suspendAt(compute, this.#delayOf(compute)) + SUSPEND_OFFSET);
    this.#quota?.changeActiveCu(compute, this.#fleet.cu[compute] as number, now);
    this.#releaseStart();
  }

  #releaseStart(): void {
    const next = this.#limiter.release();
    if (next !== -1) this.#start(next);
  }

  #suspend(compute: number): void {
    this.#outcome.events += 1;
    this.#endActivity(compute);
    if (this.#isPeriodOver) this.#unfinished -= 1;
    else
      this.#clients.eachDisconnected(compute, (client, afterMs) =>
        this.#heap.set(this.#firstClient + client, this.#now + afterMs),
      );
    this.#observer?.suspended(compute, this.#now);
  }

  #endActivity(compute: number): void {
    this.#computes.phase[compute] = SUSPENDED;
    this.#computes.addActiveTime(compute, this.#now, this.#fleet.period, this.#outcome);
    if (this.#isIndependent[compute] === 1) {
      this.#heap.set(this.#nodeOf(compute), this.#traces.nextAt(compute));
    } else {
      this.#heap.set(compute, NEVER);
      this.#quota?.changeActiveCu(compute, -(this.#fleet.cu[compute] as number), this.#now);
    }
  }

  #delayOf(compute: number): DurationMs {
    return this.#isPeriodOver ? 0 : (this.#fleet.delayMs[compute] as number);
  }

  /** The node of a compute's starts and suspends. */
  #nodeOf(compute: number): number {
    return this.#isIndependent[compute] === 1 ? this.#firstTrace + compute : compute;
  }

  // R: a quota suspends every active compute of its group; none of them can start until the month is over.
  #checkQuota(group: number): void {
    const stopped = this.#quota?.check(group, this.#now);
    if (stopped === undefined) return;
    this.#outcome.quotaReached.push({ group, at: this.#now });
    for (const compute of stopped) if (this.#computes.phase[compute] === ACTIVE) this.#suspend(compute);
  }
}
