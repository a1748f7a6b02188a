import { Worker } from "node:worker_threads";

// A thread of its own that sleeps to a fraction of a millisecond and says when it is over: what timers cannot do, and what
// spinning would take a core for that the server and the disk need.
const PACER = `
const { parentPort, workerData } = require("node:worker_threads");
const cell = new Int32Array(new SharedArrayBuffer(4));
for (;;) {
  Atomics.wait(cell, 0, 0, workerData);
  parentPort.postMessage(0);
}
`;

/** Calls `tick` about every so many milliseconds until it is stopped; gives what stops it. */
export function startPacer(everyMs: number, tick: () => void): () => Promise<unknown> {
  const worker = new Worker(PACER, { eval: true, workerData: everyMs });
  worker.on("message", tick);
  return () => worker.terminate();
}
