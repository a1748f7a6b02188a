import { Simulation } from "../simulation/simulation.ts";
import type { History } from "./world-storage.ts";

/** Gives a copy that nobody serves yet another seed; its history tells of it. */
export function reseed({ world, journal, clock }: History, seed: number): void {
  if (clock === undefined) throw new Error("a world that is yet to be made has no seed");
  const simulation = new Simulation(world, journal);
  simulation.execute({ type: "ConfigureWorld", settings: { seed } }, clock.now);
  simulation.commit(clock.state, clock.now);
}
