import { isoInstant } from "../../kernel/calendar.ts";
import { listNames } from "../../kernel/text.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { World } from "../../platform/world/world.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";
import { escapeReferences } from "../file/references.ts";
import { type ControlRenderers, controlCallFor, firstKeysByAccount } from "./control-calls.ts";
import { type FaultDelay, findFaultDelays } from "./fault-delays.ts";
import { eventsWithoutRequest } from "./missing-requests.ts";
import { createdIds, isRateLimited, isReplayable, requestStep } from "./request-steps.ts";

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
      `changes from ${from} to ${to} (${types}): the request log does not have their requests, because SQL made these changes or the log was cut; start the recording after them`,
    );
  }
  // Faults count all requests, including reads.
  const hasFaults =
    requests.some(({ fault }) => fault !== undefined) || events.some(({ type }) => type.startsWith("Fault"));
  const captured = new Set<number>();
  const delays = findFaultDelays(events, requests);
  const delayOf = new Map(delays.map((delay) => [delay.request, delay]));
  const limited = requests.filter(isRateLimited);
  const [firstLimited] = limited;
  if (firstLimited !== undefined)
    omitted.push(
      `${limited.length === 1 ? "1 request" : `${limited.length} requests`} that the rate limit rejected, the first at ${isoInstant(firstLimited.at)}: a run has no rate limit; set a fault that answers 429 instead`,
    );
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
