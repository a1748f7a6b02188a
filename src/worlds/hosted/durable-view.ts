import { PastRows } from "../../kernel/past-rows.ts";
import { PastTable } from "../../kernel/past-table.ts";
import { Table } from "../../kernel/table.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { TableName } from "../../platform/world/tables.ts";
import type { World } from "../../platform/world/world.ts";
import type { Transaction } from "../world-handle.ts";
import type { LiveWorld } from "./live-world.ts";
import { transactionAt } from "./transaction.ts";

/** A read needs what a view of rows does not have, such as stored history, or it turned out to change the world. */
export class NeedsWholeWorld extends Error {}

/** What changes with every commit, in addition to rows. */
type Position = Pick<World, "settings" | "numbers" | "seq" | "at">;

/**
 * The world of the last durable commit of an advance that is further already. Reads of it wait neither for the
 * advance nor for a disk.
 */
export class DurableView {
  readonly live: LiveWorld;
  readonly #past = new PastRows();
  readonly #world: World;
  readonly #onLost: (error: unknown) => void;
  /** Instant at which the advance began. All work due by then has run. */
  readonly #from: SimTime;
  /** The number of changes that are part of it. */
  #durable = 0;

  /** Everything that has happened is durable. */
  constructor(live: LiveWorld, from: SimTime, onLost: (error: unknown) => void) {
    this.live = live;
    this.#from = from;
    this.#onLost = onLost;
    const { world } = live.simulation;
    world.changes.past = this.#past;
    this.#world = { ...world, numbers: { ...world.numbers } };
    for (const [name, table] of Object.entries(world)) {
      if (!(table instanceof Table)) continue;
      const value = new PastTable(table, this.#past, ORDERED.has(name) ? numberOf : undefined);
      Object.defineProperty(this.#world, name, { value });
    }
    Object.defineProperties(this.#world, {
      hourlyUsage: { value: this.#hourlyUsageOf(world) },
      computeTotals: { get: needWholeWorld },
      connections: { get: needWholeWorld },
      changes: { get: needWholeWorld },
    });
  }

  /** Instant of that commit. A running clock may be ahead of it, and of the work that is due. */
  get now(): SimTime {
    return Math.max(this.#from, this.#world.at);
  }

  /** A commit takes everything that has happened. The result is called when it is durable. */
  taken(): () => void {
    const { simulation } = this.live;
    const { settings, numbers, seq, at } = simulation.world;
    const position: Position = { settings, numbers: { ...numbers }, seq, at };
    const changes = this.#durable + this.#past.length;
    return () => {
      // A later commit, which contains this one, may have been durable first.
      if (changes < this.#durable || seq < this.#world.seq) return;
      this.#past.forget(changes - this.#durable);
      this.#durable = changes;
      Object.assign(this.#world, position);
    };
  }

  /** Throws `NeedsWholeWorld` if it is not enough for this read. */
  read<T>(work: (transaction: Transaction) => T): T {
    if (this.#past.isBroken) throw new NeedsWholeWorld();
    const { now } = this;
    const hooks = {
      commit: needWholeWorld,
      onCommand: needWholeWorld,
      onChange: needWholeWorld,
      onDurableRow: needWholeWorld,
      onLost: this.#onLost,
    };
    const transaction = transactionAt(this.live, now, hooks, this.#world);
    // The only change of a read is not one of the view.
    const { recordKeyUse } = transactionAt(this.live, now, hooks);
    return work({
      ...transaction,
      recordKeyUse,
      operations: needWholeWorld,
      eventsAbout: needWholeWorld,
      events: needWholeWorld,
      operation: (id) => this.#world.operations.get(id) ?? needWholeWorld(),
    });
  }

  /** Answers see the usage of an hour at a time. */
  #hourlyUsageOf({ hourlyUsage }: World): World["hourlyUsage"] {
    const get: typeof hourlyUsage.get = (id, granularity, hour) =>
      hourlyUsage.getBefore(this.#past, id, granularity, hour);
    return new Proxy(hourlyUsage, { get: (_, name) => (name === "get" ? get : needWholeWorld()) });
  }

  end(): void {
    const { changes } = this.live.simulation.world;
    if (changes.past === this.#past) changes.past = undefined;
  }
}

/** Rows of these tables are in the order of their numbers, also those that are gone in the meantime. */
const ORDERED: ReadonlySet<string> = new Set([
  "branches",
  "branchSnapshots",
  "computes",
  "operations",
  "projects",
  "records",
  "scheduledActivities",
] satisfies TableName[]);

const numberOf = (row: unknown) => (row as { readonly number: number }).number;

function needWholeWorld(): never {
  throw new NeedsWholeWorld();
}
