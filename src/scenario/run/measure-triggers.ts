import type {
  AccessNoun,
  BranchChangeType,
  ContentNoun,
  EventTypeOf,
  RecordedEvent,
  WorldSettingType,
} from "../../platform/model/events.ts";
import type { Expectation, MeasureName } from "../file/expectation.ts";

/** Whether every event changes the measure. */
export function watchesEveryEvent({ measure, where }: Expectation): boolean {
  return measure === "events" && where["type"] === undefined;
}

/** The types of the events that may change the measure. */
export function triggersOf({ measure, where }: Expectation): readonly string[] {
  if (measure !== "events") return TRIGGERS[measure];
  return where["type"] === undefined ? [] : [String(where["type"])];
}

type EventType = RecordedEvent["type"];

const RESOURCE_EVENTS = [
  "ProjectCreated",
  "ProjectDeleted",
  "ProjectRecovered",
  "ProjectTransferred",
  "BranchCreated",
  "BranchDeleted",
  "BranchRecovered",
  "ComputeCreated",
  "ComputeUpdated",
  "ComputeDeleted",
  "WorldReset",
] as const;
const STATE_EVENTS = [
  "ComputeCreated",
  "ComputeUpdated",
  "ComputeActivated",
  "ComputeSuspended",
  "ComputeStartFailed",
  "ComputeDeleted",
  "ProjectTransferred",
  "WorldReset",
] as const;
const ARRIVAL_EVENTS = ["ActivityRecorded", "ComputeStartFailed", "ComputeDeleted"] as const;
const REFUSAL_EVENTS = ["ActivityDropped", "ComputeStartFailed", "ComputeDeleted"] as const;
/** Events that change no measure except the number of events. */
type ChangesNoMeasure =
  | EventTypeOf<AccessNoun | ContentNoun | "span" | "fault">
  | WorldSettingType
  | "ProjectUpdated"
  | "ProjectRemoved"
  | BranchChangeType
  | "BranchRemoved"
  | "ComputeSuspendFailed"
  | "OperationRetried"
  | "ActivityScheduled";

/** The events that may change a measure. Requests change only when a step ends, which checks every watch. */
const TRIGGERS = namingEveryEvent({
  state: [...STATE_EVENTS, ...RESOURCE_EVENTS, "OperationScheduled", "OperationCancelled"],
  projects: RESOURCE_EVENTS,
  branches: RESOURCE_EVENTS,
  computes: RESOURCE_EVENTS,
  active_computes: STATE_EVENTS,
  activities: ARRIVAL_EVENTS,
  refused: REFUSAL_EVENTS,
  connections: [...STATE_EVENTS, "ActivityRecorded", "ComputeSuspending"],
  cold_starts: ["OperationScheduled"],
  starts: ["ComputeActivated"],
  suspends: ["ComputeSuspended"],
  resizes: ["ComputeResized"],
  active_time: STATE_EVENTS,
  compute_time: [...STATE_EVENTS, "ComputeResized"],
  wait_mean: ARRIVAL_EVENTS,
  wait_p50: ARRIVAL_EVENTS,
  wait_p90: ARRIVAL_EVENTS,
  wait_p99: ARRIVAL_EVENTS,
  wait_max: ARRIVAL_EVENTS,
  operations: [
    "OperationScheduled",
    "OperationStarted",
    "OperationFinished",
    "OperationFailed",
    "OperationCancelled",
    "WorldReset",
  ],
  requests: [],
  errors: REFUSAL_EVENTS,
});

type Triggers = Readonly<Record<Exclude<MeasureName, "events">, readonly EventType[]>>;

/** Fails to compile while an event is neither a trigger nor listed in `ChangesNoMeasure`. */
function namingEveryEvent<const T extends Triggers>(
  triggers: T &
    (Exclude<EventType, T[keyof Triggers][number] | ChangesNoMeasure> extends never ? unknown : never),
): Triggers {
  return triggers;
}
