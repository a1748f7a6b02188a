import type { Step } from "./step-schema.ts";

type Path = readonly (string | number)[];

/**
 * The path in the file of what failed, from its name in the report: `step 3.2.1, expectation 2`, `always.1`,
 * `expect`. `undefined` for what is not in the file, such as an invariant.
 */
export function failurePath(what: string, steps: readonly Step[]): Path | undefined {
  const [, subject = "", expectation] = /^(.*?)(?:, expectation (\d+))?$/.exec(what) ?? [];
  const index = expectation === undefined ? 0 : Number(expectation) - 1;
  const [, watch, number] = /^(always|never)\.(\d+)$/.exec(subject) ?? [];
  if (watch !== undefined) return [watch, Number(number) - 1];
  if (subject === "expect") return ["expect", index];
  if (subject === "state" || subject === "length" || subject === "failed") return [subject];
  if (!subject.startsWith("step ")) return undefined;
  const found = stepAt(subject.slice("step ".length).split(".").map(Number), steps, ["steps"]);
  if (found === undefined) return undefined;
  return found.step.expect === undefined ? found.path : [...found.path, "expect", index];
}

/** A place has the round of each `repeat`, and the sequence of each `parallel`, before the nested step. */
function stepAt(
  [first = 0, group, ...rest]: readonly number[],
  steps: readonly Step[],
  above: Path,
): { readonly step: Step; readonly path: Path } | undefined {
  const step = steps[first - 1];
  const path = [...above, first - 1];
  if (step === undefined || group === undefined) return step && { step, path };
  if (step.repeat !== undefined) return stepAt(rest, step.repeat.steps, [...path, "repeat", "steps"]);
  return stepAt(rest, step.parallel?.[group - 1] ?? [], [...path, "parallel", group - 1]);
}
