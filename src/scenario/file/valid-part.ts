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

/** Unique paths, later list items first, so that the indexes of earlier ones stay valid. */
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

/** Removes the value at `path`; when it does not exist, its nearest existing parent. */
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
