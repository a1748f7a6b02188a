import type { SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";

type Decision = readonly [RecordedEvent, ...RecordedEvent[]];

/**
 * What somebody asked for and no request of the journal tells of, by the first event of each decision: requests are not kept for ever, and
 * not everything is asked by one. `world` is where the events begin.
 */
export function eventsWithoutRequest(
  world: World,
  events: readonly RecordedEvent[],
  requests: readonly RequestLogEntry[],
): RecordedEvent[] {
  const expirations = new Expirations(world);
  const answeredSeqs = new Set(requests.map(({ seq }) => seq));
  // One that only read, or was refused, has brought nothing about, whatever was the newest event then.
  const effectiveSeqs = new Set(
    requests.flatMap(({ seq, method, status = 0 }) =>
      !/^(GET|HEAD)$/.test(method) && status < 400 ? [seq] : [],
    ),
  );
  const decisions = groupByDecision(events);
  return decisions.flatMap((decision, index) => {
    const expired = expirations.include(decision);
    const [first] = decision;
    const end = lastSeqOf(decision);
    // What was held back is answered later, and looked for among delays.
    if (
      expired ||
      !isRequested(decision) ||
      decision.some((event) => event.type === "FaultHit" && event.outcome.kind === "latency")
    )
      return [];
    if (!isCausedByFault(first)) return effectiveSeqs.has(end) ? [] : [first];
    // Who meets a fault may go on and be done.
    const next = decisions[index + 1];
    return answeredSeqs.has(end) || (next !== undefined && effectiveSeqs.has(lastSeqOf(next))) ? [] : [first];
  });
}

function groupByDecision(events: readonly RecordedEvent[]): Decision[] {
  const decisions: [RecordedEvent, ...RecordedEvent[]][] = [];
  for (const event of events) {
    const last = decisions.at(-1);
    if (last !== undefined && last[0].decision === event.decision) last.push(event);
    else decisions.push([event]);
  }
  return decisions;
}

function lastSeqOf(decision: Decision): number {
  return (decision.at(-1) ?? decision[0]).seq;
}

/** Whether it was neither the world's own, nor a client's, nor the control API's. */
function isRequested(decision: Decision): boolean {
  // What goes with its branch was not asked for by itself.
  return decision.some(isCausedByRequest) && !decision.some(({ type }) => type === "BranchRemoved");
}

function isCausedByRequest(event: RecordedEvent): boolean {
  switch (event.type) {
    case "ApiKeyRevoked":
    case "ProjectCreated":
    case "ProjectUpdated":
    case "ProjectDeleted":
    case "ProjectRecovered":
    case "ProjectTransferred":
    case "RecordCreated":
    case "RecordUpdated":
    case "RecordDeleted":
    case "BranchCreated":
    case "BranchUpdated":
    case "BranchSetAsDefault":
    case "BranchExpirationSet":
    case "BranchMoved":
    case "BranchRestored":
    case "BranchDeleted":
    case "BranchRecovered":
    case "RoleCreated":
    case "RoleDeleted":
    case "RolePasswordReset":
    case "DatabaseCreated":
    case "DatabaseUpdated":
    case "DatabaseDeleted":
    case "SnapshotRenamed":
    case "SnapshotDeleted":
    case "BackupScheduleSet":
    case "ComputeCreated":
    case "ComputeUpdated":
    case "ComputeDeleted":
      return true;
    case "ApiKeyCreated":
      // Others are made by the control API, too.
      return event.apiKey.scope !== undefined;
    case "SnapshotCreated":
      return event.snapshot.manual;
    case "OperationScheduled":
      return event.operation.cause === "request";
    case "FaultHit":
    case "FaultMatched":
      return isCausedByFault(event);
    default:
      event.type satisfies CausedByNoRequest;
      return false;
  }
}

/** Events that the control API or the world itself causes. */
// biome-ignore format: as a packed list
type CausedByNoRequest =
  | "WorldCreated" | "WorldConfigured" | "WorldReset" | "AccountCreated" | "AccountPlanChanged"
  | "ProjectRemoved" | "BranchBecameReady" | "BranchRemoved" | "ComputeActivated"
  | "ComputeSuspending" | "ComputeSuspended" | "ComputeResized" | "ComputeStartFailed"
  | "ComputeSuspendFailed" | "OperationStarted" | "OperationFinished" | "OperationRetried"
  | "OperationFailed" | "OperationCancelled" | "ActivityScheduled" | "ActivityRecorded"
  | "ActivityDropped" | "FaultSet" | "FaultRemoved";

function isCausedByFault(event: RecordedEvent): boolean {
  return (event.type === "FaultHit" || event.type === "FaultMatched") && event.target.kind === "request";
}

/** Branches and snapshots that end by themselves, and when. */
class Expirations {
  readonly #at = new Map<string, SimTime | undefined>();

  constructor({ branches, branchSnapshots }: World) {
    for (const { id, expiresAt } of [...branches.values(), ...branchSnapshots.values()])
      this.#at.set(id, expiresAt);
  }

  /** Whether it came of one of them, whose time had come. */
  include(decision: Decision): boolean {
    let isExpired = false;
    for (const event of decision) {
      switch (event.type) {
        case "BranchCreated":
          this.#at.set(event.branch.id, event.branch.expiresAt);
          break;
        case "BranchExpirationSet":
          this.#at.set(event.branchId, event.expiresAt);
          break;
        case "SnapshotCreated":
          this.#at.set(event.snapshot.id, event.snapshot.expiresAt);
          break;
        case "BranchDeleted":
          isExpired ||= this.#at.get(event.branchId) === event.at;
          break;
        case "SnapshotDeleted":
          isExpired ||= this.#at.get(event.snapshotId) === event.at;
          break;
        default:
          event.type satisfies ChangesNoExpiration;
      }
    }
    return isExpired;
  }
}

/** Events that neither set nor carry out an expiration. */
// biome-ignore format: as a packed list
type ChangesNoExpiration =
  | "WorldCreated" | "WorldConfigured" | "WorldReset" | "AccountCreated" | "AccountPlanChanged"
  | "ApiKeyCreated" | "ApiKeyRevoked" | "ProjectCreated" | "ProjectUpdated" | "ProjectDeleted"
  | "ProjectRecovered" | "ProjectRemoved" | "ProjectTransferred" | "RecordCreated" | "RecordUpdated"
  | "RecordDeleted" | "BranchBecameReady" | "BranchUpdated" | "BranchSetAsDefault" | "BranchMoved"
  | "BranchRestored" | "BranchRecovered" | "BranchRemoved" | "RoleCreated" | "RoleDeleted"
  | "RolePasswordReset" | "DatabaseCreated" | "DatabaseUpdated" | "DatabaseDeleted"
  | "SnapshotRenamed" | "BackupScheduleSet" | "ComputeCreated" | "ComputeUpdated" | "ComputeDeleted"
  | "ComputeActivated" | "ComputeSuspending" | "ComputeSuspended" | "ComputeResized"
  | "ComputeStartFailed" | "ComputeSuspendFailed" | "OperationScheduled" | "OperationStarted"
  | "OperationFinished" | "OperationRetried" | "OperationFailed" | "OperationCancelled"
  | "ActivityScheduled" | "ActivityRecorded" | "ActivityDropped" | "FaultSet" | "FaultRemoved"
  | "FaultMatched" | "FaultHit";
