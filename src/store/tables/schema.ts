import { sql } from "drizzle-orm";
import { blob, index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Account } from "../../platform/model/account.ts";
import type { Activity } from "../../platform/model/activity.ts";
import type { ApiKey } from "../../platform/model/api-key.ts";
import type { Branch } from "../../platform/model/branch.ts";
import type { BranchData } from "../../platform/model/branch-data.ts";
import type { BranchSnapshot, SnapshotSize } from "../../platform/model/branch-snapshot.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { DataUse } from "../../platform/model/data-traffic.ts";
import type { Fault } from "../../platform/model/fault.ts";
import type { Operation } from "../../platform/model/operation.ts";
import type { Project } from "../../platform/model/project.ts";
import type { SettingsRecord } from "../../platform/model/settings-record.ts";
import type { Usage } from "../../platform/model/usage.ts";
import type { WorldSettings } from "../../platform/model/world-settings.ts";
import type { Numbers } from "../../platform/world/world.ts";
import type { HistoryOrigin } from "../../simulation/journal.ts";
import type { ClockState } from "../../simulation/world-clock.ts";

/** Instants are milliseconds since 1970. */
const instant = () => integer();
const flag = () => integer({ mode: "boolean" });
/** CRC-32 of the row's other values (see `checksumOf`). A mismatch means that the row is damaged. */
const checksum = () => integer().notNull().default(0);

/**
 * The journal: all events in order, except those in `event_blocks`. The other tables are its projection, written in
 * the same transaction.
 */
export const events = sqliteTable("events", {
  seq: integer().primaryKey(),
  at: instant().notNull(),
  type: text().notNull(),
  /** The event as JSON, without the fields that have their own column. */
  payload: text().notNull(),
  /** Sequence number of the first event of the same decision. */
  decision: integer().notNull().default(0),
  /** CRC-32 of this event, seeded with that of the previous one. Changed, lost or reordered events break the chain. */
  chain: integer().notNull().default(0),
});

/** Successive events in one row, compressed (see `encodeBlock`). All of them are before the rows of `events`. */
export const eventBlocks = sqliteTable("event_blocks", {
  lastSeq: integer().primaryKey(),
  firstSeq: integer().notNull(),
  /** The types of its events, each between two spaces. */
  types: text().notNull(),
  /** The chain checksums before the first event and after the last. */
  chainBefore: integer().notNull(),
  chain: integer().notNull(),
  events: blob({ mode: "buffer" }).notNull(),
});

/** One row: the identity of the history, and how far it is truncated. */
export const history = sqliteTable("history", {
  id: integer().primaryKey(),
  /** Unique per fork. */
  historyId: text().notNull(),
  journalVersion: integer().notNull(),
  /** Events up to and including this one are truncated; the checkpoint after it replaces them. */
  forgottenSeq: integer().notNull(),
  /** Operations that ended before this instant (exclusive) are truncated. */
  operationsForgottenBefore: instant().notNull(),
  /** The history that this one was forked from, if any. */
  origin: text({ mode: "json" }).$type<HistoryOrigin>(),
  checksum: checksum(),
});

/** Worlds at regular points of history. A past world is rebuilt from the nearest one. */
export const checkpoints = sqliteTable("checkpoints", {
  seq: integer().primaryKey(),
  at: instant().notNull(),
  /** The chain checksum after this event. */
  chain: integer().notNull(),
  /** A `Checkpoint` as JSON, compressed. */
  world: blob({ mode: "buffer" }).notNull(),
});

/** One row: the state of the world outside its tables. */
export const world = sqliteTable("world", {
  id: integer().primaryKey(),
  settings: text({ mode: "json" }).$type<WorldSettings>().notNull(),
  numbers: text({ mode: "json" }).$type<Numbers>().notNull(),
  clock: text({ mode: "json" }).$type<ClockState>().notNull(),
  /** Sequence number of the last event applied to the tables. */
  seq: integer().notNull(),
  /** Instant of that event; `now` is the latest instant that the world has reached. */
  at: instant().notNull(),
  now: instant().notNull(),
  /** The chain checksum after that event. */
  chain: integer().notNull().default(0),
  checksum: checksum(),
});

export const accounts = sqliteTable("accounts", {
  id: text().primaryKey(),
  number: integer().notNull(),
  name: text().notNull(),
  email: text().notNull(),
  plan: text().$type<Account["plan"]>().notNull(),
  organizationId: text().notNull(),
  createdAt: instant().notNull(),
  checksum: checksum(),
});

/** Without an index on `hash`: keys are looked up in memory, and an index of random values costs a page write per new key. */
export const apiKeys = sqliteTable("api_keys", {
  id: integer().primaryKey(),
  accountId: text().notNull(),
  name: text().notNull(),
  hash: text().notNull(),
  createdAt: instant().notNull(),
  revokedAt: instant(),
  scope: text({ mode: "json" }).$type<NonNullable<ApiKey["scope"]>>(),
  checksum: checksum(),
});

/** By key, not by hash: random values would change another page for each row. */
export const revokedHashes = sqliteTable("revoked_hashes", {
  keyId: integer().primaryKey(),
  hash: text().notNull(),
  checksum: checksum(),
});

export const apiKeyUses = sqliteTable("api_key_uses", {
  keyId: integer().primaryKey(),
  lastUsedAt: instant().notNull(),
  lastUsedFromAddr: text().notNull(),
  checksum: checksum(),
});

/** Secrets that are readable again but not in history. Removed when a world is exported. */
export const secrets = sqliteTable("secrets", {
  id: text().primaryKey(),
  value: text().notNull(),
  checksum: checksum(),
});

/** References to the data of branches and of their snapshots. The data itself is in volumes. */
export const branchData = sqliteTable("branch_data", {
  id: text().primaryKey(),
  volumeId: text(),
  at: instant().notNull(),
  lsn: text(),
  writes: flag(),
  isOpen: flag(),
  since: instant(),
  schemaOnly: flag(),
  past: text({ mode: "json" }).$type<NonNullable<BranchData["past"]>>(),
  checksum: checksum(),
});

export const projects = sqliteTable("projects", {
  id: text().primaryKey(),
  number: integer().notNull(),
  accountId: text().notNull(),
  name: text().notNull(),
  regionId: text().notNull(),
  provisioner: text().notNull(),
  pgVersion: integer().notNull(),
  storePasswords: flag().notNull(),
  historyRetentionSeconds: integer().notNull(),
  settings: text({ mode: "json" }).$type<Project["settings"]>().notNull(),
  defaultEndpointSettings: text({ mode: "json" }).$type<Project["defaultEndpointSettings"]>().notNull(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
  deletedAt: instant(),
  recoverableUntil: instant(),
  checksum: checksum(),
});

export const branches = sqliteTable(
  "branches",
  {
    id: text().primaryKey(),
    number: integer().notNull(),
    projectId: text().notNull(),
    parentId: text(),
    parentTimestamp: instant(),
    parentLsn: text(),
    name: text().notNull(),
    state: text().$type<Branch["state"]>().notNull(),
    stateChangedAt: instant().notNull(),
    default: flag().notNull(),
    protected: flag().notNull(),
    initSource: text().$type<Branch["initSource"]>().notNull(),
    roles: text({ mode: "json" }).$type<Branch["roles"]>().notNull(),
    databases: text({ mode: "json" }).$type<Branch["databases"]>().notNull(),
    annotations: text({ mode: "json" }).$type<Branch["annotations"]>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    deletedAt: instant(),
    recoverableUntil: instant(),
    expiresAt: instant(),
    ttlSeconds: integer(),
    lastResetAt: instant(),
    restoredFrom: text(),
    restoredAs: text(),
    restoreStatus: text().$type<NonNullable<Branch["restoreStatus"]>>(),
    backupSchedule: text({ mode: "json" }).$type<NonNullable<Branch["backupSchedule"]>>(),
    logicalSizeBytes: integer(),
    past: text({ mode: "json" }).$type<NonNullable<Branch["past"]>>(),
    checksum: checksum(),
  },
  (table) => [
    uniqueIndex("branches_name").on(table.projectId, table.name).where(sql`deleted_at IS NULL`),
    uniqueIndex("branches_default").on(table.projectId).where(sql`"default" = 1 AND deleted_at IS NULL`),
  ],
);

export const computes = sqliteTable(
  "computes",
  {
    id: text().primaryKey(),
    number: integer().notNull(),
    projectId: text().notNull(),
    branchId: text().notNull(),
    regionId: text().notNull(),
    type: text().$type<Compute["type"]>().notNull(),
    name: text(),
    range: text({ mode: "json" }).$type<Compute["range"]>().notNull(),
    suspendTimeoutSeconds: integer().notNull(),
    settings: text({ mode: "json" }).$type<Compute["settings"]>().notNull(),
    poolerEnabled: flag().notNull(),
    passwordlessAccess: flag().notNull(),
    disabled: flag().notNull(),
    provisioner: text().notNull(),
    phase: text({ mode: "json" }).$type<Compute["phase"]>().notNull(),
    waiting: text({ mode: "json" }).$type<NonNullable<Compute["waiting"]>>(),
    lastActiveAt: instant(),
    startedAt: instant(),
    suspendedAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    checksum: checksum(),
  },
  // R: at most one primary read-write compute per branch. The rules reject this first; a violation here is a bug.
  (table) => [uniqueIndex("computes_primary").on(table.branchId).where(sql`type = 'read_write'`)],
);

export const connections = sqliteTable("connections", {
  key: text().primaryKey(),
  endpointId: text().notNull(),
  id: text().notNull(),
  pooled: flag().notNull(),
  database: text(),
  inTransaction: flag().notNull(),
  waiting: flag().notNull(),
  until: instant(),
  busyUntil: instant(),
  lastsMs: integer(),
  busyMs: integer(),
  checksum: checksum(),
});

/**
 * Ids are random, so an index of them would change another page for each new operation. Both indexes therefore
 * begin with the block of 16,384 successive operations: only the pages of the newest block change. A
 * search for an operation reads one block after the other.
 */
export const operations = sqliteTable(
  "operations",
  {
    id: text().notNull(),
    number: integer().primaryKey(),
    idStart: text().generatedAlwaysAs(sql`substr("id", 1, 8)`, { mode: "virtual" }),
    block: integer().generatedAlwaysAs(sql`"number" >> 14`, { mode: "virtual" }),
    projectId: text().notNull(),
    branchId: text(),
    endpointId: text(),
    action: text().$type<Operation["action"]>().notNull(),
    status: text().generatedAlwaysAs(sql`json_extract("state", '$.status')`, { mode: "virtual" }),
    state: text({ mode: "json" }).$type<Operation["state"]>().notNull(),
    durationMs: integer().notNull(),
    cause: text().$type<Operation["cause"]>().notNull(),
    thenStart: flag().notNull(),
    failures: text({ mode: "json" }).$type<NonNullable<Operation["failures"]>>(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    checksum: checksum(),
  },
  (table) => [
    index("operations_by_id").on(table.block, table.idStart),
    index("operations_of_project").on(table.block, table.projectId, table.number),
    index("operations_unfinished").on(table.number).where(sql`status IN ('scheduling', 'running')`),
  ],
);

export const scheduledActivities = sqliteTable("scheduled_activities", {
  number: integer().primaryKey(),
  at: instant().notNull(),
  activity: text({ mode: "json" }).$type<Activity>().notNull(),
  checksum: checksum(),
});

export const usage = sqliteTable("usage", {
  id: text().primaryKey(),
  activeMs: integer().notNull(),
  cuMs: real().notNull(),
  /** The current hour. */
  hour: text({ mode: "json" }).$type<NonNullable<Usage["hour"]>>(),
  data: text({ mode: "json" }).$type<DataUse>(),
  checksum: checksum(),
});

export const hourlyUsage = sqliteTable("hourly_usage", {
  key: text().primaryKey(),
  of: text().notNull(),
  hour: integer().notNull(),
  activeMs: integer().notNull(),
  cuMs: real().notNull(),
  data: text({ mode: "json" }).$type<DataUse>(),
  checksum: checksum(),
});

export const branchSnapshots = sqliteTable("branch_snapshots", {
  id: text().primaryKey(),
  number: integer().notNull(),
  projectId: text().notNull(),
  sourceBranchId: text().notNull(),
  name: text().notNull(),
  timestamp: instant().notNull(),
  lsn: text(),
  manual: flag().notNull(),
  expiresAt: instant(),
  size: text({ mode: "json" }).$type<SnapshotSize>(),
  content: text({ mode: "json" }).$type<BranchSnapshot["content"]>().notNull(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
  checksum: checksum(),
});

export const records = sqliteTable("records", {
  id: text().primaryKey(),
  number: integer().notNull(),
  kind: text().$type<SettingsRecord["kind"]>().notNull(),
  scope: text().notNull(),
  fields: text({ mode: "json" }).$type<SettingsRecord["fields"]>().notNull(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
  checksum: checksum(),
});

export const faults = sqliteTable("faults", {
  name: text().primaryKey(),
  number: integer().notNull(),
  scope: text({ mode: "json" }).$type<Fault["scope"]>().notNull(),
  timing: text({ mode: "json" }).$type<Fault["timing"]>().notNull(),
  effect: text({ mode: "json" }).$type<Fault["effect"]>().notNull(),
  setAt: instant().notNull(),
  seen: integer().notNull(),
  hits: integer().notNull(),
  rate: text({ mode: "json" }).$type<NonNullable<Fault["rate"]>>(),
  checksum: checksum(),
});

/** The request log, outside history: the newest requests, in blocks. */
export const requests = sqliteTable("requests", {
  /** Number of the first request of the block; `last` is that of the last one. */
  number: integer().primaryKey(),
  last: integer().notNull(),
  /** Instant of the last request. */
  at: instant().notNull(),
  /** A list of `RequestLogEntry` as JSON. */
  payload: text().notNull(),
});
