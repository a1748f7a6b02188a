import { fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { DestinationStream } from "pino";

/** Bytes of log text that may wait for a reader of stderr. More is dropped. */
export const MAX_WAITING_LOG_BYTES = 1024 * 1024;
/** Time that the end of the process waits for the reader of stderr. */
const FLUSH_MS = 200;
const STDERR = 2;

export type LogStream = DestinationStream & {
  /** Number of entries dropped because stderr was not read. */
  readonly dropped: number;
  /** Waits up to `FLUSH_MS` for entries to be written, and drops the rest. */
  close(): Promise<void>;
};

/**
 * stderr as a destination that never blocks. A pipe that is not read fills up, and a blocking write to it
 * would stop the server.
 */
export function openStderr(): LogStream {
  const stat = fstatSync(STDERR);
  return stat.isFIFO() || stat.isSocket()
    ? new DroppingStream(new Socket({ fd: STDERR, readable: false, writable: true }))
    : new FileStream();
}

/** A pipe, whose reader may be slow or closed. Exported for its test. */
export class DroppingStream implements LogStream {
  readonly #pipe: Socket;
  #dropped = 0;
  #droppedSinceReport = 0;

  constructor(pipe: Socket) {
    this.#pipe = pipe;
    // A closed reader must not end the server. Later entries are dropped.
    pipe.on("error", () => pipe.destroy());
    pipe.unref();
  }

  get dropped(): number {
    return this.#dropped;
  }

  write(entry: string): void {
    const pipe = this.#pipe;
    if (pipe.destroyed || pipe.writableLength + entry.length > MAX_WAITING_LOG_BYTES) {
      this.#dropped += 1;
      this.#droppedSinceReport += 1;
      return;
    }
    if (this.#droppedSinceReport > 0) {
      const msg = `dropped ${this.#droppedSinceReport} log entries, because stderr was not read`;
      this.#droppedSinceReport = 0;
      pipe.write(`${JSON.stringify({ level: 40, msg })}\n`);
    }
    pipe.write(entry);
  }

  async close(): Promise<void> {
    const pipe = this.#pipe;
    if (pipe.destroyed) return;
    const isRead = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(resolve, FLUSH_MS, false);
      pipe.write("", () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    // A write that nothing reads would keep the process running. Otherwise the pipe stays open: it has the
    // descriptor of `process.stderr`, where the reason of a failed start is printed.
    if (!isRead) pipe.destroy();
  }
}

/** A file or a terminal. */
class FileStream implements LogStream {
  #dropped = 0;

  get dropped(): number {
    return this.#dropped;
  }

  write(entry: string): void {
    try {
      writeSync(STDERR, entry);
    } catch {
      // Drops the entry: a failing log must not stop the server.
      this.#dropped += 1;
    }
  }

  async close(): Promise<void> {}
}
