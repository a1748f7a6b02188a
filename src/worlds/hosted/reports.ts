import type { SimTime } from "../../kernel/time.ts";
import { type ArrivalSource, NO_ARRIVALS } from "../../simulation/arrival-source.ts";
import type { Simulation } from "../../simulation/simulation.ts";
import type { Report, ReportSource } from "../world-handle.ts";
import type { LiveWorld } from "./live-world.ts";

/** Merges what a surface has to report into due work: each report is executed at its own instant. */
export class Reports {
  #source: ReportSource | undefined;
  #next: Report | undefined;

  attach(source: ReportSource): void {
    this.#source = source;
  }

  /** Stores how far the data of the branches is; `undefined` if there is nothing to store. */
  markData(isCopied: boolean): Promise<void> | undefined {
    return this.#source?.markData?.(isCopied);
  }

  /** Whether neither a report nor other work is due by now. */
  isSettled({ simulation, clock }: LiveWorld): boolean {
    const now = clock.now();
    this.#next ??= this.#source?.next(now);
    if (this.#next !== undefined && this.#next.at <= now) return false;
    const nextDue = simulation.nextDue();
    return nextDue === undefined || nextDue > now;
  }

  /**
   * Runs the work that is due and the reports up to and including `until`. Stops after about `maxEvents`
   * events; returns whether everything has run.
   */
  runDueUntil(simulation: Simulation, until: SimTime, maxEvents: number): boolean {
    return this.runWithArrivals(simulation, NO_ARRIVALS, until, until, maxEvents);
  }

  /** The same, with arrivals from `from` on. */
  runWithArrivals(
    simulation: Simulation,
    arrivals: ArrivalSource,
    from: SimTime,
    until: SimTime,
    maxEvents: number,
  ): boolean {
    for (;;) {
      this.#next ??= this.#source?.next(until);
      const report = this.#next;
      if (report === undefined || report.at > until)
        return simulation.runWithArrivals(arrivals, from, until, maxEvents);
      const at = Math.max(report.at, simulation.world.at);
      if (!simulation.runWithArrivals(arrivals, Math.min(from, at), at, maxEvents)) return false;
      this.#next = undefined;
      // The world may reject it: a compute that was suspended meanwhile has no span any more.
      const result = simulation.execute(report.command, at);
      if (result.ok) for (const event of result.value) arrivals.observe(event);
    }
  }
}
