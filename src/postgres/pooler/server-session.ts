import type { Socket } from "node:net";
import { MessageSplitter } from "../protocol/message-splitter.ts";
import { closeStatement, query } from "../protocol/messages.ts";
import { CatalogChanges, mayBeCatalogTag } from "../statements/catalog-changes.ts";
import type { PreparedStatement } from "./prepared-statement.ts";

const IDLE = 0x49; // "I": outside of a transaction
/** D: the platform's `max_prepared_statements`, of one server session. A: also in profile 2024. */
const MAX_PREPARED_STATEMENTS = 1_000;
/** D: PgBouncer gives each client its own values of these settings. All others belong to the server session. */
export const CLIENT_SETTINGS = [
  "client_encoding",
  "DateStyle",
  "TimeZone",
  "standard_conforming_strings",
  "application_name",
] as const;

/** The client that a server session works for. */
export type LinkedClient = {
  readonly settings: Map<string, string>;
  receive(bytes: Buffer): void;
  /** All work was answered, and no transaction is open. */
  transactionEnded(): void;
  /** A statement has removed all prepared statements of the session. */
  statementsDiscarded(): void;
  catalogChanged(isCertain: boolean): Promise<void>;
  serverLost(): void;
};

/** One answer that is to come, in the order of the messages that were sent. */
type Answer = {
  /** The type of the message that completes it: ParseComplete, BindComplete and so on. */
  readonly until: "1" | "2" | "3" | "C" | "T" | "Z";
  readonly isForClient: boolean;
  /** The answer itself, if the engine does not give it. */
  readonly own?: Buffer;
  /** Statement that a Parse prepares. */
  readonly statement?: PreparedStatement;
};

/** One session of the engine, which one client at a time uses for one transaction. */
export class ServerSession {
  readonly cancelPid: number | undefined;
  readonly #socket: Socket;
  readonly #settings: Map<string, string>;
  readonly #splitter = new MessageSplitter();
  readonly #answers: Answer[] = [];
  /** In the order of their last use. */
  readonly #prepared = new Map<string, PreparedStatement>();
  #client: LinkedClient | undefined;
  #isCopyingIn = false;
  /** What the current transaction has changed. */
  readonly #catalogChanges = new CatalogChanges();
  /** An answer is held back until the world has learned of the change. */
  #isHolding = false;
  /** No transaction is open, and no answer is outstanding. */
  #isIdle = true;
  #isOpen = true;
  #toSend: Buffer[] = [];

  /** `settings`: settings that the engine has reported at the beginning. */
  constructor(
    socket: Socket,
    settings: ReadonlyMap<string, string>,
    cancelPid: number | undefined,
    onClosed: (session: ServerSession) => void,
  ) {
    this.#socket = socket;
    this.#settings = new Map(settings);
    this.cancelPid = cancelPid;
    socket.on("data", (chunk) => this.#onData(chunk));
    socket.once("close", () => {
      this.#isOpen = false;
      onClosed(this);
      this.#client?.serverLost();
    });
    socket.resume();
  }

  /** The settings that the engine has reported. */
  get settings(): ReadonlyMap<string, string> {
    return new Map(this.#settings);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Begins to work for a client, with the client's own settings. */
  link(client: LinkedClient): void {
    this.#client = client;
    // A client without a value, such as an application name, gets the value of the session, as in PgBouncer.
    const changed = CLIENT_SETTINGS.filter((name) => {
      const wanted = client.settings.get(name) ?? "";
      return wanted !== "" && wanted !== this.#settings.get(name);
    });
    if (changed.length === 0) return;
    const text = changed.map((name) => `SET ${name} = ${quoted(client.settings.get(name) ?? "")}`).join(";");
    this.#send(query(text), { until: "Z", isForClient: false });
  }

  /** The client has left. Only a session between transactions can be used by another one. */
  unlink(): void {
    this.#client = undefined;
    if (!this.#isIdle) this.close();
  }

  close(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }

  /** Pauses what the client does not read. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isHolding) this.#socket.resume();
  }

  /** Sends a message of the client. `until`: what completes its answer, if it has one. */
  forward(message: Buffer, until?: Answer["until"]): void {
    this.#isIdle = false;
    if (until === undefined) {
      this.#toSend.push(message);
      return;
    }
    // While data is copied in, the engine ignores a Sync.
    if (until === "Z" && this.#isCopyingIn) this.#toSend.push(message);
    else this.#send(message, { until, isForClient: true });
  }

  copyEnded(): void {
    this.#isCopyingIn = false;
  }

  /** Sends the client's Parse, unless the session has the statement already. */
  prepare(statement: PreparedStatement): void {
    if (this.#use(statement)) {
      this.#answers.push({ until: "1", isForClient: true, own: PARSE_COMPLETE });
      this.#answerByItself();
      return;
    }
    this.#parse(statement, true);
  }

  /** Prepares a statement that the client has prepared in another session. */
  requirePrepared(statement: PreparedStatement): void {
    if (!this.#use(statement)) this.#parse(statement, false);
  }

  /** The client closes its name of a statement, which stays prepared. */
  closeForClient(): void {
    this.#answers.push({ until: "3", isForClient: true, own: CLOSE_COMPLETE });
    this.#answerByItself();
  }

  /** Sends what was collected. Returns false if the client should wait. */
  flush(): boolean {
    const [first, ...others] = this.#toSend;
    if (first === undefined) return true;
    this.#toSend = [];
    return this.#socket.write(others.length === 0 ? first : Buffer.concat([first, ...others]));
  }

  onDrain(listener: () => void): void {
    this.#socket.once("drain", listener);
  }

  #send(message: Buffer, answer: Answer): void {
    this.#isIdle = false;
    this.#answers.push(answer);
    this.#toSend.push(message);
  }

  #use(statement: PreparedStatement): boolean {
    const isPrepared = this.#prepared.delete(statement.name);
    if (isPrepared) this.#prepared.set(statement.name, statement);
    return isPrepared;
  }

  #parse(statement: PreparedStatement, isForClient: boolean): void {
    this.#send(statement.parse, { until: "1", isForClient, statement });
    this.#prepared.set(statement.name, statement);
    if (this.#prepared.size <= MAX_PREPARED_STATEMENTS) return;
    const [oldest = ""] = this.#prepared.keys();
    this.#prepared.delete(oldest);
    this.#send(closeStatement(oldest), { until: "3", isForClient: false });
  }

  #onData(chunk: Buffer): void {
    const messages = this.#splitter.split(chunk);
    if (messages === undefined) {
      this.close();
      return;
    }
    const client = this.#client;
    const forClient: Buffer[] = [];
    let learning: Promise<void> | undefined;
    for (const message of messages) {
      const isForClient = this.#take(message, forClient);
      if (isForClient) forClient.push(message);
      const isCommitted = message[0] === READY && message[5] === IDLE;
      this.#isIdle = isCommitted && this.#answers.length === 0;
      const change = isCommitted ? this.#catalogChanges.take() : "none";
      if (change === "none") continue;
      const learned = client?.catalogChanged(change === "certain");
      // Few blocks change any, so the client does not wait for what they do.
      if (change === "certain") learning = learned;
    }
    if (client === undefined) return;
    if (learning === undefined) {
      this.#answer(client, forClient);
      return;
    }
    this.#isHolding = true;
    this.#socket.pause();
    void learning.then(() => {
      this.#isHolding = false;
      this.resume();
      if (this.#client === client) this.#answer(client, forClient);
    });
  }

  #answer(client: LinkedClient, messages: readonly Buffer[]): void {
    const [first, ...others] = messages;
    if (first !== undefined) client.receive(others.length === 0 ? first : Buffer.concat(messages));
    if (this.#isIdle) client.transactionEnded();
  }

  /** Notes what a message means, and returns whether the client gets it. Own answers are added before it. */
  #take(message: Buffer, forClient: Buffer[]): boolean {
    const type = String.fromCharCode(message[0] ?? 0);
    const [answer] = this.#answers;
    const isForClient = answer?.isForClient ?? true;
    switch (type) {
      case "S":
        this.#settingReported(message);
        return isForClient;
      case "N":
      case "A":
        return isForClient;
      case "E": {
        this.#isCopyingIn = false;
        // Everything up to the next Sync is skipped.
        while (this.#answers[0] !== undefined && this.#answers[0].until !== "Z") {
          const { statement } = this.#answers.shift() as Answer;
          if (statement !== undefined) this.#prepared.delete(statement.name);
        }
        return this.#answers[0]?.isForClient ?? true;
      }
      case "G":
        this.#isCopyingIn = true;
        // A Sync that was sent with the statement is ignored.
        if (answer?.until === "C" && this.#answers[1]?.until === "Z") this.#answers.splice(1, 1);
        return true;
      case "C":
        this.#completed(message);
    }
    if (answer !== undefined && completes(type, answer.until)) {
      this.#answers.shift();
      if (isForClient) forClient.push(message);
      forClient.push(...this.#ownAnswers());
      return false;
    }
    return isForClient;
  }

  #ownAnswers(): Buffer[] {
    const own: Buffer[] = [];
    while (this.#answers[0]?.own !== undefined) own.push((this.#answers.shift() as { own: Buffer }).own);
    return own;
  }

  #answerByItself(): void {
    const own = this.#ownAnswers();
    if (own.length > 0) this.#client?.receive(Buffer.concat(own));
  }

  #settingReported(message: Buffer): void {
    const [name = "", value = ""] = message.toString("utf8", 5).split("\0");
    this.#settings.set(name, value);
    this.#client?.settings.set(name, value);
  }

  #completed(message: Buffer): void {
    // "D" includes DISCARD and DEALLOCATE.
    if (!mayBeCatalogTag(message[5] as number)) return;
    const tag = message.toString("latin1", 5, message.length - 1);
    if (tag === "DISCARD ALL" || tag === "DEALLOCATE ALL") {
      this.#prepared.clear();
      this.#client?.statementsDiscarded();
    } else this.#catalogChanges.add(tag);
  }
}

const READY = 0x5a; // "Z"
const PARSE_COMPLETE = Buffer.from([0x31, 0, 0, 0, 4]);
const CLOSE_COMPLETE = Buffer.from([0x33, 0, 0, 0, 4]);

function completes(type: string, until: Answer["until"]): boolean {
  if (until === "C") return type === "C" || type === "I" || type === "s";
  return until === "T" ? type === "T" || type === "n" : type === until;
}

function quoted(value: string): string {
  const text = `'${value.replaceAll("'", "''")}'`;
  return value.includes("\\") ? ` E${text.replaceAll("\\", "\\\\")}` : text;
}
