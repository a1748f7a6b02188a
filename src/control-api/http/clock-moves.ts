import type { WorldHandle } from "../../worlds/world-handle.ts";

/** Those who want to know that a call has moved or set the clock, which may cause no event. */
const listeners = new WeakMap<WorldHandle, Set<() => void>>();

/** Calls the listener after each such call. Returns a function that unsubscribes. */
export function onClockMoved(world: WorldHandle, listener: () => void): () => void {
  const own = listeners.get(world) ?? new Set();
  listeners.set(world, own.add(listener));
  return () => own.delete(listener);
}

export function clockMoved(world: WorldHandle): void {
  for (const listener of listeners.get(world) ?? []) listener();
}
