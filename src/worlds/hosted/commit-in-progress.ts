import type { Deferred } from "../../kernel/deferred.ts";
import type { Batch, SteppedWrite } from "../../simulation/journal.ts";
import type { LiveWorld } from "./live-world.ts";

/** A commit from its begin until it is durable or has failed. */
export type CommitInProgress = {
  readonly live: LiveWorld;
  /** Callers that wait for this commit. */
  readonly waiting: Deferred | undefined;
  readonly hasRequests: boolean;
  readonly write: SteppedWrite & Pick<Batch, "events">;
  readonly onDurable: (() => void) | undefined;
};

/** Called before a commit takes everything that has happened. The result is called when it is durable. */
export type CommitObserver = () => (() => void) | undefined;

/** A commit that is written, and whose sync is in progress. */
export type Syncing = {
  readonly commit: CommitInProgress;
  /** Resolves when it is durable, and rejects with `StoreUnavailable`. */
  readonly promise: Promise<void>;
};
