import { stringify } from "yaml";
import type * as z from "zod";
import { nearest } from "../platform/text.ts";
import { type Add, findContradictions } from "./contradictions.ts";
import { formatProblems, type Problem, SourceDocument } from "./document.ts";
import { combinations, fillIn, type Values } from "./matrix.ts";
import { type Scenario, type Step, scenario } from "./scenario.ts";
import { soundPartOf } from "./sound-part.ts";

/** One combination of the matrix, or the scenario itself where there is none. */
type Variant = { readonly values: Values; readonly scenario: Scenario };
export type ScenarioFile = {
  readonly fileName: string;
  readonly name: string;
  readonly source: unknown;
  readonly variants: readonly Variant[];
};

/** The file is no scenario: every problem with its line and column, and what would be right. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/** What is wrong with a fault: its fields belong to the control API. What refers to ids is filled in later. */
export type CheckFault = (
  fault: Readonly<Record<string, unknown>>,
) => readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];

/** Reads a scenario in YAML (or JSON, which is YAML), written out for each combination of its matrix. */
export function parseScenario(text: string, fileName: string, checkFault: CheckFault = () => []): ScenarioFile {
  const source = new SourceDocument(text);
  const fail = (problems: readonly Problem[]) => {
    throw new ScenarioError(formatProblems(fileName, inOrder(problems)));
  };
  if (source.problems.length > 0) fail(source.problems);
  const matrix = scenario.shape.matrix.safeParse((source.value as { matrix?: unknown } | null)?.matrix);
  if (!matrix.success) fail(source.problemsOf(within("matrix", matrix.error)));
  const problems: Problem[] = [];
  const variants = combinations(matrix.data).flatMap((values): Variant[] => {
    const filled = fillIn(source.value, values);
    problems.push(...filled.unknown.map(({ path, message }) => source.problemAt(path, message)));
    const add: Add = (path, message) => problems.push(source.problemAt(path, message));
    const parsed = scenario.safeParse(filled.value);
    if (parsed.success) {
      findContradictions(parsed.data, add);
      checkFaults(parsed.data.steps, ["steps"], checkFault, add);
      return [{ values, scenario: parsed.data }];
    }
    problems.push(...source.problemsOf(parsed.error));
    checkSoundPart(filled.value, parsed.error, checkFault, add);
    return [];
  });
  if (problems.length > 0) fail(problems);
  const name = variants[0]?.scenario.name ?? fileName.replace(/^.*\//, "").replace(/\.(scenario\.)?(ya?ml|json)$/, "");
  return { fileName, name, source: source.value, variants };
}

/** The file again, as it would be written now: reading it gives the same scenario. */
export function printScenario({ source }: Pick<ScenarioFile, "source">): string {
  return stringify(source, { lineWidth: 140 });
}

/** What can be said of the rest of a file whose shape is wrong somewhere: nothing that hangs on what is wrong. */
function checkSoundPart(value: unknown, error: z.ZodError, checkFault: CheckFault, add: Add): void {
  const sound = soundPartOf(scenario, value, error);
  if (sound === undefined) return;
  const { cut, names } = sound;
  const addThere: Add = (path, message) => add(sound.placeOf(path), message);
  checkFaults(sound.value.steps, ["steps"], checkFault, addThere);
  const keys = Object.keys(scenario.shape);
  const wrong = new Set([...cut].map((key) => (keys.includes(key) ? key : nearest(key, keys))));
  // All labels are of the world; a key that is near none may have been meant for it.
  if (wrong.has("world") || wrong.has(undefined)) return;
  const isOpen = wrong.has("length") || wrong.has("steps");
  findContradictions(isOpen ? { ...sound.value, length: sound.value.length ?? 0 } : sound.value, addThere, names);
}

function checkFaults(steps: readonly Step[], path: readonly (string | number)[], check: CheckFault, add: Add): void {
  for (const [index, { fault, repeat, parallel }] of steps.entries()) {
    const place = [...path, index];
    for (const problem of fault === undefined ? [] : check(fault)) {
      add([...place, "fault", ...problem.path.map((part) => (typeof part === "symbol" ? String(part) : part))], problem.message);
    }
    checkFaults(repeat?.steps ?? [], [...place, "repeat", "steps"], check, add);
    for (const [lane, inner] of (parallel ?? []).entries()) checkFaults(inner, [...place, "parallel", lane], check, add);
  }
}

function within(key: string, error: z.ZodError): z.ZodError {
  for (const issue of error.issues) issue.path.unshift(key);
  return error;
}

/** By their place; what several combinations have in common is said once. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const different = new Map(problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]));
  return [...different.values()].sort((one, other) => one.line - other.line || one.column - other.column);
}
