import type { Context } from "../core/context.ts";
import { drawDuration } from "../core/distribution.ts";
import { uniform } from "../core/random-port.ts";
import { type DurationMs, SECOND, type SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import type { Event } from "../events.ts";
import {
  type Fault,
  type FaultEffect,
  type FaultOutcome,
  type FaultTarget,
  faultAppliesTo,
  isFaultActive,
  type RateWindow,
} from "./fault.ts";

type FaultHit = { readonly fault: string; readonly outcome: FaultOutcome };

/** What was met: the events that count it, and the hits among them, in the order in which the faults were set. */
export type FaultMatches = { readonly events: readonly Event[]; readonly hits: readonly FaultHit[] };

/** Counts of faults that one decision meets several times: what it has seen already is in no event yet. */
export type FaultCounts = Map<string, Pick<Fault, "seen" | "hits">>;

/** Asks every fault that is in force, until one puts an end to it: behind a connection that is lost, no fault is met. */
export function matchFaults(
  world: World,
  target: FaultTarget,
  context: Context,
  counts: FaultCounts = new Map(),
): FaultMatches {
  const events: Event[] = [];
  const hits: FaultHit[] = [];
  for (const stored of world.faults.values()) {
    const fault = { ...stored, ...counts.get(stored.name) };
    if (!isFaultActive(fault, context.now) || !faultAppliesTo(fault, target)) continue;
    const { event, outcome } = matchFault(fault, target, context);
    events.push(event);
    counts.set(fault.name, { seen: fault.seen + 1, hits: fault.hits + (outcome === undefined ? 0 : 1) });
    if (outcome === undefined) continue;
    hits.push({ fault: fault.name, outcome });
    if (outcome.kind !== "latency" && target.kind === "request") break;
  }
  return { events, hits };
}

/** Draws come from a stream of the fault's own, by the number of the meeting: nothing that else happens shifts them. */
function matchFault(
  fault: Fault,
  target: FaultTarget,
  { now: at, random }: Context,
): { event: Event; outcome?: FaultOutcome } {
  const { name, timing, effect } = fault;
  const number = fault.seen + 1;
  const stream = random.stream(`fault:${name}`, number);
  const drawn = timing.probability === undefined ? undefined : uniform(stream);
  const common = { at, fault: name, number, target, ...(drawn === undefined ? {} : { drawn }) };
  if (effect.kind === "rate_limit") {
    const window = currentRateWindow(fault.rate, effect.perMs, at);
    if (window.requests < effect.requests)
      return {
        event: { type: "FaultMatched", ...common, rate: { ...window, requests: window.requests + 1 } },
      };
    const remainingMs = window.startedAt + effect.perMs - at;
    const outcome: FaultOutcome = { ...effect, retryAfterS: Math.max(1, Math.ceil(remainingMs / SECOND)) };
    return { event: { type: "FaultHit", ...common, outcome }, outcome };
  }
  const isHit = number % (timing.every ?? 1) === 0 && (drawn ?? 0) < (timing.probability ?? 1);
  if (!isHit) return { event: { type: "FaultMatched", ...common } };
  const outcome = faultOutcomeOf(effect, target, stream);
  return { event: { type: "FaultHit", ...common, outcome }, outcome };
}

function currentRateWindow(window: RateWindow | undefined, perMs: DurationMs, now: SimTime): RateWindow {
  return window === undefined || now - window.startedAt >= perMs ? { startedAt: now, requests: 0 } : window;
}

function faultOutcomeOf(
  effect: Exclude<FaultEffect, { kind: "rate_limit" }>,
  target: FaultTarget,
  stream: () => number,
): FaultOutcome {
  switch (effect.kind) {
    case "answer":
    case "drop":
    case "lose_response":
    case "operation_fails":
      return effect;
    case "latency":
      return { kind: "latency", ms: drawDuration(effect.takes, () => stream), clock: effect.clock };
    case "maintenance":
      return { kind: "maintenance", projectId: target.projectId ?? "" };
    case "start_slower":
      return {
        kind: "start_slower",
        byMs: effect.by === undefined ? 0 : drawDuration(effect.by, () => stream),
        factor: effect.factor ?? 1,
      };
    case "start_fails":
      return { kind: "operation_fails", times: effect.times, ends: "failed" };
    default:
      return effect satisfies never;
  }
}
