import type { Duplex } from "node:stream";
import { instantOf, type WorldHandle } from "../../worlds/world-handle.ts";
import { MessageScanner } from "../relay/message-scanner.ts";
import { errorOfMessage } from "../serverless/sql-error.ts";
import {
  type LoggedStatement,
  MAX_STATEMENT_BYTES,
  type StatementLog,
  type StatementOutcome,
  type StatementSource,
} from "../statements/statement-log.ts";

type Work = Pick<LoggedStatement, "text" | "parameters">;

/** Messages that a client has sent and the engine has not answered. */
type Sent =
  | { readonly kind: "query"; readonly work: Work; outcome?: StatementOutcome }
  | { readonly kind: "execute"; readonly work: Work }
  /** `parsed`: the statement that was only prepared before it. */
  | { readonly kind: "sync"; readonly parsed: string | undefined };

const INT16_BYTES = 2;
/** What a Close ends, if it is no portal. */
const STATEMENT = "S".charCodeAt(0);
const NOTHING: Work = { text: "", parameters: 0 };

/** Logs the statements of a client with the world's instants; `undefined` if there is no log. */
export function tapStatements(
  client: Duplex,
  log: StatementLog | undefined,
  world: WorldHandle,
  source: StatementSource,
): StatementTap | undefined {
  if (log === undefined) return undefined;
  let at = world.now();
  const tap = new StatementTap((work, outcome) => {
    at = instantOf(world) ?? at;
    log.add(world.name, { at, ...source, ...work, outcome });
  });
  client.on("data", (chunk: Buffer) => tap.fromClient(chunk));
  return tap;
}

/** Finds the statements in the messages of a connection, and their outcomes. Changes nothing. */
export class StatementTap {
  readonly #onStatement: (work: Work, outcome: StatementOutcome) => void;
  readonly #client = new MessageScanner(
    (type, data, begin, end) => this.#onClient(String.fromCharCode(type), data.subarray(begin, end)),
    MAX_STATEMENT_BYTES,
  );
  readonly #engine = new MessageScanner(
    (type, data, begin, end) => this.#onEngine(String.fromCharCode(type), data.subarray(begin, end)),
    MAX_STATEMENT_BYTES,
  );
  readonly #prepared = new Map<string, string>();
  readonly #portals = new Map<string, Work>();
  #sent: Sent[] = [];
  #parsed: string | undefined;
  #isCopyingIn = false;

  constructor(onStatement: (work: Work, outcome: StatementOutcome) => void) {
    this.#onStatement = onStatement;
  }

  fromClient(chunk: Buffer): void {
    this.#client.scan(chunk);
  }

  fromEngine(chunk: Buffer): void {
    this.#engine.scan(chunk);
  }

  /** The connection has ended. */
  close(): void {
    for (const sent of this.#sent.splice(0))
      if (sent.kind !== "sync")
        this.#onStatement(sent.work, { lost: "the connection ended before the answer" });
  }

  #onClient(type: string, body: Buffer): void {
    switch (type) {
      case "Q":
        this.#sent.push({ kind: "query", work: { text: textAt(body, 0).text, parameters: 0 } });
        return;
      case "F":
        this.#sent.push({ kind: "query", work: { text: "call of a function by its number", parameters: 0 } });
        return;
      case "P": {
        const name = textAt(body, 0);
        this.#parsed = textAt(body, name.end).text;
        this.#prepared.set(name.text, this.#parsed);
        return;
      }
      case "B":
        this.#bind(body);
        return;
      case "C":
        // Otherwise a client that prepares each statement under a name of its own would fill the memory.
        this.#close(body);
        return;
      case "E":
        this.#sent.push({ kind: "execute", work: this.#portals.get(textAt(body, 0).text) ?? NOTHING });
        this.#parsed = undefined;
        return;
      case "S":
        if (!this.#isCopyingIn) this.#sent.push({ kind: "sync", parsed: this.#parsed });
        this.#parsed = undefined;
        return;
      case "c":
      case "f":
        this.#isCopyingIn = false;
        return;
      default:
    }
  }

  #close(body: Buffer): void {
    const { text: name } = textAt(body, 1);
    if (body[0] === STATEMENT) this.#prepared.delete(name);
    else this.#portals.delete(name);
  }

  #bind(body: Buffer): void {
    const portal = textAt(body, 0);
    const statement = textAt(body, portal.end);
    const formatsAt = statement.end;
    const formats = int16At(body, formatsAt);
    const parameters = int16At(body, formatsAt + INT16_BYTES * (1 + formats));
    this.#portals.set(portal.text, { text: this.#prepared.get(statement.text) ?? "", parameters });
  }

  #onEngine(type: string, body: Buffer): void {
    switch (type) {
      case "C":
        this.#end({ done: textAt(body, 0).text });
        return;
      case "I":
        this.#end({ done: "" });
        return;
      case "s":
        this.#end({ done: "some rows" });
        return;
      case "E": {
        const { code = "", message } = errorOfMessage(body);
        this.#end({ failed: { code, message } });
        return;
      }
      case "G":
        // The engine ignores a Sync until the copy ends.
        this.#isCopyingIn = true;
        this.#sent = this.#sent.filter(({ kind }) => kind !== "sync");
        return;
      case "Z":
        this.#isCopyingIn = false;
        this.#finishRequest();
        return;
      default:
    }
  }

  #end(outcome: StatementOutcome): void {
    const [first] = this.#sent;
    if (first === undefined) return;
    switch (first.kind) {
      case "query":
        // An error ends all statements of its text; otherwise the last tag counts.
        first.outcome = outcome;
        return;
      case "execute":
        this.#sent.shift();
        this.#onStatement(first.work, outcome);
        return;
      case "sync":
        if (first.parsed !== undefined) this.#onStatement({ text: first.parsed, parameters: 0 }, outcome);
    }
  }

  /** The engine is ready: all up to the query or the Sync is answered. */
  #finishRequest(): void {
    for (;;) {
      const sent = this.#sent.shift();
      if (sent === undefined || sent.kind === "sync") return;
      if (sent.kind === "query") {
        this.#onStatement(sent.work, sent.outcome ?? { done: "" });
        return;
      }
      this.#onStatement(sent.work, { lost: "not executed, because an earlier statement failed" });
    }
  }
}

/** The text at an offset, and where the next field begins. A text that is cut ends with an ellipsis. */
function textAt(body: Buffer, begin: number): { readonly text: string; readonly end: number } {
  const end = body.indexOf(0, begin);
  if (end === -1) return { text: `${body.toString("utf8", begin)}…`, end: body.length };
  return { text: body.toString("utf8", begin, end), end: end + 1 };
}

function int16At(body: Buffer, offset: number): number {
  return offset + INT16_BYTES <= body.length ? body.readUInt16BE(offset) : 0;
}
