import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CliError } from "./cli-error.ts";

/** Where `--out` leads. Nobody's file is written over, and a directory that is not there may be a slip. */
export function newFileAt(out: string): string {
  const target = resolve(out);
  if (existsSync(target)) throw new CliError(`${target} is there already; choose another --out`);
  if (!existsSync(dirname(target))) throw new CliError(`there is no directory ${dirname(target)}`);
  return target;
}
