import { PastRows } from "../../kernel/past-rows.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Operation } from "../../platform/model/operation.ts";
import type { World } from "../../platform/world/world.ts";
import type { Transaction } from "../world-handle.ts";
import type { LiveWorld } from "./live-world.ts";
import { HostedTransaction } from "./transaction.ts";
import { NeedsWholeWorld, needWholeWorld, worldBefore } from "./world-before.ts";

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
    world.changes.keepRows(this.#past);
    this.#world = worldBefore(this.#past, world);
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
    return work(new DurableTransaction(this.live, this.now, this.#world, this.#onLost));
  }

  end(): void {
    this.live.simulation.world.changes.endKeeping(this.#past);
  }
}

/** A transaction of a view, which has no stored history and no commands. */
class DurableTransaction extends HostedTransaction {
  /** The only change of a read is not one of the view. */
  readonly #current: Transaction;

  constructor(live: LiveWorld, now: SimTime, world: World, onLost: (error: unknown) => void) {
    const hooks = {
      commit: needWholeWorld,
      onCommand: needWholeWorld,
      onChange: needWholeWorld,
      onDurableRow: needWholeWorld,
      onLost,
      readInSteps: needWholeWorld,
    };
    super(live, now, hooks, world);
    this.#current = new HostedTransaction(live, now, hooks);
  }

  override recordKeyUse(keyId: number, address: string): void {
    this.#current.recordKeyUse(keyId, address);
  }

  override operations(): never {
    return needWholeWorld();
  }

  override eventsAbout(): never {
    return needWholeWorld();
  }

  override events(): never {
    return needWholeWorld();
  }

  override operation(id: string): Operation {
    return this.world.operations.get(id) ?? needWholeWorld();
  }
}
