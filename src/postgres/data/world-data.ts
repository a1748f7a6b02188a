import type { SimTime } from "../../kernel/time.ts";
import type { BranchData, DataReference } from "../../platform/model/branch-data.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import { EngineError, type RunningEngine } from "../engine/engine.ts";
import { parsePosition } from "../engine/log-position.ts";
import type { Scratch, Volume } from "../volumes/volume.ts";
import type { BranchVolumes, OpenedData } from "./branch-volumes.ts";
import { EngineExited } from "./engine-exit.ts";

export type BranchToOpen = {
  readonly historyId: string;
  readonly branchId: string;
  readonly pgVersion: number;
  readonly data: BranchData | undefined;
};

export type WorldDataOptions = {
  readonly branchVolumes: BranchVolumes;
  /** Whether the log of a volume, which ends at this position, has exceeded its limit. */
  readonly isTooLong: (volume: Volume, lsn: string) => boolean;
  /** Begins to delete the log that is not needed. */
  readonly shortenLogs: () => void;
};

/** An engine of this world, the volume that it works on, and the branch whose data that is. */
type RunningBranch = {
  readonly volume: Volume;
  readonly branchId: string;
  readonly onWritten: (bytes: number) => void;
  /** Position of the last mark in the log, in bytes. */
  position: number;
};

/** Keeps what a world stores about the data of its branches in accordance with their volumes. */
export class WorldData {
  readonly #world: WorldHandle;
  readonly #branchVolumes: BranchVolumes;
  readonly #isTooLong: WorldDataOptions["isTooLong"];
  readonly #shortenLogs: () => void;
  readonly #running = new Map<RunningEngine, RunningBranch>();
  /** Functions that are called with the engine of a branch, by branch. */
  readonly #followers = new Map<string, Set<(engine: RunningEngine) => void>>();
  /** Volumes whose engine stops, and whose current state is marked. */
  readonly #clean = new Set<string>();

  constructor(world: WorldHandle, { branchVolumes, isTooLong, shortenLogs }: WorldDataOptions) {
    this.#world = world;
    this.#branchVolumes = branchVolumes;
    this.#isTooLong = isTooLong;
    this.#shortenLogs = shortenLogs;
  }

  open({ historyId, branchId, pgVersion, data }: BranchToOpen): Promise<OpenedData> {
    return this.#branchVolumes.open(historyId, branchId, pgVersion, data);
  }

  /**
   * An engine runs, and its clients are admitted afterwards. From now on the branch writes to the volume. Throws
   * if the branch has got other data in the meantime.
   */
  async began(
    branchId: string,
    { volume, previous, wasKilled }: OpenedData,
    engine: RunningEngine,
    onWritten: (bytes: number) => void,
  ): Promise<void> {
    // After a kill, the last mark may be older than references to what was the current state then.
    const markedAt = volume.marks.last?.at ?? 0;
    if (wasKilled) await this.#branchVolumes.markAtLast(volume, engine);
    const lsn = await this.#branchVolumes.mark(volume, engine, () => this.#world.now());
    const isCurrent = await this.#world.transact((transaction) => {
      const { world, now: at } = transaction;
      const row = world.branchData.get(branchId);
      if (!isSame(row, previous) || world.branches.get(branchId) === undefined) return false;
      const past = row?.past === undefined ? {} : { past: row.past };
      const since = row?.volumeId !== volume.id || row.since === undefined ? {} : { since: row.since };
      const written = { volumeId: volume.id, at, lsn, writes: true, isOpen: true };
      transaction.storeBranchData({ id: branchId, ...written, ...since, ...past });
      for (const reference of world.branchData.toArray())
        if (isUnresolved(reference, volume) && reference.at >= markedAt)
          transaction.storeBranchData({ ...reference, lsn });
      return true;
    });
    if (!isCurrent) throw new EngineError(`the data of branch ${branchId} was replaced; connect again`);
    this.#running.set(engine, { volume, branchId, onWritten, position: parsePosition(lsn) });
    for (const follow of this.#followers.get(branchId) ?? []) follow(engine);
  }

  /** Calls a function with each engine that starts on the data of a branch, until the returned one is called. */
  follow(branchId: string, onStarted: (engine: RunningEngine) => void): () => void {
    const followers = this.#followers.get(branchId) ?? new Set();
    this.#followers.set(branchId, followers.add(onStarted));
    return () => {
      followers.delete(onStarted);
    };
  }

  /** Works with an engine that has what a branch is now, or with a copy of what a reference is. */
  async read<T>(
    branchId: string,
    { isHead, reference }: { readonly isHead: boolean; readonly reference: DataReference },
    work: (engine: RunningEngine) => Promise<T>,
    reserveEngine: () => Promise<() => void>,
  ): Promise<T | undefined> {
    if (isHead)
      for (const [engine, running] of this.#running) if (running.branchId === branchId) return work(engine);
    const { volumeId } = reference;
    if (volumeId === undefined) return undefined;
    // Commits of clients before the instant must have a position.
    await this.markAll();
    const free = await reserveEngine();
    try {
      return await this.#branchVolumes.onCopy(this.#world.history().id, { ...reference, volumeId }, work);
    } finally {
      free();
    }
  }

  /** Copies what the clients of an engine have committed. `prefix` of the copy's directory. */
  async copyRunning(
    engine: RunningEngine,
    prefix: string,
  ): Promise<{ readonly copy: Scratch; readonly until: string }> {
    const running = this.#running.get(engine);
    if (running === undefined) throw new EngineExited("Postgres is being stopped");
    const until = await engine.logPosition();
    return { copy: await this.#branchVolumes.copyAt(running.volume, until, prefix), until };
  }

  /** Marks what clients have committed. `idleSince`: when the last work ended; `undefined` while there is work. */
  async mark(engine: RunningEngine, idleSince: () => SimTime | undefined): Promise<void> {
    const running = this.#running.get(engine);
    if (running === undefined) return;
    const { volume } = running;
    const lsn = await this.#mark(engine, running, () => idleSince() ?? this.#world.now()).catch(unlessExited);
    if (lsn !== undefined && this.#isTooLong(volume, lsn)) this.#shortenLogs();
  }

  /** The engine has no clients any more and is about to be stopped. */
  async ending(engine: RunningEngine): Promise<void> {
    const running = this.#running.get(engine);
    if (running === undefined) return;
    this.#running.delete(engine);
    try {
      await this.#store(engine, running, false);
      this.#clean.add(running.volume.id);
    } catch {
      // An engine that was killed, or a world that is closed. The next start finds the end of the log.
    }
  }

  /** The engine has exited. */
  ended(volume: Volume): void {
    for (const [engine, running] of this.#running)
      if (running.volume.id === volume.id) this.#running.delete(engine);
    this.#branchVolumes.close(volume, this.#clean.delete(volume.id));
  }

  /**
   * Finds the positions of branches and snapshots that begin with what the data of a running branch is at this
   * instant. `at`: the instant of the events that created them.
   */
  async resolveReferences(at: SimTime): Promise<void> {
    const { mode, now } = await this.#world.clock();
    // A manual clock has moved on, and the data was marked before.
    if (mode === "manual" && at < now) return;
    for (const [engine, running] of this.#running) {
      const { volume } = running;
      const isPending = (row: BranchData) => isUnresolved(row, volume) && row.at === at;
      const isNeeded = await this.#world.transact(({ world }) =>
        world.branchData.toArray().some((row) => isPending(row)),
      );
      if (!isNeeded) continue;
      const lsn = await this.#mark(engine, running, () => this.#world.now()).catch(unlessExited);
      if (lsn === undefined) continue;
      await this.#world.transact((transaction) => {
        for (const row of transaction.world.branchData.toArray())
          if (isPending(row)) transaction.storeBranchData({ ...row, lsn });
      });
    }
  }

  /** Marks the data of all running engines. */
  markAll(): Promise<void> | undefined {
    if (this.#running.size === 0) return undefined;
    const marked = [...this.#running.keys()].map((engine) => this.mark(engine, () => undefined));
    return Promise.all(marked).then(() => undefined);
  }

  /** Stores the position of all data that changes, so that a copy of the world refers to what is there now. */
  async storeAll(): Promise<void> {
    for (const [engine, running] of this.#running)
      await this.#store(engine, running, true).catch(unlessExited);
    const running = new Set([...this.#running.values()].map(({ volume }) => volume.id));
    const left = await this.#world.transact(({ world }) =>
      world.branchData.toArray().filter((row) => row.isOpen === true && !running.has(row.volumeId ?? "")),
    );
    for (const { id, volumeId = "" } of left) {
      const lsn = await this.#branchVolumes.end(volumeId);
      if (lsn !== undefined) await this.#storePosition(id, volumeId, lsn, false);
    }
  }

  async #store(engine: RunningEngine, running: RunningBranch, isOpen: boolean): Promise<void> {
    const lsn = await this.#mark(engine, running, () => this.#world.now());
    await this.#storePosition(running.branchId, running.volume.id, lsn, isOpen);
  }

  async #mark(engine: RunningEngine, running: RunningBranch, now: () => SimTime): Promise<string> {
    const lsn = await this.#branchVolumes.mark(running.volume, engine, now);
    const position = parsePosition(lsn);
    if (position > running.position) running.onWritten(position - running.position);
    running.position = Math.max(running.position, position);
    return lsn;
  }

  async #storePosition(branchId: string, volumeId: string, lsn: string, isOpen: boolean): Promise<void> {
    await this.#world.transact((transaction) => {
      const row = transaction.world.branchData.get(branchId);
      if (row?.writes !== true || row.volumeId !== volumeId) return;
      const { isOpen: _, ...stored } = row;
      const open = isOpen ? { isOpen } : {};
      transaction.storeBranchData({ ...stored, at: transaction.now, lsn, ...open });
    });
  }
}

function unlessExited(error: unknown): undefined {
  if (!(error instanceof EngineExited)) throw error;
}

function isUnresolved({ volumeId, lsn, writes }: BranchData, volume: Volume): boolean {
  return volumeId === volume.id && lsn === undefined && writes !== true;
}

function isSame(row: BranchData | undefined, other: BranchData | undefined): boolean {
  return (
    row?.volumeId === other?.volumeId &&
    row?.writes === other?.writes &&
    (row?.writes === true || row?.at === other?.at)
  );
}
