// @ts-nocheck
import type * as z from "zod";

type YamlPath = readonly (string | number)[];
type Tree = Record<string, unknown> | unknown[];
/** Each round removes something. Errors nested deeper than this are reported in a second attempt. */
const MAX_ROUNDS = 20;

/** The part of a file with a valid shape, so that it can be checked along with the rest. */
export type ValidPart<T> = {
  readonly value: T;
  /** The top-level keys under which something was removed. */
  readonly removedKeys: ReadonlySet<string>;
  /** All strings in the removed parts, with their paths in the file. */
  readonly removedTexts: readonly RemovedText[];
  /** All names in the removed parts; the rest of the file may refer to them. */
  readonly removedNames: ReadonlySet<string>;
  /** The path in the file of a path in `value`. */
  readonly sourcePathOf: (path: YamlPath) => YamlPath;
};

type RemovedText = { readonly path: YamlPath; readonly text: string };

/** Removes what the schema rejects until it accepts the rest; `undefined` when nothing remains. */
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
    const paths = removedPaths(root, issues);
    if (paths === undefined) return undefined;
    for (const path of paths) {
      const part = removeAt(root, path, originalIndexes);
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

/**
 * The paths of what the issues are about: a value, or its nearest existing parent if it is missing. Without
 * paths inside of others, and later list items first, so that the indexes of earlier ones stay valid.
 * `undefined` if one of them is the whole file.
 */
function removedPaths(root: unknown, issues: readonly z.core.$ZodIssue[]): YamlPath[] | undefined {
  const unique = new Map<string, YamlPath>();
  for (const path of issues.flatMap(pathsOf)) {
    const existing = nearestExisting(root, path);
    if (existing.length === 0) return undefined;
    unique.set(JSON.stringify(existing), existing);
  }
  const isInsideOther = (path: YamlPath) =>
    path.some((_, length) => length > 0 && unique.has(JSON.stringify(path.slice(0, length))));
  const outermost = [...unique.values()].filter((path) => !isInsideOther(path));
  return outermost.sort((one, other) => {
    const at = one.findIndex((part, index) => part !== other[index]);
    const [first, second] = [one[at], other[at]];
    return typeof first === "number" && typeof second === "number" ? second - first : 0;
  });
}

function pathsOf(issue: z.core.$ZodIssue): YamlPath[] {
  const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
  return issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path];
}

function nearestExisting(root: unknown, path: YamlPath): YamlPath {
  let value = root;
  for (const [depth, key] of path.entries()) {
    if (!isTree(value) || !Object.hasOwn(value, key)) return path.slice(0, depth);
    value = (value as Record<string | number, unknown>)[key];
  }
  return path;
}

/** Removes the value at `path`, which exists. */
function removeAt(
  root: unknown,
  path: YamlPath,
  originalIndexes: WeakMap<unknown[], number[]>,
): { readonly path: YamlPath; readonly value: unknown } {
  const parent = at(root, path.slice(0, -1)) as Tree;
  const key = path.at(-1) as string | number;
  const sourcePath = toSourcePath(root, path, originalIndexes);
  if (Array.isArray(parent)) {
    const originals = originalIndexes.get(parent) ?? parent.map((_, index) => index);
    originalIndexes.set(parent, originals);
    originals.splice(key as number, 1);
    return { path: sourcePath, value: parent.splice(key as number, 1)[0] };
  }
  const value = parent[key];
  delete parent[key];
  return { path: sourcePath, value };
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
