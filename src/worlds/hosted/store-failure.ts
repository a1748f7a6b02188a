import { messageOf } from "../../kernel/message-of.ts";
import { OutcomeUnknown } from "../../simulation/journal.ts";
import { LostChanges } from "../../store/file/lost-changes.ts";
import { asCorruptFile, CorruptFile } from "../../store/tables/journal-checksum.ts";
import { CHANGE_UNKNOWN, NOTHING_CHANGED, StoreUnavailable } from "../world-handle.ts";

/** Reports a failure of the storage, and what failed because of it. */
export type FailureReport = (error: unknown, failure: string) => void;

export function describeCorruption(world: string, error: CorruptFile): string {
  const restore = "restore a snapshot of it: standin snapshots restore <name>";
  if (error instanceof LostChanges)
    return `acknowledged changes of world "${world}" are missing: ${error.message}; ${restore}; or accept the loss: standin serve --accept-loss ${world}`;
  return `the file of world "${world}" is damaged (${error.message}); ${restore}`;
}

/** The error of work that failed in the store. Such work has changed nothing unless `done` says otherwise. */
export function storeUnavailable(failure: string, error: unknown, done = NOTHING_CHANGED): StoreUnavailable {
  const outcome = error instanceof OutcomeUnknown ? CHANGE_UNKNOWN : done;
  return new StoreUnavailable(`${failure}: ${messageOf(error)}`, { cause: error, outcome });
}

/** Runs work. Its failure, for example on a full disk, is reported and becomes `StoreUnavailable`. */
export async function orUnavailable(
  onFailure: FailureReport,
  failure: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    onFailure(error, failure);
    throw storeUnavailable(failure, error);
  }
}

/** The failure of work on a copy of a world's file. A damaged copy has a damaged origin. */
export function copyUnavailable(world: string, failure: string, error: unknown): StoreUnavailable {
  const corrupt = asCorruptFile(error);
  if (!(corrupt instanceof CorruptFile)) return storeUnavailable(failure, error);
  return new StoreUnavailable(describeCorruption(world, corrupt), { cause: corrupt });
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
