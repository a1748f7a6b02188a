import type { Head } from "../store/file/head-mark.ts";
import { shadowRecordPath } from "./directory-layout.ts";
import { readRecordFile, writeRecordFile } from "./record-file.ts";

/** Record that `standin shadow --world` stores beside a world that it has written. */
export type ShadowRecord = {
  /**
   * Ends of the history that it has written: of the file that is written now, and of the one that it replaces. A world
   * with another end was changed, or went on by itself.
   */
  readonly heads: readonly Head[];
  /** The content of `agreement.json`. */
  readonly agreement: unknown;
};

/** A damaged file is as none: the world counts as one that `standin shadow` did not write. */
export function readShadowRecord(directory: string, world: string): ShadowRecord | undefined {
  const record = readRecordFile(shadowRecordPath(directory, world)) as
    | Partial<ShadowRecord>
    | null
    | undefined;
  return Array.isArray(record?.heads) ? (record as ShadowRecord) : undefined;
}

export function writeShadowRecord(directory: string, world: string, record: ShadowRecord): void {
  writeRecordFile(shadowRecordPath(directory, world), record);
}
