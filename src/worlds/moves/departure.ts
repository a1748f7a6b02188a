import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import {
  LOG_PART,
  type MoveDestination,
  type MovedSecret,
  type PartName,
  type PartSum,
} from "./world-move.ts";

/** Bytes of one call to the destination. */
const CHUNK_BYTES = 4 * 1024 ** 2;
/** While the world is in service, its log is sent until at most this is left, or this often. */
const SMALL_REST_BYTES = 256 * 1024;
const MAX_LOG_PASSES = 20;

type SendPart = (offset: number, bytes: Uint8Array) => Promise<void>;

/** The files of one world, sent to another server in parts. */
export class Departure {
  readonly #destination: MoveDestination;
  readonly #signal: AbortSignal;
  readonly #sums: PartSum[] = [];
  readonly #log: PartSender;
  sentBytes = 0;

  constructor(destination: MoveDestination, logPath: string, signal: AbortSignal) {
    this.#destination = destination;
    this.#signal = signal;
    this.#log = this.#sender(LOG_PART, logPath);
  }

  /** Sends a file that does not change. */
  async sendFile(part: PartName, path: string, takenAt?: number): Promise<void> {
    const sender = this.#sender(part, path);
    try {
      await sender.sendRest();
      this.#sums.push({ ...sender.sum(), takenAt });
    } finally {
      await sender.close();
    }
  }

  /** Lets the destination read what it has, while the world is in service here. */
  async prepareDestination(secrets: readonly MovedSecret[]): Promise<void> {
    this.#signal.throwIfAborted();
    await this.#destination.prepare({ parts: this.#sums, secrets });
  }

  /** Sends the log while it grows, until little is left. */
  async sendGrowingLog(): Promise<void> {
    for (let pass = 0; pass < MAX_LOG_PASSES; pass += 1)
      if ((await this.#log.sendRest()) <= SMALL_REST_BYTES) return;
  }

  /** Sends the rest of the log, which does not grow any more. Returns what was sent of all parts. */
  async finish(): Promise<readonly PartSum[]> {
    await this.#log.sendRest();
    return [...this.#sums, this.#log.sum()];
  }

  async close(): Promise<void> {
    await this.#log.close();
  }

  #sender(part: PartName, path: string): PartSender {
    return new PartSender(
      path,
      async (offset, bytes) => {
        this.#signal.throwIfAborted();
        await this.#destination.write(part, offset, bytes);
        this.sentBytes += bytes.length;
      },
      part,
    );
  }
}

/** Sends one file from its beginning on, and continues where it ended. */
class PartSender {
  readonly #path: string;
  readonly #send: SendPart;
  readonly #part: PartName;
  readonly #hash = createHash("sha256");
  #file: FileHandle | undefined;
  #sent = 0;

  constructor(path: string, send: SendPart, part: PartName) {
    this.#path = path;
    this.#send = send;
    this.#part = part;
  }

  /** Returns the number of bytes that were sent. A file that does not exist is empty. */
  async sendRest(): Promise<number> {
    this.#file ??= await openIfExists(this.#path);
    const before = this.#sent;
    for (;;) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = (await this.#file?.read(buffer, 0, CHUNK_BYTES, this.#sent)) ?? { bytesRead: 0 };
      if (bytesRead === 0) return this.#sent - before;
      const bytes = buffer.subarray(0, bytesRead);
      this.#hash.update(bytes);
      await this.#send(this.#sent, bytes);
      this.#sent += bytesRead;
    }
  }

  sum(): PartSum {
    return { name: this.#part, bytes: this.#sent, sha256: this.#hash.digest("hex") };
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

async function openIfExists(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
