import { MAX } from "../../input-limits/limits.ts";
import { mapStrings } from "./references.ts";
import { type Scenario, scenario } from "./scenario-schema.ts";
import { extractValidPart } from "./valid-part.ts";

type MatrixValue = string | number | boolean;
/** One combination: a value for each name. */
export type MatrixValues = Readonly<Record<string, MatrixValue>>;

/**
 * The valid part of a file's matrix, and the names whose values are invalid; nothing that uses those names is
 * checked.
 */
type ReadableMatrix = { readonly matrix: Scenario["matrix"]; readonly isInvalid: (name: string) => boolean };

export function readableMatrix(file: unknown): ReadableMatrix {
  const { matrix } = scenario.shape;
  const input = (file as { matrix?: unknown } | null)?.matrix;
  const parsed = matrix.safeParse(input);
  if (parsed.success) return { matrix: parsed.data, isInvalid: () => false };
  const valid = extractValidPart(matrix, input, parsed.error);
  return { matrix: valid?.value, isInvalid: (name) => valid?.removedKeys.has(name) ?? true };
}

/** Number of runs that one file may ask for. */
export const MAX_COMBINATIONS = MAX.matrixCombinations;

/** Number of combinations, without making them. */
export function combinationCount(matrix: Scenario["matrix"]): number {
  return Object.values(matrix ?? {}).reduce(
    (count, values) => count * (Array.isArray(values) ? values.length : values.to - values.from + 1),
    1,
  );
}

/** All combinations; the last name changes fastest. Without a matrix there is one empty combination. */
export function combinations(matrix: Scenario["matrix"]): readonly MatrixValues[] {
  return Object.entries(matrix ?? {}).reduce<readonly MatrixValues[]>(
    (all, [name, values]) =>
      all.flatMap((combination) => expandValues(values).map((value) => ({ ...combination, [name]: value }))),
    [{}],
  );
}

function expandValues(values: NonNullable<Scenario["matrix"]>[string]): readonly MatrixValue[] {
  if (Array.isArray(values)) return values;
  const { from, to } = values as { from: number; to: number };
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

type YamlPath = readonly (string | number)[];
type FilledTemplate = {
  readonly value: unknown;
  /** The names that the template uses. */
  readonly usedNames: ReadonlySet<string>;
  /** Paths at which a name has no value. */
  readonly unknownNames: readonly { readonly path: YamlPath; readonly name: string }[];
};

/**
 * Fills in `${name}`. A text that is only a placeholder becomes the value itself. Two dollar signs stand for
 * one.
 */
export function fillTemplate(source: unknown, values: MatrixValues): FilledTemplate {
  const unknownNames: { readonly path: YamlPath; readonly name: string }[] = [];
  const usedNames = new Set<string>();
  const fill = (value: unknown, path: YamlPath): unknown => {
    if (typeof value === "string") return fillText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        path.length === 0 && key === "matrix" ? inner : fill(inner, [...path, key]),
      ]),
    );
  };
  const lookUp = (name: string, path: YamlPath) => {
    usedNames.add(name);
    if (values[name] === undefined) unknownNames.push({ path, name });
    return values[name];
  };
  const fillText = (text: string, path: YamlPath): unknown => {
    const whole = /^\$\{(\w+)\}$/.exec(text)?.[1];
    if (whole !== undefined) return lookUp(whole, path) ?? text;
    return text.replaceAll(/\$\$|\$\{(\w*)\}/g, (all, name?: string) =>
      name === undefined ? "$" : String(lookUp(name, path) ?? all),
    );
  };
  return { value: fill(source, []), usedNames, unknownNames };
}

/** Escapes dollar signs, so that nothing is filled in. */
export function escapePlaceholders<T>(source: T): T {
  return mapStrings(source, (text) => text.replaceAll("$", "$$$$"));
}

export function unknownNameMessage(name: string, values: MatrixValues): string {
  const names = Object.keys(values);
  return `the matrix has no value "${name}" for \${${name}}; ${names.length === 0 ? "the file has no matrix" : `it has ${names.join(", ")}`}`;
}

export function unusedNameMessage(name: string): string {
  const seedHint = name === "seed" ? `, like world: { seed: "\${seed}" }` : "";
  return `\${${name}} is not used in the file, so all of its runs would be the same; use it where the values belong${seedHint}`;
}
