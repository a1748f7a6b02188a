import { dirname } from "node:path";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import type { Result } from "../../../src/platform/catalog/refusal-codes.ts";
import { type Batch, OutcomeUnknown } from "../../../src/simulation/journal.ts";
import { DataDirectory, type DataDirectoryOptions } from "../../../src/worlds/data-directory.ts";
import type { ForkSettings, History, OpenHistory } from "../../../src/worlds/world-storage.ts";
import {
  type Content,
  contentOf,
  type Ledger,
  type LedgerChange,
  snapshotFile,
  worldFile,
} from "./ledger.ts";

/** A data directory that enters into a ledger what happens to its files. */
export class FollowedDirectory extends DataDirectory {
  readonly #ledger: Ledger;

  constructor(path: string, ledger: Ledger, options: DataDirectoryOptions = {}) {
    super(path, MIGRATIONS_FOLDER, {
      ...options,
      onUpgrade: (world, previousName) =>
        ledger.set([snapshotFile(world, previousName), ...ledger.existing(worldFile(world))]),
    });
    this.#ledger = ledger;
  }

  override history(world: string): OpenHistory {
    const open = super.history(world);
    return () => this.#follow(worldFile(world), open());
  }

  override takeSnapshot(world: string, snapshot: string): Promise<void> {
    return this.#change([[snapshotFile(world, snapshot), ...this.#ledger.existing(worldFile(world))]], () =>
      super.takeSnapshot(world, snapshot),
    );
  }

  override removeSnapshot(world: string, snapshot: string): void {
    this.#changeNow([[snapshotFile(world, snapshot), undefined]], () =>
      super.removeSnapshot(world, snapshot),
    );
  }

  override restore(world: string, snapshot: string, previousName: string, fork: ForkSettings): Promise<void> {
    const restored = this.#ledger.existing(snapshotFile(world, snapshot));
    const previous = this.#ledger.existing(worldFile(world));
    return this.#change(
      [
        [worldFile(world), ...restored],
        [snapshotFile(world, previousName), ...previous],
      ],
      () => super.restore(world, snapshot, previousName, fork),
    );
  }

  override fork(from: string, to: string, fork: ForkSettings): Promise<Result<undefined>> {
    return this.#change([[worldFile(to), ...this.#ledger.existing(worldFile(from))]], () =>
      super.fork(from, to, fork),
    );
  }

  override removeWorld(world: string): void {
    const files = [...this.#ledger.state.keys()].filter(
      (file) => file === worldFile(world) || dirname(file) === `snapshots/${world}`,
    );
    this.#changeNow(
      files.map((file) => [file, undefined]),
      () => super.removeWorld(world),
    );
  }

  async #change<T>(changes: readonly LedgerChange[], work: () => Promise<T>): Promise<T> {
    const change = this.#ledger.begin(changes);
    let result: T;
    try {
      result = await work();
    } catch (error) {
      change.failed(error);
      throw error;
    }
    change.done();
    return result;
  }

  #changeNow(changes: readonly LedgerChange[], work: () => void): void {
    const change = this.#ledger.begin(changes);
    try {
      work();
    } catch (error) {
      change.failed(error);
      throw error;
    }
    change.done();
  }

  /** Follows what a journal reports of its commits. */
  #follow(file: string, history: History): History {
    const ledger = this.#ledger;
    const { journal } = history;
    const [write, settle] = [journal.write.bind(journal), journal.settleFailedWrite.bind(journal)];
    ledger.follow(file);
    const known = ledger.state.get(file);
    if (known === undefined || known.length > 1) {
      const events = journal.events(0, Number.MAX_SAFE_INTEGER);
      ledger.set([file, known === undefined ? events : contentOf(`${file}, opened`, events, known)]);
    }
    const committed = () => ledger.contents(file)[0] ?? [];
    const begin = journal.beginWrite?.bind(journal);
    if (begin === undefined) throw new Error("the journal of a file can write in steps");
    const follow = <T>(before: Content, work: () => T): T => {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) ledger.set([file, before]);
        throw error;
      }
    };
    let undurable: Content;
    const isDurable = () => {
      if (undurable !== undefined) ledger.set([file, undurable]);
      undurable = undefined;
    };
    journal.beginWrite = (batch: Batch) => {
      // Makes the write before it durable, and writes nothing itself.
      const steps = begin(batch);
      isDurable();
      const before = committed();
      const all = [...before, ...batch.events];
      ledger.set([file, before, all]);
      let isDone = false;
      return {
        get hasEnded() {
          return steps.hasEnded;
        },
        get isDurable() {
          return steps.isDurable;
        },
        step() {
          if (!isDone) isDone = follow(before, () => steps.step());
          if (isDone) undurable = all;
          return isDone;
        },
        durable() {
          const durable = steps.durable();
          if (durable !== undefined) return durable.then(() => (undurable === all ? isDurable() : undefined));
          isDurable();
          return undefined;
        },
      };
    };
    journal.write = (batch: Batch) => {
      write(batch);
      isDurable();
    };
    journal.settleFailedWrite = () => {
      settle();
      undurable = undefined;
      const events = journal.events(0, Number.MAX_SAFE_INTEGER);
      ledger.set([file, contentOf(`${file}, settled`, events, ledger.contents(file))]);
    };
    return history;
  }
}
