import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import type { World } from "../../platform/world/world.ts";
import { takeCheckpoint } from "../../simulation/checkpoint.ts";
import type { HistoryPoint } from "../../simulation/replay.ts";
import { moveIntoPlace, removeDatabase } from "../../store/file/atomic-file.ts";
import { divergeCopy } from "../../store/file/diverge-copy.ts";
import { vacuumCopy } from "../../store/file/open-read-only.ts";
import { openStore } from "../../store/file/open-world.ts";
import { redactSecrets } from "../../store/file/redact-secrets.ts";
import { createUnfinished } from "../../traffic/recorded/trace-files/unfinished-file.ts";
import { wrapFileErrors } from "./world-database.ts";

type CopiedWorld = {
  /** The point that the copy ends at, and the world there. */
  readonly rewindTo: HistoryPoint & { readonly world: World };
  /** The name of the world that is copied. */
  readonly originWorld: string;
  /** Whether it has the request log. The secrets in it were not stored. */
  readonly keepsRequests?: boolean;
  /** Whether it has the events before that point. */
  readonly withHistory: boolean;
};

const OPTIONS = { migrationsFolder: MIGRATIONS_FOLDER };

/** Writes the world in a file as of a point in its history, without secrets and with a manual clock. */
export async function copyWorldAt(file: string, target: string, copied: CopiedWorld): Promise<void> {
  const copy = await unfinishedWorldAt(file, target, copied);
  try {
    wrapFileErrors(target, () => moveIntoPlace(copy, target));
  } finally {
    removeDatabase(copy);
  }
}

/** As `copyWorldAt`, but returns the path of a file beside `target`, which the caller moves there or removes. */
export async function unfinishedWorldAt(
  file: string,
  target: string,
  { rewindTo, originWorld, keepsRequests = false, withHistory }: CopiedWorld,
): Promise<string> {
  const copy = wrapFileErrors(target, () => createUnfinished(target, 0o600));
  try {
    wrapFileErrors(target, () => vacuumCopy(file, copy));
    await divergeCopy(copy, OPTIONS, {
      historyId: randomUUID(),
      originWorld,
      clock: { mode: "manual", factor: 0, wallNow: Date.now() },
      rewindTo,
    });
    if (!withHistory) await deleteHistory(copy);
    wrapFileErrors(target, () => redactSecrets(copy, { ...OPTIONS, keepsRequests }));
    return copy;
  } catch (error) {
    removeDatabase(copy);
    throw error;
  }
}

async function deleteHistory(copy: string): Promise<void> {
  const { journal, world, close } = openStore(copy, OPTIONS);
  try {
    await journal.storeCheckpoint(takeCheckpoint(world));
    journal.truncate({ eventsUpTo: world.seq, operationsBefore: 0 });
    while (!journal.prune()) await nextTurn();
  } finally {
    close();
  }
}
