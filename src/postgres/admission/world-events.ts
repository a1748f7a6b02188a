import type { SimTime } from "../../kernel/time.ts";
import type { AccessNoun, EventTypeOf, RecordedEvent } from "../../platform/model/events.ts";
import { changesContent } from "../../platform/rules/branch/content-history.ts";
import type { StoreUnavailable } from "../../worlds/world-handle.ts";
import type { WorldData } from "../data/world-data.ts";
import { CLIENT_ERRORS, worldUnavailable } from "../protocol/errors.ts";
import type { ClientError } from "../protocol/messages.ts";
import type { ComputeChanges } from "./compute-changes.ts";
import type { ServedCompute } from "./served-compute.ts";

export type WorldEventsOptions = {
  /** By endpoint. */
  readonly computes: ReadonlyMap<string, ServedCompute>;
  readonly changes: ComputeChanges;
  readonly data: WorldData;
  readonly onError: (error: unknown, message: string) => void;
};

/** Applies the events of a world to its sessions and engines. */
export class WorldEvents {
  readonly #options: WorldEventsOptions;

  constructor(options: WorldEventsOptions) {
    this.#options = options;
  }

  /**
   * Events of one commit. None: the world was restored or is closing, a failed commit has lost activity, or one with an
   * unknown outcome may have been stored. What the sessions know may be wrong.
   */
  follow(events: readonly RecordedEvent[], failure?: StoreUnavailable): Promise<void> | void {
    const { computes, changes } = this.#options;
    let newData: SimTime | undefined;
    const restored: string[] = [];
    if (events.length === 0) this.#stopAll(failure && worldUnavailable(failure));
    for (const event of events) {
      switch (event.type) {
        case "ComputeSuspending":
        case "ComputeSuspended":
        case "ComputeDeleted":
          computes.get(event.endpointId)?.stop();
          break;
        case "ComputeStartFailed":
          // The engine may have been started ahead.
          computes.get(event.endpointId)?.stop();
          break;
        case "WorldReset":
          this.#stopAll();
          break;
        case "BranchRestored":
          restored.push(event.branchId);
          newData = event.at;
          break;
        case "BranchCreated":
        case "SnapshotCreated":
          newData = event.at;
          break;
        case "SpanEnded":
          computes.get(event.endpointId)?.publishCacheStatistics();
          break;
        default:
          event.type satisfies ConcernsNoSession;
      }
      if (changesContent(event))
        for (const compute of computes.values()) compute.applyContent(event.branchId);
      if ("endpointId" in event && typeof event.endpointId === "string") changes.notify(event.endpointId);
    }
    if (newData !== undefined) return this.#followData(newData, restored);
  }

  /** Restored branches have other data from now on. What their clients have done is marked before. */
  async #followData(at: SimTime, restoredBranches: readonly string[]): Promise<void> {
    const { data, onError } = this.#options;
    const computes = [...this.#options.computes.values()].filter(({ host }) =>
      restoredBranches.includes(host.branchId ?? ""),
    );
    for (const compute of computes) compute.endSessions(CLIENT_ERRORS.terminated);
    try {
      await data.resolveReferences(at);
    } catch (error) {
      onError(error, "the data of a new branch or snapshot could not be marked");
    }
    for (const compute of computes) compute.stop();
  }

  #stopAll(error?: ClientError): void {
    const { computes, changes } = this.#options;
    for (const compute of computes.values()) compute.stop(error);
    changes.notifyAll();
  }
}

/** Events that need no action in this switch: they change no engine, or only what is checked after it. */
type ConcernsNoSession =
  | EventTypeOf<AccessNoun | "project" | "role" | "database" | "operation" | "activity" | "fault">
  | "WorldCreated"
  | "WorldConfigured"
  | "BranchBecameReady"
  | "BranchUpdated"
  | "BranchSetAsDefault"
  | "BranchExpirationSet"
  | "BranchMoved"
  | "BranchDeleted"
  | "BranchRecovered"
  | "BranchRemoved"
  | "SnapshotRenamed"
  | "SnapshotDeleted"
  | "BackupScheduleSet"
  | "ComputeCreated"
  | "ComputeUpdated"
  | "ComputeActivated"
  | "ComputeResized"
  | "ComputeSuspendFailed"
  | "SpanBegan";
