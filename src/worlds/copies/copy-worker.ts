import { parentPort, workerData } from "node:worker_threads";
import { openSqlite } from "../../store/file/sqlite-connection.ts";
import { type CopyCompletion, completeCopy } from "./complete-copy.ts";
import type { CopyMessage } from "./copy-thread.ts";

/** The thread of a copy. It sends that it has begun, and then the outcome. */
export async function copyJob(): Promise<void> {
  // SQLite is loaded with the first file. A thread that cannot load it ends before it has begun.
  openSqlite(":memory:").close();
  send({ hasBegun: true });
  try {
    send({ result: await completeCopy(workerData as CopyCompletion) });
  } catch (error) {
    const { name, message, code } = error as NodeJS.ErrnoException;
    send({ error: { name, message, code } });
  }
}

function send(message: CopyMessage): void {
  parentPort?.postMessage(message);
}
