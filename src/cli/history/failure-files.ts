import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { parse } from "yaml";
import { readText } from "../../app/read-text.ts";
import { MAX } from "../../input-limits/limits.ts";
import { type Failed, failed } from "../../scenario/file/failed-schema.ts";
import { databaseFiles, moveIntoPlace, removeDatabase } from "../../store/file/atomic-file.ts";
import { CliError } from "../terminal/cli-error.ts";

/** The worlds that may be next to the file of a failure: at its instant, and before its first step. */
type WorldBeside = "failed" | "world";
/**
 * A world of a failure whose file is not written yet. It is moved to `path` after that file, so a process that is killed
 * leaves no world there that no failure states, which later failures would not replace.
 */
export type PendingWorld = { readonly path: string; readonly unfinished: string };

const WORLDS: readonly WorldBeside[] = ["failed", "world"];
const CHUNK_BYTES = 2 ** 20;

/** Path of the world that belongs to the file of a failure. */
export function worldBeside(path: string, ending: WorldBeside): string {
  return `${path.replace(/\.ya?ml$/, "")}.${ending}.sqlite`;
}

/**
 * The first file that a new failure at `path` would replace and that no earlier one wrote. `worlds`: those that it may
 * write.
 */
export function foreignFile(path: string, worlds: readonly WorldBeside[]): string | undefined {
  const earlier = readFailure(path);
  if (earlier === undefined && existsSync(path)) return path;
  for (const world of worlds.map((ending) => worldBeside(path, ending)))
    if (!isWrittenWith(earlier, world)) {
      const found = databaseFiles(world).find((file) => existsSync(file));
      if (found !== undefined) return found;
    }
  return undefined;
}

/**
 * Removes the file of an earlier failure, and the worlds that were written with it. Throws `CliError`, and removes
 * nothing, if a new failure would replace another file.
 */
export function removeEarlierFailure(path: string, worlds: readonly WorldBeside[]): void {
  const foreign = foreignFile(path, worlds);
  if (foreign !== undefined)
    throw new CliError(
      `${foreign}: expected a file that an earlier failure wrote, which this one replaces; move the file, or write failures to another directory`,
    );
  const earlier = readFailure(path);
  if (earlier === undefined) return;
  for (const world of WORLDS.map((ending) => worldBeside(path, ending)))
    if (isWrittenWith(earlier, world)) removeDatabase(world);
  rmSync(path);
}

/** The names and checksums of those worlds that will be files beside the failure, for `failed.files`. */
export function writtenFiles(worlds: readonly PendingWorld[]): Pick<Failed, "files"> {
  const files = worlds.filter(({ unfinished }) => existsSync(unfinished));
  if (files.length === 0) return {};
  return {
    files: Object.fromEntries(files.map(({ path, unfinished }) => [basename(path), sha256Of(unfinished)])),
  };
}

/** Moves those worlds into place that are not in the file of the failure. */
export function placeWorlds(worlds: readonly PendingWorld[]): void {
  for (const { path, unfinished } of worlds) if (existsSync(unfinished)) moveIntoPlace(unfinished, path);
}

/** Parses the failure in the file; `undefined` if the file does not describe a failure. */
function readFailure(path: string): Failed | undefined {
  try {
    const scenario: unknown = parse(readText(path, MAX.scenarioFile));
    return failed.safeParse((scenario as { readonly failed?: unknown } | null)?.failed).data;
  } catch {
    // The file is absent, a directory, too large or not YAML, so no failure wrote it.
    return undefined;
  }
}

function isWrittenWith(earlier: Failed | undefined, world: string): boolean {
  const sha256 = earlier?.files?.[basename(world)];
  return sha256 !== undefined && existsSync(world) && sha256Of(world) === sha256;
}

function sha256Of(path: string): string {
  const hash = createHash("sha256");
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk))
      hash.update(chunk.subarray(0, read));
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}
