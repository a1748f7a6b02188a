import { ChangeSet } from "../../kernel/change-set.ts";
import { Table, type TableOptions } from "../../kernel/table.ts";
import type { SimTime } from "../../kernel/time.ts";
import { PROFILES, type Profile } from "../catalog/defaults-and-limits.ts";
import type { Account } from "../model/account.ts";
import type { ScheduledActivity } from "../model/activity.ts";
import type { ApiKey, ApiKeyUse, RevokedHash } from "../model/api-key.ts";
import type { Branch } from "../model/branch.ts";
import type { BranchData } from "../model/branch-data.ts";
import type { BranchSnapshot } from "../model/branch-snapshot.ts";
import type { Compute } from "../model/compute.ts";
import type { Fault } from "../model/fault.ts";
import type { Operation } from "../model/operation.ts";
import type { Project } from "../model/project.ts";
import { concernOf, type SettingsRecord } from "../model/settings-record.ts";
import type { Usage } from "../model/usage.ts";
import type { WorldSettings } from "../model/world-settings.ts";
import { ComputeTotals } from "./compute-totals.ts";
import { ConnectionTable } from "./connection-table.ts";
import { HourlyUsageTable } from "./hourly-usage.ts";

/** The kinds of objects that are numbered in the order of their creation. */
export type NumberedKind =
  | "account"
  | "apiKey"
  | "project"
  | "branch"
  | "endpoint"
  | "operation"
  | "role"
  | "database"
  | "activity"
  | "snapshot"
  | "record";
export type Numbers = Record<NumberedKind, number>;

/** The whole state of a world. Only `evolve` changes it; rows are replaced, never edited. */
export type World = {
  settings: WorldSettings;
  /** Sequence number and instant of the last event applied. */
  seq: number;
  at: SimTime;
  numbers: Numbers;
  readonly changes: ChangeSet;
  readonly accounts: Table<Account, "organization">;
  readonly apiKeys: Table<ApiKey, "account" | "hash" | "organization" | "project" | "revoked">;
  readonly projects: Table<Project, "account" | "deleted" | "owner">;
  readonly branches: Table<Branch, "project" | "parent">;
  readonly computes: Table<Compute, "project" | "branch">;
  readonly computeTotals: ComputeTotals;
  readonly connections: ConnectionTable;
  /** Unfinished operations; finished ones are history. */
  readonly operations: Table<Operation, "project">;
  readonly scheduledActivities: Table<ScheduledActivity, "endpoint">;
  readonly usage: Table<Usage>;
  readonly hourlyUsage: HourlyUsageTable;
  readonly branchSnapshots: Table<BranchSnapshot, "project">;
  readonly records: Table<SettingsRecord, "scope" | "concern">;
  readonly faults: Table<Fault>;
  readonly revokedHashes: Table<RevokedHash>;
  /** Not journaled; `verify` does not compare them. */
  readonly apiKeyUses: Table<ApiKeyUse>;
  readonly secrets: Table<Secret>;
  readonly branchData: Table<BranchData>;
};

/** A value that is returned to clients but must not be in the journal: the password of a role. */
type Secret = { readonly id: string; readonly value: string };

export const NO_NUMBERS: Readonly<Numbers> = {
  account: 0,
  apiKey: 0,
  project: 0,
  branch: 0,
  endpoint: 0,
  operation: 0,
  role: 0,
  database: 0,
  activity: 0,
  snapshot: 0,
  record: 0,
};

/** The one key of the index of revoked API keys. */
export const REVOKED = "revoked";

const PROJECT_INDEXES = {
  // Deleted projects are not listed and do not count towards limits.
  account: {
    key: (row) => (row.deletedAt === undefined ? row.accountId : undefined),
    order: (row) => row.number,
  },
  deleted: {
    key: (row) => (row.deletedAt === undefined ? undefined : row.accountId),
    order: (row) => row.number,
  },
  /** Deleted projects too. */
  owner: { key: (row) => row.accountId, order: (row) => row.number },
} satisfies TableOptions<Project, string>["indexes"];

/** A world before its first event. */
export function emptyWorld(): World {
  const changes = new ChangeSet();
  const computeTotals = new ComputeTotals();
  return {
    settings: { seed: 0, profile: "2024", plan: "paid", operations: "timed", startAt: 0 },
    seq: 0,
    at: 0,
    numbers: { ...NO_NUMBERS },
    changes,
    accounts: new Table("accounts", changes, {
      key: (row) => row.id,
      indexes: { organization: (row) => row.organizationId },
    }),
    apiKeys: new Table("apiKeys", changes, {
      key: (row) => String(row.id),
      indexes: {
        account: (row) => row.accountId,
        hash: (row) => row.hash,
        organization: (row) => row.scope?.organizationId,
        project: (row) => row.scope?.projectId,
        revoked: (row) => (row.revokedAt === undefined ? undefined : REVOKED),
      },
    }),
    projects: new Table("projects", changes, { key: (row) => row.id, indexes: PROJECT_INDEXES }),
    branches: new Table("branches", changes, {
      key: (row) => row.id,
      indexes: { project: (row) => row.projectId, parent: (row) => row.parentId },
      constrained: (row) => `${row.projectId}/${row.deletedAt ?? row.name}/${row.default}`,
    }),
    computes: new Table("computes", changes, {
      key: (row) => row.id,
      indexes: { project: (row) => row.projectId, branch: (row) => row.branchId },
      constrained: (row) => `${row.branchId}/${row.type}`,
      observer: computeTotals,
    }),
    computeTotals,
    connections: new ConnectionTable(changes),
    operations: new Table("operations", changes, {
      key: (row) => row.id,
      // A replay adds and removes an operation for most of its events, and reads none.
      indexes: { project: { key: (row) => row.projectId, builtWhenRead: true } },
    }),
    scheduledActivities: new Table("scheduledActivities", changes, {
      key: (row) => String(row.number),
      indexes: { endpoint: { key: (row) => row.activity.endpointId, builtWhenRead: true } },
    }),
    usage: new Table("usage", changes, { key: (row) => row.id }),
    hourlyUsage: new HourlyUsageTable(changes),
    branchSnapshots: new Table("branchSnapshots", changes, {
      key: (row) => row.id,
      indexes: { project: (row) => row.projectId },
    }),
    records: new Table("records", changes, {
      key: (row) => row.id,
      indexes: { scope: (row) => row.scope, concern: concernOf },
    }),
    faults: new Table("faults", changes, { key: (row) => row.name }),
    revokedHashes: new Table("revokedHashes", changes, { key: (row) => row.hash }),
    apiKeyUses: new Table("apiKeyUses", changes, { key: (row) => String(row.keyId) }),
    secrets: new Table("secrets", changes, { key: (row) => row.id }),
    branchData: new Table("branchData", changes, { key: (row) => row.id }),
  };
}

/** A map, because a name such as "2024" is an array index, for which a property is looked up more slowly. */
const PROFILE_OF_NAME: ReadonlyMap<string, Profile> = new Map(Object.entries(PROFILES));

export function profileOfWorld({ settings: { profile } }: World): Profile {
  return PROFILE_OF_NAME.get(profile) as Profile;
}

/** The number of the next object of a kind. `offset`: objects that the same decision creates before it. */
export function nextNumber(world: World, kind: NumberedKind, offset = 0): number {
  return world.numbers[kind] + 1 + offset;
}
