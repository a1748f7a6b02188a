import type { World } from "../../platform/world/world.ts";

/** The state of a world at one point of its history. */
type WorldState = { readonly seq: number };

const latest = new WeakMap<World, WorldState>();

/**
 * The same object while nothing has happened in the world. It does not change with rows outside of history, such as
 * uses of keys.
 */
export function stateOf(world: World): object {
  const known = latest.get(world);
  if (known?.seq === world.seq) return known;
  const state = { seq: world.seq };
  latest.set(world, state);
  return state;
}
