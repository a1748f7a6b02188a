/** Work of less wall-clock time is measured together with later work: processor time has steps of 10 ms. */
const SHORTEST_MEASUREMENT_MS = 100;

/** Measures how many vCPUs an engine keeps busy while its sessions work. Times are wall-clock milliseconds. */
export class CpuLoad {
  readonly #cpuMs: () => number | undefined;
  #measuredCpuMs = 0;
  /** Time of work since the last measurement, without the work in progress. */
  #workedMs = 0;
  #workSince: number | undefined;

  /** `cpuMs` returns the processor time of the engine so far, from 0 again after a start; `undefined` if unknown. */
  constructor(cpuMs: () => number | undefined) {
    this.#cpuMs = cpuMs;
  }

  workBegins(now: number): void {
    this.#workSince ??= now;
  }

  workEnds(now: number): void {
    if (this.#workSince !== undefined) this.#workedMs += now - this.#workSince;
    this.#workSince = undefined;
  }

  /** The load since the last measurement, in vCPUs; `undefined` if there was too little work, or it is unknown. */
  measure(now: number): number | undefined {
    if (this.#workSince !== undefined) {
      this.#workedMs += now - this.#workSince;
      this.#workSince = now;
    }
    if (this.#workedMs < SHORTEST_MEASUREMENT_MS) return undefined;
    const cpuMs = this.#cpuMs();
    if (cpuMs === undefined) return undefined;
    const used = cpuMs < this.#measuredCpuMs ? cpuMs : cpuMs - this.#measuredCpuMs;
    const load = Math.round((used / this.#workedMs) * 1_000) / 1_000;
    this.#measuredCpuMs = cpuMs;
    this.#workedMs = 0;
    return load;
  }
}
