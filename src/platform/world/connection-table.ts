import type { ChangeSet } from "../../kernel/change-set.ts";
import type { Connection } from "../model/connection.ts";
import { ComputeConnections } from "./compute-connections.ts";

const TABLE_NAME = "connections";

/**
 * A specialized table, because connections change most often. Rows are found by compute and id, without
 * building a combined key. The journal treats it like any other table.
 */
export class ConnectionTable {
  readonly #changes: ChangeSet;
  readonly #tracking: { readonly isTracked: boolean };
  /** An entry stays after its last connection closes, because the compute is likely to get others. */
  readonly #byCompute = new Map<string, ComputeConnections>();
  #size = 0;

  constructor(changes: ChangeSet) {
    this.#changes = changes;
    this.#tracking = changes.trackingOf(TABLE_NAME);
  }

  get size(): number {
    return this.#size;
  }

  get(computeId: string, id: string): Connection | undefined {
    return this.forCompute(computeId).get(id);
  }

  /** The connections of a compute, in the order in which they were opened. */
  forCompute(computeId: string): Pick<ComputeConnections, "size" | "get" | "values"> {
    return this.#byCompute.get(computeId) ?? NO_CONNECTIONS;
  }

  toArray(): Connection[] {
    return [...this.#byCompute.values()].flatMap((rows) => [...rows.values()]);
  }

  entries(): [string, Connection][] {
    return this.toArray().map((row) => [this.keyOf(row), row]);
  }

  keyOf({ endpointId, id }: Pick<Connection, "endpointId" | "id">): string {
    return `${endpointId}/${id}`;
  }

  set(row: Connection): void {
    this.load(row);
    if (this.#tracking.isTracked) this.#changes.record(TABLE_NAME, this.keyOf(row), row, "");
  }

  /** Adds a stored row, without recording a change. */
  load(row: Connection): void {
    let rows = this.#byCompute.get(row.endpointId);
    if (rows === undefined) {
      rows = new ComputeConnections();
      this.#byCompute.set(row.endpointId, rows);
    }
    this.#size -= rows.size;
    rows.set(row);
    this.#size += rows.size;
  }

  delete(computeId: string, id: string): void {
    const rows = this.#byCompute.get(computeId);
    if (rows === undefined || !rows.delete(id)) return;
    this.#size -= 1;
    if (this.#tracking.isTracked)
      this.#changes.record(TABLE_NAME, this.keyOf({ endpointId: computeId, id }), undefined, "");
  }

  /** Deletes the connections of a compute that match, in the order in which they were opened. */
  deleteWhere(computeId: string, matches: (connection: Connection) => boolean): void {
    const rows = this.#byCompute.get(computeId);
    if (rows === undefined || rows.size === 0) return;
    this.#size -= rows.size;
    rows.deleteWhere((connection) => {
      const isDeleted = matches(connection);
      if (isDeleted && this.#tracking.isTracked)
        this.#changes.record(TABLE_NAME, this.keyOf(connection), undefined, "");
      return isDeleted;
    });
    this.#size += rows.size;
  }

  /** For a compute that is deleted or failed to start. */
  deleteForCompute(computeId: string): void {
    this.deleteWhere(computeId, () => true);
    this.#byCompute.delete(computeId);
  }

  empty(): void {
    this.#byCompute.clear();
    this.#size = 0;
    this.#changes.recordTruncated(TABLE_NAME);
  }
}

const NO_CONNECTIONS = new ComputeConnections();
