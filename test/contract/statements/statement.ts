/** Letters of docs/evidence.md. */
type Evidence = "R" | "R, A" | "R, D" | "R, S" | "S" | "C" | "C, D" | "D" | "A";

/** A test by its file and a part of its title, as the file has it. */
export type NamedTest = { readonly file: string; readonly title: string };

/** What the platform does, in one sentence, and what shows and defends it. */
export type Statement = {
  readonly id: string;
  readonly statement: string;
  readonly evidence: Evidence;
  /** The shipped scenario that shows it, from the root of the repository. */
  readonly scenario?: string;
  /** Why no scenario can show it. */
  readonly noScenario?: string;
  /** The tests that fail if it does not hold. */
  readonly tests: readonly [NamedTest, ...NamedTest[]];
  /** The id of a planted bug that breaks it, which one of these tests finds. */
  readonly plantedBug?: string;
};

export type Section = {
  readonly title: string;
  /** `each`: every statement has a scenario, or says why it has none. */
  readonly scenarios: "each" | "some";
  readonly statements: readonly Statement[];
};

export function rule(name: string, title: string): NamedTest {
  return { file: `test/rules/${name}.rules.ts`, title };
}

export function property(name: string, title: string): NamedTest {
  return { file: `test/property/${name}.test.ts`, title };
}

export function behaviour(name: string, title: string): NamedTest {
  return { file: `test/behaviour/${name}.test.ts`, title };
}

/** The model of the reference, which is compared with all computes after each random call. */
export const MODEL = property("reference-compute", "every compute is as the reference says after every call");
/** The fields of answers to random calls. */
export const COMPUTE_ANSWERS = property(
  "reference-answers",
  "every answer about computes has the fields of the reference",
);
export const KEY_ANSWERS = property(
  "reference-answers",
  "every answer about API keys has the fields of the reference",
);
export const PROJECT_ANSWERS = property(
  "reference-answers",
  "every project in the list has the fields of the reference",
);
export const UNAUTHORIZED = property(
  "reference-answers",
  "every request without a valid key fails with 401 and changes nothing",
);
