import { setImmediate as nextTurn } from "node:timers/promises";
import * as z from "zod";
import { fail } from "../../http/request.ts";
import type { SimTime } from "../../kernel/time.ts";
import { clockInstant } from "../http/control-fields.ts";
import { runRead } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { strict } from "../http/strict-fields.ts";
import type { TimelineMark, TimelineOperation } from "../timeline/fold-lanes.ts";
import type { Lane } from "../timeline/lane.ts";
import { renderArrivals, renderIntervals } from "../timeline/render-lane.ts";
import { readLanes } from "../timeline/timeline-index.ts";

const MAX_POINTS = 2_000;
const DEFAULT_POINTS = 500;
/** The answer of one request; a client asks for the lanes that it shows. */
const MAX_LANES = 100;
const DEFAULT_PERIOD_MS = 3_600_000;
/** The newest marks and operations of the period are answered, and the others are counted. */
const MAX_MARKS = 500;
/** Spans and arrivals that are rendered in one turn of the event loop: some milliseconds of work. */
const SIZE_PER_TURN = 10_000;

const POINTS_RULE = `must be a whole number from 1 to ${MAX_POINTS}`;
const timelineQuery = strict({
  from: clockInstant.optional(),
  to: clockInstant.optional(),
  points: z
    .string()
    .regex(/^\d{1,4}$/, POINTS_RULE)
    .transform(Number)
    .refine((points) => points >= 1 && points <= MAX_POINTS, POINTS_RULE)
    .default(DEFAULT_POINTS),
  endpoint_id: z
    .string()
    .transform((text) => text.split(","))
    .refine((ids) => ids.length <= MAX_LANES, `must be at most ${MAX_LANES} ids, separated by commas`)
    .optional(),
});

/** States and arrivals of the computes of a world over a period, in the detail that a drawing needs. */
export function timelineRoutes(): readonly ControlApiRoute[] {
  return [getTimeline];
}

const getTimeline = route("GET /timeline", { query: timelineQuery }, async ({ world, query }) => {
  // Runs due work, so that the lanes reach the current instant.
  const now = await runRead(world, (transaction) => transaction.now);
  const { fold, readUntil, readSeq } = await readLanes(world);
  const beginsAt = fold.beganAt ?? now;
  const to = query.to ?? now;
  const from = query.from ?? Math.max(beginsAt, to - DEFAULT_PERIOD_MS);
  if (from >= to) fail({ status: 400, code: "BAD_REQUEST", message: "from: must be before to" });
  // The future, and history that is not read yet, are unknown.
  const known = readUntil ?? now;
  const until = Math.max(from, Math.min(to, known));
  // What happens at this instant belongs to the period up to now.
  const end = to < known ? to : known + 1;
  const pointMs = Math.max(1, Math.ceil((to - from) / query.points));
  const lanes =
    query.endpoint_id === undefined
      ? [...fold.lanes.values()].filter((lane) => existsIn(lane, from, until)).slice(0, MAX_LANES)
      : query.endpoint_id.flatMap((id) => fold.lanes.get(id) ?? []);
  const ids = new Set(lanes.map(({ endpointId }) => endpointId));
  const marks = newest(
    fold.marks,
    ({ at, endpointId }) => at >= from && at < end && (endpointId === undefined || ids.has(endpointId)),
  );
  const operations = newest(
    fold.operations,
    ({ since, until: endedAt = now, endpointId }) =>
      since < end && endedAt >= from && (endpointId === undefined || ids.has(endpointId)),
  );
  return {
    now: formatInstant(now),
    from: formatInstant(from),
    to: formatInstant(to),
    history_begins_at: formatInstant(beginsAt),
    ...(readUntil === undefined
      ? {}
      : { read: { seq: readSeq, at: formatInstant(readUntil), of: world.history().seq } }),
    point_ms: pointMs,
    endpoints: await renderLanes(lanes, { from, until, end, pointMs }),
    marks: marks.map(renderMark),
    operations: operations.map(renderOperation),
  };
});

type LanePeriod = {
  readonly from: SimTime;
  readonly until: SimTime;
  readonly end: SimTime;
  readonly pointMs: number;
};

/** Lanes with much in them are rendered in several turns of the event loop. */
async function renderLanes(lanes: readonly Lane[], { from, until, end, pointMs }: LanePeriod) {
  const rendered = [];
  let sizeInTurn = 0;
  for (const lane of lanes) {
    sizeInTurn += lane.countWithin(from, end);
    if (sizeInTurn > SIZE_PER_TURN) {
      sizeInTurn = 0;
      await nextTurn();
    }
    rendered.push({
      endpoint_id: lane.endpointId,
      project_id: lane.projectId,
      branch_id: lane.branchId,
      spans: renderIntervals(lane, from, until, pointMs),
      arrivals: renderArrivals(lane, from, end, pointMs),
    });
  }
  return rendered;
}

function existsIn(lane: Lane, from: SimTime, to: SimTime): boolean {
  for (const { state } of lane.intervals(from, to)) if (state !== "deleted") return true;
  return false;
}

/** The newest items that match, oldest first. */
function newest<T>(items: readonly T[], matches: (item: T) => boolean): T[] {
  const found: T[] = [];
  for (let index = items.length - 1; index >= 0 && found.length < MAX_MARKS; index -= 1) {
    const item = items[index] as T;
    if (matches(item)) found.push(item);
  }
  return found.reverse();
}

function renderMark({ at, seq, kind, endpointId, projectId, name }: TimelineMark) {
  return {
    at: formatInstant(at),
    seq,
    kind,
    endpoint_id: endpointId ?? null,
    project_id: projectId ?? null,
    name: name ?? null,
  };
}

function renderOperation({
  id,
  action,
  projectId,
  branchId,
  endpointId,
  since,
  until,
  status,
}: TimelineOperation) {
  return {
    id,
    action,
    project_id: projectId,
    branch_id: branchId ?? null,
    endpoint_id: endpointId ?? null,
    since: formatInstant(since),
    until: until === undefined ? null : formatInstant(until),
    status,
  };
}
