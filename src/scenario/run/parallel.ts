import type { SimTime } from "../../kernel/time.ts";
import type { Activity } from "../../platform/model/activity.ts";
import type { Step } from "../file/step-schema.ts";

/**
 * The instant that the world must reach before a sequence continues, and an arrival at that instant. Both are
 * evaluated lazily: while a sequence waits for a step of another one, its instant is infinite.
 */
export type Wakeup = { readonly at: SimTime; readonly arrival?: StepArrival | undefined };

/** The activity of a step, such as `step 3: activity`. */
export type StepArrival = { readonly activity: Activity; readonly step: string };

/** A wakeup that evaluates its instant and its arrival on each access. */
export function lazyWakeup(startOf: () => SimTime, arrivalOf: () => StepArrival | undefined): Wakeup {
  return {
    get at() {
      return startOf();
    },
    get arrival() {
      return arrivalOf();
    },
  };
}

/** Steps in order; each waits for its instant. */
export type StepSequence = AsyncGenerator<Wakeup, void, void>;

/**
 * Runs sequences in parallel: the one with the earliest instant continues, ties in the order of the file.
 * Ends when all have ended.
 */
export async function* runInParallel(sequences: readonly StepSequence[]): StepSequence {
  const pending: { readonly sequence: StepSequence; wakeup: Wakeup }[] = [];
  for (const sequence of sequences) {
    const next = await sequence.next();
    if (next.done !== true) pending.push({ sequence, wakeup: next.value });
  }
  const earliest = () => pending.reduce((one, other) => (other.wakeup.at < one.wakeup.at ? other : one));
  const wakeup = lazyWakeup(
    () => earliest().wakeup.at,
    () => earliest().wakeup.arrival,
  );
  while (pending.length > 0) {
    yield wakeup;
    const first = earliest();
    const next = await first.sequence.next();
    if (next.done === true) pending.splice(pending.indexOf(first), 1);
    else first.wakeup = next.value;
  }
}

/**
 * For each step with a named `after`: the nearest earlier step of that name, so that no two steps wait for
 * each other.
 */
export function stepDependencies(steps: readonly Step[]): ReadonlyMap<Step, Step> {
  const dependencies = new Map<Step, Step>();
  const named = new Map<string, Step>();
  const visit = (step: Step): void => {
    const other = step.after?.step === undefined ? undefined : named.get(step.after.step);
    if (other !== undefined) dependencies.set(step, other);
    for (const inner of [step.repeat?.steps ?? [], ...(step.parallel ?? [])].flat()) visit(inner);
    if (step.name !== undefined) named.set(step.name, step);
  };
  for (const step of steps) visit(step);
  return dependencies;
}
