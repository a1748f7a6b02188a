import type { AccountEvent } from "./account.ts";
import type { ActivityEvent } from "./activity.ts";
import type { ApiKeyEvent } from "./api-key.ts";
import type { BranchEvent } from "./branch.ts";
import type { DatabaseEvent, RoleEvent } from "./branch-content.ts";
import type { SnapshotEvent } from "./branch-snapshot.ts";
import type { ComputeEvent } from "./compute-events.ts";
import type { FaultEvent } from "./fault.ts";
import type { OperationEvent } from "./operation.ts";
import type { ProjectEvent } from "./project.ts";
import type { RecordEvent } from "./settings-record.ts";
import type { SpanEvent } from "./span.ts";
import type { WorldEvent } from "./world-settings.ts";

/** The events of each noun. What uses events names the nouns that it omits, so a new noun has to be considered. */
type EventsByNoun = {
  world: WorldEvent;
  account: AccountEvent;
  apiKey: ApiKeyEvent;
  project: ProjectEvent;
  record: RecordEvent;
  branch: BranchEvent;
  role: RoleEvent;
  database: DatabaseEvent;
  snapshot: SnapshotEvent;
  compute: ComputeEvent;
  operation: OperationEvent;
  activity: ActivityEvent;
  span: SpanEvent;
  fault: FaultEvent;
};

/**
 * Everything that can happen in a world. Events are never edited; a changed meaning gets a new type. Field
 * names carry a meaning: an instant ends in `at`, `At` or `until`, and only `settings` and `annotations` hold
 * what callers may fill freely.
 */
export type Event = EventsByNoun[keyof EventsByNoun];

/** Nouns of access rights, and of records that are only stored for callers. */
export type AccessNoun = "account" | "apiKey" | "record";
/** Nouns of the content of branches, and of copies of it. */
export type ContentNoun = "role" | "database" | "snapshot";

/** A branch has content or settings that it did not have, and is neither created nor deleted. */
export type BranchChangeType =
  | "BranchBecameReady"
  | "BranchUpdated"
  | "BranchSetAsDefault"
  | "BranchExpirationSet"
  | "BranchMoved"
  | "BranchRestored";
/** A compute starts, suspends, or changes its size. */
export type ComputeStateType =
  | "ComputeActivated"
  | "ComputeSuspending"
  | "ComputeSuspended"
  | "ComputeResized"
  | "ComputeStartFailed"
  | "ComputeSuspendFailed";
/** The settings of the world itself. */
export type WorldSettingType = "WorldCreated" | "WorldConfigured";

/** The types of all events of these nouns. */
export type EventTypeOf<Noun extends keyof EventsByNoun> = EventsByNoun[Noun]["type"];

const CLIENT_WORK: { readonly [Type in EventTypeOf<"activity" | "span">]: true } = {
  ActivityScheduled: true,
  ActivityRecorded: true,
  ActivityDropped: true,
  SpanBegan: true,
  SpanEnded: true,
};

/** The types of events about the work of clients. A compute has thousands of them for each start. */
export const CLIENT_WORK_EVENTS: ReadonlySet<string> = new Set(Object.keys(CLIENT_WORK));

/**
 * An event with its place in history. `decision` is the sequence number of the first event of the same
 * decision. A decision happens as a whole, so a point in history never lies within one.
 */
export type RecordedEvent = Event & { readonly seq: number; readonly decision: number };
