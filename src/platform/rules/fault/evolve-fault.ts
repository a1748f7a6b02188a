import type { Fault, FaultEvent } from "../../model/fault.ts";
import type { Evolvers } from "../../world/handlers.ts";
import type { World } from "../../world/world.ts";

export const faultEvolvers = {
  /** A fault that is set again starts over: its counts, its draws, and its place after the others. */
  FaultSet(world, { at, seq, definition }) {
    world.faults.delete(definition.name);
    world.faults.set({ ...definition, number: seq, setAt: at, seen: 0, hits: 0 });
  },
  FaultRemoved(world, event) {
    world.faults.delete(faultOf(world, event).name);
  },
  FaultMatched(world, event) {
    const { number, rate } = event;
    world.faults.set({ ...faultOf(world, event), seen: number, ...(rate === undefined ? {} : { rate }) });
  },
  FaultHit(world, event) {
    const fault = faultOf(world, event);
    world.faults.set({ ...fault, seen: event.number, hits: fault.hits + 1 });
  },
} satisfies Evolvers<FaultEvent>;

function faultOf(world: World, { type, fault: name }: Exclude<FaultEvent, { type: "FaultSet" }>): Fault {
  const fault = world.faults.get(name);
  if (fault === undefined) throw new Error(`${type}: there is no fault ${name}`);
  return fault;
}
