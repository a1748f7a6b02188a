import { drawDuration } from "../../../kernel/distribution.ts";
import { uniform } from "../../../kernel/random-port.ts";
import { type DurationMs, SECOND, type SimTime } from "../../../kernel/time.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import {
  type Fault,
  type FaultEffect,
  type FaultOutcome,
  type FaultTarget,
  faultAppliesTo,
  isFaultActive,
  type RateWindow,
} from "../../model/fault.ts";
import type { World } from "../../world/world.ts";

type FaultHit = { readonly fault: string; readonly outcome: FaultOutcome };

/** The events that count the matches, and those that triggered, in the order in which the faults were set. */
export type FaultMatches = { readonly events: readonly Event[]; readonly hits: readonly FaultHit[] };

/** Counts within one decision that matches faults several times, before its events are applied. */
export type FaultCounts = Map<string, Pick<Fault, "seen" | "hits">>;

/**
 * Matches every fault in force, until one ends the request: after a lost connection, for example, none
 * matches.
 */
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
    if (endsTarget(outcome, target)) break;
  }
  return { events, hits };
}

/** Whether later faults cannot matter. */
function endsTarget({ kind }: FaultOutcome, target: FaultTarget): boolean {
  if (target.kind === "connection") return kind === "reject_connection" || kind === "drop_connection";
  return target.kind === "request" && kind !== "latency";
}

/** Draws come from the fault's own stream, numbered by match, so nothing else shifts them. */
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
    case "reject_connection":
    case "drop_connection":
    case "end_connection":
      return effect;
    case "latency":
    case "delay_connection":
      return { kind: effect.kind, ms: drawDuration(effect.takes, () => stream), clock: effect.clock };
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
