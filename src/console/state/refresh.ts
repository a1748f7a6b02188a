import { batch, effect } from "@preact/signals";
import { followStream } from "../client/event-stream.ts";
import { get, RequestFailed, ServerUnreachable } from "../client/request.ts";
import {
  type Clock,
  type ComputeList,
  STATE_FIELDS,
  type WorldEvent,
  type WorldState,
} from "../client/types.ts";
import { readAccountReport } from "./account-report.ts";
import { affectedProjects } from "./affected-projects.ts";
import { replaceProjects } from "./replace-projects.ts";
import { readShadow } from "./shadow.ts";
import {
  at,
  changes,
  clock,
  connection,
  findBranch,
  findCompute,
  recentEvents,
  refusal,
  shownComputes,
  stats,
  tick,
  world,
} from "./world.ts";

const RETAINED_EVENTS = 500;
const TICK_MS = 250;
/** From this number of changed projects on, the whole world is read. */
const MAX_PROJECTS_AT_ONCE = 100;

/**
 * Runs `work` one call at a time. After each call, pauses for the call's own duration plus `waitMs`, so a large world
 * is read less often. Requests during a call or pause cause one further call.
 */
export function throttled(work: () => Promise<void>, waitMs: number): () => void {
  let isWaiting = false;
  let isRunning = false;
  let isNeededAgain = false;
  let freeAt = 0;
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
    freeAt = performance.now() + waitMs;
    if (isNeededAgain) request();
  };
  const request = () => {
    isNeededAgain = isRunning;
    if (isWaiting || isRunning) return;
    isWaiting = true;
    setTimeout(run, Math.max(0, freeAt - performance.now()));
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

/** The next read of the world: the ids of changed projects, or everything. */
let pending: Set<string> | "all" = "all";

async function readWorld(): Promise<void> {
  const wanted = pending;
  pending = new Set();
  if (wanted !== "all" && wanted.size === 0) return;
  const instant = at.peek();
  const before = world.peek();
  const part =
    wanted === "all" || before === undefined || instant !== undefined || wanted.size > MAX_PROJECTS_AT_ONCE
      ? undefined
      : wanted;
  const point = instant === undefined ? "" : `&at=${new Date(instant).toISOString()}`;
  const owners = part === undefined ? "" : `&project_id=${[...part].join(",")}`;
  try {
    const state = await get<WorldState>(`/state?fields=${STATE_FIELDS}${point}${owners}`);
    if (at.peek() !== instant) return;
    world.value = part === undefined || before === undefined ? state : replaceProjects(before, part, state);
    refusal.value = undefined;
  } catch (error) {
    pending = "all";
    if (error instanceof RequestFailed && error.status === 403) refusal.value = error.message;
    throw error;
  }
}

function readLater(projects: ReadonlySet<string> | "all"): void {
  pending = projects === "all" || pending === "all" ? "all" : new Set([...pending, ...projects]);
  refreshWorld();
}

async function readStats(): Promise<void> {
  const ids = shownComputes.peek();
  if (ids.length === 0) return;
  const { endpoints } = await get<ComputeList>(`/endpoints?endpoint_id=${ids.join(",")}`);
  stats.value = new Map(endpoints.map((one) => [one.endpoint_id, one]));
}

const refreshClock = throttled(readClock, 50);
const refreshWorld = throttled(readWorld, 80);
const refreshStats = throttled(readStats, 120);

/** Reads everything again, after something that is not an event of the world. */
export function refreshAll(): void {
  refreshClock();
  readLater("all");
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
  // The past does not change.
  if (at.peek() !== undefined) return;
  const projects = affectedProjects(events, {
    ofBranch: (id) => findBranch(id)?.project_id,
    ofCompute: (id) => findCompute(id)?.project_id,
    ofOperation: (id) => world.peek()?.operations.find((one) => one.id === id)?.project_id,
  });
  if (projects === "all" || projects.size > 0) readLater(projects);
}

/** Reads the world, and keeps the state of the page current. */
export function begin(): void {
  void readClock().catch(reportLoss);
  void readWorld().catch(reportLoss).then(follow);
  setInterval(() => {
    if (clock.peek()?.mode !== "manual" && document.visibilityState === "visible") tick.value += 1;
  }, TICK_MS);
  const initial = at.peek();
  effect(() => {
    if (at.value !== initial || world.peek() !== undefined) readLater("all");
  });
  effect(() => {
    shownComputes.value;
    refreshStats();
  });
}

/** Follows the events after the state that was read, if it was, so that no event is missed. */
function follow(): void {
  const since = world.peek()?.seq;
  let isCurrent = since !== undefined;
  const onOpen = () => {
    connection.value = "live";
    if (isCurrent) refreshClock();
    else {
      // A restore may have replaced the history that they belong to.
      recentEvents.value = [];
      refreshAll();
    }
    isCurrent = false;
    void readShadow().catch(reportLoss);
    void readAccountReport().catch(reportLoss);
  };
  const onLost = (status: number | undefined) => {
    // 403: a token of a team, for other worlds or without the right to read.
    connection.value = status === 401 || status === 403 ? "needs_token" : "unreachable";
  };
  const listener = { onOpen, onEntries: onEvents, onComment: refreshClock, onLost };
  followStream<WorldEvent>("/events/stream", ({ seq }) => seq, listener, since);
}
