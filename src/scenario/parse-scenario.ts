import type * as z from "zod";
import { issueText } from "../input-limits/issue-text.ts";
import { closestMatch } from "../kernel/text.ts";
import { checkScenario } from "./check/check-scenario.ts";
import type { ReportProblem } from "./check/names.ts";
import {
  combinationCount,
  combinations,
  fillTemplate,
  MAX_COMBINATIONS,
  type MatrixValues,
  readableMatrix,
  unknownNameMessage,
  unusedNameMessage,
} from "./file/matrix.ts";
import { type Scenario, scenario } from "./file/scenario-schema.ts";
import type { Step } from "./file/step-schema.ts";
import { extractValidPart } from "./file/valid-part.ts";
import { formatProblems, type Problem, SourceDocument } from "./file/yaml-document.ts";

/** One combination of the matrix; without a matrix, the scenario itself. */
type Variant = { readonly values: MatrixValues; readonly name: string; readonly scenario: Scenario };
export type ScenarioFile = {
  readonly fileName: string;
  readonly variants: readonly Variant[];
  /** The content of the file with the values of a combination, unparsed. */
  readonly sourceOf: (values: MatrixValues) => unknown;
  /** The place of a value, or of its nearest parent. */
  readonly positionOf: (path: readonly (string | number)[]) => Pick<Problem, "line" | "column">;
  /** An error about something that the file refers to, at the place of the reference. */
  readonly errorOf: (
    problems: readonly { readonly path: readonly (string | number)[]; readonly message: string }[],
  ) => ScenarioError;
};

/** The file is not a valid scenario. The message has every problem with its line and column. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/**
 * Finds problems of a fault, whose fields belong to the control API. References to ids are resolved later.
 */
type CheckFault = (
  fault: Readonly<Record<string, unknown>>,
) => readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
/** Rules of the two HTTP surfaces, which this folder must not import. */
export type SurfaceRules = {
  readonly checkFault: CheckFault;
  /** Error codes, without those that a fault may define. */
  readonly errorCodes: readonly string[];
};

/** Reads a scenario in YAML (JSON is YAML too), expanded for each combination of its matrix. */
export function parseScenario(text: string, fileName: string, rules?: SurfaceRules): ScenarioFile {
  const source = new SourceDocument(text);
  const errorOf = (problems: readonly Problem[]) =>
    new ScenarioError(formatProblems(fileName, sortedByPosition(problems)));
  if (source.problems.length > 0) throw errorOf(source.problems);
  const problems: Problem[] = [];
  const { matrix, isInvalid } = readableMatrix(source.value);
  const count = combinationCount(matrix);
  if (count > MAX_COMBINATIONS) {
    const message = `has ${count.toLocaleString("en")} combinations; at most ${MAX_COMBINATIONS.toLocaleString("en")} are allowed`;
    throw errorOf([source.problemAt(["matrix"], message)]);
  }
  const usedNames = new Set<string>();
  const variants = combinations(matrix).flatMap((values, index): Variant[] => {
    // The matrix is the same in all combinations. Parsing it in each takes quadratic time.
    const template = index === 0 ? source.value : withoutMatrix(source.value);
    const filled = fillTemplate(template, values);
    for (const name of filled.usedNames) usedNames.add(name);
    for (const { path, name } of filled.unknownNames)
      if (!isInvalid(name)) problems.push(source.problemAt(path, unknownNameMessage(name, values)));
    // Without its value, neither a placeholder nor anything around it can be checked.
    const isUnresolved = (path: readonly PropertyKey[]) =>
      filled.unknownNames.some(
        (unknown) => isAtOrBelow(unknown.path, path) || isAtOrBelow(path, unknown.path),
      );
    const report: ReportProblem = (path, message) => {
      if (!isUnresolved(path)) problems.push(source.problemAt(path, message));
    };
    const parsed = scenario.safeParse(filled.value, { error: issueText });
    if (parsed.success) {
      checkScenario(parsed.data, report, { errorCodes: rules?.errorCodes });
      checkFaults(parsed.data.steps, ["steps"], rules, report);
      return [{ values, name: parsed.data.name ?? scenarioNameFrom(fileName), scenario: parsed.data }];
    }
    problems.push(
      ...source.problemsOf(
        {
          issues: parsed.error.issues.filter(
            ({ code, path }) => code === "unrecognized_keys" || !isUnresolved(path),
          ),
        },
        filled.value,
      ),
    );
    checkValidPart(filled.value, parsed.error, rules, report);
    return [];
  });
  const unused = Object.keys(matrix ?? {}).filter((name) => !usedNames.has(name));
  problems.push(...unused.map((name) => source.problemAt(["matrix", name], unusedNameMessage(name))));
  if (problems.length > 0) throw errorOf(problems);
  return {
    ...{ fileName, variants },
    sourceOf: (values) => fillTemplate(withoutMatrix(source.value), values).value,
    positionOf(path) {
      const { line, column } = source.problemAt(path, "");
      return { line, column };
    },
    errorOf: (found) => errorOf(found.map(({ path, message }) => source.problemAt(path, message))),
  };
}

function withoutMatrix(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("matrix" in value)) return value;
  const { matrix: _, ...rest } = value;
  return rest;
}

function scenarioNameFrom(fileName: string): string {
  if (fileName === "-") return "stdin";
  return fileName.replace(/^.*\//, "").replace(/\.(scenario\.)?(ya?ml|json)$/, "");
}

/** Checks the rest of a file with invalid parts, except for what depends on those parts. */
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
  // An unknown key that resembles no known key may stand for any of them.
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

/** By position; a problem that several combinations share appears once. */
function sortedByPosition(problems: readonly Problem[]): Problem[] {
  const unique = new Map(
    problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]),
  );
  return [...unique.values()].sort((one, other) => one.line - other.line || one.column - other.column);
}
