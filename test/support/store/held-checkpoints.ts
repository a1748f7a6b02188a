import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";
import BetterSqlite3 from "better-sqlite3";
import { onTestFinished } from "vitest";

type Request = { readonly path: string; readonly state: Int32Array };

const [QUEUED, RUNNING, ENDED] = [0, 1, 2];

/** Holds the checkpoints of the thread for them until the test runs them. */
export function holdCheckpoints() {
  const { Worker } = threads;
  const held: { readonly thread: EventEmitter; readonly request: Request }[] = [];
  const checkpoints = {
    /** The number of requests that the thread has not answered. */
    get held() {
      return held.length;
    },
    /** Lets the thread run the first one, if it may still begin. Returns whether it did. */
    run(work: (path: string) => void = checkpoint) {
      const { thread, request } = held.shift() ?? {};
      if (thread === undefined || request === undefined) throw new Error("no checkpoint was requested");
      const begins = Atomics.compareExchange(request.state, 0, QUEUED, RUNNING) === QUEUED;
      if (begins) {
        work(request.path);
        Atomics.store(request.state, 0, ENDED);
      }
      thread.emit("message");
      return begins;
    },
    /** Ends the thread, as a failure of it would. */
    fail() {
      held.splice(0).forEach(({ thread }) => {
        thread.emit("error", new Error("the thread failed"));
      });
    },
  };
  class HeldThread extends EventEmitter {
    ref() {}
    unref() {}
    terminate() {}
    postMessage(request: Request) {
      held.push({ thread: this, request });
    }
  }
  Object.assign(threads, { Worker: HeldThread });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(threads, { Worker });
    syncBuiltinESMExports();
  });
  return checkpoints;
}

function checkpoint(path: string): void {
  const sqlite = new BetterSqlite3(path);
  sqlite.pragma("wal_checkpoint(PASSIVE)");
  sqlite.close();
}
