import type BetterSqlite3 from "better-sqlite3";
import { and, desc, eq, gt, gte, lte, max, sql } from "drizzle-orm";
import type { SimTime } from "../../kernel/time.ts";
import type { NewRequests, RequestLogEntry, StoredRequest } from "../../simulation/request-log.ts";
import { CorruptFile } from "../tables/journal-checksum.ts";
import { requests as blocks } from "../tables/schema.ts";
import { once, parametersFor, query, textOf } from "../tables/statement.ts";

/** Requests are stored in blocks; a row per request would cost three times as much. */
const REQUESTS_PER_BLOCK = 500;

type RequestBlock = { readonly number: number; readonly payload: string };

/**
 * The request log in a world's file. The caller opens the transaction. Requests beyond the limit are deleted many at once:
 * otherwise each commit would change pages of old blocks. Until then, they can still be read.
 */
export class RequestRows {
  readonly #statements;
  /** Blocks up to this request are deleted. */
  #lastDeleted = 0;

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
    if (lastPruned - this.#lastDeleted < Math.min(limit, REQUESTS_PER_BLOCK)) return;
    this.#statements.remove.run(lastPruned, lastPruned);
    this.#lastDeleted = lastPruned;
  }

  /** Deletes requests after this instant. */
  deleteAfter(now: SimTime): void {
    for (const block of this.#statements.after.all(now)) {
      this.#statements.removeOne.run(block.number);
      const remaining = requestsIn(block).filter(({ at }) => at <= now);
      this.#insert(remaining.map((request) => ({ ...request, text: JSON.stringify(request) })));
    }
  }

  clear(): void {
    this.#statements.remove.run(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    // Numbers restart at 1.
    this.#lastDeleted = 0;
  }

  #insert(requests: readonly StoredRequest[]): void {
    const [first, last] = [requests[0], requests.at(-1)];
    if (first === undefined || last === undefined) return;
    // Not joined: V8 would copy each text twice.
    let payload = `[${first.text}`;
    for (const { text } of requests.slice(1)) payload += `,${text}`;
    this.#statements.insert.run(first.number, last.number, last.at, `${payload}]`);
  }
}

function requestsIn({ number, payload }: RequestBlock): readonly RequestLogEntry[] {
  try {
    return JSON.parse(payload) as RequestLogEntry[];
  } catch (error) {
    throw new CorruptFile(`the request log is damaged from request ${number} on`, { cause: error });
  }
}

const parameter = sql.placeholder;
const BLOCK = { number: blocks.number, payload: blocks.payload };

const texts = once(() => {
  // Blocks have no gaps: the next request is in the last block that begins no later, or in the one after it.
  const begins = query
    .select({ number: max(blocks.number) })
    .from(blocks)
    .where(sql`${blocks.number} <= ${parameter("since")} + 1`);
  return {
    newest: textOf(query.select({ last: blocks.last }).from(blocks).orderBy(desc(blocks.number)).limit(1)),
    next: textOf(
      query
        .select(BLOCK)
        .from(blocks)
        .where(and(gte(blocks.number, sql`ifnull(${begins}, 0)`), gt(blocks.last, parameter("after"))))
        .orderBy(blocks.number)
        .limit(1),
      ...["since", "after"],
    ),
    after: textOf(
      query
        .select(BLOCK)
        .from(blocks)
        .where(gt(blocks.at, parameter("at")))
        .orderBy(blocks.number),
      "at",
    ),
    insert: textOf(
      query.insert(blocks).values(parametersFor(blocks)),
      ...["number", "last", "at", "payload"],
    ),
    remove: textOf(
      query
        .delete(blocks)
        .where(and(lte(blocks.number, parameter("number")), lte(blocks.last, parameter("last")))),
      ...["number", "last"],
    ),
    removeOne: textOf(query.delete(blocks).where(eq(blocks.number, parameter("number"))), "number"),
  };
});

function prepareStatements(sqlite: BetterSqlite3.Database) {
  const prepare = <Row, Parameters extends unknown[]>(text: string) => sqlite.prepare<Parameters, Row>(text);
  const text = texts();
  return {
    newest: prepare<{ last: number }, []>(text.newest),
    next: prepare<RequestBlock, [number, number]>(text.next),
    after: prepare<RequestBlock, [SimTime]>(text.after),
    insert: prepare<unknown, [number, number, SimTime, string]>(text.insert),
    remove: prepare<unknown, [number, number]>(text.remove),
    removeOne: prepare<unknown, [number]>(text.removeOne),
  };
}
