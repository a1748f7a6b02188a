import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../platform/core/time.ts";
import type { NewRequests, RecordedRequest } from "../../simulation/requests.ts";
import { Damaged } from "../tables/checksum.ts";

/** Written and read at once; a row of its own for each would cost three times as much. */
const REQUESTS_PER_BLOCK = 500;

type Block = { readonly number: number; readonly payload: string };

/** The journal of requests in a world's file, in blocks. Callers see to the transaction. */
export class RequestRows {
  readonly #statements;

  constructor(sqlite: BetterSqlite3.Database) {
    this.#statements = prepareStatements(sqlite);
  }

  get newest(): number {
    return this.#statements.newest.get()?.last ?? 0;
  }

  /** Those above `since`, in order. */
  since(since: number, limit: number): RecordedRequest[] {
    const found: RecordedRequest[] = [];
    for (let from = since; found.length < limit; ) {
      const block = this.#statements.next.get(from, from);
      if (block === undefined) break;
      const requests = requestsIn(block);
      for (const request of requests) if (request.number > since && found.length < limit) found.push(request);
      from = requests.at(-1)?.number ?? Number.MAX_SAFE_INTEGER;
    }
    return found;
  }

  add({ add, keep }: NewRequests): void {
    for (let from = 0; from < add.length; from += REQUESTS_PER_BLOCK) this.#insert(add.slice(from, from + REQUESTS_PER_BLOCK));
    const forgotten = (add.at(-1)?.number ?? 0) - keep;
    if (forgotten <= 0) return;
    this.#statements.remove.run(forgotten, forgotten);
    this.#cut(this.#statements.at.get(forgotten, forgotten), ({ number }) => number > forgotten);
  }

  /** Forgets what came after this instant. */
  cutBack(now: SimTime): void {
    const { after, removeOne } = this.#statements;
    for (const block of after.all(now)) {
      if (!this.#cut(block, ({ at }) => at <= now)) removeOne.run(block.number);
    }
  }

  forget(): void {
    this.#statements.remove.run(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  }

  /** Leaves of a block what is to stay; gives whether anything does. */
  #cut(block: Block | undefined, stays: (request: RecordedRequest) => boolean): boolean {
    const left = block === undefined ? [] : requestsIn(block).filter(stays);
    if (block === undefined || left.length === 0) return false;
    this.#statements.removeOne.run(block.number);
    this.#insert(left);
    return true;
  }

  #insert(requests: readonly RecordedRequest[]): void {
    const [first, last] = [requests[0], requests.at(-1)];
    if (first !== undefined && last !== undefined)
      this.#statements.insert.run(first.number, last.number, last.at, JSON.stringify(requests));
  }
}

function requestsIn({ number, payload }: Block): readonly RecordedRequest[] {
  try {
    return JSON.parse(payload) as RecordedRequest[];
  } catch (error) {
    throw new Damaged(`requests from ${number} on are damaged`, { cause: error });
  }
}

function prepareStatements(sqlite: BetterSqlite3.Database) {
  const prepare = <Row, Parameters extends unknown[]>(source: string) => sqlite.prepare<Parameters, Row>(source);
  return {
    newest: prepare<{ last: number }, []>("SELECT last FROM requests ORDER BY number DESC LIMIT 1"),
    // Blocks follow each other without gaps: the next request is in the last block that begins no later, or in the first behind it.
    next: prepare<Block, [number, number]>(
      `SELECT number, payload FROM requests
       WHERE number >= ifnull((SELECT max(number) FROM requests WHERE number <= ? + 1), 0) AND last > ? ORDER BY number LIMIT 1`,
    ),
    at: prepare<Block, [number, number]>(
      "SELECT number, payload FROM requests WHERE number <= ? AND last > ? ORDER BY number DESC LIMIT 1",
    ),
    after: prepare<Block, [SimTime]>("SELECT number, payload FROM requests WHERE at > ? ORDER BY number"),
    insert: prepare<unknown, [number, number, SimTime, string]>("INSERT INTO requests (number, last, at, payload) VALUES (?, ?, ?, ?)"),
    remove: prepare<unknown, [number, number]>("DELETE FROM requests WHERE number <= ? AND last <= ?"),
    removeOne: prepare<unknown, [number]>("DELETE FROM requests WHERE number = ?"),
  };
}
