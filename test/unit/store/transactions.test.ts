import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { OutcomeUnknown } from "../../../src/simulation/journal.ts";
import { DurableTransactions } from "../../../src/store/journal/durable-transactions.ts";
import type { JournalStatements } from "../../../src/store/journal/journal-statements.ts";
import { isPruned, type PruneBacklog, pruneSome } from "../../../src/store/journal/prune-history.ts";
import { walPath } from "../../../src/store/journal/wal-file.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

describe("transactions", () => {
  /** A database with a log. Its commit fails if a row refers to none. */
  function createTransactions() {
    const { path, remove } = temporaryDirectory();
    const sqlite = new BetterSqlite3(join(path, "some.sqlite"));
    onTestFinished(() => {
      sqlite.close();
      remove();
    });
    sqlite.pragma("journal_mode = WAL");
    sqlite.pragma("foreign_keys = ON");
    sqlite.exec(
      "CREATE TABLE rows (id INTEGER PRIMARY KEY, other REFERENCES rows DEFERRABLE INITIALLY DEFERRED)",
    );
    const state = { isUsable: true, isBroken: false };
    // Whether SQLite is in a transaction is asked when a failure is undone.
    const fragile = {
      name: sqlite.name,
      prepare: (source: string) => sqlite.prepare(source),
      exec: (source: string) => sqlite.exec(source),
      get inTransaction() {
        if (state.isBroken) throw new Error("cannot undo");
        return sqlite.inTransaction;
      },
    } as unknown as BetterSqlite3.Database;
    const transactions = new DurableTransactions(fragile, () => {
      if (!state.isUsable) throw new Error("removed");
    });
    const insert = (id: number, other: number | null = null) =>
      transactions.run(() => sqlite.prepare("INSERT INTO rows VALUES (?, ?)").run(id, other).changes);
    const ids = () => sqlite.prepare("SELECT id FROM rows ORDER BY id").pluck().all();
    return { sqlite, state, transactions, insert, ids };
  }

  test("commit what their work writes, and return its result", () => {
    const { sqlite, insert, ids } = createTransactions();
    expect([insert(1), insert(2, 1), ids(), sqlite.inTransaction]).toEqual([1, 1, [1, 2], false]);
  });

  test("undo work that throws", () => {
    const { sqlite, transactions, insert, ids } = createTransactions();
    const work = () => {
      sqlite.prepare("INSERT INTO rows VALUES (1, NULL)").run();
      throw new Error("bug");
    };
    expect(() => transactions.run(work)).toThrow("bug");
    expect([sqlite.inTransaction, ids()]).toEqual([false, []]);
    expect([insert(2), ids()]).toEqual([1, [2]]);
  });

  test("do not begin if the file must not be written", () => {
    const { sqlite, state, insert, ids } = createTransactions();
    state.isUsable = false;
    expect(() => insert(1)).toThrow("removed");
    expect([sqlite.inTransaction, ids()]).toEqual([false, []]);
  });

  test("undo a commit that fails, and cut the log to the last one", () => {
    const { sqlite, insert, ids } = createTransactions();
    insert(1);
    const log = readFileSync(walPath(sqlite.name));
    expect(() => insert(2, 99)).toThrow(expect.objectContaining({ code: "SQLITE_CONSTRAINT_FOREIGNKEY" }));
    expect([sqlite.inTransaction, ids()]).toEqual([false, [1]]);
    expect(readFileSync(walPath(sqlite.name)).equals(log)).toBe(true);
    expect([insert(3), ids()]).toEqual([1, [1, 3]]);
  });

  test("do not know the outcome of a commit that cannot be undone, until it can", () => {
    const { sqlite, state, transactions, insert, ids } = createTransactions();
    insert(1);
    let failure: unknown;
    try {
      transactions.run(() => {
        sqlite.prepare("INSERT INTO rows VALUES (2, 99)").run();
        state.isBroken = true;
      });
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(OutcomeUnknown);
    expect(failure).toMatchObject({
      message: "FOREIGN KEY constraint failed",
      cause: { code: "SQLITE_CONSTRAINT_FOREIGNKEY" },
    });
    expect(() => transactions.settleFailedCommit()).toThrow("cannot undo");
    expect(() => insert(3)).toThrow("cannot undo");
    state.isBroken = false;
    transactions.settleFailedCommit();
    expect([ids(), insert(4), ids()]).toEqual([[1], 1, [1, 4]]);
  });

  describe("in steps", () => {
    function createSteps() {
      const made = createTransactions();
      const add = made.sqlite.prepare("INSERT INTO rows VALUES (?, ?)");
      let commits = 0;
      const begin = (...rows: (readonly [id: number, other: number | null])[]) =>
        made.transactions.begin(
          function* () {
            for (const row of rows) {
              add.run(...row);
              yield;
            }
          },
          () => {
            commits += 1;
          },
          () => undefined,
        );
      const other = new BetterSqlite3(made.sqlite.name, { readonly: true });
      onTestFinished(() => void other.close());
      const committed = () => other.prepare("SELECT id FROM rows ORDER BY id").pluck().all();
      return { ...made, begin, committed, commits: () => commits };
    }

    test("nothing is committed before the last one", () => {
      const { begin, committed, commits } = createSteps();
      const write = begin([1, null], [2, 1]);
      expect([write.step(), write.step(), write.hasEnded, committed(), commits()]).toEqual([
        ...[false, false, false, [], 0],
      ]);
      expect([write.step(), write.hasEnded, committed(), commits()]).toEqual([true, true, [1, 2], 1]);
      expect([write.step(), commits()]).toEqual([true, 1]);
    });

    test("the next transaction takes the rest of them first", () => {
      const { begin, insert, committed, commits, transactions } = createSteps();
      const write = begin([1, null], [2, null]);
      write.step();
      insert(3, 2);
      expect([committed(), commits(), write.hasEnded, write.step()]).toEqual([[1, 2, 3], 1, true, true]);
      const later = begin([4, null]);
      const latest = begin([5, 4]);
      expect([later.hasEnded, latest.hasEnded, commits()]).toEqual([true, false, 2]);
      transactions.complete();
      transactions.complete();
      expect([latest.hasEnded, committed(), commits()]).toEqual([true, [1, 2, 3, 4, 5], 3]);
    });

    test("a step that fails undoes those before it", () => {
      const { sqlite, begin, committed, commits, insert } = createSteps();
      const write = begin([1, null], [1, null]);
      write.step();
      expect(() => write.step()).toThrow("UNIQUE");
      expect([sqlite.inTransaction, write.hasEnded, commits()]).toEqual([false, true, 0]);
      expect(() => write.step()).toThrow("UNIQUE");
      expect([insert(1), committed()]).toEqual([1, [1]]);
    });

    test("a commit that fails is undone, and fails who completes it and who began it", () => {
      const { begin, insert, committed, commits } = createSteps();
      insert(1);
      const write = begin([2, 99]);
      write.step();
      expect(() => insert(3)).toThrow("FOREIGN KEY");
      expect(() => write.step()).toThrow("FOREIGN KEY");
      expect([write.hasEnded, committed(), commits()]).toEqual([true, [1], 0]);
      expect([insert(4), committed()]).toEqual([1, [1, 4]]);
    });
  });

  test("without a failure there is nothing to undo", () => {
    const { sqlite, transactions } = createTransactions();
    sqlite.pragma("wal_checkpoint(TRUNCATE)");
    rmSync(walPath(sqlite.name));
    transactions.settleFailedCommit();
    expect(existsSync(walPath(sqlite.name))).toBe(false);
  });
});

describe("pruning", () => {
  /** Operations by row, with the instants at which they ended. */
  function prune(
    backlog: PruneBacklog,
    { oldestSeq = 10, limit = 3, operations = [] as [number, number][] } = {},
  ) {
    const calls: unknown[] = [];
    const events = { deleteBefore: (seq: number) => void calls.push(["events before", seq]) };
    const statements = {
      operationsAfter: {
        all: (row: number, count: number) =>
          operations
            .filter(([number]) => number > row)
            .slice(0, count)
            .map(([number, updated_at]) => ({ number, updated_at })),
      },
      deleteOperations: { run: (...range: number[]) => calls.push(["operations", ...range]) },
    } as unknown as JournalStatements;
    return { rest: pruneSome(events, statements, backlog, oldestSeq, limit), calls };
  }
  const DONE = { firstEvent: 11, fromOperation: undefined, operationsBefore: 100 };

  test("ends when no truncated event and no operation is left", () => {
    expect(isPruned(DONE, 10)).toBe(true);
    expect(isPruned({ ...DONE, firstEvent: 10 }, 10)).toBe(false);
    expect(isPruned({ ...DONE, fromOperation: 0 }, 10)).toBe(false);
    expect(prune(DONE)).toEqual({ rest: DONE, calls: [] });
  });

  test("deletes a portion of the events", () => {
    const first = prune({ ...DONE, firstEvent: 5 });
    expect(first).toEqual({ rest: { ...DONE, firstEvent: 8 }, calls: [["events before", 8]] });
    expect(prune(first.rest)).toEqual({ rest: DONE, calls: [["events before", 11]] });
    expect(prune({ ...DONE, firstEvent: 10 }, { limit: 1 }).calls).toEqual([["events before", 11]]);
  });

  test("deletes operations in portions, up to the first that ended later", () => {
    const from = (fromOperation: number) => ({ ...DONE, fromOperation });
    const operations: [number, number][] = [
      [1, 10],
      [2, 20],
      [5, 30],
      [6, 100],
      [7, 40],
      [8, 40],
    ];
    expect(prune(from(0), { operations })).toEqual({ rest: from(5), calls: [["operations", 0, 5, 100]] });
    expect(prune(from(5), { operations: operations.slice(0, 4) })).toEqual({
      rest: DONE,
      calls: [["operations", 5, 6, 100]],
    });
    expect(prune(from(2), { operations, limit: 2 })).toEqual({
      rest: DONE,
      calls: [["operations", 2, 6, 100]],
    });
    expect(prune(from(8), { operations })).toEqual({ rest: DONE, calls: [] });
  });
});
