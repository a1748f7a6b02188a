import type { CorruptFile } from "../../store/journal/journal-checksum.ts";
import { StoreUnavailable } from "../world-handle.ts";

export function describeCorruption(world: string, { message }: CorruptFile): string {
  return `the file of world "${world}" is damaged (${message}); restore a snapshot of it: standin snapshots restore <name>`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Runs work without awaiting it. Its failure was already reported where it occurred, and the next transaction
 * meets it again.
 */
export function runInBackground(work: () => unknown): void {
  try {
    Promise.resolve(work()).catch(() => undefined);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
