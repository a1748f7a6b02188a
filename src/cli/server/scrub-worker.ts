import { parentPort, workerData } from "node:worker_threads";
import { scrubWorlds } from "../history/scrub-worlds.ts";

/** The thread of a scrub. It sends the result of each world. */
export async function scrubJob(): Promise<void> {
  await scrubWorlds(workerData as string, (result) => parentPort?.postMessage(result));
}
