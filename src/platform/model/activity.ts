import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { BlockCounts } from "./cache.ts";
import type { EventBase } from "./event-base.ts";

export const ACTIVITY_KINDS = ["query", "transaction", "connect", "disconnect"] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/**
 * The source of use that another server has recorded, in the past of this world: from the first request of a period to the
 * end of the last one. What happened in between is not known.
 */
export const RECORDED_USE = "recorded past";

/** Activity of a client on a compute, as reported by a trace or a data plane. */
export type Activity = {
  readonly endpointId: string;
  readonly kind: ActivityKind;
  /** How long it runs, counted from the end of the start if it has to wait for one. */
  readonly durationMs?: DurationMs | undefined;
  /** The number of queries it counts as. */
  readonly queries?: number | undefined;
  /** The connection it uses, which it opens if it is not open. */
  readonly connectionId?: string | undefined;
  readonly database?: string | undefined;
  readonly pooled?: boolean | undefined;
  /** The client that sent the activity. Stored, so that the active time of a compute can be attributed to its sources. */
  readonly source?: string | undefined;
  /** The number of vCPUs that it keeps busy while it runs, which drives autoscaling. */
  readonly load?: number | undefined;
  readonly blocks?: BlockCounts | undefined;
};

/** Activity that is known in advance and arrives at `at`. */
export type ScheduledActivity = {
  readonly number: number;
  readonly at: SimTime;
  readonly activity: Activity;
};

/** The combined load of the arrivals that wait for a start. */
export type PendingLoad = {
  readonly longestMs: DurationMs;
  readonly queries: number;
  readonly blocks: BlockCounts;
  readonly load?: number | undefined;
  /** The loads, which run from the end of the start on. Absent in worlds whose sizes follow load readings. */
  readonly loads?: readonly PendingRun[] | undefined;
};

/** A load, in load units, of an arrival that waits for a start. */
export type PendingRun = {
  readonly load: number;
  readonly durationMs: DurationMs;
  readonly connectionId?: string;
};

export type RecordActivity = {
  readonly type: "RecordActivity";
  readonly activity: Activity;
  readonly scheduled?: number;
};
export type ScheduleActivity = {
  readonly type: "ScheduleActivity";
  readonly activity: Activity;
  readonly at: SimTime;
};

export type ActivityRecorded = {
  readonly type: "ActivityRecorded";
  readonly at: SimTime;
  readonly activity: Activity;
  /** The expected wait for the compute, if nothing else happens in the meantime. */
  readonly waitedMs: DurationMs;
  /** The name of the connection that it opened. */
  readonly opened?: string;
  /** Number of the scheduled activity that arrived. */
  readonly scheduled?: number;
};

/** A transaction without a duration, on a named connection, stays open until that connection closes. */
export function isOpenEnded(activity: Activity): boolean {
  return (
    activity.kind === "transaction" &&
    activity.durationMs === undefined &&
    activity.connectionId !== undefined
  );
}

const NO_BLOCKS: BlockCounts = { hits: 0, misses: 0, writes: 0 };

/** Opening a connection is momentary activity, however long the connection stays open. */
export function activityDurationMs({ kind, durationMs }: Activity): DurationMs {
  return kind === "connect" ? 0 : (durationMs ?? 0);
}

export function toPendingLoad(activity: Activity): PendingLoad {
  const opens = activity.kind === "connect";
  return {
    longestMs: activityDurationMs(activity),
    queries: activity.queries ?? (opens ? 0 : 1),
    blocks: activity.blocks ?? NO_BLOCKS,
    load: activity.load,
  };
}

export type ActivityCommand = RecordActivity | ScheduleActivity;

export type ActivityEvent =
  | (EventBase & { readonly type: "ActivityScheduled"; readonly scheduled: ScheduledActivity })
  | ActivityRecorded
  | (EventBase & {
      readonly type: "ActivityDropped";
      readonly endpointId: string;
      readonly scheduled: number;
      readonly reason: string;
    });
