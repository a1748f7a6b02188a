import type { Activity } from "../../platform/compute/activity.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { Step } from "../file/scenario-schema.ts";

/**
 * An instant that the world must reach before a lane goes on, and what arrives then, in its order with all else of that instant. Both are
 * asked for when they are needed: where a step of another lane is waited for, the instant is infinite until that one is over.
 */
export type Wake = { readonly at: SimTime; readonly arrival?: Activity | undefined };

/** Steps in their order, each of which waits for its instant. */
export type Lane = AsyncGenerator<Wake, void, void>;

/** Several lanes beside each other: the one whose instant is the earliest goes on first, of equals the first. Over when all are. */
export async function* beside(lanes: readonly Lane[]): Lane {
  const waiting: { readonly lane: Lane; wake: Wake }[] = [];
  for (const lane of lanes) {
    const next = await lane.next();
    if (next.done !== true) waiting.push({ lane, wake: next.value });
  }
  const earliest = () => waiting.reduce((one, other) => (other.wake.at < one.wake.at ? other : one));
  const wake: Wake = {
    get at() {
      return earliest().wake.at;
    },
    get arrival() {
      return earliest().wake.arrival;
    },
  };
  while (waiting.length > 0) {
    yield wake;
    const first = earliest();
    const next = await first.lane.next();
    if (next.done === true) waiting.splice(waiting.indexOf(first), 1);
    else first.wake = next.value;
  }
}

/** Which step is waited for by each that comes after a named one: the nearest above it of that name, so that no two wait for each other. */
export function awaitedIn(steps: readonly Step[]): ReadonlyMap<Step, Step> {
  const awaited = new Map<Step, Step>();
  const named = new Map<string, Step>();
  const look = (step: Step): void => {
    const other = step.after?.step === undefined ? undefined : named.get(step.after.step);
    if (other !== undefined) awaited.set(step, other);
    for (const inner of [step.repeat?.steps ?? [], ...(step.parallel ?? [])].flat()) look(inner);
    if (step.name !== undefined) named.set(step.name, step);
  };
  for (const step of steps) look(step);
  return awaited;
}
