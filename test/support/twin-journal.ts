import { expect } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/compose.ts";
import { emptyWorld } from "../../src/platform/core/world.ts";
import type { Checkpoint } from "../../src/simulation/checkpoint.ts";
import { type Batch, type EventsOnly, type Forgetting, type Journal, MemoryJournal } from "../../src/simulation/journal.ts";
import type { Point } from "../../src/simulation/replay.ts";
import { openStore, type Store } from "../../src/store/file/open-world.ts";
import type { History } from "../../src/worlds/shelf.ts";
import { temporaryDirectory } from "./process.ts";

/** Two journals of one history, one in memory and one in a file: whatever it is asked, both must say the same. */
export class TwinJournal implements Journal {
  readonly #memory = new MemoryJournal();
  readonly #directory = temporaryDirectory();
  #store: Store = this.#openStore();

  /** As the history of a new world. */
  history(): History {
    return { journal: this, world: emptyWorld(), historyId: "twins", close: () => undefined };
  }

  get oldest(): Pick<Checkpoint, "seq" | "at"> {
    const [inMemory, inFile] = [this.#memory.oldest, this.#store.journal.oldest].map(({ seq, at }) => ({ seq, at }));
    expect(inFile, "the oldest point").toEqual(inMemory);
    return this.#memory.oldest;
  }

  get newestCheckpoint(): number {
    return this.#both("the newest checkpoint", (journal) => journal.newestCheckpoint);
  }

  write(batch: Batch): void {
    this.#memory.write(batch);
    this.#store.journal.write(batch);
  }

  events(since: number, limit: number) {
    return this.#both(`${limit} events since ${since}`, (journal) => journal.events(since, limit));
  }

  eventsAbout(id: string, before: number, limit: number, only?: EventsOnly) {
    const asked = `${limit} ${only ?? ""} events about ${id} before ${before}`;
    return this.#both(asked, (journal) => journal.eventsAbout(id, before, limit, only));
  }

  checkpointBefore(point: Point): Checkpoint {
    return this.#both(`the checkpoint before ${JSON.stringify(point)}`, (journal) => journal.checkpointBefore(point));
  }

  async keepCheckpoint(checkpoint: Checkpoint): Promise<void> {
    await this.#memory.keepCheckpoint(checkpoint);
    await this.#store.journal.keepCheckpoint(checkpoint);
  }

  forget(what: Forgetting): void {
    this.#memory.forget(what);
    this.#store.journal.forget(what);
  }

  sweep(): boolean {
    return this.#memory.sweep() && this.#store.journal.sweep();
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

  forgetRequests(): void {
    this.#memory.forgetRequests();
    this.#store.journal.forgetRequests();
  }

  sizeBytes(): number {
    return this.#store.journal.sizeBytes();
  }

  /** Opens the file anew; what is in memory stays. */
  reopen(): void {
    this.#store.close();
    this.#store = this.#openStore();
  }

  end(): void {
    this.#store.close();
    this.#directory.remove();
  }

  #openStore(): Store {
    return openStore(`${this.#directory.path}/world.sqlite`, { migrationsFolder: MIGRATIONS_FOLDER });
  }

  /** As JSON: a property without a value and one that is not there are the same. */
  #both<T>(what: string, ask: (journal: Journal) => T): T {
    const [inMemory, inFile] = [ask(this.#memory), ask(this.#store.journal)];
    if (inMemory === undefined || inFile === undefined) expect(inFile, what).toBe(inMemory);
    else expect(JSON.parse(JSON.stringify(inFile)), what).toEqual(JSON.parse(JSON.stringify(inMemory)));
    return inMemory;
  }
}
