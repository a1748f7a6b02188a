import type { WorldCounts } from "../../worlds/world-handle.ts";
import type { LoopDelay } from "../http/event-loop-delay.ts";
import type { DataUsage, PostgresFigures } from "../http/server-figures.ts";
import type { OptionalMetric } from "./metric.ts";

/** Figures of the process, for all its worlds. */
export type ServiceFigures = {
  /** Name of this server among several behind a router. */
  readonly cell?: string | undefined;
  readonly worlds: WorldCounts;
  /** Open worlds without series. */
  readonly omittedWorlds: number;
  /** Steps of the host's clock. */
  readonly clockSteps: number;
  readonly delay: LoopDelay;
  /** `undefined` if the server accepts no Postgres clients. */
  readonly postgres: PostgresFigures | undefined;
  /** `undefined` if the server accepts no Postgres clients. */
  readonly data: DataUsage | undefined;
};

export const SERVICE_METRICS: readonly OptionalMetric<ServiceFigures>[] = [
  {
    name: "clock_steps_total",
    type: "counter",
    help: "Steps of the host's clock.",
    samples: ({ clockSteps }) => clockSteps,
  },
  { name: "worlds_open", type: "gauge", help: "Open worlds.", samples: ({ worlds }) => worlds.open },
  {
    name: "worlds_omitted",
    type: "gauge",
    help: "Open worlds without series, because there are too many.",
    samples: ({ omittedWorlds }) => omittedWorlds,
  },
  {
    name: "worlds_closed_total",
    type: "counter",
    help: "Times that an idle world was closed.",
    samples: ({ worlds }) => worlds.idleClosings,
  },
  {
    name: "worlds_expired_total",
    type: "counter",
    help: "Worlds that were deleted because they had expired.",
    samples: ({ worlds }) => worlds.expired,
  },
  {
    name: "worlds_scrubbed_total",
    type: "counter",
    help: "Worlds that were verified in the background.",
    samples: ({ worlds }) => worlds.scrubbed,
  },
  {
    name: "scrub_failures_total",
    type: "counter",
    help: "Verified worlds with differences.",
    samples: ({ worlds }) => worlds.scrubbedWithDifferences,
  },
  {
    name: "event_loop_delay_seconds",
    type: "summary",
    help: "Delay of the event loop since the previous read.",
    samples: ({ delay }) => ({
      ',quantile="0.5"': delay.p50,
      ',quantile="0.99"': delay.p99,
      ',quantile="1"': delay.max,
    }),
  },
  {
    name: "postgres_connections_total",
    type: "counter",
    help: "Connections of Postgres clients.",
    samples: ({ postgres }) => postgres?.connections,
  },
  {
    name: "postgres_errors_total",
    type: "counter",
    help: "Connections of Postgres clients that the server has ended with an error, by SQLSTATE.",
    samples: ({ postgres }) =>
      postgres && Object.fromEntries([...postgres.errors].map(([code, count]) => [`,code="${code}"`, count])),
  },
  {
    name: "postgres_engines",
    type: "gauge",
    help: "Postgres processes that run.",
    samples: ({ postgres }) => postgres?.engines,
  },
  {
    name: "postgres_engine_starts_total",
    type: "counter",
    help: "Postgres processes that were started.",
    samples: ({ postgres }) => postgres?.engineStarts,
  },
  {
    name: "postgres_engine_start_seconds_total",
    type: "counter",
    help: "Time until the started Postgres processes accepted connections.",
    samples: ({ postgres }) => postgres && postgres.engineStartMs / 1_000,
  },
  {
    name: "volumes",
    type: "gauge",
    help: "Volumes, each with the data of a branch.",
    samples: ({ data }) => data?.volumes,
  },
  {
    name: "volume_bytes",
    type: "gauge",
    help: "What the volumes take on disk.",
    samples: ({ data }) => data?.bytes,
  },
  {
    name: "volume_waiting_bytes",
    type: "gauge",
    help: "What volumes take that no world needs any more, and that wait for their removal.",
    samples: ({ data }) => data?.waitingBytes,
  },
  {
    name: "volume_limit_bytes",
    type: "gauge",
    help: "What the volumes may take (--max-data).",
    samples: ({ data }) => data?.limitBytes,
  },
  {
    name: "resident_memory_bytes",
    type: "gauge",
    help: "Memory of the process.",
    samples: () => process.memoryUsage.rss(),
  },
];
