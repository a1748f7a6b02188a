import type { Duplex } from "node:stream";
import { MAX } from "../../input-limits/limits.ts";
import { CLIENT_ERRORS, ConnectionRejected, protocolViolation } from "../protocol/errors.ts";
import { MessageSplitter } from "../protocol/message-splitter.ts";
import { renamed } from "../protocol/messages.ts";
import type { RelayListener } from "../relay/relay.ts";
import { type PreparedStatement, preparedStatement } from "./prepared-statement.ts";
import type { OpenServer, ServerPool, Waiter } from "./server-pool.ts";
import type { LinkedClient, ServerSession } from "./server-session.ts";

const HEADER_BYTES = 5;

/** A client of the pooler. It has a server session from the first message of a transaction until its end. */
export class PooledClient implements LinkedClient {
  readonly settings: Map<string, string>;
  readonly #stream: Duplex;
  readonly #pool: ServerPool;
  readonly #open: OpenServer;
  readonly #listener: RelayListener;
  readonly #splitter = new MessageSplitter();
  readonly #statements = new Map<string, PreparedStatement>();
  readonly #waiter: Waiter;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #server: ServerSession | undefined;
  #isWaiting = false;
  #isClosed = false;

  constructor(
    stream: Duplex,
    pool: ServerPool,
    open: OpenServer,
    settings: Map<string, string>,
    listener: RelayListener,
  ) {
    this.#stream = stream;
    this.#pool = pool;
    this.#open = open;
    this.settings = settings;
    this.#listener = listener;
    this.#waiter = {
      assign: (session) => this.#link(session),
      fail: (error) => this.#fail(error),
    };
    stream.on("data", (chunk) => this.#onData(chunk));
    stream.on("drain", () => this.#server?.resume());
    stream.once("close", () => this.close());
    stream.once("end", () => this.close());
    stream.resume();
  }

  /** The server session that works for this client now. */
  get server(): ServerSession | undefined {
    return this.#server;
  }

  /** Ends the connection once everything that was written is sent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pool.cancel(this.#waiter);
    this.#stream.end();
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) {
      server.unlink();
      this.#pool.release(server);
    }
    if (server !== undefined || this.#isWaiting) this.#listener.afterWork();
    this.#listener.onClosed();
  }

  receive(bytes: Buffer): void {
    this.#listener.onSent(bytes);
    if (!this.#stream.write(bytes)) this.#server?.pause();
  }

  transactionEnded(): void {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.unlink();
    server.resume();
    this.#pool.release(server);
    this.#listener.afterWork();
    this.#drain();
  }

  statementsDiscarded(): void {
    this.#statements.clear();
  }

  catalogChanged(isCertain: boolean): Promise<void> {
    return this.#listener.onCatalogChange(isCertain);
  }

  serverLost(): void {
    if (this.#server !== undefined) this.#fail(new ConnectionRejected(CLIENT_ERRORS.serverCrashed));
  }

  #fail(error: unknown): void {
    this.#listener.onFailure(error);
    this.close();
  }

  #onData(chunk: Buffer): void {
    if (this.#isClosed) return;
    const messages = this.#splitter.split(chunk);
    if (messages === undefined) {
      this.close();
      return;
    }
    if (this.#splitter.announcedBytes > MAX.pooledMessage) {
      this.#fail(
        new ConnectionRejected(
          protocolViolation(`a message through the pooler must not exceed ${MAX.pooledMessage} bytes`),
        ),
      );
      return;
    }
    if (messages.length === 0) return;
    this.#queue.push(...messages);
    this.#queuedBytes += chunk.length;
    this.#drain();
    if (this.#queuedBytes > MAX.pooledQueue) this.#stream.pause();
  }

  #drain(): void {
    if (this.#queue.length === 0 || this.#isClosed) return;
    if (this.#server === undefined) {
      // The end of a connection is not work.
      if (this.#queue[0]?.[0] === TERMINATE) this.close();
      else this.#request();
      return;
    }
    const messages = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    for (const message of messages) {
      if (this.#isClosed) return;
      this.#forward(this.#server, message);
    }
    const server = this.#server;
    if (server === undefined || server.flush()) this.#stream.resume();
    else {
      this.#stream.pause();
      server.onDrain(() => this.#stream.resume());
    }
  }

  #request(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    let mayWork: boolean | Promise<boolean>;
    try {
      mayWork = this.#listener.beforeWork(this.#queue[0] ?? Buffer.alloc(0));
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (mayWork === true) this.#pool.request(this.#waiter, this.#open);
    else if (mayWork !== false)
      mayWork.then(
        (may) => {
          if (may && !this.#isClosed) this.#pool.request(this.#waiter, this.#open);
        },
        (error) => this.#fail(error),
      );
  }

  #link(session: ServerSession): void {
    this.#isWaiting = false;
    this.#server = session;
    session.link(this);
    this.#drain();
  }

  #forward(server: ServerSession, message: Buffer): void {
    const type = String.fromCharCode(message[0] ?? 0);
    switch (type) {
      case "Q":
      case "F":
      case "S":
        server.forward(message, "Z");
        return;
      case "P":
        this.#parse(server, message);
        return;
      case "B":
        this.#rename(server, message, endOfText(message, HEADER_BYTES), "2");
        return;
      case "D":
        if (isOfStatement(message)) this.#rename(server, message, HEADER_BYTES + 1, "T");
        else server.forward(message, "T");
        return;
      case "C":
        this.#closeStatement(server, message);
        return;
      case "E":
        server.forward(message, "C");
        return;
      case "c":
      case "f":
        server.copyEnded();
        server.forward(message);
        return;
      case "X":
        this.close();
        return;
      default:
        server.forward(message);
    }
  }

  #parse(server: ServerSession, message: Buffer): void {
    const end = endOfText(message, HEADER_BYTES);
    const name = message.toString("latin1", HEADER_BYTES, end - 1);
    if (name === "") {
      server.forward(message, "1");
      return;
    }
    if (this.#statements.has(name)) {
      this.#fail(new ConnectionRejected(protocolViolation("prepared statement name is already in use")));
      return;
    }
    const statement = preparedStatement(message.subarray(end));
    this.#statements.set(name, statement);
    server.prepare(statement);
  }

  /** Sends a message with the statement's name in the session, `offset` of the client's name. */
  #rename(server: ServerSession, message: Buffer, offset: number, until: "2" | "T"): void {
    const end = endOfText(message, offset);
    const name = message.toString("latin1", offset, end - 1);
    if (name === "") {
      server.forward(message, until);
      return;
    }
    const statement = this.#statements.get(name);
    if (statement === undefined) {
      this.#fail(new ConnectionRejected(protocolViolation("prepared statement did not exist")));
      return;
    }
    server.requirePrepared(statement);
    server.forward(renamed(message, offset, end, statement.name), until);
  }

  #closeStatement(server: ServerSession, message: Buffer): void {
    const end = endOfText(message, HEADER_BYTES + 1);
    const name = message.toString("latin1", HEADER_BYTES + 1, end - 1);
    if (!isOfStatement(message) || name === "") {
      server.forward(message, "3");
      return;
    }
    this.#statements.delete(name);
    server.closeForClient();
  }
}

const TERMINATE = 0x58; // "X"
const OF_STATEMENT = 0x53; // "S"

/** Whether a Describe or Close message names a statement, and not a portal. */
function isOfStatement(message: Buffer): boolean {
  return message[HEADER_BYTES] === OF_STATEMENT;
}

/** The offset after the text that begins at `offset`, and its zero byte. */
function endOfText(message: Buffer, offset: number): number {
  const end = message.indexOf(0, offset);
  return end === -1 ? message.length : end + 1;
}
