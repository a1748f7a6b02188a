import { mapStrings } from "./references.ts";
import { type Scenario, scenario } from "./scenario-schema.ts";
import { extractValidPart } from "./valid-part.ts";

type MatrixValue = string | number | boolean;
/** A combination: which of its values each name has. */
export type MatrixValues = Readonly<Record<string, MatrixValue>>;

/** What of a file's matrix can be read, and which names have values that cannot: of what they stand for, nothing can be told. */
type ReadableMatrix = { readonly matrix: Scenario["matrix"]; readonly isInvalid: (name: string) => boolean };

export function readableMatrix(file: unknown): ReadableMatrix {
  const { matrix } = scenario.shape;
  const input = (file as { matrix?: unknown } | null)?.matrix;
  const parsed = matrix.safeParse(input);
  if (parsed.success) return { matrix: parsed.data, isInvalid: () => false };
  const valid = extractValidPart(matrix, input, parsed.error);
  return { matrix: valid?.value, isInvalid: (name) => valid?.removedKeys.has(name) ?? true };
}

/** All combinations, the last name changing fastest; one without values where there is no matrix. */
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
  /** The names that it has in it. */
  readonly usedNames: ReadonlySet<string>;
  /** Places of names that have no value. */
  readonly unknownNames: readonly { readonly path: YamlPath; readonly name: string }[];
};

/** The data with `${name}` filled in: a text that is nothing else becomes the value itself. Two dollar signs are one. */
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

/** The data as a file says it in which nothing is to be filled in. */
export function escapePlaceholders<T>(source: T): T {
  return mapStrings(source, (text) => text.replaceAll("$", "$$$$"));
}

export function unknownNameMessage(name: string, values: MatrixValues): string {
  const names = Object.keys(values);
  return `there is no \${${name}} in the matrix; ${names.length === 0 ? "the file has none" : `known are ${names.join(", ")}`}`;
}

export function unusedNameMessage(name: string): string {
  const seedHint = name === "seed" ? `, like world: { seed: "\${seed}" }` : "";
  return `nothing in the file is \${${name}}, so that all of its runs are the same; put it where its values belong${seedHint}`;
}
