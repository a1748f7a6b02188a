import type { SimTime } from "../../kernel/time.ts";
import type {
  AccessNoun,
  ComputeStateType,
  EventTypeOf,
  RecordedEvent,
} from "../../platform/model/events.ts";
import type { World } from "../../platform/world/world.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";

type Decision = readonly [RecordedEvent, ...RecordedEvent[]];

/**
 * Events that a request caused although the request log has no such request, as the first event of each
 * decision. The log is truncated, and not every change comes from a request. `world` is the state before the
 * events.
 */
export function eventsWithoutRequest(
  world: World,
  events: readonly RecordedEvent[],
  requests: readonly RequestLogEntry[],
): RecordedEvent[] {
  const expirations = new Expirations(world);
  const answeredSeqs = new Set(requests.map(({ seq }) => seq));
  // A read or a rejected request caused no event, whatever the newest event was at that time.
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
    // A delayed request is answered later and handled with the delays.
    if (
      expired ||
      !isRequested(decision) ||
      decision.some((event) => event.type === "FaultHit" && event.outcome.kind === "latency")
    )
      return [];
    if (!isCausedByFault(first)) return effectiveSeqs.has(end) ? [] : [first];
    // A request that matched a fault may continue and succeed.
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

/** Whether a request caused it, and not the world, a client or the control API. */
function isRequested(decision: Decision): boolean {
  // Resources removed together with their branch have no request of their own.
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
      // Keys without a scope may also come from the control API.
      return event.apiKey.scope !== undefined;
    case "SnapshotCreated":
      return event.snapshot.manual;
    case "OperationScheduled":
      return event.operation.cause === "request" || event.operation.cause === "repeated_update";
    case "FaultHit":
    case "FaultMatched":
      return isCausedByFault(event);
    default:
      event.type satisfies CausedByNoRequest;
      return false;
  }
}

/** Events that the control API or the world itself causes. */
type CausedByNoRequest =
  | EventTypeOf<"world" | "account" | "activity" | "span">
  | "ApiKeyRemoved"
  | "ProjectRemoved"
  | "BranchBecameReady"
  | "BranchRemoved"
  | ComputeStateType
  | "OperationStarted"
  | "OperationFinished"
  | "OperationRetried"
  | "OperationFailed"
  | "OperationCancelled"
  | "FaultSet"
  | "FaultRemoved";

function isCausedByFault(event: RecordedEvent): boolean {
  return (event.type === "FaultHit" || event.type === "FaultMatched") && event.target.kind === "request";
}

/** Branches and snapshots that expire, and when. */
class Expirations {
  readonly #at = new Map<string, SimTime | undefined>();

  constructor({ branches, branchSnapshots }: World) {
    for (const { id, expiresAt } of [...branches.values(), ...branchSnapshots.values()])
      this.#at.set(id, expiresAt);
  }

  /** Whether the decision is an expiration. */
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
type ChangesNoExpiration =
  | EventTypeOf<
      | AccessNoun
      | "world"
      | "project"
      | "role"
      | "database"
      | "compute"
      | "operation"
      | "activity"
      | "span"
      | "fault"
    >
  | "BranchBecameReady"
  | "BranchUpdated"
  | "BranchSetAsDefault"
  | "BranchMoved"
  | "BranchRestored"
  | "BranchRecovered"
  | "BranchRemoved"
  | "SnapshotRenamed"
  | "BackupScheduleSet";
