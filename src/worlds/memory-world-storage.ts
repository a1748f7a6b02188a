import { setImmediate as nextTurn } from "node:timers/promises";
import { omitUndefined } from "../kernel/omit-undefined.ts";
import { ACCEPTED, accept, type Result } from "../platform/catalog/refusal-codes.ts";
import type { BranchData } from "../platform/model/branch-data.ts";
import { checkPastData } from "../platform/rules/branch-data/available-data.ts";
import { emptyWorld, type World } from "../platform/world/world.ts";
import { takeCheckpoint, worldFromCheckpoint } from "../simulation/checkpoint.ts";
import { MemoryJournal } from "../simulation/memory-journal.ts";
import { type HistoryPoint, replay, worldAt } from "../simulation/replay.ts";
import type { ClockState } from "../simulation/world-clock.ts";
import { reseed } from "./reseed.ts";
import { SecretBox } from "./secret-box.ts";
import type { SnapshotInfo, StoredWorldInfo } from "./world-handle.ts";
import type { ForkSettings, History, OpenHistory, WorldStorage } from "./world-storage.ts";

type StoredWorld = { readonly historyId: string; readonly journal: MemoryJournal };
type StoredSnapshot = StoredWorld & { readonly createdAt: number };

/** Worlds in memory, lost when the process ends. */
export class MemoryWorldStorage implements WorldStorage {
  readonly #wallClock: () => number;
  readonly #newId: () => string;
  readonly #secretBox: SecretBox;
  readonly #worlds = new Map<string, StoredWorld>();
  readonly #snapshots = new Map<string, Map<string, StoredSnapshot>>();

  readonly #newJournal: () => MemoryJournal;

  constructor(
    wallClock: () => number,
    newId: () => string,
    newJournal = () => new MemoryJournal(),
    secretBox = new SecretBox(),
  ) {
    this.#wallClock = wallClock;
    this.#newId = newId;
    this.#newJournal = newJournal;
    this.#secretBox = secretBox;
  }

  worlds(): readonly string[] {
    return [...this.#worlds.keys()];
  }

  history(world: string): OpenHistory {
    return () => {
      let stored = this.#worlds.get(world);
      if (stored === undefined) {
        stored = { historyId: this.#newId(), journal: this.#newJournal() };
        this.#worlds.set(world, stored);
      }
      return openStored(stored, this.#secretBox);
    };
  }

  info(world: string): StoredWorldInfo {
    return infoOf(this.#stored(world));
  }

  branchData(world: string, snapshot?: string): readonly BranchData[] {
    const stored = snapshot === undefined ? this.#stored(world) : this.#storedSnapshot(world, snapshot);
    return stored.journal.unjournaledRows("branchData") as BranchData[];
  }

  /** No world in memory was there before its server, whose report needs them. */
  projectVersions(): readonly number[] {
    return [];
  }

  writtenAt(): undefined {
    return undefined;
  }

  removeWorld(world: string): void {
    this.#worlds.delete(world);
    this.#snapshots.delete(world);
  }

  async fork(from: string, to: string, fork: ForkSettings): Promise<Result<undefined>> {
    const stored = this.#stored(from);
    const past = fork.rewindTo && (await pastOf(stored, fork.rewindTo));
    if (past?.ok === false) return past;
    const copied = copyForFork(stored, fork, past?.value);
    if (fork.seed !== undefined) reseed(openStored(copied, this.#secretBox), fork.seed);
    this.#worlds.set(to, copied);
    return ACCEPTED;
  }

  snapshotNames(world: string): readonly string[] {
    return [...(this.#snapshots.get(world)?.keys() ?? [])];
  }

  snapshot(world: string, snapshot: string): SnapshotInfo {
    const stored = this.#storedSnapshot(world, snapshot);
    return { name: snapshot, createdAt: stored.createdAt, ...infoOf(stored) };
  }

  hasSnapshot(world: string, snapshot: string): boolean {
    return this.#snapshots.get(world)?.has(snapshot) === true;
  }

  async takeSnapshot(world: string, snapshot: string): Promise<void> {
    const { historyId, journal } = this.#stored(world);
    this.#storeSnapshot(world, snapshot, {
      historyId,
      journal: journal.copy(journal.head),
      createdAt: this.#wallClock(),
    });
  }

  removeSnapshot(world: string, snapshot: string): void {
    this.#snapshots.get(world)?.delete(snapshot);
  }

  async restore(world: string, snapshot: string, previousName: string, fork: ForkSettings): Promise<void> {
    const stored = this.#storedSnapshot(world, snapshot);
    const restored = copyForFork(stored, fork);
    this.#storeSnapshot(world, previousName, { ...this.#stored(world), createdAt: this.#wallClock() });
    this.#worlds.set(world, restored);
  }

  #storeSnapshot(world: string, name: string, snapshot: StoredSnapshot): void {
    const snapshots = this.#snapshots.get(world) ?? new Map<string, StoredSnapshot>();
    this.#snapshots.set(world, snapshots.set(name, snapshot));
  }

  #storedSnapshot(world: string, name: string): StoredSnapshot {
    const stored = this.#snapshots.get(world)?.get(name);
    if (stored === undefined) throw new Error(`there is no snapshot "${name}"`);
    return stored;
  }

  #stored(world: string): StoredWorld {
    const stored = this.#worlds.get(world);
    if (stored === undefined) throw new Error(`there is no world "${world}"`);
    return stored;
  }
}

/** Opens a journal in memory by replaying it. */
function openStored({ journal, historyId }: StoredWorld, secretBox: SecretBox): History {
  const world = replay(
    journal.events(journal.newestCheckpoint.seq, Number.POSITIVE_INFINITY),
    worldAtNewestCheckpoint(journal),
  );
  journal.loadUnjournaledRows(world);
  const { clock } = journal;
  return omitUndefined({ journal, world, historyId, clock, secretBox, close: () => undefined });
}

function infoOf({ historyId, journal }: StoredWorld): StoredWorldInfo {
  return { historyId, seq: journal.head, now: journal.clock?.now ?? 0, sizeBytes: 0 };
}

function worldAtNewestCheckpoint(journal: MemoryJournal): World {
  return journal.newestCheckpoint.seq === 0
    ? emptyWorld()
    : worldFromCheckpoint(journal.checkpointBefore({ seq: journal.newestCheckpoint.seq }));
}

/** The world at a point. Others can run while it is folded. */
async function pastOf({ journal }: StoredWorld, { seq, at }: HistoryPoint): Promise<Result<World>> {
  const past = await worldAt(journal, seq, () => nextTurn());
  const isAvailable = checkPastData(journal.unjournaledRows("branchData") as BranchData[], past, at);
  return isAvailable.ok ? accept(past) : isAvailable;
}

/** A fork of this journal from its head, or from an earlier point at which it had the world `past`. */
function copyForFork(
  { journal }: StoredWorld,
  { historyId, clock, rewindTo }: ForkSettings,
  past?: World,
): StoredWorld {
  const sourceClock = journal.clock;
  if (sourceClock === undefined)
    throw new Error("this world has not been created yet, so it cannot be copied");
  const now = rewindTo?.at ?? sourceClock.now;
  const state: ClockState = {
    mode: clock.mode ?? sourceClock.state.mode,
    factor: clock.factor ?? sourceClock.state.factor,
    simAnchor: now,
    wallAnchor: clock.wallNow,
  };
  const copied = journal.copy(rewindTo?.seq ?? journal.head, { state, now }, past);
  // Lets the fork open without replaying all of its history.
  if (past !== undefined) void copied.storeCheckpoint(takeCheckpoint(past));
  return { historyId, journal: copied };
}
