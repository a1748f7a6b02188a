import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../kernel/time.ts";
import type { NewRequests, RequestLogEntry, StoredRequest } from "../../simulation/request-log.ts";
import { CorruptFile } from "../tables/journal-checksum.ts";

/** Requests are stored in blocks; a row per request would cost three times as much. */
const REQUESTS_PER_BLOCK = 500;

type RequestBlock = { readonly number: number; readonly payload: string };

/** The request log in a world's file. The caller opens the transaction. */
export class RequestRows {
  readonly #statements;

  constructor(sqlite: BetterSqlite3.Database) {
    this.#statements = prepareStatements(sqlite);
  }

  get newest(): number {
    return this.#statements.newest.get()?.last ?? 0;
  }

  /** Requests with a number above `since` (exclusive), in order. */
  since(since: number, limit: number): RequestLogEntry[] {
    const matches: RequestLogEntry[] = [];
    for (let from = since; matches.length < limit; ) {
      const block = this.#statements.next.get(from, from);
      if (block === undefined) break;
      const requests = requestsIn(block);
      for (const request of requests)
        if (request.number > since && matches.length < limit) matches.push(request);
      from = requests.at(-1)?.number ?? Number.MAX_SAFE_INTEGER;
    }
    return matches;
  }

  add({ add, limit }: NewRequests): void {
    for (let from = 0; from < add.length; from += REQUESTS_PER_BLOCK)
      this.#insert(add.slice(from, from + REQUESTS_PER_BLOCK));
    const lastPruned = (add.at(-1)?.number ?? 0) - limit;
    if (lastPruned <= 0) return;
    this.#statements.remove.run(lastPruned, lastPruned);
    this.#filterBlock(this.#statements.at.get(lastPruned, lastPruned), ({ number }) => number > lastPruned);
  }

  /** Deletes requests after this instant. */
  deleteAfter(now: SimTime): void {
    const { after, removeOne } = this.#statements;
    for (const block of after.all(now)) {
      if (!this.#filterBlock(block, ({ at }) => at <= now)) removeOne.run(block.number);
    }
  }

  clear(): void {
    this.#statements.remove.run(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  }

  /**
   * Rewrites a block with only its retained requests. Returns false, and leaves the block, if none are
   * retained.
   */
  #filterBlock(block: RequestBlock | undefined, isRetained: (request: RequestLogEntry) => boolean): boolean {
    const remaining = block === undefined ? [] : requestsIn(block).filter(isRetained);
    if (block === undefined || remaining.length === 0) return false;
    this.#statements.removeOne.run(block.number);
    this.#insert(
      remaining.map((request) => ({
        number: request.number,
        at: request.at,
        text: JSON.stringify(request),
      })),
    );
    return true;
  }

  #insert(requests: readonly StoredRequest[]): void {
    const [first, last] = [requests[0], requests.at(-1)];
    if (first !== undefined && last !== undefined)
      this.#statements.insert.run(
        first.number,
        last.number,
        last.at,
        `[${requests.map(({ text }) => text).join(",")}]`,
      );
  }
}

function requestsIn({ number, payload }: RequestBlock): readonly RequestLogEntry[] {
  try {
    return JSON.parse(payload) as RequestLogEntry[];
  } catch (error) {
    throw new CorruptFile(`the request log is damaged from request ${number} on`, { cause: error });
  }
}

function prepareStatements(sqlite: BetterSqlite3.Database) {
  const prepare = <Row, Parameters extends unknown[]>(source: string) =>
    sqlite.prepare<Parameters, Row>(source);
  return {
    newest: prepare<{ last: number }, []>("SELECT last FROM requests ORDER BY number DESC LIMIT 1"),
    // Blocks have no gaps: the next request is in the last block that begins no later, or in the one after
    // it.
    next: prepare<RequestBlock, [number, number]>(
      `SELECT number, payload FROM requests
       WHERE number >= ifnull((SELECT max(number) FROM requests WHERE number <= ? + 1), 0) AND last > ? ORDER BY number LIMIT 1`,
    ),
    at: prepare<RequestBlock, [number, number]>(
      "SELECT number, payload FROM requests WHERE number <= ? AND last > ? ORDER BY number DESC LIMIT 1",
    ),
    after: prepare<RequestBlock, [SimTime]>(
      "SELECT number, payload FROM requests WHERE at > ? ORDER BY number",
    ),
    insert: prepare<unknown, [number, number, SimTime, string]>(
      "INSERT INTO requests (number, last, at, payload) VALUES (?, ?, ?, ?)",
    ),
    remove: prepare<unknown, [number, number]>("DELETE FROM requests WHERE number <= ? AND last <= ?"),
    removeOne: prepare<unknown, [number]>("DELETE FROM requests WHERE number = ?"),
  };
}
