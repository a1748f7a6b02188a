import type { WorldHandle } from "../../worlds/world-handle.ts";

/** Listeners for clock changes by a call, which may cause no event. */
const listeners = new WeakMap<WorldHandle, Set<() => void>>();

/** Calls the listener after each call that sets or advances the clock. Returns a function that unsubscribes. */
export function onClockMoved(world: WorldHandle, listener: () => void): () => void {
  const own = listeners.get(world) ?? new Set();
  listeners.set(world, own.add(listener));
  return () => own.delete(listener);
}

export function clockMoved(world: WorldHandle): void {
  for (const listener of listeners.get(world) ?? []) listener();
}
