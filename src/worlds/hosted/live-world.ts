import { messageOf } from "../../kernel/message-of.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { World } from "../../platform/world/world.ts";
import type { HostClock } from "../../simulation/host-clock.ts";
import { PendingRequests } from "../../simulation/request-log.ts";
import { Simulation } from "../../simulation/simulation.ts";
import { type ClockState, WorldClock } from "../../simulation/world-clock.ts";
import { unwritablePlace } from "../../store/file/read-only-error.ts";
import { CorruptFile } from "../../store/tables/journal-checksum.ts";
import { type CheckpointDue, nextCheckpoint, type Retention } from "../retention.ts";
import { SecretBox } from "../secret-box.ts";
import { StoreUnavailable } from "../world-handle.ts";
import type { History, OpenHistory } from "../world-storage.ts";
import { endClients } from "./end-clients.ts";
import { describeCorruption, type FailureReport } from "./store-failure.ts";

export type HostedWorldOptions = {
  readonly name: string;
  readonly open: OpenHistory;
  readonly hostClock: HostClock;
  /** The clock of a world that has not been created yet. */
  readonly initialClock: ClockState;
  readonly retention: Retention;
  /** Number of requests that the request log retains; 0 turns it off. */
  readonly requestsLimit: number;
  readonly onFailure: FailureReport;
  /**
   * Called when the data of branches may be needed no more: a world, a snapshot of a world, a branch or a snapshot of
   * a branch was removed, or a restore has replaced it.
   */
  readonly onDataReleased?: (() => void) | undefined;
};

/** A world in memory, with its history open. */
export type LiveWorld = {
  readonly history: History;
  readonly simulation: Simulation;
  readonly clock: WorldClock;
  readonly requests: PendingRequests | undefined;
  checkpointDue: CheckpointDue;
  /** When retention is applied next. */
  truncationDueAt: SimTime;
  /** Why the last checkpoint or truncation of history could not be stored. */
  upkeepFailure?: string | undefined;
};

export type OpeningOptions = {
  /** The history that this process had open before; clients may still be connected to it. */
  readonly previousHistoryId: string | undefined;
  /** The change of the host's clock while the world was closed, which the world's clock does not follow. */
  readonly wallStepMs: number;
};

/**
 * Opens the history and builds the world from it. Throws `StoreUnavailable` when the history cannot be opened.
 */
export function openLiveWorld(
  options: HostedWorldOptions,
  { previousHistoryId, wallStepMs }: OpeningOptions,
): LiveWorld {
  const { name, open, hostClock, initialClock, requestsLimit, retention } = options;
  let history: History | undefined;
  try {
    history = open();
    const { journal, world, clock } = history;
    const state = clock?.state ?? initialClock;
    const floor = Math.max(clock?.now ?? state.simAnchor, world.at);
    const simulation = new Simulation(world, journal);
    const worldClock = new WorldClock(
      { ...state, wallAnchor: state.wallAnchor + wallStepMs },
      hostClock,
      floor,
    );
    sealPlainSecrets(world, history.secretBox);
    if (history.historyId !== previousHistoryId) endClients(simulation, floor);
    if (simulation.hasUncommittedRows || wallStepMs !== 0)
      simulation.commit(worldClock.state(), worldClock.now());
    return {
      history,
      simulation,
      clock: worldClock,
      requests: requestsLimit === 0 ? undefined : new PendingRequests(requestsLimit, journal.newestRequest),
      checkpointDue: nextCheckpoint(journal, journal.newestCheckpoint, world, retention),
      // Retention may have other options than those of the last start.
      truncationDueAt: worldClock.now(),
    };
  } catch (error) {
    closeFailed(history);
    const reason =
      error instanceof CorruptFile
        ? describeCorruption(name, error)
        : `world "${name}" cannot be opened: ${openProblem(error)}`;
    throw new StoreUnavailable(reason, { cause: error });
  }
}

function openProblem(error: unknown): string {
  const place = unwritablePlace(error);
  if (place === undefined) return messageOf(error);
  return place === "directory"
    ? "this user cannot write the directory of its file; change the owner or the mode of the directory"
    : "this user cannot write its file or the directory of the file; change their owner or mode";
}

function closeFailed(history: History | undefined): void {
  try {
    history?.close();
  } catch {
    // The failure to open it is reported.
  }
}

/** Encrypts the passwords that an older release has stored as they are. */
function sealPlainSecrets(world: World, box: SecretBox): void {
  for (const { id, value } of [...world.secrets.values()])
    if (!SecretBox.isSealed(value)) world.secrets.set({ id, value: box.seal(id, value) });
}
