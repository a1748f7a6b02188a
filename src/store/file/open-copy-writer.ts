import { statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type BetterSqlite3 from "better-sqlite3";
import { CopyThread } from "./copy-thread.ts";
import { beginWriting, type CopyWriter, END_WRITING } from "./copy-writer.ts";
import { connect } from "./sqlite-connection.ts";

/** To write a smaller file takes no longer than to start a thread. */
const THREAD_FROM_BYTES = 4 * 1024 * 1024;

export function openCopyWriter(path: string, threadFromBytes = THREAD_FROM_BYTES): CopyWriter {
  if (statSync(path).size < threadFromBytes) return new WriterInSteps(path);
  try {
    return new CopyThread(path);
  } catch {
    // Node can be started without the permission to create threads.
    return new WriterInSteps(path);
  }
}

/** Writes in this thread. Others run after each call. */
class WriterInSteps implements CopyWriter {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #prepared = new Map<string, BetterSqlite3.Statement>();

  constructor(path: string) {
    this.#sqlite = connect(path);
    try {
      beginWriting(this.#sqlite);
    } catch (error) {
      this.#sqlite.close();
      throw error;
    }
  }

  async execute(statements: string): Promise<void> {
    this.#sqlite.exec(statements);
    await nextTurn();
  }

  async runChecked(statement: string, lines: string): Promise<void> {
    const prepared = this.#prepared.get(statement) ?? this.#sqlite.prepare(statement);
    this.#prepared.set(statement, prepared);
    for (const line of lines.split("\n")) prepared.run(JSON.parse(line) as unknown[], crc32(line));
    await nextTurn();
  }

  async commit(): Promise<void> {
    this.#sqlite.exec(END_WRITING);
    this.#sqlite.close();
  }

  async abandon(): Promise<void> {
    this.#sqlite.close();
  }
}
