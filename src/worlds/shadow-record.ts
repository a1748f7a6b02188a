import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { moveIntoPlace, temporaryPath } from "../store/file/atomic-file.ts";
import type { Head } from "../store/file/head-mark.ts";
import { shadowRecordPath } from "./directory-layout.ts";

/** What `standin shadow --world` stores beside a world that it has written. */
export type ShadowRecord = {
  /**
   * Ends of the history that it has written: of the file that is written now, and of the one that it replaces. A world
   * with another end was changed, or went on by itself.
   */
  readonly heads: readonly Head[];
  /** The content of `agreement.json`. */
  readonly agreement: unknown;
};

export function readShadowRecord(directory: string, world: string): ShadowRecord | undefined {
  let text: string;
  try {
    text = readFileSync(shadowRecordPath(directory, world), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return parseRecord(text);
}

/** A damaged file is as none: the world counts as one that `standin shadow` did not write. */
function parseRecord(text: string): ShadowRecord | undefined {
  try {
    const record = JSON.parse(text) as ShadowRecord | null;
    return Array.isArray(record?.heads) ? (record ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

export function writeShadowRecord(directory: string, world: string, record: ShadowRecord): void {
  const path = shadowRecordPath(directory, world);
  const temporary = temporaryPath(path);
  try {
    writeFileSync(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    moveIntoPlace(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}
