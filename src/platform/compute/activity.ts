import type { DurationMs, SimTime } from "../core/time.ts";
import type { EventBase } from "../event-base.ts";
import type { BlockCounts } from "./cache.ts";

export const ACTIVITY_KINDS = ["query", "transaction", "connect", "disconnect"] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** What a client does to a compute, as a trace or a data plane tells it. */
export type Activity = {
  readonly endpointId: string;
  readonly kind: ActivityKind;
  /** How long it runs, from the end of a start where it has to wait for one. */
  readonly durationMs?: DurationMs | undefined;
  /** How many queries it stands for. */
  readonly queries?: number | undefined;
  /** Names the connection it goes through; opened by it if it is not open. */
  readonly connectionId?: string | undefined;
  readonly database?: string | undefined;
  readonly pooled?: boolean | undefined;
  /** Whose traffic it is: kept in history, to attribute what keeps a compute awake. */
  readonly source?: string | undefined;
  /** vCPUs busy meanwhile (load1): what autoscaling follows. */
  readonly load?: number | undefined;
  readonly blocks?: BlockCounts | undefined;
};

/** Activity told ahead: it arrives at its instant. */
export type ScheduledActivity = {
  readonly number: number;
  readonly at: SimTime;
  readonly activity: Activity;
};

/** The sum of what waits for a start. */
export type PendingLoad = {
  readonly longestMs: DurationMs;
  readonly queries: number;
  readonly blocks: BlockCounts;
  readonly load?: number | undefined;
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

/** How long this would wait for the compute if nothing else came in between. */
export type ActivityRecorded = {
  readonly type: "ActivityRecorded";
  readonly at: SimTime;
  readonly activity: Activity;
  readonly waitedMs: DurationMs;
  /** The name of the connection that it opened. */
  readonly opened?: string;
  /** Number of the scheduled activity that arrived. */
  readonly scheduled?: number;
};

/** A transaction without a duration, on a named connection, lasts until that connection closes. */
export function isOpenEnded(activity: Activity): boolean {
  return (
    activity.kind === "transaction" &&
    activity.durationMs === undefined &&
    activity.connectionId !== undefined
  );
}

const NO_BLOCKS: BlockCounts = { hits: 0, misses: 0, writes: 0 };

/** The opening of a connection is an instant of activity, however long it stays open (PLATFORM). */
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
