import type * as z from "zod";

type YamlPath = readonly (string | number)[];
type Tree = Record<string, unknown> | unknown[];
/** Every round takes something out; a file that is deeper than this is told in two goes. */
const MAX_ROUNDS = 20;

/** What of a file has the right shape, so that the rest of it can be looked at in the same go. */
export type ValidPart<T> = {
  readonly value: T;
  /** The first keys of the places at which something was taken out. */
  readonly removedKeys: ReadonlySet<string>;
  /** All text in what was taken out, at its place in the file. */
  readonly removedTexts: readonly RemovedText[];
  /** All names in what was taken out: something may refer to them. */
  readonly removedNames: ReadonlySet<string>;
  /** Where in the file stands what is at this place of `value`. */
  readonly sourcePathOf: (path: YamlPath) => YamlPath;
};

type RemovedText = { readonly path: YamlPath; readonly text: string };

/** Takes out what the schema refuses until it takes what is left; `undefined` where nothing is. */
export function extractValidPart<S extends z.ZodType>(
  schema: S,
  source: unknown,
  error: z.ZodError,
): ValidPart<z.output<S>> | undefined {
  const root: unknown = structuredClone(source);
  const originalIndexes = new WeakMap<unknown[], number[]>();
  const removedKeys = new Set<string>();
  const removedNames = new Set<string>();
  const removedTexts: RemovedText[] = [];
  let { issues } = error;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    for (const path of issuePaths(issues)) {
      const part = removeAt(root, path, originalIndexes);
      if (part === undefined) return undefined;
      removedKeys.add(String(path[0]));
      const key = part.path.at(-1);
      if (typeof key === "string") removedNames.add(key);
      collectContent(part.value, part.path, { removedNames, removedTexts }, originalIndexes);
    }
    const parsed = schema.safeParse(root);
    if (parsed.success)
      return {
        value: parsed.data,
        removedKeys,
        removedTexts,
        removedNames,
        sourcePathOf: (path) => toSourcePath(root, path, originalIndexes),
      };
    issues = parsed.error.issues;
  }
  return undefined;
}

/** Each once, and the last of a list first, so that those before it keep their places. */
function issuePaths(issues: readonly z.core.$ZodIssue[]): YamlPath[] {
  const paths = issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
    return issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path];
  });
  const unique = [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
  return unique.sort((one, other) => {
    const at = one.findIndex((part, index) => part !== other[index]);
    const [first, second] = [one[at], other[at]];
    return typeof first === "number" && typeof second === "number"
      ? second - first
      : other.length - one.length;
  });
}

/** What stands at `path`, or, where something is missing there, what it is missing in. */
function removeAt(
  root: unknown,
  path: YamlPath,
  originalIndexes: WeakMap<unknown[], number[]>,
): { readonly path: YamlPath; readonly value: unknown } | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = at(root, path.slice(0, length - 1));
    const key = path[length - 1] as string | number;
    const sourcePath = toSourcePath(root, path.slice(0, length), originalIndexes);
    if (Array.isArray(parent) && typeof key === "number" && key < parent.length) {
      const originals = originalIndexes.get(parent) ?? parent.map((_, index) => index);
      originalIndexes.set(parent, originals);
      originals.splice(key, 1);
      return { path: sourcePath, value: parent.splice(key, 1)[0] };
    }
    if (isTree(parent) && !Array.isArray(parent) && Object.hasOwn(parent, key)) {
      const value = parent[key];
      delete parent[key];
      return { path: sourcePath, value };
    }
  }
  return undefined;
}

function toSourcePath(
  root: unknown,
  path: YamlPath,
  originalIndexes: WeakMap<unknown[], number[]>,
): YamlPath {
  return path.map((key, depth) => {
    const parent = at(root, path.slice(0, depth));
    return Array.isArray(parent) && typeof key === "number"
      ? (originalIndexes.get(parent)?.[key] ?? key)
      : key;
  });
}

type RemovedContent = { readonly removedNames: Set<string>; readonly removedTexts: RemovedText[] };

function collectContent(
  value: unknown,
  path: YamlPath,
  removed: RemovedContent,
  originalIndexes: WeakMap<unknown[], number[]>,
): void {
  if (typeof value === "string") {
    removed.removedNames.add(value);
    removed.removedTexts.push({ path, text: value });
  } else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries())
      collectContent(
        inner,
        [...path, originalIndexes.get(value)?.[index] ?? index],
        removed,
        originalIndexes,
      );
  } else if (isTree(value)) {
    for (const [key, inner] of Object.entries(value)) {
      removed.removedNames.add(key);
      collectContent(inner, [...path, key], removed, originalIndexes);
    }
  }
}

function at(root: unknown, path: YamlPath): unknown {
  return path.reduce<unknown>(
    (value, key) => (isTree(value) ? (value as Record<string | number, unknown>)[key] : undefined),
    root,
  );
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null;
}
