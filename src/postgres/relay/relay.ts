import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { CatalogChanges, mayBeCatalogTag } from "../statements/catalog-changes.ts";
import { MessageScanner } from "./message-scanner.ts";

const IDLE = 0x49; // "I": outside of a transaction

// Types of messages from the client.
const COPY_DONE = 0x63; // "c"
const COPY_FAIL = 0x66; // "f"
const FUNCTION_CALL = 0x46; // "F"
const QUERY = 0x51; // "Q"
const SYNC = 0x53; // "S"
const TERMINATE = 0x58; // "X"

// Types of messages from the engine.
const COMMAND_COMPLETE = 0x43; // "C"
const COPY_IN_RESPONSE = 0x47; // "G"
const READY_FOR_QUERY = 0x5a; // "Z"

export type RelayListener = {
  /**
   * Called before the first message of new work is sent to the engine. The client is not read until it
   * returns, or its promise resolves; `false` discards the message. `messages`: its beginning, at least.
   */
  beforeWork(messages: Buffer): boolean | Promise<boolean>;
  /** `beforeWork` has thrown or rejected. The relay closes afterwards. */
  onFailure(error: unknown): void;
  /** All work was answered, and no transaction is open. */
  afterWork(): void;
  /** Bytes of the engine were sent to the client. */
  onSent(bytes: Buffer): void;
  /**
   * A statement, or its transaction, has changed roles or databases, or has executed a block that may have. Resolves when the
   * world has learned that.
   */
  onCatalogChange(isCertain: boolean): Promise<void>;
  onClosed(): void;
};

/**
 * Passes bytes between a client and an engine. It reads the types and lengths of the messages, to know when
 * the session works and when it is idle, but does not change them.
 */
export class Relay {
  readonly #client: Duplex;
  readonly #engine: Socket;
  readonly #listener: RelayListener;
  readonly #fromClient = new MessageScanner((type) => this.#onClientMessage(type));
  readonly #fromEngine = new MessageScanner((type, data, begin, end) =>
    this.#onEngineMessage(type, data, begin, end),
  );
  /** Requests whose ReadyForQuery is still to come. */
  #unanswered = 0;
  /** A transaction is open, or a request is not complete. */
  #isBusy = false;
  /** While data is copied in, the engine ignores a Sync. */
  #isCopyingIn = false;
  /** What the current transaction has changed. */
  readonly #catalogChanges = new CatalogChanges();
  /** The world learns of a change whose answer the client has not got. */
  #learning: Promise<void> | undefined;
  /** The answer that the client gets when the world has learned of the change. */
  #held: Buffer | undefined;
  /** All work was answered, by the answer that is about to be sent. */
  #isAnswered = false;
  #isClosed = false;

  constructor(client: Duplex, engine: Socket, listener: RelayListener) {
    this.#client = client;
    this.#engine = engine;
    this.#listener = listener;
    client.on("data", (chunk) => this.#onClientData(chunk));
    engine.on("data", (chunk) => this.#onEngineData(chunk));
    client.on("drain", () => this.#resumeEngine());
    engine.on("drain", () => client.resume());
    for (const socket of [client, engine]) {
      socket.once("close", () => this.close());
      socket.once("end", () => this.close());
    }
    client.resume();
    engine.resume();
  }

  /** Ends both connections once everything that was written is sent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#held !== undefined && !this.#client.writableEnded) this.#client.write(this.#held);
    // A client that has closed its side reads nothing more, such as the end of TLS.
    if (this.#client.readableEnded && this.#client.writableLength === 0) this.#client.destroy();
    else this.#client.end();
    this.#engine.end();
    this.#reportCatalogChange();
    if (this.#isBusy) this.#listener.afterWork();
    this.#listener.onClosed();
  }

  #onClientData(chunk: Buffer): void {
    if (this.#isClosed) return;
    if (this.#isBusy) {
      this.#sendToEngine(chunk);
      return;
    }
    // The end of a session is not work.
    if (chunk[0] === TERMINATE) {
      this.#engine.write(chunk);
      return;
    }
    let mayProceed: boolean | Promise<boolean>;
    try {
      mayProceed = this.#listener.beforeWork(chunk);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (typeof mayProceed === "boolean") {
      if (mayProceed) this.#sendToEngine(chunk);
      return;
    }
    this.#client.pause();
    mayProceed.then(
      (proceed) => {
        if (!proceed || this.#isClosed) return;
        this.#sendToEngine(chunk);
        if (!this.#engine.writableNeedDrain) this.#client.resume();
      },
      (error) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    this.#listener.onFailure(error);
    this.close();
  }

  #sendToEngine(chunk: Buffer): void {
    this.#isBusy = true;
    if (!this.#fromClient.scan(chunk)) {
      this.close();
      return;
    }
    if (!this.#engine.write(chunk)) this.#client.pause();
  }

  #onEngineData(chunk: Buffer): void {
    if (this.#isClosed) return;
    const isValid = this.#fromEngine.scan(chunk);
    const learning = this.#learning;
    if (learning === undefined) {
      this.#answer(chunk);
      if (!isValid) this.close();
      return;
    }
    this.#learning = undefined;
    this.#held = chunk;
    this.#engine.pause();
    void learning.then(() => {
      if (this.#isClosed) return;
      this.#held = undefined;
      this.#answer(chunk);
      if (isValid) this.#resumeEngine();
      else this.close();
    });
  }

  #resumeEngine(): void {
    if (this.#held === undefined && !this.#client.writableNeedDrain) this.#engine.resume();
  }

  /** The end of the work comes after its answer, so that whatever follows from it does not delay the answer. */
  #answer(chunk: Buffer): void {
    if (!this.#client.write(chunk)) this.#engine.pause();
    this.#listener.onSent(chunk);
    if (!this.#isAnswered) return;
    this.#isAnswered = false;
    if (this.#unanswered > 0 || !this.#fromClient.isBetweenMessages) return;
    this.#isBusy = false;
    this.#listener.afterWork();
  }

  #onClientMessage(type: number): void {
    switch (type) {
      case QUERY:
      case FUNCTION_CALL:
        this.#unanswered += 1;
        return;
      case SYNC:
        if (!this.#isCopyingIn) this.#unanswered += 1;
        return;
      case COPY_DONE:
      case COPY_FAIL:
        this.#isCopyingIn = false;
        return;
      default:
    }
  }

  #onEngineMessage(type: number, data: Buffer, begin: number, end: number): void {
    switch (type) {
      case READY_FOR_QUERY:
        this.#unanswered = Math.max(0, this.#unanswered - 1);
        this.#isCopyingIn = false;
        if (data[begin] === IDLE) this.#reportCatalogChange();
        this.#isAnswered = this.#unanswered === 0 && data[begin] === IDLE;
        return;
      case COPY_IN_RESPONSE:
        this.#isCopyingIn = true;
        return;
      case COMMAND_COMPLETE:
        if (mayBeCatalogTag(data[begin] as number))
          this.#catalogChanges.add(data.toString("latin1", begin, end));
        return;
      default:
    }
  }

  #reportCatalogChange(): void {
    const change = this.#catalogChanges.take();
    if (change === "none") return;
    const learned = this.#listener.onCatalogChange(change === "certain");
    // Few blocks change any, so the client does not wait for what they do.
    if (change === "certain") this.#learning = learned;
  }
}
