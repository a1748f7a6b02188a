import { once } from "node:events";
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The beginning of the names of directories of standin in the temporary directory. */
const PREFIX = "standin-";
/** The socket in a directory. It accepts connections as long as the process that uses the directory lives. */
const CLAIM = "alive";
/** A process that is about to listen refuses connections, too. */
const SECOND_LOOK_MS = 100;

/**
 * Claims a directory of the temporary directory until `close` or until this process ends, by whatever signal. In contrast
 * to a pid, a socket also tells a process of another container from one that has ended.
 */
export function claimDirectory(directory: string): Pick<Server, "close"> {
  const server = createServer((connection) => connection.destroy());
  // A directory without a claim is never removed.
  server.on("error", () => undefined);
  server.listen(join(directory, CLAIM)).unref();
  return server;
}

/** Removes the directories of this user that processes have left which were killed. */
export async function removeUnclaimedDirectories(): Promise<void> {
  const directory = tmpdir();
  const names = readdirSync(directory).filter((name) => name.startsWith(PREFIX));
  for (const path of names.map((name) => join(directory, name))) {
    if (!isOwn(path) || (await isClaimed(path))) continue;
    await sleep(SECOND_LOOK_MS);
    if (isOwn(path) && !(await isClaimed(path))) rmSync(path, { recursive: true, force: true });
  }
}

/** Whether it is a directory of this user that was claimed. */
function isOwn(path: string): boolean {
  const [directory, claim] = [path, join(path, CLAIM)].map((name) => {
    try {
      return lstatSync(name, { throwIfNoEntry: false });
    } catch {
      // A directory of another user.
      return undefined;
    }
  });
  const uid = process.getuid?.();
  return directory?.isDirectory() === true && directory.uid === uid && claim?.isSocket() === true;
}

async function isClaimed(path: string): Promise<boolean> {
  const connection = connect(join(path, CLAIM));
  try {
    await once(connection, "connect");
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ECONNREFUSED";
  } finally {
    connection.destroy();
  }
}
