import { createRequire } from "node:module";
import { SHARE_ENV, Worker } from "node:worker_threads";
import type { RequestCheckpoint, RequestedCheckpoint } from "../journal/log-sync.ts";
import { DRIVER_IS_AT_RISK } from "./sqlite-connection.ts";

const QUEUED = 0;
const RUNNING = 1;
const ENDED = 2;

/** A checkpoint copies a few megabytes. A thread that needs more time for it has probably died. */
const MAX_WAIT_MS = 30_000;

/** As text, because each build of the package loads the scripts of its threads in another way. */
const SCRIPT = `"use strict";
const { parentPort, workerData } = require("node:worker_threads");
const Database = require(workerData.sqlite);
const retained = [];
parentPort.on("message", ({ path, state }) => {
  if (Atomics.compareExchange(state, 0, ${QUEUED}, ${RUNNING}) === ${QUEUED}) {
    let sqlite;
    try {
      sqlite = new Database(path, { fileMustExist: true });
      if (workerData.isAtRisk) retained.push(sqlite);
      sqlite.exec("PRAGMA trusted_schema = OFF");
      sqlite.exec("PRAGMA synchronous = NORMAL");
      sqlite.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch {
      // The log still contains everything.
    } finally {
      try {
        sqlite?.close();
      } finally {
        Atomics.store(state, 0, ${ENDED});
        Atomics.notify(state, 0);
      }
    }
  }
  parentPort.postMessage(undefined);
});
`;

/**
 * The thread that moves the write-ahead logs of this process into their files, one after the other, so that no other
 * thread waits for the disk. It opens a connection for each checkpoint, and closes it before the checkpoint ends.
 */
class CheckpointThread {
  readonly #worker: Worker;
  readonly #pending: { readonly state: Int32Array; readonly resolve: () => void }[] = [];
  readonly #users = new Set<object>();

  constructor() {
    const sqlite = createRequire(import.meta.url).resolve("better-sqlite3");
    this.#worker = new Worker(SCRIPT, {
      ...{ eval: true, name: "checkpoints", env: SHARE_ENV, execArgv: [] },
      workerData: { sqlite, isAtRisk: DRIVER_IS_AT_RISK },
    });
    this.#worker.unref();
    this.#worker.on("message", () => {
      this.#pending.shift()?.resolve();
      if (this.#pending.length === 0) this.#worker.unref();
    });
    // Without the thread, checkpoints run where they are requested.
    this.#worker.on("error", () => this.#abandon());
    this.#worker.on("exit", () => this.#abandon());
  }

  /** Nothing more can be expected of the thread. */
  #abandon(): void {
    if (current === this) current = undefined;
    for (const { state, resolve } of this.#pending.splice(0)) {
      Atomics.store(state, 0, ENDED);
      resolve();
    }
  }

  request(user: object, path: string, maxWaitMs: number): RequestedCheckpoint {
    this.#users.add(user);
    const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const ended = new Promise<void>((resolve) => {
      this.#pending.push({ state, resolve });
    });
    // The process must not end while somebody waits.
    this.#worker.ref();
    this.#worker.postMessage({ path, state });
    return {
      ended,
      end: () => {
        const reached = Atomics.compareExchange(state, 0, QUEUED, ENDED);
        // If it is only slow, nothing is lost: SQLite copies what was committed before it began, after a sync of its own.
        if (reached === RUNNING && Atomics.wait(state, 0, RUNNING, maxWaitMs) === "timed-out") {
          this.#abandon();
          void this.#worker.terminate();
        }
        return reached !== QUEUED;
      },
    };
  }

  /** Ends the thread after its last user. */
  release(user: object): void {
    if (!this.#users.delete(user) || this.#users.size > 0) return;
    if (current === this) current = undefined;
    void this.#worker.terminate();
  }
}

/** The thread of this process; `undefined` while no open world has needed it. */
let current: CheckpointThread | undefined;

/**
 * Requests checkpoints of one file. `checkUsable` throws if another file is at its path, to which the thread must not
 * copy. `release` must be called when the file is closed.
 */
export function requestCheckpoints(
  path: string,
  checkUsable: () => void = () => undefined,
  maxWaitMs = MAX_WAIT_MS,
): RequestCheckpoint {
  const user = {};
  let thread: CheckpointThread | undefined;
  return {
    request() {
      try {
        checkUsable();
        current ??= new CheckpointThread();
        if (thread !== current) thread?.release(user);
        thread = current;
        return thread.request(user, path, maxWaitMs);
      } catch {
        // Also, Node can be started without the permission to create threads.
        return undefined;
      }
    },
    release: () => thread?.release(user),
  };
}
