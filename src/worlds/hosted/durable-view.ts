import type { Rows } from "../../kernel/index-rows.ts";
import type { Table } from "../../kernel/table.ts";
import type { SimTime } from "../../kernel/time.ts";
import { UndoLog } from "../../kernel/undo-log.ts";
import type { World } from "../../platform/world/world.ts";
import type { Transaction } from "../world-handle.ts";
import type { LiveWorld } from "./live-world.ts";
import { transactionAt } from "./transaction.ts";

/** A read needs what a view of rows does not have, such as stored history, or it turned out to change the world. */
export class NeedsWholeWorld extends Error {}

/** What changes with every commit, in addition to rows. */
type Position = Pick<World, "settings" | "numbers" | "seq" | "at"> & {
  readonly now: SimTime;
  /** The number of changes until then. */
  readonly changes: number;
};

/**
 * The world of the last durable commit of an advance that is further already. Reads of it wait neither for the
 * advance nor for a disk. They take place between the steps of the advance, so nothing else sees the rows of then.
 */
export class DurableView {
  readonly live: LiveWorld;
  readonly #log = new UndoLog();
  readonly #world: World;
  readonly #onLost: (error: unknown) => void;
  /** Where the advance began. */
  readonly #from: SimTime;
  #now: SimTime;
  #taken: Position | undefined;

  /** Everything that has happened is durable. */
  constructor(
    live: LiveWorld,
    { from, now }: { readonly from: SimTime; readonly now: SimTime },
    onLost: (error: unknown) => void,
  ) {
    this.live = live;
    this.#from = from;
    this.#now = now;
    this.#onLost = onLost;
    const { world } = live.simulation;
    world.changes.undoLog = this.#log;
    this.#world = { ...world, numbers: { ...world.numbers } };
    const hourlyUsage = this.#hourlyUsageOf(world);
    Object.defineProperties(this.#world, {
      hourlyUsage: { value: hourlyUsage },
      branches: { value: inOrder(world.branches, "project") },
      branchSnapshots: { value: inOrder(world.branchSnapshots, "project") },
      computes: { value: inOrder(world.computes, "project") },
      operations: { value: inOrder(world.operations, "project") },
      records: { value: inOrder(world.records, "scope") },
      connections: { get: needWholeWorld },
      changes: { get: needWholeWorld },
    });
  }

  /** Where the clock was at that commit. */
  get now(): SimTime {
    return this.#now;
  }

  /** A commit takes everything that has happened. */
  taken(): void {
    const { simulation, clock } = this.live;
    const { settings, numbers, seq, at } = simulation.world;
    this.#taken = { settings, numbers: { ...numbers }, seq, at, now: clock.now(), changes: this.#log.length };
  }

  /** That commit is durable. */
  durable(): void {
    if (this.#taken === undefined) return;
    const { now, changes, ...position } = this.#taken;
    this.#taken = undefined;
    this.#log.forget(changes);
    this.#now = now;
    Object.assign(this.#world, position);
  }

  /** Throws `NeedsWholeWorld` if it is not enough for this read. */
  read<T>(work: (transaction: Transaction) => T): T {
    if (this.#log.isBroken) throw new NeedsWholeWorld();
    let use: (() => void) | undefined;
    const transaction = transactionAt(
      this.live,
      // A running clock may be ahead of the work that is due.
      Math.max(this.#from, this.#world.at),
      {
        commit: needWholeWorld,
        onChange: needWholeWorld,
        onDurableRow: needWholeWorld,
        onLost: this.#onLost,
      },
      this.#world,
    );
    const result = this.#log.whileUndone(() =>
      work({
        ...transaction,
        recordKeyUse: (keyId, address) => {
          use = () => transaction.recordKeyUse(keyId, address);
        },
        operations: needWholeWorld,
        eventsAbout: needWholeWorld,
        events: needWholeWorld,
        operation: (id) => this.#world.operations.get(id) ?? needWholeWorld(),
      }),
    );
    use?.();
    return result;
  }

  /** Answers see the usage of an hour at a time. */
  #hourlyUsageOf({ hourlyUsage }: World): World["hourlyUsage"] {
    const get: typeof hourlyUsage.get = (id, granularity, hour) =>
      hourlyUsage.getBefore(this.#log, id, granularity, hour);
    return new Proxy(hourlyUsage, { get: (_, name) => (name === "get" ? get : needWholeWorld()) });
  }

  end(): void {
    const { changes } = this.live.simulation.world;
    if (changes.undoLog === this.#log) changes.undoLog = undefined;
  }
}

/**
 * The table with the rows of this index by their creation. Those that are gone in the meantime come back at the end, and
 * answers depend on the order.
 */
function inOrder<T extends { readonly number: number }, Index extends string>(
  table: Table<T, Index>,
  ordered: Index,
): Table<T, Index> {
  const by = (index: Index, value: string): Rows<T> => {
    const rows = table.by(index, value);
    if (index !== ordered) return rows;
    const toArray = () => rows.toArray().sort((one, other) => one.number - other.number);
    return {
      size: rows.size,
      keys: () => toArray().map((row) => table.keyOf(row)),
      values: () => toArray().values(),
      toArray,
    };
  };
  return new Proxy(table, {
    get(_, name) {
      if (name === "by") return by;
      const value: unknown = Reflect.get(table, name, table);
      return typeof value === "function" ? value.bind(table) : value;
    },
  });
}

function needWholeWorld(): never {
  throw new NeedsWholeWorld();
}
