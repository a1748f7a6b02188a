import type { ConsoleMode } from "../../app/console-mode.ts";
import type { DurationDistribution } from "../../kernel/distribution.ts";
import type { ClockSetting } from "../../simulation/world-clock.ts";
import type { PostgresServeOptions } from "./postgres-port.ts";

/** The parsed options of `standin serve`. */
export type ServeOptions = PostgresServeOptions & {
  data: string;
  port: number;
  host: string;
  clock?: ClockSetting;
  startAt?: number;
  seed?: number;
  profile?: "2024" | "2026";
  plan?: "paid" | "free";
  operations?: "timed" | "immediate";
  /** The command translates it into `operations`. */
  settle?: boolean;
  locks?: "narrow" | "project";
  startDelay?: DurationDistribution | "profile";
  projectsLimit?: number | "plan";
  branchesLimit?: number | "plan";
  endpointsLimit?: number | "plan";
  snapshotsLimit?: number | "plan";
  hostDomain?: string;
  seedFile?: string;
  acceptLoss?: string;
  apiKey?: string;
  controlToken?: string;
  cell?: string;
  wal: "internal" | "external";
  rateLimit?: boolean;
  console: ConsoleMode;
  backupEvery?: number;
  scrubEvery?: number;
  keepBackups?: number;
  keepAutomatic: number;
  keepHistory: number;
  keepEvents: number;
  keepOperations: number;
  requestsLimit: number;
  maxWorlds: number;
  maxWorldSize: number;
  closeIdle: number;
  expireWorlds: number;
  logLevel: string;
  json?: boolean;
};
