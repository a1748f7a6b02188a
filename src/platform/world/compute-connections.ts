import { CompactingMap } from "../../kernel/compacting-map.ts";
import type { Connection } from "../model/connection.ts";

/** Up to this number, a search takes no longer than a lookup in a map. */
const MAX_LISTED = 8;

/**
 * The connections of one compute by id, in the order in which they were opened. Most computes have one at a time, and
 * open and close it often, so a map is created only for many.
 */
export class ComputeConnections {
  readonly #list: Connection[] = [];
  /** Has all connections once there are more than fit into the list, until the last one closes. */
  #map: CompactingMap<Connection> | undefined;

  get size(): number {
    return this.#map === undefined ? this.#list.length : this.#map.size;
  }

  get(id: string): Connection | undefined {
    return this.#map === undefined ? this.#list[this.#positionOf(id)] : this.#map.get(id);
  }

  /** In the order in which they were opened. Meanwhile, a connection may be replaced, but none added or deleted. */
  values(): IterableIterator<Connection> {
    return this.#map === undefined ? this.#list.values() : this.#map.values();
  }

  set(connection: Connection): void {
    const list = this.#list;
    if (this.#map !== undefined) {
      this.#map.set(connection.id, connection);
      return;
    }
    const position = this.#positionOf(connection.id);
    if (position >= 0) list[position] = connection;
    else list.push(connection);
    if (list.length > MAX_LISTED) this.#moveToMap();
  }

  /** Returns whether it was there. */
  delete(id: string): boolean {
    if (this.#map === undefined) {
      const position = this.#positionOf(id);
      if (position >= 0) this.#list.splice(position, 1);
      return position >= 0;
    }
    const isDeleted = this.#map.delete(id);
    if (this.#map.size === 0) this.#map = undefined;
    return isDeleted;
  }

  /** Deletes the connections that match, in the order in which they were opened. */
  deleteWhere(matches: (connection: Connection) => boolean): void {
    if (this.#map !== undefined) {
      for (const connection of [...this.#map.values()])
        if (matches(connection)) this.#map.delete(connection.id);
      if (this.#map.size === 0) this.#map = undefined;
      return;
    }
    const list = this.#list;
    let remaining = 0;
    for (let position = 0; position < list.length; position += 1) {
      const connection = list[position] as Connection;
      if (matches(connection)) continue;
      list[remaining] = connection;
      remaining += 1;
    }
    while (list.length > remaining) list.pop();
  }

  #moveToMap(): void {
    this.#map = new CompactingMap();
    for (const connection of this.#list) this.#map.set(connection.id, connection);
    this.#list.length = 0;
  }

  /** -1 if it is not in the list. */
  #positionOf(id: string): number {
    const list = this.#list;
    for (let position = 0; position < list.length; position += 1)
      if ((list[position] as Connection).id === id) return position;
    return -1;
  }
}
