import type { Expectation } from "./expectation.ts";
import type { Scenario } from "./scenario-schema.ts";
import type { Step } from "./step-schema.ts";

type Path = readonly (string | number)[];

/** An expectation of a file, with its name in reports and its path in the file. */
export type PlacedExpectation = {
  readonly expectation: Expectation;
  /** `always.1`, `expect.2`, or `step 3`; a step in a `repeat` has `n` instead of the round. */
  readonly what: string;
  readonly path: Path;
  readonly isNever: boolean;
};

/** Every expectation of a scenario, in the order of the steps, then `always`, `never` and `expect`. */
export function everyExpectation({ steps, always, never, expect }: Scenario): PlacedExpectation[] {
  return [
    ...inSteps(steps, "", ["steps"]),
    ...placed(always, (index) => `always.${index + 1}`, ["always"]),
    ...placed(never, (index) => `never.${index + 1}`, ["never"]),
    ...placed(expect, (index) => `expect.${index + 1}`, ["expect"]),
  ];
}

function inSteps(steps: readonly Step[], prefix: string, above: Path): PlacedExpectation[] {
  return steps.flatMap((step, index) => {
    const place = `${prefix}${index + 1}`;
    const path = [...above, index];
    const { expect = [], repeat, parallel = [] } = step;
    const nameOf = (number: number) =>
      `step ${place}${expect.length === 1 ? "" : `, expectation ${number + 1}`}`;
    return [
      ...placed(expect, nameOf, [...path, "expect"]),
      ...inSteps(repeat?.steps ?? [], `${place}.n.`, [...path, "repeat", "steps"]),
      ...parallel.flatMap((sequence, number) =>
        inSteps(sequence, `${place}.${number + 1}.`, [...path, "parallel", number]),
      ),
    ];
  });
}

function placed(
  expectations: readonly Expectation[],
  nameOf: (index: number) => string,
  path: Path,
): PlacedExpectation[] {
  return expectations.map((expectation, index) => ({
    expectation,
    what: nameOf(index),
    path: [...path, index],
    isNever: path[0] === "never",
  }));
}
