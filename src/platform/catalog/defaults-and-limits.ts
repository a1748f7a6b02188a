import { DAY, type DurationMs, MINUTE, SECOND } from "../../kernel/time.ts";
import {
  constantDurations,
  lognormalWithP99,
  type OperationDurations,
  variedDurations,
} from "./operation-durations.ts";
import type { PgSettings } from "./pg-settings.ts";
import type { PlanName } from "./plan.ts";

export const PROFILE_NAMES = ["2024", "2026"] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** The profile of new worlds, scenarios and what-if experiments: the reference's numbers. */
export const DEFAULT_PROFILE: ProfileName = "2024";

/**
 * The platform's published numbers as of one date, except prices. Numbers that are the same in all profiles may be
 * constants of the rule that uses them.
 */
export type Profile = {
  readonly name: ProfileName;
  /**
   * In compute units, ascending. `autoscaled` sizes can bound a range; `fixedOnly` sizes must be both bounds.
   */
  readonly sizes: { readonly autoscaled: readonly number[]; readonly fixedOnly: readonly number[] };
  readonly ramGbPerCu: number;
  /** The share of RAM that the local file cache may use. */
  readonly fileCacheShare: number;
  readonly sharedBuffersMb: number;
  readonly maxConnections: (minCu: number, maxCu: number) => number;
  /**
   * Settings of Postgres that follow from the size limits, or are the same for all. Settings that the customer chose
   * have precedence.
   */
  readonly pgSettings: (minCu: number, maxCu: number) => PgSettings;
  /** Sessions that the connection pooler opens for one role and database. */
  readonly poolSize: (maxConnections: number) => number;
  readonly pooledConnections: number;
  readonly suspendTimeout: {
    readonly defaultS: number;
    readonly minimumS: number;
    readonly maximumS: number;
  };
  /** The message for a plan without this setting. */
  readonly suspendTimeoutNotPermitted: string;
  /**
   * How long each operation runs in worlds with constant durations. `start_compute` is the time for which a
   * query waits on a suspended compute.
   */
  readonly durations: OperationDurations;
  /** How long each operation runs in worlds whose durations vary. */
  readonly variedDurations: OperationDurations;
  /** How long a load reading stays valid after the activity that carried it. */
  readonly loadReadingMs: DurationMs;
  readonly defaultPgVersion: number;
  /** Whether `allowed_ips` of a project has `primary_branch_only`. */
  readonly hasPrimaryBranchOnly: boolean;
  /** The names of the plans in answers. */
  readonly subscriptionTypes: Readonly<Record<PlanName, string>>;
  /** Prefix of the secrets of new API keys. */
  readonly apiKeyPrefix: string;
  /** Length of a recorded secret in characters; absent if it is as long as other secrets. */
  readonly recordedApiKeyLength?: number;
  /** Whether the message of a request that does not decode names its operation and the part. */
  readonly decodeErrorsNameOperation: boolean;
  /** The query of connection URIs. */
  readonly connectionQuery: string;
  /** The major versions of Postgres that a new project can have, both inclusive. */
  readonly pgVersions: { readonly lowest: number; readonly highest: number };
};

/** R, section "Compute sizes": `max_connections` by minimum size. */
const MAX_CONNECTIONS_2024: ReadonlyMap<number, number> = new Map([
  [0.25, 112],
  [0.5, 225],
  [1, 450],
  [2, 901],
  [3, 1351],
  [4, 1802],
  [5, 2253],
  [6, 2703],
  [7, 3154],
  [8, 3604],
  [9, 4000],
  [10, 4000],
]);

function wholeSizes(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

const RAM_GB_PER_CU = 4; // R

/** D: the vendor's list of parameters. Parameters that only concern its storage are omitted. */
const FIXED_PG_SETTINGS: PgSettings = {
  idle_in_transaction_session_timeout: "300000",
  max_parallel_workers: "8",
};

/** D: the formula of the vendor's documentation, in kB; its table rounds to MB. */
function maintenanceWorkMem(minCu: number): string {
  const ramBytes = minCu * RAM_GB_PER_CU * 1024 ** 3;
  return `${Math.max(Math.floor((ramBytes * 1024) / 63_963_136), 65_536)}kB`;
}

const SHARED = {
  ramGbPerCu: RAM_GB_PER_CU,
  sharedBuffersMb: 128, // R
  pooledConnections: 10_000, // R
  suspendTimeout: { defaultS: 300, minimumS: 60, maximumS: (7 * DAY) / SECOND }, // R; minimum S
  loadReadingMs: MINUTE, // A: load1 is an average over one minute
} as const;

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  "2024": {
    ...SHARED,
    name: "2024",
    suspendTimeoutNotPermitted: "suspend interval changing is not allowed for your account", // A
    sizes: { autoscaled: [0.25, 0.5, ...wholeSizes(1, 10)], fixedOnly: [] }, // R
    fileCacheShare: 0.8, // R
    maxConnections: (minCu) => MAX_CONNECTIONS_2024.get(minCu) ?? 0, // R
    pgSettings: (minCu, maxCu) => ({
      ...FIXED_PG_SETTINGS,
      maintenance_work_mem: maintenanceWorkMem(minCu),
      max_worker_processes: String(10 + Math.floor(2 * maxCu)), // D: the table of sizes
    }),
    poolSize: () => 64, // D
    durations: constantDurations(3 * SECOND), // R: "a few seconds"
    // R: the median. D: 3 s to 6 s "in the ideal case", before computes were prepared in advance (2023).
    variedDurations: variedDurations(lognormalWithP99(3 * SECOND, 6 * SECOND)),
    defaultPgVersion: 16, // A
    // D: recorded in January 2024. S: the document of December 2024 (`@neondatabase/api-client` 1.10.3).
    hasPrimaryBranchOnly: true,
    // S: the same document.
    subscriptionTypes: { paid: "launch", free: "free_v2" },
    apiKeyPrefix: "", // R: "a randomly generated 64-bit key"
    recordedApiKeyLength: 80, // D: recorded in January 2024
    decodeErrorsNameOperation: false, // D: recorded in January 2024
    connectionQuery: "sslmode=require", // D
    pgVersions: { lowest: 14, highest: 17 }, // A: 17 came late in 2024
  },
  "2026": {
    ...SHARED,
    name: "2026",
    suspendTimeoutNotPermitted: "modifying the suspend interval is not permitted on this account", // D
    sizes: { autoscaled: [0.25, 0.5, ...wholeSizes(1, 16)], fixedOnly: wholeSizes(17, 56) }, // D
    fileCacheShare: 0.75, // D
    maxConnections: (minCu, maxCu) =>
      Math.max(100, Math.min(4000, Math.floor(419.66 * Math.min(maxCu, 8 * minCu)))), // D
    pgSettings: (minCu, maxCu) => ({
      ...FIXED_PG_SETTINGS,
      maintenance_work_mem: maintenanceWorkMem(minCu),
      max_worker_processes: String(12 + Math.floor(2 * maxCu)), // D
      // D: "based on" the local file cache of the maximum size. A: equal to it.
      effective_cache_size: `${maxCu * RAM_GB_PER_CU * 0.75 * 1024}MB`,
    }),
    poolSize: (maxConnections) => Math.floor(0.9 * maxConnections), // D
    durations: constantDurations(500), // D: "few hundred ms"
    // D: the median, and about 5 s without a prepared compute (2023). A: 1 % of starts find none. The published
    // lists of operations have 480, 777 and 1,747 ms (2025).
    variedDurations: variedDurations(lognormalWithP99(500, 5 * SECOND)),
    defaultPgVersion: 17, // S
    hasPrimaryBranchOnly: false, // S
    subscriptionTypes: { paid: "launch_v3", free: "free_v3" }, // S
    apiKeyPrefix: "napi_", // D: the vendor's published answer to the creation of a key
    decodeErrorsNameOperation: true, // D: a report of 2026
    // D: in the vendor's published answers. Their host is the direct one unless `pooled` is true (S).
    connectionQuery: "sslmode=require&channel_binding=require",
    pgVersions: { lowest: 14, highest: 18 }, // S
  },
};

export function isProfileName(text: string): text is ProfileName {
  return Object.hasOwn(PROFILES, text);
}

/** Postgres versions that some profile has. Others are invalid input. */
export const PG_VERSIONS = {
  lowest: Math.min(...Object.values(PROFILES).map(({ pgVersions }) => pgVersions.lowest)),
  highest: Math.max(...Object.values(PROFILES).map(({ pgVersions }) => pgVersions.highest)),
} as const;
