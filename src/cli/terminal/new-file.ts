import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CliError } from "./cli-error.ts";

/** The whole path of a file that is to be written: one that is there already stays as it is. */
export function newFilePath(out: string): string {
  const target = resolve(out);
  if (existsSync(target)) throw new CliError(`${target} is there already; choose another --out`);
  return target;
}

/** The same, where a directory that is not there may be a slip. */
export function newFilePathInExistingDirectory(out: string): string {
  const target = newFilePath(out);
  if (!existsSync(dirname(target)))
    throw new CliError(`--out ${out}: there is no directory ${dirname(target)}`);
  return target;
}
