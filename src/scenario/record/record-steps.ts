import type { ApiKey } from "../../platform/account/api-key.ts";
import type { Activity } from "../../platform/compute/activity.ts";
import { isoInstant } from "../../platform/core/calendar.ts";
import { findLoneSurrogate } from "../../platform/core/text.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { FaultDefinition } from "../../platform/fault/fault.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";
import { listNames } from "../file/check-scenario.ts";
import { escapeReferences } from "../file/references.ts";
import { METHODS } from "../file/step-schema.ts";
import { type FaultDelay, findFaultDelays } from "./fault-delays.ts";
import { eventsWithoutRequest } from "./missing-requests.ts";

/**
 * The history of a world between two points, and the world at the first. All external input is in one of the
 * lists.
 */
export type RecordedHistory = {
  readonly world: World;
  readonly events: readonly RecordedEvent[];
  readonly requests: readonly RequestLogEntry[];
};

type TimedStep = { readonly seq: number; readonly step: object };
/** The steps that reproduce a history, and descriptions of what they cannot reproduce. */
export type RecordedSteps = { readonly steps: readonly object[]; readonly omitted: readonly string[] };

/** Renders values as the control API accepts them. */
export type ControlRenderers = {
  readonly activity: (activity: Activity) => object;
  readonly fault: (fault: FaultDefinition) => object;
};

const API_PATH = /^(\/w\/[^/]+)?\/api\/v2/;

/**
 * Turns a history into steps, in order: requests from the request log, and calls of the control API from
 * their events. `keyOf` returns the secret that stands for a key in the run.
 */
export function recordSteps(
  { world, events, requests }: RecordedHistory,
  renderers: ControlRenderers,
  keyOf: (keyId: number) => string,
): RecordedSteps {
  const omitted: string[] = [];
  const createdByRequest = new Set(requests.flatMap((request) => createdIds(request.answered)));
  const firstKeys = firstKeysByAccount(events);
  const withoutRequest = eventsWithoutRequest(world, events, requests);
  const withoutRequestSeqs = new Set(withoutRequest.map(({ seq }) => seq));
  const lostEvents = withoutRequest.filter(({ type }) => type !== "ApiKeyRevoked");
  const [firstLost] = lostEvents;
  if (firstLost !== undefined) {
    const types = listNames([...new Set(lostEvents.map(({ type }) => type))]);
    const [from, to] = [isoInstant(firstLost.at), isoInstant((lostEvents.at(-1) ?? firstLost).at)];
    omitted.push(
      `changes from ${from} to ${to} (${types}): their requests are no longer in the request log; start the recording after them`,
    );
  }
  // Faults count all requests, including reads.
  const hasFaults =
    requests.some(({ fault }) => fault !== undefined) || events.some(({ type }) => type.startsWith("Fault"));
  const captured = new Set<number>();
  const delays = findFaultDelays(events, requests);
  const delayOf = new Map(delays.map((delay) => [delay.request, delay]));
  const replayable = requests.filter((request) => isReplayable(request, hasFaults));
  const requestSteps = replayable.map((request): TimedStep => {
    // The fault delays it again, so it takes effect at the recorded time.
    const { seq, at } = delayOf.get(request) ?? { seq: request.seq + 0.5, at: request.at };
    return { seq, step: requestStep({ ...request, at }, captured, keyOf, omitted) };
  });
  const controlSteps = events.flatMap((event): TimedStep[] => {
    const control = controlCallFor(
      event,
      renderers,
      keyOf,
      { createdByRequest, firstKeys, withoutRequestSeqs },
      omitted,
    );
    return control === undefined
      ? []
      : [{ seq: event.seq, step: { at: isoInstant(event.at), control: escapeReferences(control) } }];
  });
  for (const delay of delays) {
    const reason = whyNotReproduced(delay, { delays, requests: replayable, controlSteps });
    if (reason !== undefined)
      omitted.push(`the request that fault ${delay.fault} delayed at ${isoInstant(delay.at)}: ${reason}`);
  }
  const matchedFaults = new Set(
    events.flatMap((event) => (event.type === "FaultHit" ? [`${event.fault} ${event.at}`] : [])),
  );
  for (const request of replayable) {
    const { fault, at, method, path } = request;
    if (fault !== undefined && !delayOf.has(request) && !matchedFaults.has(`${fault} ${at}`))
      omitted.push(
        `${method} ${path} at ${isoInstant(at)}: fault ${fault} delayed it from before the start of the recording`,
      );
  }
  // The sort is stable: requests of one instant that changed nothing keep their order.
  const steps = [...controlSteps, ...requestSteps]
    .sort((one, other) => one.seq - other.seq)
    .map(({ step }) => step);
  return { steps, omitted };
}

/** Omits requests without effect: reads, unknown paths, and rejected requests whose text is not available. */
function isReplayable(
  { method, operationId, status, fault, path, body }: RequestLogEntry,
  hasFaults: boolean,
): boolean {
  if (!METHODS.some((one) => one === method) || operationId === undefined) return false;
  if (method === "GET") return hasFaults;
  const wasRefused = status !== undefined && status >= 400 && fault === undefined;
  return !(
    wasRefused &&
    (isBodyOmitted(body) ||
      path.endsWith(CUT) ||
      REMOVED_SECRET.test(`${path}${JSON.stringify(body)}`) ||
      findLoneSurrogate(body) !== undefined)
  );
}

type ReplayContext = {
  readonly delays: readonly FaultDelay[];
  readonly requests: readonly RequestLogEntry[];
  readonly controlSteps: readonly TimedStep[];
};

/**
 * Why a delay cannot be reproduced: a run sends one request at a time, and its clock is stopped otherwise.
 */
function whyNotReproduced(
  { seq, until, request }: FaultDelay,
  { delays, requests, controlSteps }: ReplayContext,
): string | undefined {
  if (request === undefined) return "its outcome is not in the request log";
  if (request.at !== until)
    return `it took effect at ${isoInstant(request.at)}, but in a run it would at ${isoInstant(until)}`;
  const isOverlapping =
    requests.some((other) => other.number < request.number && other.seq >= seq) ||
    [...delays, ...controlSteps].some((other) => other.seq > seq && other.seq <= request.seq);
  return isOverlapping ? "other requests came before it took effect" : undefined;
}

/** The end of a path that was too long to store. A sent path has no such character. */
const CUT = "…";
const REMOVED_SECRET = /\[removed\]/;

function isBodyOmitted(body: unknown): boolean {
  return (body as { not_kept?: unknown } | undefined)?.not_kept !== undefined;
}

function requestStep(
  request: RequestLogEntry,
  captured: Set<number>,
  keyOf: (keyId: number) => string,
  omitted: string[],
): object {
  const { at, method, path, body, status, keyId, operationId, answered } = request;
  const createdKeyId =
    /^create\w*ApiKey$/.test(operationId ?? "") && status !== undefined && status < 300
      ? Number(createdIds(answered)[0])
      : undefined;
  if (createdKeyId !== undefined) captured.add(createdKeyId);
  const what = `${method} ${path} at ${isoInstant(at)}`;
  if (REMOVED_SECRET.test(`${path}${JSON.stringify(body)}`))
    omitted.push(`${what}: a secret in it was not stored`);
  if (path.endsWith(CUT)) omitted.push(`${what}: only the beginning of its path was stored`);
  if (isBodyOmitted(body)) omitted.push(`${what}: its body was not stored`);
  return {
    at: isoInstant(at),
    request: {
      method,
      path: escapeReferences(path.replace(API_PATH, "")),
      ...(body === undefined ? {} : { body: escapeReferences(body) }),
      key: keyId === undefined ? "no-key" : captured.has(keyId) ? `{key_${keyId}}` : keyOf(keyId),
      // A lost connection has no status.
      status: status ?? 0,
      ...(createdKeyId === undefined ? {} : { capture: { [`key_${createdKeyId}`]: "key" } }),
    },
  };
}

type RequestOrigins = {
  readonly createdByRequest: ReadonlySet<string>;
  readonly firstKeys: ReadonlyMap<string, ApiKey>;
  /** Sequence numbers of events without a request. */
  readonly withoutRequestSeqs: ReadonlySet<number>;
};

/**
 * The call of the control API that causes an event; `undefined` when a request or the world itself caused it.
 */
function controlCallFor(
  event: RecordedEvent,
  renderers: ControlRenderers,
  keyOf: (keyId: number) => string,
  { createdByRequest, firstKeys, withoutRequestSeqs }: RequestOrigins,
  omitted: string[],
): object | undefined {
  switch (event.type) {
    case "ActivityRecorded":
      return event.scheduled === undefined
        ? { method: "POST", path: "/activity", body: renderers.activity(event.activity) }
        : undefined;
    case "ActivityScheduled": {
      const { activity, at } = event.scheduled;
      return {
        method: "POST",
        path: "/activity",
        body: { ...renderers.activity(activity), at: isoInstant(at) },
      };
    }
    case "AccountPlanChanged":
      return { method: "PATCH", path: `/accounts/${event.accountId}`, body: { plan: event.plan } };
    case "ApiKeyCreated": {
      const { id, accountId, name, scope } = event.apiKey;
      if (createdByRequest.has(String(id)) || scope !== undefined || firstKeys.get(accountId)?.id === id)
        return undefined;
      return {
        method: "POST",
        path: "/api_keys",
        body: { account_id: accountId, key_name: name, api_key: keyOf(id) },
      };
    }
    case "ApiKeyRevoked":
      return withoutRequestSeqs.has(event.seq)
        ? { method: "DELETE", path: `/api_keys/${event.keyId}` }
        : undefined;
    case "FaultSet":
      return {
        method: "PUT",
        path: `/faults/${event.definition.name}`,
        body: renderers.fault(event.definition),
      };
    case "FaultRemoved":
      return { method: "DELETE", path: `/faults/${event.fault}` };
    case "AccountCreated": {
      const { id, name, email, plan } = event.account;
      const key = firstKeys.get(id);
      if (key === undefined) {
        omitted.push(
          `account ${id}, created without a key at ${isoInstant(event.at)}: start the recording after it`,
        );
        return undefined;
      }
      return {
        method: "POST",
        path: "/accounts",
        body: { id, name, email, plan, key_name: key.name, api_key: keyOf(key.id) },
      };
    }
    case "WorldReset":
    case "WorldConfigured":
      omitted.push(`${event.type} at ${isoInstant(event.at)}: start the recording after it`);
      return undefined;
    case "SpanEnded":
      omitted.push(
        `work of Postgres clients on ${event.endpointId}, ${isoInstant(event.beganAt)} to ${isoInstant(event.until)}`,
      );
      return undefined;
    default:
      event.type satisfies CausedByNoControlCall;
      return undefined;
  }
}

/** Events that a public request or the world itself causes. */
// biome-ignore format: as a packed list
type CausedByNoControlCall =
  | "WorldCreated" | "ProjectCreated" | "ProjectUpdated" | "ProjectDeleted" | "ProjectRecovered"
  | "ApiKeyRemoved" | "ProjectRemoved" | "ProjectTransferred" | "RecordCreated" | "RecordUpdated"
  | "RecordDeleted" | "BranchCreated" | "BranchBecameReady" | "BranchUpdated" | "BranchSetAsDefault"
  | "BranchExpirationSet" | "BranchMoved" | "BranchRestored" | "BranchDeleted" | "BranchRecovered"
  | "BranchRemoved" | "RoleCreated" | "RoleDeleted" | "RolePasswordReset" | "DatabaseCreated"
  | "DatabaseUpdated" | "DatabaseDeleted" | "SnapshotCreated" | "SnapshotRenamed"
  | "SnapshotDeleted" | "BackupScheduleSet" | "ComputeCreated" | "ComputeUpdated" | "ComputeDeleted"
  | "ComputeActivated" | "ComputeSuspending" | "ComputeSuspended" | "ComputeResized"
  | "ComputeStartFailed" | "ComputeSuspendFailed" | "OperationScheduled" | "OperationStarted"
  | "OperationFinished" | "OperationRetried" | "OperationFailed" | "OperationCancelled"
  | "ActivityDropped" | "FaultMatched" | "FaultHit"
  | "SpanBegan";

/** The console creates an account and its first key in one call. */
function firstKeysByAccount(events: readonly RecordedEvent[]): ReadonlyMap<string, ApiKey> {
  const keys = new Map<string, ApiKey>();
  for (const [index, event] of events.entries()) {
    const next = events[index + 1];
    if (
      event.type === "AccountCreated" &&
      next?.type === "ApiKeyCreated" &&
      next.apiKey.accountId === event.account.id
    ) {
      keys.set(event.account.id, next.apiKey);
    }
  }
  return keys;
}

function createdIds(answered: unknown): string[] {
  if (typeof answered !== "object" || answered === null) return [];
  return Object.values(answered).flat().map(String);
}

/** The end of the events that create a world and its first key; by default a recording starts after them. */
export function setupEnd(
  events: readonly RecordedEvent[],
): { readonly seq: number; readonly at: SimTime } | undefined {
  const setup: readonly RecordedEvent["type"][] = [
    "WorldCreated",
    "WorldConfigured",
    "AccountCreated",
    "ApiKeyCreated",
  ];
  let last: RecordedEvent | undefined;
  for (const event of events) {
    if (!setup.includes(event.type)) break;
    last = event;
  }
  return last && { seq: last.seq, at: last.at };
}
