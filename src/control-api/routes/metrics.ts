import type { World } from "../../platform/world/world.ts";
import {
  StoreUnavailable,
  type WorldCounts,
  type WorldDiagnostics,
  type WorldHandle,
} from "../../worlds/world-handle.ts";
import type { LoopDelay } from "../http/event-loop-delay.ts";
import type { DataUsage, PostgresFigures } from "../http/server-figures.ts";

/** Open worlds beyond this number have no series, so that the size of an answer is bounded. */
export const MAX_WORLDS_IN_METRICS = 100;

/** Figures of one world. */
export type WorldFigures = WorldDiagnostics & {
  readonly name: string;
  readonly world: World;
  readonly now: number;
  readonly factor: number;
  readonly sizeBytes: number;
  /** Number of the newest logged request. */
  readonly requests: number;
};

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

/** Opens the world if a failure has closed it. */
export function figuresOf(handle: WorldHandle): WorldFigures {
  const { world, now, factor } = handle.peek();
  return {
    name: handle.name,
    world,
    now,
    factor,
    sizeBytes: handle.sizeBytes(),
    requests: handle.newestRequest(),
    ...handle.diagnostics(),
  };
}

/** A world that cannot be read has no series, but those of the other worlds are still returned. */
export function figuresOrNone(handle: WorldHandle): WorldFigures[] {
  try {
    return [figuresOf(handle)];
  } catch (error) {
    if (error instanceof StoreUnavailable) return [];
    throw error;
  }
}

/** A value by its labels, which begin with a comma. */
type Samples = Readonly<Record<string, number>>;

/**
 * Metrics in the Prometheus text format. Those of a world have the label `world`; those of the process do not. With
 * a cell, all of them have its label.
 */
export function renderMetrics(
  worlds: readonly WorldFigures[],
  { cell, worlds: counts, omittedWorlds, clockSteps, delay, postgres, data }: ServiceFigures,
): string {
  const lines: string[] = [];
  const cellLabel = cell === undefined ? "" : `,cell="${cell}"`;
  const head = (name: string, type: "gauge" | "counter" | "summary", help: string) =>
    lines.push(`# HELP standin_${name} ${help}`, `# TYPE standin_${name} ${type}`);
  const ofWorlds = (
    name: string,
    type: "gauge" | "counter",
    help: string,
    samplesOf: (figures: WorldFigures) => number | Samples,
  ) => {
    head(name, type, help);
    for (const figures of worlds) {
      const samples = samplesOf(figures);
      for (const [labels, value] of Object.entries(typeof samples === "number" ? { "": samples } : samples))
        lines.push(`standin_${name}{world="${figures.name}"${cellLabel}${labels}} ${value}`);
    }
  };
  const ofProcess = (
    name: string,
    type: "gauge" | "counter" | "summary",
    help: string,
    samples: number | Samples,
  ) => {
    head(name, type, help);
    for (const [labels, value] of Object.entries(typeof samples === "number" ? { "": samples } : samples)) {
      const all = `${cellLabel}${labels}`.slice(1);
      lines.push(`standin_${name}${all === "" ? "" : `{${all}}`} ${value}`);
    }
  };

  ofWorlds("events_total", "counter", "Events in the journal.", ({ world }) => world.seq);
  ofWorlds("requests_total", "counter", "Requests written to the request log.", ({ requests }) => requests);
  ofWorlds(
    "simulated_time_seconds",
    "gauge",
    "Current simulated time, in seconds since 1970.",
    ({ now }) => now / 1000,
  );
  ofWorlds(
    "clock_factor",
    "gauge",
    "Simulated seconds per second of wall-clock time.",
    ({ factor }) => factor,
  );
  ofWorlds("endpoints", "gauge", "Computes by state.", ({ world }) => {
    const { init, active, idle } = world.computeTotals.byState;
    return { ',state="init"': init, ',state="active"': active, ',state="idle"': idle };
  });
  ofWorlds(
    "active_compute_units",
    "gauge",
    "Compute units of all active computes.",
    ({ world }) => world.computeTotals.activeCu,
  );
  ofWorlds("projects", "gauge", "Projects.", ({ world }) => world.projects.size);
  ofWorlds("branches", "gauge", "Branches.", ({ world }) => world.branches.size);
  ofWorlds("connections", "gauge", "Explicitly opened connections.", ({ world }) => world.connections.size);
  ofWorlds(
    "operations_unfinished",
    "gauge",
    "Operations that are scheduling or running.",
    ({ world }) => world.operations.size,
  );
  ofWorlds(
    "scheduled_activities",
    "gauge",
    "Activities scheduled for a later time.",
    ({ world }) => world.scheduledActivities.size,
  );
  ofWorlds("world_size_bytes", "gauge", "Size of the world's file.", ({ sizeBytes }) => sizeBytes);
  ofWorlds(
    "wal_size_bytes",
    "gauge",
    "Size of the write-ahead log of the world.",
    ({ walBytes }) => walBytes,
  );
  ofWorlds(
    "commit_failures_total",
    "counter",
    "Commits that failed.",
    ({ commitFailures }) => commitFailures,
  );
  ofWorlds(
    "reopens_total",
    "counter",
    "Times that the world was opened again, after a failure or a restore.",
    ({ reopens }) => reopens,
  );

  ofProcess("clock_steps_total", "counter", "Steps of the host's clock.", clockSteps);
  ofProcess("worlds_open", "gauge", "Open worlds.", counts.open);
  ofProcess(
    "worlds_omitted",
    "gauge",
    "Open worlds without series, because there are too many.",
    omittedWorlds,
  );
  ofProcess("worlds_closed_total", "counter", "Times that an idle world was closed.", counts.idleClosings);
  ofProcess(
    "worlds_expired_total",
    "counter",
    "Worlds that were deleted because they had expired.",
    counts.expired,
  );
  ofProcess(
    "worlds_scrubbed_total",
    "counter",
    "Worlds that were verified in the background.",
    counts.scrubbed,
  );
  ofProcess(
    "scrub_failures_total",
    "counter",
    "Verified worlds with differences.",
    counts.scrubbedWithDifferences,
  );
  ofProcess("event_loop_delay_seconds", "summary", "Delay of the event loop since the previous read.", {
    ',quantile="0.5"': delay.p50,
    ',quantile="0.99"': delay.p99,
    ',quantile="1"': delay.max,
  });
  if (postgres !== undefined) {
    ofProcess(
      "postgres_connections_total",
      "counter",
      "Connections of Postgres clients.",
      postgres.connections,
    );
    ofProcess(
      "postgres_errors_total",
      "counter",
      "Connections of Postgres clients that the server has ended with an error, by SQLSTATE.",
      Object.fromEntries([...postgres.errors].map(([code, count]) => [`,code="${code}"`, count])),
    );
    ofProcess("postgres_engines", "gauge", "Postgres processes that run.", postgres.engines);
    ofProcess(
      "postgres_engine_starts_total",
      "counter",
      "Postgres processes that were started.",
      postgres.engineStarts,
    );
    ofProcess(
      "postgres_engine_start_seconds_total",
      "counter",
      "Time until the started Postgres processes accepted connections.",
      postgres.engineStartMs / 1_000,
    );
  }
  if (data !== undefined) {
    ofProcess("volumes", "gauge", "Volumes, each with the data of a branch.", data.volumes);
    ofProcess("volume_bytes", "gauge", "What the volumes take on disk.", data.bytes);
    ofProcess(
      "volume_waiting_bytes",
      "gauge",
      "What volumes take that no world needs any more, and that wait for their removal.",
      data.waitingBytes,
    );
    if (data.limitBytes !== undefined)
      ofProcess("volume_limit_bytes", "gauge", "What the volumes may take (--max-data).", data.limitBytes);
  }
  ofProcess("resident_memory_bytes", "gauge", "Memory of the process.", process.memoryUsage.rss());
  return `${lines.join("\n")}\n`;
}
