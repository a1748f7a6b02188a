import type { SimTime } from "../../kernel/time.ts";
import type { BlockCounts } from "./cache.ts";
import type { DataTraffic } from "./data-traffic.ts";
import type { EventBase } from "./event-base.ts";

// A span is work of connected clients that lasts, and whose end is not known when it begins. While a span is
// open, its compute does not suspend by itself.

/** Data traffic of Postgres since the last report. */
export type SpanData = DataTraffic & {
  /** The size of all databases of the branch; absent if it was not read. */
  readonly logicalSizeBytes?: number;
};

/** Clients of an active compute begin to work. */
type BeginSpan = { readonly type: "BeginSpan"; readonly endpointId: string };

/** The clients are idle since `until`, which is not later than now. */
type EndSpan = {
  readonly type: "EndSpan";
  readonly endpointId: string;
  readonly beganAt: SimTime;
  /** The end of the last work. */
  readonly until: SimTime;
  /** The number of requests that arrived within the span. */
  readonly arrivals: number;
  readonly blocks?: BlockCounts | undefined;
  /** The number of vCPUs that the span kept busy, on average; absent if that was not measured. */
  readonly load?: number | undefined;
  readonly data?: SpanData | undefined;
  /** The work continues: a new span begins at `until`. */
  readonly continues?: boolean | undefined;
};

export type SpanCommand = BeginSpan | EndSpan;

export type SpanEvent =
  | (EventBase & { readonly type: "SpanBegan"; readonly endpointId: string })
  | (EventBase & {
      readonly type: "SpanEnded";
      readonly endpointId: string;
      readonly beganAt: SimTime;
      readonly until: SimTime;
      readonly arrivals: number;
      readonly blocks?: BlockCounts;
      readonly load?: number;
      readonly data?: SpanData;
      readonly continues?: true;
    });
