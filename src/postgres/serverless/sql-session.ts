import type { Socket } from "node:net";
import { MAX } from "../../input-limits/limits.ts";
import { CLIENT_ERRORS } from "../protocol/errors.ts";
import { MessageSplitter } from "../protocol/message-splitter.ts";
import { type ClientError, query, unnamedStatement } from "../protocol/messages.ts";
import { type CatalogChange, CatalogChanges } from "../statements/catalog-changes.ts";
import { errorOfMessage, SqlError } from "./sql-error.ts";
import type { SqlWork, Statement } from "./sql-request.ts";
import { SqlResult } from "./sql-result.ts";
import { type Json, parameterText } from "./sql-values.ts";

const INSUFFICIENT_STORAGE = 507;
/** Clears everything that a request may have left in its session. */
const RESET = query("DISCARD ALL");
const IDLE = 0x49; // "I": outside of a transaction

/** Messages sent up to one Sync, until its ReadyForQuery. */
type Exchange = {
  readonly onMessage: (type: string, body: Buffer) => void;
  readonly resolve: (isIdle: boolean) => void;
  readonly reject: (error: SqlError) => void;
  error?: SqlError;
};

/** A session of the engine that executes the statements of one request at a time. */
export class SqlSession {
  readonly #socket: Socket;
  readonly #splitter = new MessageSplitter();
  readonly #exchanges: Exchange[] = [];
  #receivedBytes = 0;
  #end: SqlError | undefined;
  readonly #catalogChanges = new CatalogChanges();
  #isInTransaction = false;
  /** Resolves when the last request has left no state in the session. Never rejects. */
  #isReset: Promise<void> = Promise.resolve();

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#onData(chunk));
    socket.once("close", () => this.close(CLIENT_ERRORS.terminated));
    socket.resume();
  }

  get isConnected(): boolean {
    return this.#end === undefined;
  }

  /** The length of the messages that Postgres has sent for the last request so far. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** What the last request has changed. */
  takeCatalogChange(): CatalogChange {
    return this.#catalogChanges.take();
  }

  /** Whether the last request has begun a transaction without ending it. Then only the end of the session is safe. */
  get isInTransaction(): boolean {
    return this.#isInTransaction;
  }

  /** Waits for the reset. Whether another request may use it: it is connected, and like a new session. */
  async isUsable(): Promise<boolean> {
    await this.#isReset;
    return this.isConnected;
  }

  /** Executes the statements. The session is reset after the result. Rejects with the first `SqlError`. */
  async execute({ statements, rawText, begin }: SqlWork): Promise<Json> {
    this.#receivedBytes = 0;
    this.#catalogChanges.take();
    this.#isInTransaction = false;
    if (begin === undefined) {
      const [statement] = statements as readonly [Statement];
      const result = new SqlResult(rawText, statement.arrayMode);
      const done = this.#exchange(result);
      this.#isReset = this.#reset();
      this.#socket.write(Buffer.concat([bytesOf(statement), RESET]));
      this.#isInTransaction = !(await done);
      return result.toJson();
    }
    return { results: await this.#executeBatch(statements, rawText, begin) };
  }

  async #executeBatch(statements: readonly Statement[], rawText: boolean, begin: string): Promise<Json[]> {
    let ending = "ROLLBACK";
    const results: Json[] = [];
    try {
      await this.#run(query(begin));
      for (const statement of statements) {
        const result = new SqlResult(rawText, statement.arrayMode);
        await this.#run(bytesOf(statement), result);
        results.push(result.toJson());
      }
      ending = "COMMIT";
    } finally {
      const ended = this.#exchange();
      this.#isReset = this.#reset();
      this.#socket.write(Buffer.concat([query(ending), RESET]));
      // After a rollback, the error of the statement is the one to report.
      await (ending === "COMMIT" ? ended : ended.catch(() => undefined));
    }
    return results;
  }

  /** Ends the session. What it executes fails with this error. */
  close({ severity, code, message }: ClientError): void {
    this.#fail(new SqlError(message, undefined, { severity, code }));
  }

  #fail(error: SqlError): void {
    if (this.#end !== undefined) return;
    this.#end = error;
    this.#socket.destroy();
    for (const exchange of this.#exchanges.splice(0)) exchange.reject(exchange.error ?? error);
  }

  async #run(bytes: Buffer, result?: SqlResult): Promise<void> {
    const done = this.#exchange(result);
    this.#socket.write(bytes);
    await done;
  }

  /** Resolves when everything that was sent before was answered, and the session is like a new one. */
  #reset(): Promise<void> {
    // A reset fails within a transaction that a statement has begun.
    return this.#exchange().then(
      (isIdle) => (isIdle ? undefined : this.close(CLIENT_ERRORS.terminated)),
      () => this.close(CLIENT_ERRORS.terminated),
    );
  }

  #exchange(result?: SqlResult): Promise<boolean> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    const answered = new Promise<boolean>((resolve, reject) =>
      this.#exchanges.push({ onMessage: (type, body) => result?.take(type, body), resolve, reject }),
    );
    // Awaited later if several are sent together.
    answered.catch(() => undefined);
    return answered;
  }

  #onData(chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > MAX.sqlResponse) {
      this.#fail(
        new SqlError(`response is too large (max is ${MAX.sqlResponse} bytes)`, INSUFFICIENT_STORAGE),
      );
      return;
    }
    for (const message of this.#splitter.split(chunk) ?? [])
      this.#onMessage(String.fromCharCode(message[0] ?? 0), message.subarray(5));
  }

  #onMessage(type: string, body: Buffer): void {
    const [exchange] = this.#exchanges;
    if (exchange === undefined) return;
    switch (type) {
      case "E":
        exchange.error ??= errorOfMessage(body);
        return;
      case "G":
        this.#fail(new SqlError("COPY FROM STDIN is not possible over HTTP", undefined, { code: "0A000" }));
        return;
      case "Z":
        this.#exchanges.shift();
        if (exchange.error === undefined) exchange.resolve(body[0] === IDLE);
        else exchange.reject(exchange.error);
        return;
      default:
        if (type === "C") this.#catalogChanges.add(body.toString("latin1"));
        exchange.onMessage(type, body);
    }
  }
}

function bytesOf({ text, parameters }: Statement): Buffer {
  return unnamedStatement(text, parameters.map(parameterText));
}
