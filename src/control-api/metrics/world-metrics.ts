import type { World } from "../../platform/world/world.ts";
import { StoreUnavailable, type WorldDiagnostics, type WorldHandle } from "../../worlds/world-handle.ts";
import type { Metric } from "./metric.ts";

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

export const WORLD_METRICS: readonly Metric<WorldFigures>[] = [
  {
    name: "events_total",
    type: "counter",
    help: "Events in the journal.",
    samples: ({ world }) => world.seq,
  },
  {
    name: "requests_total",
    type: "counter",
    help: "Requests written to the request log.",
    samples: ({ requests }) => requests,
  },
  {
    name: "simulated_time_seconds",
    type: "gauge",
    help: "Current simulated time, in seconds since 1970.",
    samples: ({ now }) => now / 1000,
  },
  {
    name: "clock_factor",
    type: "gauge",
    help: "Simulated seconds per second of wall-clock time.",
    samples: ({ factor }) => factor,
  },
  {
    name: "endpoints",
    type: "gauge",
    help: "Computes by state.",
    samples: ({ world }) => {
      const { init, active, idle } = world.computeTotals.byState;
      return { ',state="init"': init, ',state="active"': active, ',state="idle"': idle };
    },
  },
  {
    name: "active_compute_units",
    type: "gauge",
    help: "Compute units of all active computes.",
    samples: ({ world }) => world.computeTotals.activeCu,
  },
  { name: "projects", type: "gauge", help: "Projects.", samples: ({ world }) => world.projects.size },
  { name: "branches", type: "gauge", help: "Branches.", samples: ({ world }) => world.branches.size },
  {
    name: "connections",
    type: "gauge",
    help: "Explicitly opened connections.",
    samples: ({ world }) => world.connections.size,
  },
  {
    name: "operations_unfinished",
    type: "gauge",
    help: "Operations that are scheduling or running.",
    samples: ({ world }) => world.operations.size,
  },
  {
    name: "scheduled_activities",
    type: "gauge",
    help: "Activities scheduled for a later time.",
    samples: ({ world }) => world.scheduledActivities.size,
  },
  {
    name: "world_size_bytes",
    type: "gauge",
    help: "Size of the world's file.",
    samples: ({ sizeBytes }) => sizeBytes,
  },
  {
    name: "wal_size_bytes",
    type: "gauge",
    help: "Size of the write-ahead log of the world.",
    samples: ({ walBytes }) => walBytes,
  },
  {
    name: "commit_failures_total",
    type: "counter",
    help: "Commits that failed.",
    samples: ({ commitFailures }) => commitFailures,
  },
  {
    name: "reopens_total",
    type: "counter",
    help: "Times that the world was opened again, after a failure or a restore.",
    samples: ({ reopens }) => reopens,
  },
];

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
