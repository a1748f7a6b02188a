import { Worker } from "node:worker_threads";

// A worker thread that sleeps for fractions of a millisecond. Timers have a resolution of 1 ms, and a busy
// loop would take a core from the server.
const TICKER = `
const { parentPort, workerData } = require("node:worker_threads");
const cell = new Int32Array(new SharedArrayBuffer(4));
for (;;) {
  Atomics.wait(cell, 0, 0, workerData);
  parentPort.postMessage(0);
}
`;

/** Calls `tick` about every `intervalMs`. Returns a function that stops it. */
export function startTicker(intervalMs: number, tick: () => void): () => Promise<unknown> {
  const worker = new Worker(TICKER, { eval: true, workerData: intervalMs });
  worker.on("message", tick);
  return () => worker.terminate();
}
