import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";

/**
 * The real path of an existing file or directory below `root`, or of `root` itself, links resolved; `undefined` for
 * everything else. `path` is relative to `directory`.
 */
export function realPathWithin(root: string, directory: string, path: string): string | undefined {
  const real = realPathOf(resolve(directory, path));
  const realRoot = realPathOf(root);
  return real !== undefined && realRoot !== undefined && isWithin(realRoot, real) ? real : undefined;
}

/**
 * Why a file that another file names may not be read; `undefined` for one below `root`, and for one that would be
 * there and does not exist. `path` is relative to `directory`.
 */
export function outsideProblem(root: string, directory: string, path: string): string | undefined {
  if (realPathWithin(root, directory, path) !== undefined) return undefined;
  const resolved = resolve(directory, path);
  if (isWithin(resolve(root), resolved) && realPathOf(resolved) === undefined) return undefined;
  return `${path} is outside ${root === "." ? "the current directory" : root}`;
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
