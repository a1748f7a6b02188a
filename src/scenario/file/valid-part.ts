import type * as z from "zod";

type Path = readonly (string | number)[];
type Tree = Record<string, unknown> | unknown[];
/** Every round takes something out; a file that is deeper than this is told in two goes. */
const MAX_ROUNDS = 20;

/** What of a file has the right shape, so that the rest of it can be looked at in the same go. */
export type SoundPart<T> = {
  readonly value: T;
  /** The first keys of the places at which something was taken out. */
  readonly cut: ReadonlySet<string>;
  /** All text in what was taken out, at its place in the file. */
  readonly texts: readonly Text[];
  /** All names in what was taken out: something may refer to them. */
  readonly names: ReadonlySet<string>;
  /** Where in the file stands what is at this place of `value`. */
  readonly placeOf: (path: Path) => Path;
};

type Text = { readonly path: Path; readonly text: string };

/** Takes out what the schema refuses until it takes what is left; `undefined` where nothing is. */
export function soundPartOf<S extends z.ZodType>(schema: S, source: unknown, error: z.ZodError): SoundPart<z.output<S>> | undefined {
  const root: unknown = structuredClone(source);
  const indexes = new WeakMap<unknown[], number[]>();
  const cut = new Set<string>();
  const names = new Set<string>();
  const texts: Text[] = [];
  let { issues } = error;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    for (const path of placesOf(issues)) {
      const part = takeOut(root, path, indexes);
      if (part === undefined) return undefined;
      cut.add(String(path[0]));
      const key = part.path.at(-1);
      if (typeof key === "string") names.add(key);
      collect(part.value, part.path, { names, texts }, indexes);
    }
    const parsed = schema.safeParse(root);
    if (parsed.success) return { value: parsed.data, cut, texts, names, placeOf: (path) => placeIn(root, path, indexes) };
    issues = parsed.error.issues;
  }
  return undefined;
}

/** Each once, and the last of a list first, so that those before it keep their places. */
function placesOf(issues: readonly z.core.$ZodIssue[]): Path[] {
  const paths = issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
    return issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path];
  });
  const different = [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
  return different.sort((one, other) => {
    const at = one.findIndex((part, index) => part !== other[index]);
    const [first, second] = [one[at], other[at]];
    return typeof first === "number" && typeof second === "number" ? second - first : other.length - one.length;
  });
}

/** What stands at `path`, or, where something is missing there, what it is missing in. */
function takeOut(
  root: unknown,
  path: Path,
  indexes: WeakMap<unknown[], number[]>,
): { readonly path: Path; readonly value: unknown } | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = at(root, path.slice(0, length - 1));
    const key = path[length - 1] as string | number;
    const place = placeIn(root, path.slice(0, length), indexes);
    if (Array.isArray(parent) && typeof key === "number" && key < parent.length) {
      const known = indexes.get(parent) ?? parent.map((_, index) => index);
      indexes.set(parent, known);
      known.splice(key, 1);
      return { path: place, value: parent.splice(key, 1)[0] };
    }
    if (isTree(parent) && !Array.isArray(parent) && Object.hasOwn(parent, key)) {
      const value = parent[key];
      delete parent[key];
      return { path: place, value };
    }
  }
  return undefined;
}

function placeIn(root: unknown, path: Path, indexes: WeakMap<unknown[], number[]>): Path {
  return path.map((key, depth) => {
    const parent = at(root, path.slice(0, depth));
    return Array.isArray(parent) && typeof key === "number" ? (indexes.get(parent)?.[key] ?? key) : key;
  });
}

type Collected = { readonly names: Set<string>; readonly texts: Text[] };

function collect(value: unknown, path: Path, collected: Collected, indexes: WeakMap<unknown[], number[]>): void {
  if (typeof value === "string") {
    collected.names.add(value);
    collected.texts.push({ path, text: value });
  } else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) collect(inner, [...path, indexes.get(value)?.[index] ?? index], collected, indexes);
  } else if (isTree(value)) {
    for (const [key, inner] of Object.entries(value)) {
      collected.names.add(key);
      collect(inner, [...path, key], collected, indexes);
    }
  }
}

function at(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (isTree(value) ? (value as Record<string | number, unknown>)[key] : undefined), root);
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null;
}
