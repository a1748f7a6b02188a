import { existsSync, symlinkSync } from "node:fs";
import type { BranchData, DataReference } from "../../platform/model/branch-data.ts";
import { deleteRows } from "../content/delete-rows.ts";
import { type CopyRequest, type Engine, EngineError, type RunningEngine } from "../engine/engine.ts";
import { parsePosition } from "../engine/log-position.ts";
import { makeSparse } from "../volumes/sparse-log.ts";
import type { Scratch, Volume, VolumeBase } from "../volumes/volume.ts";
import { MissingVolume } from "../volumes/volume-origins.ts";
import type { Volumes } from "../volumes/volumes.ts";
import { EngineExited, hasExited } from "./engine-exit.ts";

/** An engine that is started only to find out where the log ends. */
const SINGLE_CONNECTION = { maxConnections: 1, logicalReplication: false };

/** Programs and sessions of roles that read a copy, one after the other. */
const SCRATCH_CONNECTIONS = { maxConnections: 10, logicalReplication: false };

/** Prefix of the directories of copies that are only read. */
const SCHEMA = "schema";

/** The volume that a branch writes to, and what the world stored about the branch's data before. */
export type OpenedData = {
  readonly volume: Volume;
  readonly previous: BranchData | undefined;
  /** Rows may have been committed after the last mark. */
  readonly wasKilled: boolean;
  /** Allows that the volume is removed. Called once the world refers to it. */
  readonly release: () => void;
};

/** The cluster that is replayed to a position; `undefined`: the beginning of the volume. */
export function baseFor({ id, bases }: Volume, position: string | undefined): VolumeBase {
  const reached = position === undefined ? Number.NEGATIVE_INFINITY : parsePosition(position);
  const base = bases.findLast(({ lsn }) => lsn === undefined || parsePosition(lsn) <= reached);
  if (base === undefined) throw new MissingVolume(`the data of ${id} at ${position} is deleted`);
  return base;
}

/** Finds and creates the volumes of branches. All worlds of a server share it, because forks share data. */
export class BranchVolumes {
  readonly #engine: Engine;
  readonly #volumes: Volumes;
  /** Ids of volumes whose engine runs, or starts. */
  readonly #running = new Set<string>();
  readonly #settling = new Map<string, Promise<void>>();

  constructor(engine: Engine, volumes: Volumes) {
    this.#engine = engine;
    this.#volumes = volumes;
  }

  /**
   * The volume that the branch writes to, created if there is none. The caller starts an engine on it, and calls
   * `close` after its end.
   */
  async open(
    historyId: string,
    branchId: string,
    pgVersion: number,
    previous: BranchData | undefined,
  ): Promise<OpenedData> {
    try {
      const { volume, release } =
        previous?.writes === true && previous.volumeId !== undefined
          ? { volume: this.#volumes.volume(previous.volumeId), release: () => undefined }
          : await this.#create(historyId, branchId, pgVersion, previous);
      await this.#settling.get(volume.id);
      this.#running.add(volume.id);
      this.#volumes.usage.begin(volume.id);
      await this.#volumes.usage.measureNew(volume.id);
      await this.#engine.stopLeftover(volume.dataDirectory);
      const wasKilled = volume.isOpen();
      volume.setOpen(true);
      return { volume, previous, wasKilled, release };
    } catch (error) {
      if (error instanceof MissingVolume) throw new EngineError(error.message);
      throw error;
    }
  }

  /** The engine has ended. `isClean`: after its last mark, nothing has changed. */
  close(volume: Volume, isClean: boolean): void {
    this.#running.delete(volume.id);
    if (!isClean) {
      this.#volumes.usage.end(volume.id);
      return;
    }
    volume.setOpen(false);
    const unpin = this.#volumes.pin(volume.id);
    // If this fails, the log is shortened after the next end.
    void makeSparse(volume.logDirectory)
      .catch(() => undefined)
      .finally(() => {
        // The volume may be in use again.
        if (!this.#running.has(volume.id)) this.#volumes.usage.end(volume.id);
        unpin();
      });
  }

  /** Marks the current state of a volume, and returns its position. Throws `EngineExited` if Postgres was killed. */
  async mark(volume: Volume, engine: RunningEngine, now: () => number): Promise<string> {
    const lsn = await engine.logPosition().catch(async (error: unknown) => {
      // The end of its log is found when it is started again.
      throw (await hasExited(engine)) ? new EngineExited("Postgres has exited", { cause: error }) : error;
    });
    volume.marks.append({ at: Math.max(now(), volume.marks.last?.at ?? 0), lsn });
    return lsn;
  }

  /** After a kill: nothing was written since then, and an earlier instant than now may be asked for. */
  markAtLast(volume: Volume, engine: RunningEngine): Promise<string> {
    return this.mark(volume, engine, () => 0);
  }

  /** The position of the end of a volume; `undefined` if an engine starts on it, which finds it. */
  async end(volumeId: string): Promise<string | undefined> {
    if (this.#running.has(volumeId)) return undefined;
    const volume = this.#volumes.volume(volumeId);
    if (volume.isOpen()) await this.#settle(volume);
    return volume.marks.last?.lsn;
  }

  /** The position of a reference; `undefined` if it is the base of the volume. */
  async position({ volumeId, at, lsn }: DataReference): Promise<string | undefined> {
    if (lsn !== undefined || volumeId === undefined) return lsn;
    const volume = this.#volumes.volume(volumeId);
    const isLast = (volume.marks.last?.at ?? 0) <= at;
    if (isLast && volume.isOpen() && !this.#running.has(volumeId)) await this.#settle(volume);
    return volume.marks.find(at)?.lsn ?? volume.origin;
  }

  /** Copies a volume as of a position. The copy finds the log that follows. `prefix` of its directory. */
  async copyAt(volume: Volume, until: string, prefix: string): Promise<Scratch> {
    const unpin = this.#volumes.pin(volume.id);
    try {
      const [historyId = ""] = volume.id.split("/");
      return await this.#volumes.createScratch(historyId, prefix, async ({ dataDirectory, logDirectory }) => {
        await this.#engine.copyCluster({
          base: baseFor(volume, until).path,
          to: dataDirectory,
          follows: true,
          log: { archive: volume.logDirectory, dataDirectory: volume.dataDirectory, until },
        });
        symlinkSync(volume.logDirectory, logDirectory);
      });
    } finally {
      unpin();
    }
  }

  /** Runs an engine on a copy of the data that the reference names. The copy is removed afterwards. */
  async onCopy<T>(
    historyId: string,
    reference: DataReference & { readonly volumeId: string },
    work: (engine: RunningEngine) => Promise<T>,
  ): Promise<T> {
    const { volumeId } = reference;
    return this.#onScratch(historyId, volumeId, work, async () => {
      const until = await this.position(reference);
      const { logDirectory: archive, dataDirectory } = this.#volumes.volume(volumeId);
      const base = baseFor(this.#volumes.volume(volumeId), until).path;
      return until === undefined ? { base } : { base, log: { archive, dataDirectory, until } };
    });
  }

  /**
   * Runs an engine on a copy of the latest state of a volume that no engine runs on. Sequences have the values that
   * clients saw. A copy that replays the log would have values that are up to 32 ahead.
   */
  async onLatest<T>(
    historyId: string,
    volumeId: string,
    work: (engine: RunningEngine) => Promise<T>,
  ): Promise<T> {
    return this.#onScratch(historyId, volumeId, work, async () => {
      // If Postgres was killed, starts and stops it, to complete its data.
      await this.end(volumeId);
      const { dataDirectory } = this.#volumes.volume(volumeId);
      await this.#engine.stopLeftover(dataDirectory);
      return { base: dataDirectory, follows: true };
    });
  }

  async #onScratch<T>(
    historyId: string,
    volumeId: string,
    work: (engine: RunningEngine) => Promise<T>,
    find: () => Promise<Pick<CopyRequest, "base" | "follows" | "log">>,
  ): Promise<T> {
    const release = this.#volumes.pin(volumeId);
    try {
      const copy = await find();
      const scratch = await this.#volumes.createScratch(historyId, SCHEMA, (to) =>
        this.#engine.copyCluster({ ...copy, to: to.dataDirectory }),
      );
      try {
        const { dataDirectory } = scratch;
        const engine = await this.#engine.start({ dataDirectory, ...SCRATCH_CONNECTIONS, isScratch: true });
        try {
          return await work(engine);
        } finally {
          await engine.stop();
        }
      } finally {
        await scratch.remove();
      }
    } finally {
      release();
    }
  }

  async #create(
    historyId: string,
    branchId: string,
    pgVersion: number,
    reference: BranchData | undefined,
  ): Promise<Pick<OpenedData, "volume" | "release">> {
    const { volumeId } = reference ?? {};
    if (reference === undefined || volumeId === undefined)
      return this.#volumes.create(historyId, branchId, async ({ dataDirectory, logDirectory }) => {
        const base = await this.#engine.emptyCluster(pgVersion);
        await this.#volumes.makeBaseDurable(base);
        await this.#engine.copyCluster({ base, to: dataDirectory, archive: logDirectory });
        return { bases: [{ path: base }] };
      });
    const unpin = this.#volumes.pin(volumeId);
    try {
      const origin = await this.position(reference);
      const source = this.#volumes.volume(volumeId);
      const base = baseFor(source, origin);
      if (!existsSync(base.path)) throw new MissingVolume(`the data in ${base.path} is missing`);
      const log = origin && {
        archive: source.logDirectory,
        dataDirectory: source.dataDirectory,
        until: origin,
      };
      const copy = log ? { base: base.path, log } : { base: base.path };
      if (reference.schemaOnly === true) return await this.#createWithoutRows(historyId, branchId, copy);
      return await this.#volumes.create(historyId, branchId, async ({ dataDirectory, logDirectory }) => {
        await this.#engine.copyCluster({ ...copy, to: dataDirectory, archive: logDirectory });
        return { bases: [base], origin };
      });
    } finally {
      unpin();
    }
  }

  /**
   * The volume begins with a base of its own, whose rows are deleted: neither its files nor its log contain them, and
   * no earlier state can be restored.
   */
  async #createWithoutRows(
    historyId: string,
    branchId: string,
    copy: Pick<CopyRequest, "base" | "log">,
  ): Promise<Pick<OpenedData, "volume" | "release">> {
    const { path, release } = await this.#volumes.createBase(historyId, async (dataDirectory) => {
      await this.#engine.copyCluster({ ...copy, to: dataDirectory });
      const request = { dataDirectory, ...SINGLE_CONNECTION, isScratch: true };
      const engine = await this.#engine.start(request);
      try {
        await deleteRows(engine);
      } finally {
        await engine.stop();
      }
      await this.#engine.dropLog(dataDirectory);
    });
    try {
      return await this.#volumes.create(historyId, branchId, async ({ dataDirectory, logDirectory }) => {
        await this.#engine.copyCluster({ base: path, to: dataDirectory, archive: logDirectory });
        return { bases: [{ path }] };
      });
    } finally {
      release();
    }
  }

  /** After a kill, the last mark may be older than the last committed row. */
  #settle(volume: Volume): Promise<void> {
    let settling = this.#settling.get(volume.id);
    if (settling === undefined) {
      settling = this.#markEnd(volume).finally(() => this.#settling.delete(volume.id));
      this.#settling.set(volume.id, settling);
    }
    return settling;
  }

  async #markEnd(volume: Volume): Promise<void> {
    const { dataDirectory } = volume;
    await this.#engine.stopLeftover(dataDirectory);
    const engine = await this.#engine.start({ dataDirectory, ...SINGLE_CONNECTION });
    try {
      await this.markAtLast(volume, engine);
    } finally {
      await engine.stop();
    }
    volume.setOpen(false);
    this.#volumes.usage.changed(volume.id);
  }
}
