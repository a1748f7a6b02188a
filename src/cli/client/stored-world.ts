import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { createApp, MIGRATIONS_FOLDER, openWorlds } from "../../app/compose.ts";
import { Damaged } from "../../store/tables/checksum.ts";
import { DataDirectory, DEFAULT_WORLD, DirectoryInUse } from "../../worlds/data-directory.ts";
import { beforeRestore, freeName, StoreUnavailable } from "../../worlds/world-handle.ts";
import { VERSION } from "../server/version.ts";
import { CliError } from "../terminal/cli-error.ts";
import { type Call, pathOf, RefusedCall, type Target } from "./client.ts";

/** The control API of a world that nobody serves, straight on its file. */
export async function withStoredWorld<T>({ data, world }: Target, use: (call: Call) => Promise<T>): Promise<T> {
  // Looking for keys must not make a world whose first key nobody sees.
  if (!DataDirectory.hasWorld(data, DEFAULT_WORLD)) {
    throw new CliError(`there is no world in ${resolve(data)}; make one with: standin serve --data ${data}`);
  }
  const directory = openDirectory(data);
  try {
    const failed = (error: unknown): never => {
      throw error;
    };
    const { worlds } = await opening(() => openWorlds(directory, {}, failed));
    try {
      const app = createApp({ worlds, version: VERSION, rateLimit: false, hosts: [], controlToken: undefined, onBug: failed });
      return await use(async <A>(method: string, path: string, body?: unknown): Promise<A> => {
        const init =
          body === undefined ? { method } : { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
        const response = await app.request(`${pathOf(world)}/_sim${path}`, init);
        const answer = (await response.json()) as A & { message: string };
        if (!response.ok) throw new RefusedCall(answer.message, response.status);
        return answer;
      });
    } finally {
      await worlds.close();
    }
  } finally {
    directory.release();
  }
}

/** Takes a world that nobody serves back to a snapshot, be it too damaged to be opened. Gives what the former one is kept as. */
export async function restoreStoredWorld({ data, world }: Target, name: string): Promise<string> {
  const directory = openDirectory(data);
  try {
    if (!directory.snapshots(world).some((snapshot) => snapshot.name === name))
      throw new CliError(`there is no snapshot "${name}" of world "${world}"`);
    const wallNow = Date.now();
    const former = freeName(beforeRestore(wallNow), (taken) => directory.hasSnapshot(world, taken));
    const fork = { historyId: randomUUID(), clock: { wallNow } };
    await opening(() => directory.restore(world, name, former, fork));
    return former;
  } finally {
    directory.release();
  }
}

/** What cannot be opened or written is a message for the user. */
async function opening<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof Damaged) throw new CliError(error.message);
    throw error;
  }
}

function openDirectory(data: string): DataDirectory {
  try {
    return new DataDirectory(resolve(data), MIGRATIONS_FOLDER);
  } catch (error) {
    if (error instanceof DirectoryInUse) throw new CliError(error.message);
    throw error;
  }
}
