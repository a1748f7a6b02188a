import { mapTexts } from "./references.ts";
import { type Scenario, scenario } from "./scenario-schema.ts";
import { soundPartOf } from "./valid-part.ts";

type Value = string | number | boolean;
/** A combination: which of its values each name has. */
export type Values = Readonly<Record<string, Value>>;

/** What of a file's matrix can be read, and which names have values that cannot: of what they stand for, nothing can be told. */
type Readable = { readonly matrix: Scenario["matrix"]; readonly isWrong: (name: string) => boolean };

export function readableMatrix(file: unknown): Readable {
  const { matrix } = scenario.shape;
  const given = (file as { matrix?: unknown } | null)?.matrix;
  const parsed = matrix.safeParse(given);
  if (parsed.success) return { matrix: parsed.data, isWrong: () => false };
  const sound = soundPartOf(matrix, given, parsed.error);
  return { matrix: sound?.value, isWrong: (name) => sound?.cut.has(name) ?? true };
}

/** All combinations, the last name changing fastest; one without values where there is no matrix. */
export function combinations(matrix: Scenario["matrix"]): readonly Values[] {
  return Object.entries(matrix ?? {}).reduce<readonly Values[]>(
    (all, [name, values]) => all.flatMap((values_) => listed(values).map((value) => ({ ...values_, [name]: value }))),
    [{}],
  );
}

function listed(values: NonNullable<Scenario["matrix"]>[string]): readonly Value[] {
  if (Array.isArray(values)) return values;
  const { from, to } = values as { from: number; to: number };
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

type Path = readonly (string | number)[];
type Filled = {
  readonly value: unknown;
  /** The names that it has in it. */
  readonly used: ReadonlySet<string>;
  /** Places of names that have no value. */
  readonly unknown: readonly { readonly path: Path; readonly name: string }[];
};

/** The data with `${name}` filled in: a text that is nothing else becomes the value itself. Two dollar signs are one. */
export function fillIn(source: unknown, values: Values): Filled {
  const unknown: { readonly path: Path; readonly name: string }[] = [];
  const used = new Set<string>();
  const fill = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") return fillText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, path.length === 0 && key === "matrix" ? inner : fill(inner, [...path, key])]),
    );
  };
  const filledIn = (name: string, path: Path) => {
    used.add(name);
    if (values[name] === undefined) unknown.push({ path, name });
    return values[name];
  };
  const fillText = (text: string, path: Path): unknown => {
    const whole = /^\$\{(\w+)\}$/.exec(text)?.[1];
    if (whole !== undefined) return filledIn(whole, path) ?? text;
    return text.replaceAll(/\$\$|\$\{(\w*)\}/g, (all, name?: string) => (name === undefined ? "$" : String(filledIn(name, path) ?? all)));
  };
  return { value: fill(source, []), used, unknown };
}

/** The data as a file says it in which nothing is to be filled in. */
export function withoutNames<T>(source: T): T {
  return mapTexts(source, (text) => text.replaceAll("$", "$$$$"));
}

export function notThere(name: string, values: Values): string {
  const names = Object.keys(values);
  return `there is no \${${name}} in the matrix; ${names.length === 0 ? "the file has none" : `known are ${names.join(", ")}`}`;
}

export function notUsed(name: string): string {
  const seeds = name === "seed" ? `, like world: { seed: "\${seed}" }` : "";
  return `nothing in the file is \${${name}}, so that all of its runs are the same; put it where its values belong${seeds}`;
}
