import type { Result } from "../catalog/refusal-codes.ts";
import type { Context } from "../model/context.ts";
import type { Event, RecordedEvent } from "../model/events.ts";
import type { World } from "./world.ts";

/** One decider for each command of a union: the events that the command causes, or why it is rejected. */
export type Deciders<Command extends { readonly type: string }> = {
  readonly [Type in Command["type"]]: (
    world: World,
    command: Extract<Command, { readonly type: Type }>,
    context: Context,
  ) => Result<Event[]>;
};

/**
 * One evolver for each event of a union. It never rejects: an event that cannot be applied is a bug, and
 * throws.
 */
export type Evolvers<E extends Event> = {
  readonly [Type in E["type"]]: (
    world: World,
    event: Extract<RecordedEvent, { readonly type: Type }>,
  ) => void;
};

/** Returns the table as it is. It compiles only if the table has a handler for each `Type`, and no other. */
export function handlersOf<Type extends string>() {
  return <T extends Readonly<Record<Type, unknown>>>(
    table: T & Readonly<Record<Exclude<keyof T, Type>, never>>,
  ): T => table;
}
