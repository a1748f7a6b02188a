import type { Activity } from "../../platform/model/activity.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Operation } from "../../platform/model/operation.ts";

/**
 * An event as a list of values, without the names of its fields. Instants are relative to that of the event,
 * and words are positions in a list.
 */
export type ShortForm<E> = {
  /** `undefined` if the event has a field or a value that the form does not know. */
  readonly valuesOf: (event: E) => readonly unknown[] | undefined;
  /** The event at this place with the fields of the values. */
  readonly eventOf: (place: EventPlace, values: readonly unknown[]) => object;
};

/** The fields of an event that have columns of their own. */
export type EventPlace = {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly decision: number;
};

type Type = RecordedEvent["type"];
type EventOf<T extends Type> = Extract<RecordedEvent, { readonly type: T }>;
type Fields = { [field: string]: unknown };

// Files contain positions in these lists: append, never reorder.
// biome-ignore format: as packed lists
const ACTIONS: readonly Operation["action"][] = [
  "create_timeline", "create_branch", "start_compute", "suspend_compute", "apply_config", "delete_timeline",
];
// biome-ignore format: as packed lists
const CAUSES: readonly Operation["cause"][] = [
  "request", "activity", "autosuspend", "restart", "quota", "repeated_update", "recorded",
];
/** The states of an operation, and the fields of each state with an instant. */
const STATES: readonly (readonly [status: Operation["state"]["status"], ...instants: string[]])[] = [
  ["scheduling"],
  ["running", "startedAt", "dueAt"],
  ["finished", "startedAt", "finishedAt"],
  ["failed", "startedAt", "failedAt"],
  ["cancelled", "cancelledAt"],
];
const KINDS: readonly Activity["kind"][] = ["query", "transaction", "connect", "disconnect"];
/** Optional fields of an activity. The bit at a field's index is set if the field is present. */
// biome-ignore format: as a packed list
const OPTIONS: readonly (keyof Activity)[] = [
  "durationMs", "queries", "connectionId", "database", "pooled", "source", "load", "blocks",
];
const OPENED = 1 << 16;
const SCHEDULED = 1 << 17;

/** The fields of `EventPlace`. */
const COLUMNS = 4;

/** Short forms of the events of work, starts and suspends of computes, which are nearly all of a long history. */
export const shortForms: { readonly [T in Type]?: ShortForm<EventOf<T>> } = {
  OperationScheduled: { valuesOf: operationValues, eventOf: scheduledOperation },
  OperationStarted: listOf(["operationId"], ["dueAt"]),
  OperationRetried: listOf(["operationId"], ["dueAt"]),
  // The most frequent events are written out: fields with names from a list take twice the time.
  OperationFinished: {
    ...listOf(["operationId"]),
    eventOf: ({ seq, at, type, decision }, [operationId]) => ({ seq, at, type, decision, operationId }),
  },
  OperationFailed: listOf(["operationId"]),
  OperationCancelled: listOf(["operationId"]),
  ComputeActivated: {
    ...listOf(["endpointId", "release"]),
    eventOf: ({ seq, at, type, decision }, [endpointId, release]) => {
      return { seq, at, type, decision, endpointId, release };
    },
  },
  ComputeSuspending: listOf(["endpointId"]),
  ComputeSuspended: {
    ...listOf(["endpointId", "cause"]),
    eventOf: ({ seq, at, type, decision }, [endpointId, cause]) => {
      return { seq, at, type, decision, endpointId, cause };
    },
  },
  ComputeResized: listOf(["endpointId", "sizeCu"]),
  ActivityRecorded: { valuesOf: arrivalValues, eventOf: arrival },
  ActivityScheduled: { valuesOf: scheduledValues, eventOf: scheduledActivity },
  SpanBegan: listOf(["endpointId"]),
  SpanEnded: listOf(["endpointId", "arrivals"], ["beganAt", "until"]),
};

/** The form of events that have exactly these fields, the last ones of which are instants. */
function listOf(names: readonly string[], instants: readonly string[] = []): ShortForm<RecordedEvent> {
  const count = COLUMNS + names.length + instants.length;
  return {
    valuesOf(event) {
      const fields = event as unknown as Fields;
      if (countOf(fields) !== count) return undefined;
      const values: unknown[] = [];
      for (const name of names) values.push(fields[name]);
      for (const name of instants) values.push(offsetOf(fields[name], event.at));
      return complete(values);
    },
    eventOf({ seq, at, type, decision }, values) {
      const event: Fields = { seq, at, type, decision };
      let position = 0;
      for (const name of names) event[name] = values[position++];
      for (const name of instants) event[name] = at + (values[position++] as number);
      return event;
    },
  };
}

/** With a compute, and without failures. */
const OPERATION_FIELDS = 12;

function operationValues({ at, operation }: EventOf<"OperationScheduled">): unknown[] | undefined {
  const { id, number, projectId, branchId, endpointId, durationMs, thenStart, state } = operation;
  const status = STATES.findIndex(([name]) => name === state.status);
  const instants = STATES[status];
  if (instants === undefined || countOf(state) !== instants.length) return undefined;
  if (countOf(operation) !== OPERATION_FIELDS) return undefined;
  const values: unknown[] = [
    id,
    number,
    projectId,
    branchId,
    endpointId,
    positionIn(ACTIONS, operation.action),
    status,
    durationMs,
    positionIn(CAUSES, operation.cause),
    thenStart ? 1 : 0,
    offsetOf(operation.createdAt, at),
    offsetOf(operation.updatedAt, at),
  ];
  for (let index = 1; index < instants.length; index += 1)
    values.push(offsetOf((state as Fields)[instants[index] as string], at));
  return complete(values);
}

function scheduledOperation({ seq, at, type, decision }: EventPlace, values: readonly unknown[]): object {
  const [id, number, projectId, branchId, endpointId, action, status, durationMs, cause, thenStart] =
    values as [string, number, string, string, string, number, number, number, number, number];
  const names = STATES[status] ?? [];
  const state: Fields = { status: names[0] };
  for (let index = 1; index < names.length; index += 1)
    state[names[index] as string] = at + (values[OPERATION_FIELDS + index - 1] as number);
  return {
    seq,
    at,
    type,
    decision,
    operation: {
      id,
      number,
      projectId,
      branchId,
      endpointId,
      action: ACTIONS[action],
      state,
      durationMs,
      cause: CAUSES[cause],
      thenStart: thenStart === 1,
      createdAt: at + (values[10] as number),
      updatedAt: at + (values[11] as number),
    },
  };
}

function arrivalValues(event: EventOf<"ActivityRecorded">): unknown[] | undefined {
  const { activity, waitedMs, opened, scheduled } = event;
  const there = (opened === undefined ? 0 : OPENED) | (scheduled === undefined ? 0 : SCHEDULED);
  const count = COLUMNS + 2 + (opened === undefined ? 0 : 1) + (scheduled === undefined ? 0 : 1);
  const values = activityValues([waitedMs], activity, there);
  if (values === undefined || countOf(event) !== count) return undefined;
  if (opened !== undefined) values.push(opened);
  if (scheduled !== undefined) values.push(scheduled);
  return complete(values);
}

function arrival({ seq, at, type, decision }: EventPlace, values: readonly unknown[]): object {
  const [waitedMs, , , there] = values as [number, string, number, number];
  const event: Fields = { seq, at, type, decision, activity: activityFields(values, 1), waitedMs };
  let position = values.length - ((there & OPENED) === 0 ? 0 : 1) - ((there & SCHEDULED) === 0 ? 0 : 1);
  if ((there & OPENED) !== 0) event["opened"] = values[position++];
  if ((there & SCHEDULED) !== 0) event["scheduled"] = values[position];
  return event;
}

function scheduledValues(event: EventOf<"ActivityScheduled">): unknown[] | undefined {
  const { number, at, activity } = event.scheduled;
  if (countOf(event) !== COLUMNS + 1 || countOf(event.scheduled) !== 3) return undefined;
  const values = activityValues([number, offsetOf(at, event.at)], activity, 0);
  return values && complete(values);
}

function scheduledActivity({ seq, at, type, decision }: EventPlace, values: readonly unknown[]): object {
  const [number, offset] = values as [number, number];
  return {
    seq,
    at,
    type,
    decision,
    scheduled: { number, at: at + offset, activity: activityFields(values, 2) },
  };
}

/**
 * Appends compute, kind, a bit mask of the optional fields that are present, then their values. Returns `undefined` if
 * a field is unknown.
 */
function activityValues(values: unknown[], activity: Activity, there: number): unknown[] | undefined {
  let bits = there;
  let count = 2;
  const start = values.length;
  values.push(activity.endpointId, positionIn(KINDS, activity.kind), 0);
  for (let option = 0; option < OPTIONS.length; option += 1) {
    const value = activity[OPTIONS[option] as keyof Activity];
    if (value === undefined) continue;
    bits |= 1 << option;
    count += 1;
    values.push(value);
  }
  values[start + 2] = bits;
  return countOf(activity) === count ? values : undefined;
}

function activityFields(values: readonly unknown[], from: number): object {
  const bits = values[from + 2] as number;
  const fields: Fields = { endpointId: values[from], kind: KINDS[values[from + 1] as number] };
  let position = from + 3;
  for (let option = 0; option < OPTIONS.length; option += 1)
    if ((bits & (1 << option)) !== 0) fields[OPTIONS[option] as string] = values[position++];
  return fields;
}

/** The number of fields that JSON would have. */
function countOf(object: object): number {
  let count = 0;
  for (const field in object) if ((object as Fields)[field] !== undefined) count += 1;
  return count;
}

function positionIn<T>(list: readonly T[], word: T): number | undefined {
  const position = list.indexOf(word);
  return position === -1 ? undefined : position;
}

/** `undefined` unless the instant can be calculated from the offset without an error. */
function offsetOf(instant: unknown, at: number): number | undefined {
  return Number.isSafeInteger(instant) && Number.isSafeInteger(at) ? (instant as number) - at : undefined;
}

function complete(values: unknown[]): unknown[] | undefined {
  return values.includes(undefined) ? undefined : values;
}
