import { batch, effect } from "@preact/signals";
import { followStream } from "../client/event-stream.ts";
import { get, RequestFailed, ServerUnreachable } from "../client/request.ts";
import type { Clock, ComputeList, WorldEvent, WorldState } from "../client/types.ts";
import { at, changes, clock, connection, recentEvents, stats, tick, world } from "./world.ts";

const RETAINED_EVENTS = 500;
const TICK_MS = 250;
/** Events that change nothing of the tree. */
const TRAFFIC = new Set([
  "ActivityRecorded",
  "ActivityScheduled",
  "ActivityDropped",
  "SpanBegan",
  "SpanEnded",
]);

/**
 * Calls `work` soon, at most once at a time, and leaves the server as much time again as an answer takes: a
 * large world is read less often.
 */
export function gently(work: () => Promise<void>, waitMs: number): () => void {
  let isWaiting = false;
  let isRunning = false;
  let isNeededAgain = false;
  const run = async () => {
    isWaiting = false;
    isRunning = true;
    const began = performance.now();
    try {
      await work();
    } catch (error) {
      reportLoss(error);
    }
    const took = performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, took));
    isRunning = false;
    if (isNeededAgain) request();
  };
  const request = () => {
    isNeededAgain = isRunning;
    if (isWaiting || isRunning) return;
    isWaiting = true;
    setTimeout(run, waitMs);
  };
  return request;
}

function reportLoss(error: unknown): void {
  if (error instanceof ServerUnreachable) connection.value = "unreachable";
  else if (error instanceof RequestFailed && error.status === 401) connection.value = "needs_token";
}

async function readClock(): Promise<void> {
  const reading = await get<Clock>("/clock");
  clock.value = { ...reading, readAt: performance.now() };
}

async function readWorld(): Promise<void> {
  const instant = at.peek();
  const query = instant === undefined ? "" : `?at=${encodeURIComponent(new Date(instant).toISOString())}`;
  const state = await get<WorldState>(`/state${query}`);
  if (at.peek() === instant) world.value = state;
}

async function readStats(): Promise<void> {
  const { endpoints } = await get<ComputeList>("/endpoints");
  stats.value = new Map(endpoints.map((one) => [one.endpoint_id, one]));
}

const refreshClock = gently(readClock, 50);
const refreshWorld = gently(readWorld, 80);
const refreshStats = gently(readStats, 120);

/** Reads everything again, after something that is no event of the world. */
export function refreshAll(): void {
  refreshClock();
  refreshWorld();
  refreshStats();
  changes.value += 1;
}

function onEvents(events: readonly WorldEvent[]): void {
  batch(() => {
    recentEvents.value = [...recentEvents.value, ...events].slice(-RETAINED_EVENTS);
    changes.value += 1;
  });
  refreshClock();
  refreshStats();
  if (events.some(({ type }) => !TRAFFIC.has(type))) refreshWorld();
}

/** Connects to the server, and keeps the state of the page current. */
export function begin(): void {
  followStream<WorldEvent>("/events/stream", ({ seq }) => seq, {
    onOpen: () => {
      connection.value = "live";
      refreshAll();
    },
    onEntries: onEvents,
    onLost: (status) => {
      connection.value = status === 401 ? "needs_token" : "unreachable";
    },
  });
  setInterval(() => {
    if (clock.peek()?.mode !== "manual" && document.visibilityState === "visible") tick.value += 1;
  }, TICK_MS);
  effect(() => {
    at.value;
    refreshWorld();
  });
}
