import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../kernel/message-of.ts";
import { readStoredRows } from "../../platform/world/stored-rows.ts";
import { takeCheckpoint } from "../../simulation/checkpoint.ts";
import {
  applyRetention,
  isCheckpointDue,
  nextCheckpoint,
  nextTruncation,
  type Retention,
} from "../retention.ts";
import { StoreUnavailable } from "../world-handle.ts";
import type { LiveWorld } from "./live-world.ts";
import { runInBackground } from "./store-failure.ts";
import { deleteUnneededSecrets } from "./unneeded-secrets.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

/** After this time without a commit the log is moved into the file, so that its loss would lose nothing. */
const IDLE_MS = 2_000;
/** Takes a few milliseconds. */
const LEDGERS_READ_PER_COMMIT = 300;

type UpkeepOptions = {
  readonly lifecycle: WorldLifecycle;
  readonly retention: Retention;
  /** Drops the world from memory. */
  readonly fail: (live: LiveWorld, error: unknown) => StoreUnavailable;
  /** Resolves when everything that has happened so far is durable. */
  readonly durable: () => Promise<void>;
  /** Commits soon. */
  readonly schedule: () => void;
};

/** The work on history that follows commits, in the background: retention, pruning, and moving the log into the file. */
export class HistoryUpkeep {
  readonly #lifecycle: WorldLifecycle;
  readonly #retention: Retention;
  readonly #fail: UpkeepOptions["fail"];
  readonly #durable: UpkeepOptions["durable"];
  readonly #schedule: () => void;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor({ lifecycle, retention, fail, durable, schedule }: UpkeepOptions) {
    this.#lifecycle = lifecycle;
    this.#retention = retention;
    this.#fail = fail;
    this.#durable = durable;
    this.#schedule = schedule;
  }

  afterCommit(live: LiveWorld): void {
    this.#checkpointWhenIdle();
    this.#retainHistory(live);
  }

  /** Forgets pending work when the world is dropped from memory. */
  stop(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  }

  #checkpointWhenIdle(): void {
    if (this.#idleTimer !== undefined) {
      this.#idleTimer.refresh();
      return;
    }
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined;
      const { live } = this.#lifecycle;
      if (live !== undefined) runInBackground(() => this.#tidyFile(live));
    }, IDLE_MS).unref();
  }

  /** Deletes what is truncated, and moves the log into the file. */
  async #tidyFile(live: LiveWorld): Promise<void> {
    const isCurrent = () => this.#lifecycle.live === live;
    try {
      const { journal } = live.simulation;
      do {
        await (journal.writable ?? nextTurn());
        if (!isCurrent()) return;
      } while (!journal.prune());
    } catch (error) {
      this.#lifecycle.reportFailedCommit(error);
      if (isCurrent()) this.#fail(live, error);
      return;
    }
    try {
      live.history.checkpoint?.();
    } catch (error) {
      // The log still contains everything.
      this.#lifecycle.reportFailure(error, "the write-ahead log could not be moved into the file");
    }
  }

  #retainHistory(live: LiveWorld): void {
    const { world } = live.simulation;
    const isDue = isCheckpointDue(world, live.checkpointDue);
    if (!isDue && live.clock.now() < live.truncationDueAt) return;
    runInBackground(() => this.#reportingFailure(live, () => this.#truncateHistory(live, isDue)));
  }

  /** A failure, for example on a full disk, changes nothing. It is tried again when the next one would be due. */
  async #reportingFailure(live: LiveWorld, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#lifecycle.live !== live) return;
      live.upkeepFailure = messageOf(error);
      const { world, journal } = live.simulation;
      live.checkpointDue = nextCheckpoint(journal, world, world, this.#retention);
      live.truncationDueAt = nextTruncation(live.clock.now(), this.#retention);
      // What else can fail has reported it.
      if (!(error instanceof StoreUnavailable))
        this.#lifecycle.reportFailure(error, "a checkpoint or a truncation of history could not be stored");
    }
  }

  /** Applies retention in the background, after a checkpoint if one is due. */
  async #truncateHistory(live: LiveWorld, takesCheckpoint: boolean): Promise<void> {
    const { simulation, clock } = live;
    const { world, journal } = simulation;
    const isCurrent = () => this.#lifecycle.live === live;
    // A checkpoint has all rows. It waits until later commits have read the rest.
    const read = () => readStoredRows(world) && world.hourlyUsage.read(LEDGERS_READ_PER_COMMIT);
    if (takesCheckpoint && !this.#lifecycle.guardRead(read)) return;
    live.truncationDueAt = nextTruncation(clock.now(), this.#retention);
    if (takesCheckpoint) {
      live.checkpointDue = nextCheckpoint(journal, world, world, this.#retention);
      const checkpoint = takeCheckpoint(world);
      // It has what was decided since the commit, and is stored only after those events.
      if (simulation.hasUndurableEvents) await this.#durable();
      if (!isCurrent()) return;
      await journal.storeCheckpoint(checkpoint);
      if (!isCurrent()) return;
    }
    const { seq } = journal.oldest;
    applyRetention(journal, world, clock.now(), this.#retention);
    if (takesCheckpoint) live.upkeepFailure = undefined;
    if (!takesCheckpoint && journal.oldest.seq === seq) return;
    await deleteUnneededSecrets(live, this.#lifecycle);
    if (isCurrent() && simulation.hasUncommittedRows) this.#schedule();
  }
}
