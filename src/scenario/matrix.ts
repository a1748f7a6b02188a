import type { Scenario } from "./scenario.ts";

type Value = string | number | boolean;
/** A combination: which of its values each name has. */
export type Values = Readonly<Record<string, Value>>;

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
type Unknown = { readonly path: Path; readonly message: string };

/** The data with `${name}` filled in: a text that is nothing else becomes the value itself. `$${` stands for `${`. */
export function fillIn(source: unknown, values: Values): { readonly value: unknown; readonly unknown: readonly Unknown[] } {
  const unknown: Unknown[] = [];
  const fill = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") return fillText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, path.length === 0 && key === "matrix" ? inner : fill(inner, [...path, key])]),
    );
  };
  const fillText = (text: string, path: Path): unknown => {
    const whole = /^\$\{(\w+)\}$/.exec(text)?.[1];
    const known = whole === undefined ? undefined : values[whole];
    if (known !== undefined) return known;
    return text.replaceAll(/(\$?)\$\{(\w*)\}/g, (all, escaped: string, name: string) => {
      if (escaped !== "") return all.slice(1);
      if (values[name] === undefined) unknown.push({ path, message: notThere(name, values) });
      return String(values[name]);
    });
  };
  return { value: fill(source, []), unknown };
}

function notThere(name: string, values: Values): string {
  const names = Object.keys(values);
  return `there is no \${${name}} in the matrix; ${names.length === 0 ? "the file has none" : `known are ${names.join(", ")}`}`;
}
