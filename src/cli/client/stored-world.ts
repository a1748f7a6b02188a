import { randomUUID } from "node:crypto";
import { createApp } from "../../app/create-app.ts";
import { openWorlds } from "../../app/open-worlds.ts";
import { CorruptFile } from "../../store/tables/journal-checksum.ts";
import { DataDirectory } from "../../worlds/data-directory.ts";
import { DEFAULT_WORLD } from "../../worlds/directory-layout.ts";
import { availableName, restoreBackupName, StoreUnavailable } from "../../worlds/world-handle.ts";
import { openDataDirectory } from "../history/open-data-directory.ts";
import { VERSION } from "../server/version.ts";
import { CliError } from "../terminal/cli-error.ts";
import { ControlApiError, type ControlCall, type ServerTarget, worldPath } from "./client.ts";

/** Runs the control API in this process, on the file of a world without a server. */
export async function withStoredWorld<T>(
  { data, world }: ServerTarget,
  use: (call: ControlCall) => Promise<T>,
): Promise<T> {
  // Do not create a world here: its first API key would never be printed.
  if (!DataDirectory.hasWorld(data, DEFAULT_WORLD)) {
    throw new CliError(`${data} has no world; create one with: standin serve --data ${data}`);
  }
  const directory = openDataDirectory(data);
  try {
    const rethrow = (error: unknown): never => {
      throw error;
    };
    const { worlds } = await wrapOpenErrors(() => openWorlds(directory, {}, rethrow));
    try {
      const app = createApp({
        worlds,
        version: VERSION,
        rateLimit: false,
        hosts: [],
        controlToken: undefined,
        onBug: rethrow,
      });
      return await use(async <A>(method: string, path: string, body?: unknown): Promise<A> => {
        const init =
          body === undefined
            ? { method }
            : { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
        const response = await app.request(`${worldPath(world)}/_sim${path}`, init);
        const result = (await response.json()) as A & { message: string };
        if (!response.ok) throw new ControlApiError(result.message, response.status);
        return result;
      });
    } finally {
      await worlds.close();
    }
  } finally {
    directory.release();
  }
}

/**
 * Restores a snapshot of a world without a server, even if the world is too corrupt to open.
 * Returns the name of the snapshot that stores the previous state.
 */
export async function restoreStoredWorld({ data, world }: ServerTarget, name: string): Promise<string> {
  const directory = openDataDirectory(data);
  try {
    if (!directory.snapshotNames(world).includes(name))
      throw new CliError(`there is no snapshot "${name}" of world "${world}"`);
    const wallNow = Date.now();
    const previousName = availableName(restoreBackupName(wallNow), (taken) =>
      directory.hasSnapshot(world, taken),
    );
    const fork = { historyId: randomUUID(), clock: { wallNow } };
    await wrapOpenErrors(() => directory.restore(world, name, previousName, fork));
    return previousName;
  } finally {
    directory.release();
  }
}

/** Turns errors about opening or writing files into errors for the user. */
async function wrapOpenErrors<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof CorruptFile) throw new CliError(error.message);
    throw error;
  }
}
