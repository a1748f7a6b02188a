import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { MINUTE, SECOND, type SimTime } from "../../kernel/time.ts";
import type { BlockCounts } from "../../platform/model/cache.ts";
import type { SpanData } from "../../platform/model/span.ts";
import { instantOf, type Report, type Transaction, type WorldHandle } from "../../worlds/world-handle.ts";
import type { CpuLoad } from "../compute/cpu-load.ts";
import type { ComputeClock } from "./compute-clock.ts";

/** A span ends after this time without work, so that not every query is an event. */
const SILENCE_MS = SECOND;
/** A span that continues is reported at least this often. */
const LONGEST_SPAN_MS = MINUTE;
/** Bounds of the timer that watches for silence: for clocks that run fast, and for clocks whose rate changes. */
const MIN_WAIT_MS = 1;
const MAX_WAIT_MS = 1_000;

const NO_BLOCKS: BlockCounts = { hits: 0, misses: 0, writes: 0 };

/**
 * The work of a compute's sessions, reported to the world as spans: from the first work until the end of the
 * last, if less than a simulated second of silence is between them.
 */
export class ComputeSpans {
  readonly #world: WorldHandle;
  readonly #endpointId: string;
  readonly #cpuLoad: CpuLoad;
  readonly #clock: ComputeClock;
  readonly #open: Set<ComputeSpans>;
  #since: SimTime | undefined;
  /** The connections that work. */
  readonly #busy = new Set<string>();
  /** Postgres works by itself. */
  #hasOwnWork = false;
  #arrivals = 0;
  #blocks: BlockCounts | undefined;
  #writtenBytes = 0;
  #transferredBytes = 0;
  #logicalSizeBytes: number | undefined;
  #lastEnd = 0;
  #isWatched = false;

  /** `open`: the computes of the world with an open span. */
  constructor(
    world: WorldHandle,
    endpointId: string,
    {
      cpuLoad,
      clock,
      open,
    }: { readonly cpuLoad: CpuLoad; readonly clock: ComputeClock; readonly open: Set<ComputeSpans> },
  ) {
    this.#cpuLoad = cpuLoad;
    this.#clock = clock;
    this.#open = open;
    this.#world = world;
    this.#endpointId = endpointId;
  }

  /** A session begins work within the transaction. Its compute is active. */
  begin(transaction: Transaction, connectionId: string): void {
    this.#beginSpan(transaction);
    this.#add(connectionId);
  }

  /** Work of Postgres itself begins within the transaction. The compute is active. */
  beginOwnWork(transaction: Transaction): void {
    this.#beginSpan(transaction);
    if (!this.#isBusy) this.#cpuLoad.workBegins(performance.now());
    this.#hasOwnWork = true;
  }

  endOwnWork(): void {
    if (!this.#hasOwnWork) return;
    this.#hasOwnWork = false;
    if (!this.#isBusy) this.#beginSilence();
  }

  get #isBusy(): boolean {
    return this.#busy.size > 0 || this.#hasOwnWork;
  }

  #beginSpan(transaction: Transaction): void {
    const { phase } = transaction.world.computes.get(this.#endpointId) ?? {};
    const open = phase?.state === "active" ? phase.spanSince : undefined;
    if (open === undefined) {
      // The world has ended the previous span with a suspend, and the sessions that worked in it.
      this.#reset();
      const begun = transaction.execute({ type: "BeginSpan", endpointId: this.#endpointId });
      if (!begun.ok) throw new Error(begun.refusal.message);
    }
    // A span whose end was lost with a failed commit continues.
    this.#setSince(open ?? transaction.now);
  }

  /** A session begins work in the open span. Returns false if there is none. Its compute is active. */
  continue(connectionId: string): boolean {
    if (this.#since === undefined) return false;
    this.#add(connectionId);
    return true;
  }

  #add(connectionId: string): void {
    if (!this.#isBusy) this.#cpuLoad.workBegins(performance.now());
    this.#clock.workBegins();
    this.#busy.add(connectionId);
    this.#arrivals += 1;
  }

  /** A session has done all its work. */
  end(connectionId: string): void {
    if (!this.#busy.delete(connectionId) || this.#busy.size > 0) return;
    this.#clock.workEnds();
    if (!this.#hasOwnWork) this.#beginSilence();
  }

  #beginSilence(): void {
    // The world may be replaced just now, and its clients still get answers.
    this.#lastEnd = instantOf(this.#world) ?? this.#lastEnd;
    this.#cpuLoad.workEnds(performance.now());
    if (!this.#isWatched) void this.#watchSilence();
  }

  /** When the last work ended; `undefined` while there is work. */
  get idleSince(): SimTime | undefined {
    return this.#isBusy ? undefined : this.#lastEnd;
  }

  /** Blocks that the sessions have read. They belong to the next report. */
  addBlocks({ hits, misses, writes }: BlockCounts): void {
    const before = this.#blocks ?? NO_BLOCKS;
    this.#blocks = {
      hits: before.hits + hits,
      misses: before.misses + misses,
      writes: before.writes + writes,
    };
  }

  /** Blocks that were not yet reported to the world. */
  get unreportedBlocks(): BlockCounts {
    return this.#blocks ?? NO_BLOCKS;
  }

  /** Log that the sessions have written. It belongs to the next report. */
  addWritten(bytes: number): void {
    this.#writtenBytes += bytes;
  }

  /** Bytes that a session has sent to its client. They belong to the next report. */
  addTransferred(bytes: number): void {
    this.#transferredBytes += bytes;
  }

  /** The current size of the databases. */
  setLogicalSize(bytes: number): void {
    this.#logicalSizeBytes = bytes;
  }

  /** All sessions were closed, and no later report will be read. */
  endNow(transaction: Transaction): void {
    if (this.#since !== undefined)
      transaction.execute({
        type: "EndSpan",
        endpointId: this.#endpointId,
        beganAt: this.#since,
        until: this.#isBusy ? transaction.now : this.#lastEnd,
        arrivals: this.#arrivals,
        blocks: this.#blocks,
        load: this.#cpuLoad.measure(performance.now()),
        data: this.#takeData(),
      });
    this.#reset();
  }

  #setSince(since: SimTime | undefined): void {
    this.#since = since;
    if (since === undefined) this.#open.delete(this);
    else this.#open.add(this);
  }

  #reset(): void {
    this.#setSince(undefined);
    this.#busy.clear();
    this.#hasOwnWork = false;
    this.#cpuLoad.workEnds(performance.now());
    this.#clock.workEnds();
    this.#arrivals = 0;
    this.#blocks = undefined;
  }

  /** When the next report is due; `undefined` if none is by `until`. */
  nextReportAt(until: SimTime): SimTime | undefined {
    const since = this.#since;
    if (since === undefined) return undefined;
    // One report covers all full minutes, however far the clock moves.
    const at = this.#isBusy
      ? since + Math.max(1, Math.floor((until - since) / LONGEST_SPAN_MS)) * LONGEST_SPAN_MS
      : this.#lastEnd + SILENCE_MS;
    return at > until ? undefined : at;
  }

  /** The next report up to `until`, which the world needs before it runs later work. Each report is returned once. */
  takeReport(until: SimTime): Report | undefined {
    const since = this.#since;
    const at = this.nextReportAt(until);
    if (since === undefined || at === undefined) return undefined;
    const isBusy = this.#isBusy;
    const arrivals = this.#arrivals;
    const blocks = this.#blocks;
    this.#arrivals = 0;
    this.#blocks = undefined;
    this.#setSince(isBusy ? at : undefined);
    return {
      at,
      command: {
        type: "EndSpan",
        endpointId: this.#endpointId,
        beganAt: since,
        until: isBusy ? at : this.#lastEnd,
        arrivals,
        blocks,
        load: this.#cpuLoad.measure(performance.now()),
        data: this.#takeData(),
        continues: isBusy,
      },
    };
  }

  #takeData(): SpanData | undefined {
    const [writtenBytes, transferredBytes, logicalSizeBytes] = [
      this.#writtenBytes,
      this.#transferredBytes,
      this.#logicalSizeBytes,
    ];
    this.#writtenBytes = 0;
    this.#transferredBytes = 0;
    this.#logicalSizeBytes = undefined;
    if (writtenBytes === 0 && transferredBytes === 0 && logicalSizeBytes === undefined) return undefined;
    return {
      writtenBytes,
      transferredBytes,
      ...(logicalSizeBytes === undefined ? {} : { logicalSizeBytes }),
    };
  }

  /** On a running clock, runs a transaction when the silence is over, which ends the span. */
  async #watchSilence(): Promise<void> {
    this.#isWatched = true;
    try {
      while (this.#since !== undefined && !this.#isBusy) {
        const { now, mode, factor } = await this.#world.clock();
        if (mode === "manual") return;
        const silenceMs = (this.#lastEnd + SILENCE_MS - now) / factor;
        const waitMs = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, Math.ceil(silenceMs)));
        await sleep(waitMs, undefined, { ref: false });
      }
    } catch {
      // A world that cannot be opened reports its failure itself. The next work watches again.
    } finally {
      this.#isWatched = false;
    }
  }
}
