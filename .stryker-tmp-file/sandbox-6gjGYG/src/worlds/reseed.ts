// @ts-nocheck
import { Simulation } from "../simulation/simulation.ts";
import type { History } from "./world-storage.ts";

/** Gives a fork that is not in service yet another seed, and records that in its history. */
export function reseed(
  { world, journal, clock }: Pick<History, "world" | "journal" | "clock">,
  seed: number,
): void {
  if (clock === undefined) throw new Error("a world that has not been created yet has no seed");
  const simulation = new Simulation(world, journal);
  simulation.execute({ type: "ConfigureWorld", settings: { seed } }, clock.now);
  simulation.commit(clock.state, clock.now);
}
