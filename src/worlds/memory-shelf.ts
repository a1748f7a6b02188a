import { emptyWorld, type World } from "../platform/core/world.ts";
import { takeCheckpoint, worldFrom } from "../simulation/checkpoint.ts";
import { MemoryJournal } from "../simulation/journal.ts";
import { replay } from "../simulation/replay.ts";
import type { ClockState } from "../simulation/world-clock.ts";
import { reseed } from "./reseed.ts";
import type { Fork, History, OpenHistory, Shelf } from "./shelf.ts";
import type { SnapshotInfo, WorldFacts } from "./world-handle.ts";

type Kept = { readonly historyId: string; readonly journal: MemoryJournal };
type KeptSnapshot = Kept & { readonly createdAt: number };

/** Worlds that end with the process. */
export class MemoryShelf implements Shelf {
  readonly #wall: () => number;
  readonly #newId: () => string;
  readonly #worlds = new Map<string, Kept>();
  readonly #snapshots = new Map<string, Map<string, KeptSnapshot>>();

  readonly #newJournal: () => MemoryJournal;

  constructor(wall: () => number, newId: () => string, newJournal = () => new MemoryJournal()) {
    this.#wall = wall;
    this.#newId = newId;
    this.#newJournal = newJournal;
  }

  worlds(): readonly string[] {
    return [...this.#worlds.keys()];
  }

  history(world: string): OpenHistory {
    return () => {
      let kept = this.#worlds.get(world);
      if (kept === undefined) {
        kept = { historyId: this.#newId(), journal: this.#newJournal() };
        this.#worlds.set(world, kept);
      }
      return open(kept);
    };
  }

  facts(world: string): WorldFacts {
    return factsOf(this.#kept(world));
  }

  removeWorld(world: string): void {
    this.#worlds.delete(world);
    this.#snapshots.delete(world);
  }

  async fork(from: string, to: string, fork: Fork): Promise<void> {
    const copied = copy(this.#kept(from), fork);
    if (fork.seed !== undefined) reseed(open(copied), fork.seed);
    this.#worlds.set(to, copied);
  }

  snapshots(world: string): readonly SnapshotInfo[] {
    return [...(this.#snapshots.get(world) ?? [])].map(([name, kept]) => ({ name, createdAt: kept.createdAt, ...factsOf(kept) }));
  }

  hasSnapshot(world: string, snapshot: string): boolean {
    return this.#snapshots.get(world)?.has(snapshot) === true;
  }

  async takeSnapshot(world: string, snapshot: string): Promise<void> {
    const { historyId, journal } = this.#kept(world);
    this.#keep(world, snapshot, { historyId, journal: journal.copy(journal.head), createdAt: this.#wall() });
  }

  removeSnapshot(world: string, snapshot: string): void {
    this.#snapshots.get(world)?.delete(snapshot);
  }

  async restore(world: string, snapshot: string, former: string, fork: Fork): Promise<void> {
    const kept = this.#snapshots.get(world)?.get(snapshot);
    if (kept === undefined) throw new Error(`there is no snapshot ${snapshot}`);
    const restored = copy(kept, fork);
    this.#keep(world, former, { ...this.#kept(world), createdAt: this.#wall() });
    this.#worlds.set(world, restored);
  }

  #keep(world: string, name: string, snapshot: KeptSnapshot): void {
    const snapshots = this.#snapshots.get(world) ?? new Map<string, KeptSnapshot>();
    this.#snapshots.set(world, snapshots.set(name, snapshot));
  }

  #kept(world: string): Kept {
    const kept = this.#worlds.get(world);
    if (kept === undefined) throw new Error(`there is no world ${world}`);
    return kept;
  }
}

/** A journal in memory is opened by folding it. */
function open({ journal, historyId }: Kept): History {
  const world = replay(journal.events(journal.newestCheckpoint, Number.POSITIVE_INFINITY), newestWorld(journal));
  journal.loadBesideHistory(world);
  const { clock } = journal;
  return { journal, world, historyId, ...(clock === undefined ? {} : { clock }), close: () => undefined };
}

function factsOf({ historyId, journal }: Kept): WorldFacts {
  return { historyId, seq: journal.head, now: journal.clock?.now ?? 0, sizeBytes: 0 };
}

function newestWorld(journal: MemoryJournal): World {
  return journal.newestCheckpoint === 0 ? emptyWorld() : worldFrom(journal.checkpointBefore({ seq: journal.newestCheckpoint }));
}

/** A journal that goes its own way from the head of this one, or from a point before it. */
function copy({ journal }: Kept, { historyId, clock, past }: Fork): Kept {
  const stood = journal.clock;
  if (stood === undefined) throw new Error("there is nothing to copy: this world is yet to be made");
  const now = past?.cut.at ?? stood.now;
  const state: ClockState = {
    mode: clock.mode ?? stood.state.mode,
    factor: clock.factor ?? stood.state.factor,
    simAnchor: now,
    wallAnchor: clock.wallNow,
  };
  const copied = journal.copy(past?.cut.seq ?? journal.head, { state, now });
  // Opened without folding all of it again.
  if (past !== undefined) void copied.keepCheckpoint(takeCheckpoint(past.world));
  return { historyId, journal: copied };
}
