import type BetterSqlite3 from "better-sqlite3";
import type { Operation } from "../../platform/model/operation.ts";
import { prepareReader } from "../tables/stored-tables.ts";

/** Reads operations of a world's file, finished ones included. Searches block after block, the newest first. */
export class StoredOperations {
  readonly #firstAndLastBlock: BetterSqlite3.Statement<[], [number | null, number | null]>;
  readonly #ofProject: (...parameters: unknown[]) => Operation[];
  readonly #byId: (...parameters: unknown[]) => Operation[];

  constructor(sqlite: BetterSqlite3.Database) {
    this.#firstAndLastBlock = sqlite
      .prepare<[], [number | null, number | null]>(
        "SELECT (SELECT min(number) >> 14 FROM operations), (SELECT max(number) >> 14 FROM operations)",
      )
      .raw();
    this.#ofProject = prepareReader(
      sqlite,
      "operations",
      "WHERE block = ? AND project_id = ? AND number < ? ORDER BY number DESC LIMIT ?",
    );
    this.#byId = prepareReader(sqlite, "operations", "WHERE block = ? AND id_start = ? AND id = ?");
  }

  /** Those of a project with a number less than `before`, newest first. */
  ofProject(projectId: string, limit: number, before: number): Operation[] {
    const found: Operation[] = [];
    for (const block of this.#blocks()) {
      found.push(...this.#ofProject(block, projectId, before, limit - found.length));
      if (found.length === limit) break;
    }
    return found;
  }

  byId(id: string): Operation | undefined {
    for (const block of this.#blocks()) {
      const [operation] = this.#byId(block, id.slice(0, 8), id);
      if (operation !== undefined) return operation;
    }
    return undefined;
  }

  /** Newest first. */
  *#blocks(): Generator<number> {
    const [first, last] = this.#firstAndLastBlock.get() ?? [null, null];
    if (first === null || last === null) return;
    for (let block = last; block >= first; block -= 1) yield block;
  }
}
