import type BetterSqlite3 from "better-sqlite3";
import { max, min, sql } from "drizzle-orm";
import type { Change } from "../../kernel/change-set.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { operations } from "../tables/schema.ts";
import { once, query, textOf } from "../tables/statement.ts";
import { prepareReader } from "../tables/stored-tables.ts";

const parameter = sql.placeholder;
const { block, number, projectId, id, idStart } = operations;

const texts = once(() => {
  const smallest = query.select({ number: min(number) }).from(operations);
  const largest = query.select({ number: max(number) }).from(operations);
  return {
    firstAndLastBlock: textOf(sql`select ${smallest} >> 14, ${largest} >> 14`),
    ofProject: textOf(
      sql`where ${block} = ${parameter("block")} and ${projectId} = ${parameter("project")} and ${number} < ${parameter("before")} order by ${number} desc limit ${parameter("limit")}`,
      ...["block", "project", "before", "limit"],
    ),
    byId: textOf(
      sql`where ${block} = ${parameter("block")} and ${idStart} = ${parameter("idStart")} and ${id} = ${parameter("id")}`,
      ...["block", "idStart", "id"],
    ),
  };
});

/** A page that was read, with the limit and the number before which it ends. */
type CachedPage = { readonly limit: number; readonly before: number; readonly page: readonly Operation[] };

/** Pages and their operations, of all projects together. */
const MAX_CACHED = 10_000;

/**
 * Reads operations of a world's file, finished ones included. Searches block after block, the newest first. Caches the
 * latest page of each project until one of its operations is written.
 */
export class StoredOperations {
  readonly #firstAndLastBlock: BetterSqlite3.Statement<[], [number | null, number | null]>;
  readonly #ofProject: (...parameters: unknown[]) => Operation[];
  readonly #byId: (...parameters: unknown[]) => Operation[];

  readonly #cached = new Map<string, CachedPage>();
  #cachedCount = 0;

  constructor(sqlite: BetterSqlite3.Database) {
    this.#firstAndLastBlock = sqlite
      .prepare<[], [number | null, number | null]>(texts().firstAndLastBlock)
      .raw();
    this.#ofProject = prepareReader(sqlite, "operations", texts().ofProject);
    this.#byId = prepareReader(sqlite, "operations", texts().byId);
  }

  /** The operations of a project with a number less than `before`, newest first. */
  ofProject(projectId: string, limit: number, before: number): readonly Operation[] {
    const cached = this.#cached.get(projectId);
    if (cached?.limit === limit && cached.before === before) return cached.page;
    const page = this.#readOfProject(projectId, limit, before);
    this.#forget(projectId);
    this.#cached.set(projectId, { limit, before, page });
    this.#cachedCount += 1 + page.length;
    for (const oldest of this.#cached.keys()) {
      if (this.#cachedCount <= MAX_CACHED) break;
      this.#forget(oldest);
    }
    return page;
  }

  #readOfProject(projectId: string, limit: number, before: number): Operation[] {
    const found: Operation[] = [];
    for (const block of this.#blocks()) {
      found.push(...this.#ofProject(block, projectId, before, limit - found.length));
      if (found.length === limit) break;
    }
    return found;
  }

  /** Must be called when these rows are written. */
  changed(changes: readonly Change[]): void {
    for (const { table, value } of changes) {
      if (table !== "operations") continue;
      if (value === undefined) this.forgetAll();
      else this.#forget((value as Operation).projectId);
    }
  }

  /** Must be called when rows are deleted or written without this class. */
  forgetAll(): void {
    this.#cached.clear();
    this.#cachedCount = 0;
  }

  #forget(projectId: string): void {
    const cached = this.#cached.get(projectId);
    if (cached === undefined) return;
    this.#cachedCount -= 1 + cached.page.length;
    this.#cached.delete(projectId);
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
