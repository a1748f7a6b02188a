// @ts-nocheck
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { ScrubResult } from "../history/scrub-worlds.ts";

/** Verifies the worlds of a served data directory in a thread, so that requests are not blocked. */
export class Scrubber {
  readonly #directory: string;
  readonly #onResult: (result: ScrubResult) => void;
  #worker: Worker | undefined;

  constructor(directory: string, onResult: (result: ScrubResult) => void) {
    this.#directory = directory;
    this.#onResult = onResult;
  }

  /** Resolves when all worlds are verified or `stop` is called. Rejects if the thread fails. */
  async run(): Promise<void> {
    if (this.#worker !== undefined) return;
    const worker = new Worker(new URL("./scrub-worker.js", import.meta.url), { workerData: this.#directory });
    this.#worker = worker;
    worker.on("message", this.#onResult);
    try {
      await once(worker, "exit");
    } finally {
      this.#worker = undefined;
    }
  }

  /** Ends a running scrub, which reads the files. The next one begins again. */
  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }
}
