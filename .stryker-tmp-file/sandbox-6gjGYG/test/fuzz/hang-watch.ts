// @ts-nocheck
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** The server under test answers this path itself. */
export const PROBE_PATH = "/fuzz-probe";
/** CPU time of the server for one request. A loop without an end reaches it on every machine. */
const MAX_CPU_MS = 30_000;
/** In a round of this many answered probes, an idle server has had many chances to answer. */
const PROBES_PER_ROUND = 100;
/** A server that used less CPU time in a round does not work on the request. */
const IDLE_CPU_MS = 2_000;
const PAUSE_MS = 100;
const CHECK_CPU_EVERY_MS = 1_000;

export type HangWatchOptions = {
  readonly port: number;
  readonly pid: number;
  /** Ends the watch: the request was answered. */
  readonly signal: AbortSignal;
  /** Limits, for tests. */
  readonly maxCpuMs?: number;
  readonly pauseMs?: number;
  readonly checkCpuEveryMs?: number;
};

/**
 * Resolves with a description when the server does not answer a request: it has used too much CPU time since
 * the call, or it answers other connections and does no work. No limit is in wall-clock time, so a busy machine
 * does not matter. Resolves with `undefined` when `signal` ends the watch. CPU time is known on Linux only.
 */
export async function watchForHang(options: HangWatchOptions): Promise<string | undefined> {
  const watch = new AbortController();
  const signal = AbortSignal.any([options.signal, watch.signal]);
  try {
    return await Promise.race([watchCpu({ ...options, signal }), watchProbes({ ...options, signal })]);
  } catch (error) {
    if (options.signal.aborted) return undefined;
    throw error;
  } finally {
    watch.abort();
  }
}

async function watchCpu({
  pid,
  signal,
  maxCpuMs = MAX_CPU_MS,
  checkCpuEveryMs = CHECK_CPU_EVERY_MS,
}: HangWatchOptions): Promise<string> {
  const before = cpuMs(pid);
  for (;;) {
    await sleep(checkCpuEveryMs, undefined, { signal, ref: false });
    const usedMs = cpuMs(pid) - before;
    if (usedMs > maxCpuMs) return `no answer after ${usedMs} ms of CPU time`;
  }
}

async function watchProbes({ port, pid, signal, pauseMs = PAUSE_MS }: HangWatchOptions): Promise<string> {
  for (;;) {
    const before = cpuMs(pid);
    for (let probes = 0; probes < PROBES_PER_ROUND; probes += 1) {
      await sleep(pauseMs, undefined, { signal, ref: false });
      await probe(port, signal);
    }
    if (cpuMs(pid) - before < IDLE_CPU_MS)
      return `no answer, although ${PROBES_PER_ROUND} later requests of another connection were answered`;
  }
}

/** Resolves when the server has answered, or has closed the connection. */
function probe(port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", path: PROBE_PATH, agent: false, signal }, (response) => {
      response.resume();
      response.once("close", resolve);
    }).once("error", (error) => (signal.aborted ? reject(error) : resolve()));
  });
}

const MS_PER_TICK = 10;

/** CPU time that a process has used, in steps of 10 ms; 0 where it is not known. */
function cpuMs(pid: number): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return 0;
  }
  // The name of the process, in parentheses, may contain spaces. Fields 14 and 15 are the ticks.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}
