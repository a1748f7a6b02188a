import { expect } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import type { Checkpoint } from "../../../src/simulation/checkpoint.ts";
import type {
  Batch,
  CheckpointPosition,
  EventFilter,
  Journal,
  Truncation,
} from "../../../src/simulation/journal.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import type { PointSelector } from "../../../src/simulation/replay.ts";
import { openStore, type Store } from "../../../src/store/file/open-world.ts";
import { SecretBox } from "../../../src/worlds/secret-box.ts";
import type { History } from "../../../src/worlds/world-storage.ts";
import { temporaryDirectory } from "../process/process.ts";
import { SMALL_BLOCKS } from "./small-blocks.ts";

/**
 * Two journals of one history, one in memory and one in a file. Every query must return the same from both.
 */
export class TwinJournal implements Journal {
  readonly #memory = new MemoryJournal();
  readonly #directory = temporaryDirectory();
  #store: Store = this.#openStore();

  /** The twins as the history of a new world. */
  history(): History {
    return {
      journal: this,
      world: emptyWorld(),
      historyId: "twins",
      secretBox: new SecretBox(),
      close: () => undefined,
    };
  }

  get oldest(): Pick<Checkpoint, "seq" | "at"> {
    const [inMemory, inFile] = [this.#memory.oldest, this.#store.journal.oldest].map(({ seq, at }) => ({
      seq,
      at,
    }));
    expect(inFile, "the oldest point").toEqual(inMemory);
    return this.#memory.oldest;
  }

  get newestCheckpoint(): CheckpointPosition {
    return this.#both("the newest checkpoint", ({ newestCheckpoint: { seq, at } }) => ({ seq, at }));
  }

  checkpointPositionBefore(point: PointSelector): CheckpointPosition {
    return this.#both(`the position of the checkpoint before ${JSON.stringify(point)}`, (journal) => {
      const { seq, at } = journal.checkpointPositionBefore(point);
      return { seq, at };
    });
  }

  write(batch: Batch): void {
    this.#memory.write(batch);
    this.#store.journal.write(batch);
  }

  settleFailedWrite(): void {
    this.#store.journal.settleFailedWrite();
  }

  events(since: number, limit: number) {
    return this.#both(`${limit} events since ${since}`, (journal) => journal.events(since, limit));
  }

  eventsAbout(id: string, before: number, limit: number, only?: EventFilter, after?: number) {
    const question = `${limit} ${only ?? ""} events about ${id} between ${after} and ${before}`;
    return this.#both(question, (journal) => journal.eventsAbout(id, before, limit, only, after));
  }

  checkpointBefore(point: PointSelector): Checkpoint {
    return this.#both(`the checkpoint before ${JSON.stringify(point)}`, (journal) =>
      journal.checkpointBefore(point),
    );
  }

  async readCheckpointBefore(point: { readonly seq: number }): Promise<Checkpoint> {
    const read = await this.#store.journal.readCheckpointBefore(point);
    expect(JSON.stringify(read)).toBe(JSON.stringify(this.checkpointBefore(point)));
    return read;
  }

  async storeCheckpoint(checkpoint: Checkpoint): Promise<void> {
    await this.#memory.storeCheckpoint(checkpoint);
    await this.#store.journal.storeCheckpoint(checkpoint);
  }

  truncate(what: Truncation): void {
    this.#memory.truncate(what);
    this.#store.journal.truncate(what);
  }

  prune(): boolean {
    return this.#memory.prune() && this.#store.journal.prune();
  }

  operations(projectId: string, limit: number, beforeNumber?: number) {
    return this.#both(`${limit} operations of ${projectId} before ${beforeNumber}`, (journal) =>
      journal.operations(projectId, limit, beforeNumber),
    );
  }

  operation(id: string) {
    return this.#both(`operation ${id}`, (journal) => journal.operation(id));
  }

  get newestRequest(): number {
    return this.#both("the newest request", (journal) => journal.newestRequest);
  }

  requests(since: number, limit: number) {
    return this.#both(`${limit} requests since ${since}`, (journal) => journal.requests(since, limit));
  }

  clearRequests(): void {
    this.#memory.clearRequests();
    this.#store.journal.clearRequests();
  }

  sizeBytes(): number {
    return this.#store.journal.sizeBytes();
  }

  /** Reopens the file; the journal in memory stays. */
  reopen(): void {
    this.#store.close();
    this.#store = this.#openStore();
  }

  end(): void {
    this.#store.close();
    this.#directory.remove();
  }

  #openStore(): Store {
    // Opened as a large file, of which some tables are read later.
    return openStore(`${this.#directory.path}/world.sqlite`, {
      migrationsFolder: MIGRATIONS_FOLDER,
      fullCheckMaxBytes: 0,
      ...SMALL_BLOCKS,
    });
  }

  /** Compares both results as JSON, in which an undefined property equals an absent one. */
  #both<T>(what: string, read: (journal: Journal) => T): T {
    const [inMemory, inFile] = [read(this.#memory), read(this.#store.journal)];
    if (inMemory === undefined || inFile === undefined) expect(inFile, what).toBe(inMemory);
    else expect(JSON.parse(JSON.stringify(inFile)), what).toEqual(JSON.parse(JSON.stringify(inMemory)));
    return inMemory;
  }
}
