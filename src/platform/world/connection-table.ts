import type { ChangeSet } from "../../kernel/change-set.ts";
import { CompactingMap } from "../../kernel/compacting-map.ts";
import type { Connection } from "../model/connection.ts";

const TABLE_NAME = "connections";

type ComputeConnections = Pick<CompactingMap<Connection>, "size" | "get" | "values">;

/**
 * A specialized table, because connections change most often. Rows are found by compute and id, without
 * building a combined key. The journal treats it like any other table.
 */
export class ConnectionTable {
  readonly #changes: ChangeSet;
  readonly #tracking: { readonly isTracked: boolean };
  /** An entry stays after its last connection closes, because the compute is likely to get others. */
  readonly #byCompute = new Map<string, CompactingMap<Connection>>();
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
  forCompute(computeId: string): ComputeConnections {
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
    if (rows === undefined || rows === NO_CONNECTIONS) {
      rows = new CompactingMap();
      this.#byCompute.set(row.endpointId, rows);
    }
    this.#size -= rows.size;
    rows.set(row.id, row);
    this.#size += rows.size;
  }

  delete(computeId: string, id: string): void {
    const rows = this.#byCompute.get(computeId);
    if (rows === undefined || !rows.delete(id)) return;
    this.#size -= 1;
    if (rows.size === 0) this.#byCompute.set(computeId, NO_CONNECTIONS);
    if (this.#tracking.isTracked)
      this.#changes.record(TABLE_NAME, this.keyOf({ endpointId: computeId, id }), undefined, "");
  }

  /** For a compute that is deleted or failed to start. */
  deleteForCompute(computeId: string): void {
    for (const { id } of [...this.forCompute(computeId).values()]) this.delete(computeId, id);
    this.#byCompute.delete(computeId);
  }

  empty(): void {
    this.#byCompute.clear();
    this.#size = 0;
    this.#changes.recordTruncated(TABLE_NAME);
  }
}

const NO_CONNECTIONS = new CompactingMap<Connection>();
