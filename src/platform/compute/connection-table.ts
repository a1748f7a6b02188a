import { FreshMap } from "../core/fresh-map.ts";
import type { Changes } from "../core/table.ts";
import type { Connection } from "./connection.ts";

const NAME = "connections";

type OfCompute = Pick<FreshMap<Connection>, "size" | "get" | "values">;

/**
 * A table of its own kind, for nothing comes and goes as often as connections: each compute's are found by their ids alone, and no
 * key of both ids has to be put together to open one. To the journal it is a table like any other.
 */
export class ConnectionTable {
  readonly #changes: Changes;
  readonly #interest: { readonly isWanted: boolean };
  /** A compute that has had connections stays in here: it will have others. */
  readonly #ofCompute = new Map<string, FreshMap<Connection>>();
  #size = 0;

  constructor(changes: Changes) {
    this.#changes = changes;
    this.#interest = changes.interestIn(NAME);
  }

  get size(): number {
    return this.#size;
  }

  get(endpointId: string, id: string): Connection | undefined {
    return this.of(endpointId).get(id);
  }

  /** Those of one compute, in the order in which they were opened. */
  of(endpointId: string): OfCompute {
    return this.#ofCompute.get(endpointId) ?? NOBODY;
  }

  toArray(): Connection[] {
    return [...this.#ofCompute.values()].flatMap((rows) => [...rows.values()]);
  }

  entries(): [string, Connection][] {
    return this.toArray().map((row) => [this.keyOf(row), row]);
  }

  keyOf({ endpointId, id }: Pick<Connection, "endpointId" | "id">): string {
    return `${endpointId}/${id}`;
  }

  set(row: Connection): void {
    this.load(row);
    if (this.#interest.isWanted) this.#changes.record(NAME, this.keyOf(row), row, "");
  }

  /** Puts a row in its place without marking it as changed: it came from where changes go. */
  load(row: Connection): void {
    let rows = this.#ofCompute.get(row.endpointId);
    if (rows === undefined || rows === NOBODY) {
      rows = new FreshMap();
      this.#ofCompute.set(row.endpointId, rows);
    }
    this.#size -= rows.size;
    rows.set(row.id, row);
    this.#size += rows.size;
  }

  delete(endpointId: string, id: string): void {
    const rows = this.#ofCompute.get(endpointId);
    if (rows === undefined || !rows.delete(id)) return;
    this.#size -= 1;
    if (rows.size === 0) this.#ofCompute.set(endpointId, NOBODY);
    if (this.#interest.isWanted) this.#changes.record(NAME, this.keyOf({ endpointId, id }), undefined, "");
  }

  /** A compute is gone, and its connections with it. */
  forget(endpointId: string): void {
    for (const { id } of [...this.of(endpointId).values()]) this.delete(endpointId, id);
    this.#ofCompute.delete(endpointId);
  }

  empty(): void {
    this.#ofCompute.clear();
    this.#size = 0;
    this.#changes.recordEmptied(NAME);
  }
}

const NOBODY = new FreshMap<Connection>();
