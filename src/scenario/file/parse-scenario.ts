import { stringify } from "yaml";
import type * as z from "zod";
import { closestMatch } from "../../platform/core/text.ts";
import { checkScenario, type ReportProblem } from "./check-scenario.ts";
import {
  combinations,
  fillTemplate,
  type MatrixValues,
  readableMatrix,
  unknownNameMessage,
  unusedNameMessage,
} from "./matrix.ts";
import { type Scenario, type Step, scenario } from "./scenario-schema.ts";
import { extractValidPart } from "./valid-part.ts";
import { formatProblems, type Problem, SourceDocument } from "./yaml-document.ts";

/** One combination of the matrix, or the scenario itself where there is none. */
type Variant = { readonly values: MatrixValues; readonly name: string; readonly scenario: Scenario };
export type ScenarioFile = {
  readonly fileName: string;
  readonly source: unknown;
  readonly variants: readonly Variant[];
  /** What is wrong with what the file names, at its place. */
  readonly errorOf: (
    problems: readonly { readonly path: readonly (string | number)[]; readonly message: string }[],
  ) => ScenarioError;
};

/** The file is no scenario: every problem with its line and column, and what would be right. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/** What is wrong with a fault: its fields belong to the control API. What refers to ids is filled in later. */
type CheckFault = (
  fault: Readonly<Record<string, unknown>>,
) => readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
/** What the two surfaces know, and a scenario does not. */
export type SurfaceRules = {
  readonly checkFault: CheckFault;
  /** What errors are called, but for those of faults that say another code. */
  readonly errorCodes: readonly string[];
};

/** Reads a scenario in YAML (or JSON, which is YAML), written out for each combination of its matrix. */
export function parseScenario(text: string, fileName: string, rules?: SurfaceRules): ScenarioFile {
  const source = new SourceDocument(text);
  const errorOf = (problems: readonly Problem[]) =>
    new ScenarioError(formatProblems(fileName, sortedByPosition(problems)));
  if (source.problems.length > 0) throw errorOf(source.problems);
  const problems: Problem[] = [];
  const { matrix, isInvalid } = readableMatrix(source.value);
  const usedNames = new Set<string>();
  const variants = combinations(matrix).flatMap((values): Variant[] => {
    const filled = fillTemplate(source.value, values);
    for (const name of filled.usedNames) usedNames.add(name);
    for (const { path, name } of filled.unknownNames)
      if (!isInvalid(name)) problems.push(source.problemAt(path, unknownNameMessage(name, values)));
    // Of what has no value nobody can say what else is wrong with it, nor of what it is a part of.
    const isUnresolved = (path: readonly PropertyKey[]) =>
      filled.unknownNames.some(
        (unknown) => isAtOrBelow(unknown.path, path) || isAtOrBelow(path, unknown.path),
      );
    const report: ReportProblem = (path, message) => {
      if (!isUnresolved(path)) problems.push(source.problemAt(path, message));
    };
    const parsed = scenario.safeParse(filled.value);
    if (parsed.success) {
      checkScenario(parsed.data, report, { errorCodes: rules?.errorCodes });
      checkFaults(parsed.data.steps, ["steps"], rules, report);
      return [{ values, name: parsed.data.name ?? scenarioNameFrom(fileName), scenario: parsed.data }];
    }
    problems.push(
      ...source.problemsOf({
        issues: parsed.error.issues.filter(
          ({ code, path }) => code === "unrecognized_keys" || !isUnresolved(path),
        ),
      }),
    );
    checkValidPart(filled.value, parsed.error, rules, report);
    return [];
  });
  const unused = Object.keys(matrix ?? {}).filter((name) => !usedNames.has(name));
  problems.push(...unused.map((name) => source.problemAt(["matrix", name], unusedNameMessage(name))));
  if (problems.length > 0) throw errorOf(problems);
  return {
    ...{ fileName, source: source.value, variants },
    errorOf: (found) => errorOf(found.map(({ path, message }) => source.problemAt(path, message))),
  };
}

function scenarioNameFrom(fileName: string): string {
  return fileName.replace(/^.*\//, "").replace(/\.(scenario\.)?(ya?ml|json)$/, "");
}

/** The file again, as it would be written now: reading it gives the same scenario. */
export function printScenario({ source }: Pick<ScenarioFile, "source">): string {
  return stringify(source, { lineWidth: 140 });
}

/** What can be said of the rest of a file whose shape is wrong somewhere: nothing that hangs on what is wrong. */
function checkValidPart(
  value: unknown,
  error: z.ZodError,
  rules: SurfaceRules | undefined,
  report: ReportProblem,
): void {
  const valid = extractValidPart(scenario, value, error);
  if (valid === undefined) return;
  const { removedKeys, removedNames, removedTexts } = valid;
  const reportAtSource: ReportProblem = (path, message) => report(valid.sourcePathOf(path), message);
  checkFaults(valid.value.steps, ["steps"], rules, reportAtSource);
  const keys = Object.keys(scenario.shape);
  const invalidKeys = new Set(
    [...removedKeys].map((key) => (keys.includes(key) ? key : closestMatch(key, keys))),
  );
  // A key that is near none may have been meant for any.
  const isParsed = (key: string) => !invalidKeys.has(key) && !invalidKeys.has(undefined);
  checkScenario(valid.value, reportAtSource, {
    errorCodes: rules?.errorCodes,
    isParsed,
    unparsedNames: removedNames,
    unparsed: { texts: removedTexts, report },
  });
}

function checkFaults(
  steps: readonly Step[],
  path: readonly (string | number)[],
  rules: SurfaceRules | undefined,
  report: ReportProblem,
): void {
  for (const [index, { fault, repeat, parallel }] of steps.entries()) {
    const stepPath = [...path, index];
    for (const problem of (fault && rules?.checkFault(fault)) ?? []) {
      report(
        [
          ...stepPath,
          "fault",
          ...problem.path.map((part) => (typeof part === "symbol" ? String(part) : part)),
        ],
        problem.message,
      );
    }
    checkFaults(repeat?.steps ?? [], [...stepPath, "repeat", "steps"], rules, report);
    for (const [sequence, inner] of (parallel ?? []).entries())
      checkFaults(inner, [...stepPath, "parallel", sequence], rules, report);
  }
}

function isAtOrBelow(path: readonly PropertyKey[], ancestor: readonly PropertyKey[]): boolean {
  return ancestor.every((key, index) => path[index] === key);
}

/** By their place; what several combinations have in common is said once. */
function sortedByPosition(problems: readonly Problem[]): Problem[] {
  const unique = new Map(
    problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]),
  );
  return [...unique.values()].sort((one, other) => one.line - other.line || one.column - other.column);
}
