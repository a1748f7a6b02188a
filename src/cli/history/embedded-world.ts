import { readFileSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { MAX } from "../../input-limits/limits.ts";
import { codeOf } from "../../kernel/error-code.ts";
import { removeDatabase } from "../../store/file/atomic-file.ts";
import type { PendingWorld } from "./failure-files.ts";

/** Larger world files are not embedded: the scenario would be unreadable. */
export const MAX_EMBEDDED_BYTES = MAX.embeddedWorld;
const PREFIX = "data:application/gzip;base64,";
const LINE_LENGTH = 100;

/** A world file as the value of `world.file`; `undefined` if it is too large. */
export function embedWorld(path: string): string | undefined {
  if (statSync(path).size > MAX_EMBEDDED_BYTES) return undefined;
  const base64 = gzipSync(readFileSync(path)).toString("base64");
  return [PREFIX, ...(base64.match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [])].join("\n");
}

/** `embedWorld`, which then removes the file. */
export function takeEmbedded(path: string): string | undefined {
  const embedded = embedWorld(path);
  removeDatabase(path);
  return embedded;
}

/**
 * For a scenario file in the directory of a world: the embedded world, whose file is then removed, or the name of a file
 * that is too large.
 */
export function embedOrKeep({ path, unfinished }: PendingWorld): string {
  const embedded = embedWorld(unfinished);
  if (embedded !== undefined) removeDatabase(unfinished);
  return embedded ?? basename(path);
}

export function isEmbeddedWorld(file: string): boolean {
  return file.startsWith(PREFIX);
}

/** Writes the embedded world to a file. Returns false if the value is damaged. */
export function extractWorld(file: string, path: string): boolean {
  const base64 = file.slice(PREFIX.length).replaceAll(/\s/g, "");
  try {
    writeFileSync(path, gunzipSync(Buffer.from(base64, "base64"), { maxOutputLength: MAX_EMBEDDED_BYTES }));
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE") return false;
    throw error;
  }
}
