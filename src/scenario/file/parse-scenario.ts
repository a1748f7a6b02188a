import { stringify } from "yaml";
import type * as z from "zod";
import { nearest } from "../../platform/core/text.ts";
import { type Add, findContradictions } from "./check-scenario.ts";
import { combinations, fillIn, notThere, notUsed, readableMatrix, type Values } from "./matrix.ts";
import { type Scenario, type Step, scenario } from "./scenario-schema.ts";
import { soundPartOf } from "./valid-part.ts";
import { formatProblems, type Problem, SourceDocument } from "./yaml-document.ts";

/** One combination of the matrix, or the scenario itself where there is none. */
type Variant = { readonly values: Values; readonly name: string; readonly scenario: Scenario };
export type ScenarioFile = {
  readonly fileName: string;
  readonly source: unknown;
  readonly variants: readonly Variant[];
  /** What is wrong with what the file names, at its place. */
  readonly errorOf: (problems: readonly { readonly path: readonly (string | number)[]; readonly message: string }[]) => ScenarioError;
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
export type Surfaces = {
  readonly checkFault: CheckFault;
  /** What errors are called, but for those of faults that say another code. */
  readonly errorCodes: readonly string[];
};

/** Reads a scenario in YAML (or JSON, which is YAML), written out for each combination of its matrix. */
export function parseScenario(text: string, fileName: string, surfaces?: Surfaces): ScenarioFile {
  const source = new SourceDocument(text);
  const errorOf = (problems: readonly Problem[]) => new ScenarioError(formatProblems(fileName, inOrder(problems)));
  if (source.problems.length > 0) throw errorOf(source.problems);
  const problems: Problem[] = [];
  const { matrix, isWrong } = readableMatrix(source.value);
  const used = new Set<string>();
  const variants = combinations(matrix).flatMap((values): Variant[] => {
    const filled = fillIn(source.value, values);
    for (const name of filled.used) used.add(name);
    for (const { path, name } of filled.unknown) if (!isWrong(name)) problems.push(source.problemAt(path, notThere(name, values)));
    // Of what has no value nobody can say what else is wrong with it, nor of what it is a part of.
    const isOpen = (path: readonly PropertyKey[]) =>
      filled.unknown.some((unknown) => isWithin(unknown.path, path) || isWithin(path, unknown.path));
    const add: Add = (path, message) => {
      if (!isOpen(path)) problems.push(source.problemAt(path, message));
    };
    const parsed = scenario.safeParse(filled.value);
    if (parsed.success) {
      findContradictions(parsed.data, add, { errorCodes: surfaces?.errorCodes });
      checkFaults(parsed.data.steps, ["steps"], surfaces, add);
      return [{ values, name: parsed.data.name ?? nameOf(fileName), scenario: parsed.data }];
    }
    problems.push(
      ...source.problemsOf({ issues: parsed.error.issues.filter(({ code, path }) => code === "unrecognized_keys" || !isOpen(path)) }),
    );
    checkSoundPart(filled.value, parsed.error, surfaces, add);
    return [];
  });
  const unused = Object.keys(matrix ?? {}).filter((name) => !used.has(name));
  problems.push(...unused.map((name) => source.problemAt(["matrix", name], notUsed(name))));
  if (problems.length > 0) throw errorOf(problems);
  return {
    ...{ fileName, source: source.value, variants },
    errorOf: (found) => errorOf(found.map(({ path, message }) => source.problemAt(path, message))),
  };
}

function nameOf(fileName: string): string {
  return fileName.replace(/^.*\//, "").replace(/\.(scenario\.)?(ya?ml|json)$/, "");
}

/** The file again, as it would be written now: reading it gives the same scenario. */
export function printScenario({ source }: Pick<ScenarioFile, "source">): string {
  return stringify(source, { lineWidth: 140 });
}

/** What can be said of the rest of a file whose shape is wrong somewhere: nothing that hangs on what is wrong. */
function checkSoundPart(value: unknown, error: z.ZodError, surfaces: Surfaces | undefined, add: Add): void {
  const sound = soundPartOf(scenario, value, error);
  if (sound === undefined) return;
  const { cut, names, texts } = sound;
  const addThere: Add = (path, message) => add(sound.placeOf(path), message);
  checkFaults(sound.value.steps, ["steps"], surfaces, addThere);
  const keys = Object.keys(scenario.shape);
  const wrong = new Set([...cut].map((key) => (keys.includes(key) ? key : nearest(key, keys))));
  // A key that is near none may have been meant for any.
  const isRead = (key: string) => !wrong.has(key) && !wrong.has(undefined);
  findContradictions(sound.value, addThere, { errorCodes: surfaces?.errorCodes, isRead, unreadNames: names, unread: { texts, add } });
}

function checkFaults(steps: readonly Step[], path: readonly (string | number)[], surfaces: Surfaces | undefined, add: Add): void {
  for (const [index, { fault, repeat, parallel }] of steps.entries()) {
    const place = [...path, index];
    for (const problem of (fault && surfaces?.checkFault(fault)) ?? []) {
      add([...place, "fault", ...problem.path.map((part) => (typeof part === "symbol" ? String(part) : part))], problem.message);
    }
    checkFaults(repeat?.steps ?? [], [...place, "repeat", "steps"], surfaces, add);
    for (const [lane, inner] of (parallel ?? []).entries()) checkFaults(inner, [...place, "parallel", lane], surfaces, add);
  }
}

function isWithin(path: readonly PropertyKey[], above: readonly PropertyKey[]): boolean {
  return above.every((key, index) => path[index] === key);
}

/** By their place; what several combinations have in common is said once. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const different = new Map(problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]));
  return [...different.values()].sort((one, other) => one.line - other.line || one.column - other.column);
}
