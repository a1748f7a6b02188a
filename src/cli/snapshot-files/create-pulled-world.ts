import { randomUUID } from "node:crypto";
import { copyFileSync } from "node:fs";
import { copyFile, open } from "node:fs/promises";
import { httpDestination } from "../../app/http-destination.ts";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import { messageOf } from "../../kernel/message-of.ts";
import { divergeCopy } from "../../store/file/diverge-copy.ts";
import { readFileInfo } from "../../store/file/world-snapshot.ts";
import type { MoveDestination } from "../../worlds/moves/world-move.ts";
import { type ControlClient, findServer } from "../client/client.ts";
import { openDataDirectory } from "../history/open-data-directory.ts";
import { toFileError, wrapFileErrors } from "../history/world-database.ts";
import { CliError } from "../terminal/cli-error.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { digestOf } from "./file-digest.ts";

/** Bytes of one call to a server. */
const CHUNK_BYTES = 4 * 1024 ** 2;

type NewWorld = { readonly data: string; readonly world: string; readonly controlToken?: string };

/**
 * Creates a world from the file of a snapshot, with a history of its own that continues at the snapshot. A running
 * server of the data directory gets it like a world that moves there.
 */
export async function createPulledWorld(file: string, target: NewWorld, signal: AbortSignal): Promise<void> {
  const { data, world } = target;
  const copy = `${file}.new`;
  await copyFile(file, copy);
  const fork = { historyId: randomUUID(), originWorld: world, clock: { wallNow: Date.now() } };
  await divergeCopy(copy, { migrationsFolder: MIGRATIONS_FOLDER }, fork).catch((error: unknown) => {
    throw toFileError(file, error);
  });
  if (signal.aborted) throw new CliError("interrupted; nothing was changed");
  const server = await findServer({ ...target, world: "default" });
  if (server === undefined) storeWorld(copy, data, world);
  else await sendWorld(copy, world, server, signal);
}

function storeWorld(file: string, data: string, world: string): void {
  const directory = openDataDirectory(data);
  try {
    const mark = directory.moves.marks.get(world);
    if (mark?.isDone === false)
      throw new CliError(
        `it is unknown whether world "${world}" has moved to ${mark.to}; start the server and repeat: standin worlds move ${world} --to ${mark.to}`,
      );
    wrapFileErrors(data, () => directory.importWorld(world, (path) => copyFileSync(file, path)));
    directory.moves.marks.delete(world);
  } finally {
    directory.release();
  }
}

async function sendWorld(
  file: string,
  world: string,
  { controlUrl, token }: ControlClient,
  signal: AbortSignal,
): Promise<void> {
  const { historyId, seq } = readFileInfo(file);
  const progress = showProgress(`sending world ${world} to the server`);
  let destination: MoveDestination | undefined;
  try {
    destination = await httpDestination({ world, url: new URL(controlUrl).origin, token });
    const sha256 = await digestOf(file, signal, async () => undefined);
    const bytes = await sendFile(file, historyId, destination, async (done, of) => {
      if (signal.aborted) throw new CliError("interrupted; nothing was changed");
      await progress.report(done, of);
    });
    await destination.complete({ historyId, seq, parts: [{ name: "file", bytes, sha256 }], secrets: [] });
  } catch (error) {
    // The answer to a completion may be lost.
    if ((await destination?.settle(historyId).catch(() => false)) === true) return;
    throw new CliError(messageOf(error));
  } finally {
    progress.end();
  }
}

/** Returns the number of bytes that were sent. */
async function sendFile(
  path: string,
  historyId: string,
  destination: MoveDestination,
  report: (done: number, of: number) => Promise<void>,
): Promise<number> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    await destination.begin({ historyId, sizeBytes: size });
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let sent = 0; sent < size; ) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, sent);
      await destination.write("file", sent, buffer.subarray(0, bytesRead));
      sent += bytesRead;
      await report(sent, size);
    }
    return size;
  } finally {
    await file.close();
  }
}
