import { closestMatch } from "../../../kernel/text.ts";
import type { SimTime } from "../../../kernel/time.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { FaultCommand } from "../../model/fault.ts";
import { type Fault, isFaultActive, type RemoveFault, type SetFaults } from "../../model/fault.ts";
import type { Deciders } from "../../world/handlers.ts";
import type { World } from "../../world/world.ts";
import { matchFaults } from "./match-fault.ts";

export const faultDeciders = {
  SetFaults: decideSetFaults,
  RemoveFault: decideRemoveFault,
  MatchFaults: (world, { target }, context) => accept([...matchFaults(world, target, context).events]),
} satisfies Deciders<FaultCommand>;

function decideSetFaults(
  world: World,
  { faults, keepOthers }: SetFaults,
  { now: at }: Context,
): Result<Event[]> {
  const named = new Set(faults.map(({ name }) => name));
  const others = keepOthers === true ? [] : [...world.faults.values()].filter(({ name }) => !named.has(name));
  return accept([
    ...others.map(({ name }): Event => ({ type: "FaultRemoved", at, fault: name })),
    ...faults.map((definition): Event => ({ type: "FaultSet", at, definition })),
  ]);
}

function decideRemoveFault(world: World, { name }: RemoveFault, { now: at }: Context): Result<Event[]> {
  const fault = findFault(world, name);
  return fault.ok ? accept([{ type: "FaultRemoved", at, fault: name }]) : fault;
}

export function findFault(world: World, name: string): Result<Fault> {
  const fault = world.faults.get(name);
  if (fault !== undefined) return accept(fault);
  const names = [...world.faults.values()].map((known) => known.name);
  const near = closestMatch(name, names);
  return refuse(
    "FAULT_NOT_FOUND",
    `there is no fault "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`,
  );
}

/** When the maintenance of a project began; `undefined` if there is none. */
export function maintenanceSince(world: World, projectId: string, now: SimTime): SimTime | undefined {
  if (world.faults.size === 0) return undefined;
  for (const fault of world.faults.values()) {
    const { effect, scope, timing, setAt } = fault;
    if (effect.kind !== "maintenance" || (scope.match?.projectId ?? projectId) !== projectId) continue;
    if (isFaultActive(fault, now)) return Math.max(setAt, timing.fromAt ?? 0);
  }
  return undefined;
}
