import { createRequire } from "node:module";
import { SHARE_ENV, Worker } from "node:worker_threads";
import BetterSqlite3 from "better-sqlite3";
import { type Deferred, deferred } from "../../kernel/deferred.ts";
import { BEGIN_WRITING, type CopyWriter, END_WRITING } from "./copy-writer.ts";

/** Requests that the thread has not completed. Further ones wait, so that their parameters do not fill the memory. */
const MAX_PENDING = 4;

type Request =
  | { readonly execute: string; readonly isLast?: boolean }
  | { readonly run: string; readonly lines: string };

/** Errors lose their class and their code between threads. */
type Answer = undefined | { readonly message: string; readonly code?: string | undefined };

/** As text, because each build of the package loads the scripts of its threads in another way. */
const SCRIPT = `"use strict";
const { parentPort, workerData } = require("node:worker_threads");
const { crc32 } = require("node:zlib");
const Database = require(workerData.sqlite);
const prepared = new Map();
const sqlite = new Database(workerData.path, { fileMustExist: true });
sqlite.exec("PRAGMA trusted_schema = OFF");
sqlite.exec("PRAGMA secure_delete = FAST");
sqlite.unsafeMode(true);
const answer = (request) => {
  if (request.run === undefined) {
    sqlite.exec(request.execute);
    if (request.isLast) sqlite.close();
  } else {
    let statement = prepared.get(request.run);
    if (statement === undefined) {
      statement = sqlite.prepare(request.run);
      prepared.set(request.run, statement);
    }
    for (const line of request.lines.split("\\n")) statement.run(JSON.parse(line), crc32(line));
  }
};
parentPort.on("message", (request) => {
  try {
    answer(request);
    parentPort.postMessage(undefined);
  } catch (error) {
    parentPort.postMessage({ message: error.message, code: error.code });
  }
});
`;

/** A thread that writes to a copy, so that no other thread waits for SQLite. It ends with the copy. */
export class CopyThread implements CopyWriter {
  readonly #worker: Worker;
  readonly #pending: Deferred[] = [];
  readonly #exited: Promise<unknown>;
  #failure: unknown;

  /** Throws if Node was started without the permission to create threads. */
  constructor(path: string) {
    const sqlite = createRequire(import.meta.url).resolve("better-sqlite3");
    this.#worker = new Worker(SCRIPT, {
      ...{ eval: true, name: "copy", env: SHARE_ENV, execArgv: [] },
      workerData: { sqlite, path },
    });
    this.#worker.on("message", (answer: Answer) => {
      if (answer !== undefined) this.#failure ??= errorOf(answer);
      this.#pending.shift()?.resolve();
    });
    this.#worker.on("error", (error) => {
      this.#failure ??= error;
    });
    this.#exited = new Promise<void>((resolve) => {
      this.#worker.on("exit", () => {
        this.#failure ??= new Error("the thread that writes the copy has ended");
        for (const { resolve } of this.#pending.splice(0)) resolve();
        resolve();
      });
    });
    void this.#request({ execute: BEGIN_WRITING });
  }

  execute(statements: string): Promise<void> {
    return this.#requestLater({ execute: statements });
  }

  runChecked(statement: string, lines: string): Promise<void> {
    return this.#requestLater({ run: statement, lines });
  }

  async commit(): Promise<void> {
    await this.#request({ execute: END_WRITING, isLast: true });
    this.#throwFailure();
    await this.abandon();
  }

  async abandon(): Promise<void> {
    void this.#worker.terminate();
    await this.#exited;
  }

  /** Resolves when there is room for another request. */
  async #requestLater(request: Request): Promise<void> {
    while (this.#pending.length >= MAX_PENDING) await this.#pending[0]?.promise;
    this.#throwFailure();
    void this.#request(request);
  }

  #request(request: Request): Promise<void> {
    if (this.#failure !== undefined) return Promise.resolve();
    const done = deferred();
    this.#pending.push(done);
    this.#worker.postMessage(request);
    return done.promise;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

function errorOf({ message, code }: NonNullable<Answer>): Error {
  return code === undefined ? new Error(message) : new BetterSqlite3.SqliteError(message, code);
}
