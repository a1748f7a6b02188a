import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

/** In seconds. */
export type LoopDelay = { readonly p50: number; readonly p99: number; readonly max: number };

const RESOLUTION_MS = 10;

/** Measures the event loop from the first read on, so that servers without monitoring have no cost. */
export class EventLoopMeter {
  #histogram: IntervalHistogram | undefined;

  /** The delay since the previous read; 0 at the first one. */
  read(): LoopDelay {
    if (this.#histogram === undefined) {
      this.#histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#histogram.enable();
      return { p50: 0, p99: 0, max: 0 };
    }
    const histogram = this.#histogram;
    // The histogram contains the interval of the measurement itself.
    const secondsOf = (ns: number) => Math.max(0, ns / 1e9 - RESOLUTION_MS / 1e3);
    const delay = {
      p50: secondsOf(histogram.percentile(50)),
      p99: secondsOf(histogram.percentile(99)),
      max: secondsOf(histogram.max),
    };
    histogram.reset();
    return delay;
  }
}
