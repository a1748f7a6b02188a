import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CliError } from "./cli-error.ts";

/** The absolute path of a file to create. Throws if the file exists, or is below a file. */
export function newFilePath(out: string): string {
  const target = resolve(out);
  if (existsSync(target)) throw new CliError(`--out: ${target} already exists; choose another file`);
  const parent = nearestExisting(dirname(target));
  if (!statSync(parent).isDirectory())
    throw new CliError(`--out ${out}: ${parent} is a file, so it contains no other files`);
  return target;
}

/**
 * Like `newFilePath`, but also throws if the parent directory does not exist, because that is probably a
 * typo.
 */
export function newFilePathInExistingDirectory(out: string): string {
  const target = newFilePath(out);
  if (!existsSync(dirname(target)))
    throw new CliError(`--out ${out}: directory ${dirname(target)} does not exist`);
  return target;
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
