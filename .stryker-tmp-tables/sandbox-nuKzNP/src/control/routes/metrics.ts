// @ts-nocheck
import type { World } from "../../platform/core/world.ts";
import type { ClockReading, WorldCounts, WorldDiagnostics } from "../../worlds/world-handle.ts";
import type { LoopDelay } from "../http/event-loop-delay.ts";

/** Figures of the service that runs the world. */
export type ServiceFigures = WorldDiagnostics & {
  readonly sizeBytes: number;
  readonly worlds: WorldCounts;
  readonly delay: LoopDelay;
  /** `undefined` if the server accepts no Postgres clients. */
  readonly postgres: PostgresFigures | undefined;
};

/** Figures of the port for Postgres clients, for all worlds of the server. */
export type PostgresFigures = {
  readonly connections: number;
  /** Connections that the server has ended with an error, by SQLSTATE. */
  readonly errors: ReadonlyMap<string, number>;
  /** Postgres processes that run. */
  readonly engines: number;
  readonly engineStarts: number;
  /** Time until the started processes accepted connections, in milliseconds of wall-clock time. */
  readonly engineStartMs: number;
};

/** Metrics of a world in the Prometheus text format. */
export function renderMetrics(
  name: string,
  world: World,
  clock: ClockReading,
  { sizeBytes, worlds, commitFailures, reopens, walBytes, clockSteps, delay, postgres }: ServiceFigures,
): string {
  const { byState: states, activeCu } = world.computeTotals;
  const label = `world="${name}"`;
  const lines: string[] = [];
  const metric = (
    metricName: string,
    type: "gauge" | "counter",
    help: string,
    samples: Readonly<Record<string, number>>,
  ) => {
    lines.push(`# HELP standin_${metricName} ${help}`, `# TYPE standin_${metricName} ${type}`);
    for (const [labels, value] of Object.entries(samples))
      lines.push(`standin_${metricName}{${label}${labels}} ${value}`);
  };
  metric("events_total", "counter", "Events in the journal.", { "": world.seq });
  metric("simulated_time_seconds", "gauge", "Current simulated time, in seconds since 1970.", {
    "": clock.now / 1000,
  });
  metric("clock_factor", "gauge", "Simulated seconds per second of wall-clock time.", { "": clock.factor });
  metric("endpoints", "gauge", "Computes by state.", {
    ',state="init"': states.init,
    ',state="active"': states.active,
    ',state="idle"': states.idle,
  });
  metric("active_compute_units", "gauge", "Compute units of all active computes.", { "": activeCu });
  metric("projects", "gauge", "Projects.", { "": world.projects.size });
  metric("branches", "gauge", "Branches.", { "": world.branches.size });
  metric("connections", "gauge", "Explicitly opened connections.", { "": world.connections.size });
  metric("operations_unfinished", "gauge", "Operations that are scheduling or running.", {
    "": world.operations.size,
  });
  metric("scheduled_activities", "gauge", "Activities scheduled for a later time.", {
    "": world.scheduledActivities.size,
  });
  metric("world_size_bytes", "gauge", "Size of the world's file.", { "": sizeBytes });
  metric("wal_size_bytes", "gauge", "Size of the write-ahead log of the world.", { "": walBytes });
  metric("commit_failures_total", "counter", "Commits that failed.", { "": commitFailures });
  metric("reopens_total", "counter", "Times that the world was opened again, after a failure or a restore.", {
    "": reopens,
  });
  metric("clock_steps_total", "counter", "Steps of the host's clock.", { "": clockSteps });
  metric("worlds_open", "gauge", "Open worlds of the process.", { "": worlds.open });
  metric("worlds_closed_total", "counter", "Times that an idle world was closed.", {
    "": worlds.idleClosings,
  });
  metric("worlds_expired_total", "counter", "Worlds that were deleted because they had expired.", {
    "": worlds.expired,
  });
  metric("worlds_scrubbed_total", "counter", "Worlds that were verified in the background.", {
    "": worlds.scrubbed,
  });
  metric("scrub_failures_total", "counter", "Verified worlds with differences.", {
    "": worlds.scrubbedWithDifferences,
  });
  metric("event_loop_delay_seconds", "gauge", "Delay of the event loop since the previous read.", {
    ',quantile="0.5"': delay.p50,
    ',quantile="0.99"': delay.p99,
    ',quantile="1"': delay.max,
  });
  if (postgres !== undefined) {
    metric("postgres_connections_total", "counter", "Connections of Postgres clients.", {
      "": postgres.connections,
    });
    metric(
      "postgres_errors_total",
      "counter",
      "Connections of Postgres clients that the server has ended with an error, by SQLSTATE.",
      Object.fromEntries([...postgres.errors].map(([code, count]) => [`,code="${code}"`, count])),
    );
    metric("postgres_engines", "gauge", "Postgres processes that run.", { "": postgres.engines });
    metric("postgres_engine_starts_total", "counter", "Postgres processes that were started.", {
      "": postgres.engineStarts,
    });
    metric(
      "postgres_engine_start_seconds_total",
      "counter",
      "Time until the started Postgres processes accepted connections.",
      { "": postgres.engineStartMs / 1_000 },
    );
  }
  metric("resident_memory_bytes", "gauge", "Memory of the process.", { "": process.memoryUsage.rss() });
  return `${lines.join("\n")}\n`;
}
