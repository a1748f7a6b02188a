// @ts-nocheck
function stryNS_9fa48() {
  var g = typeof globalThis === 'object' && globalThis && globalThis.Math === Math && globalThis || new Function("return this")();
  var ns = g.__stryker__ || (g.__stryker__ = {});
  if (ns.activeMutant === undefined && g.process && g.process.env && g.process.env.__STRYKER_ACTIVE_MUTANT__) {
    ns.activeMutant = g.process.env.__STRYKER_ACTIVE_MUTANT__;
  }
  function retrieveNS() {
    return ns;
  }
  stryNS_9fa48 = retrieveNS;
  return retrieveNS();
}
stryNS_9fa48();
function stryCov_9fa48() {
  var ns = stryNS_9fa48();
  var cov = ns.mutantCoverage || (ns.mutantCoverage = {
    static: {},
    perTest: {}
  });
  function cover() {
    var c = cov.static;
    if (ns.currentTestId) {
      c = cov.perTest[ns.currentTestId] = cov.perTest[ns.currentTestId] || {};
    }
    var a = arguments;
    for (var i = 0; i < a.length; i++) {
      c[a[i]] = (c[a[i]] || 0) + 1;
    }
  }
  stryCov_9fa48 = cover;
  cover.apply(null, arguments);
}
function stryMutAct_9fa48(id) {
  var ns = stryNS_9fa48();
  function isActive(id) {
    if (ns.activeMutant === id) {
      if (ns.hitCount !== void 0 && ++ns.hitCount > ns.hitLimit) {
        throw new Error('Stryker: Hit count limit reached (' + ns.hitCount + ')');
      }
      return true;
    }
    return false;
  }
  stryMutAct_9fa48 = isActive;
  return isActive(id);
}
import { sql } from "drizzle-orm";
import { blob, index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Account } from "../../platform/account/account.ts";
import type { ApiKey } from "../../platform/account/api-key.ts";
import type { Branch } from "../../platform/branch/branch.ts";
import type { BranchSnapshot } from "../../platform/branch/branch-snapshot.ts";
import type { BranchData } from "../../platform/branch-data/branch-data.ts";
import type { Activity } from "../../platform/compute/activity.ts";
import type { Compute } from "../../platform/compute/compute.ts";
import type { Numbers } from "../../platform/core/world.ts";
import type { WorldSettings } from "../../platform/core/world-settings.ts";
import type { Fault } from "../../platform/fault/fault.ts";
import type { Operation } from "../../platform/operation/operation.ts";
import type { Project } from "../../platform/project/project.ts";
import type { SettingsRecord } from "../../platform/project/settings-record.ts";
import type { DataTraffic } from "../../platform/usage/data-traffic.ts";
import type { Usage } from "../../platform/usage/usage.ts";
import type { HistoryOrigin } from "../../simulation/journal.ts";
import type { ClockState } from "../../simulation/world-clock.ts";

/** Instants are milliseconds since 1970. */
const instant = stryMutAct_9fa48("99") ? () => undefined : (stryCov_9fa48("99"), (() => {
  const instant = () => integer();
  return instant;
})());
const flag = stryMutAct_9fa48("100") ? () => undefined : (stryCov_9fa48("100"), (() => {
  const flag = () => integer(stryMutAct_9fa48("101") ? {} : (stryCov_9fa48("101"), {
    mode: stryMutAct_9fa48("102") ? "" : (stryCov_9fa48("102"), "boolean")
  }));
  return flag;
})());
/** CRC-32 of the row's other values (see `checksumOf`). A mismatch means that the row is damaged. */
const checksum = stryMutAct_9fa48("103") ? () => undefined : (stryCov_9fa48("103"), (() => {
  const checksum = () => integer().notNull().default(0);
  return checksum;
})());

/** The journal: all events in order. The other tables are its projection, written in the same transaction. */
export const events = sqliteTable(stryMutAct_9fa48("104") ? "" : (stryCov_9fa48("104"), "events"), stryMutAct_9fa48("105") ? {} : (stryCov_9fa48("105"), {
  seq: integer().primaryKey(),
  at: instant().notNull(),
  type: text().notNull(),
  /** The event as JSON, without the fields that have their own column. */
  payload: text().notNull(),
  /** Sequence number of the first event of the same decision. */
  decision: integer().notNull().default(0),
  /** CRC-32 of this event, seeded with that of the previous one. Changed, lost or reordered events break the chain. */
  chain: integer().notNull().default(0)
}));

/** One row: the identity of the history, and how far it is truncated. */
export const history = sqliteTable(stryMutAct_9fa48("106") ? "" : (stryCov_9fa48("106"), "history"), stryMutAct_9fa48("107") ? {} : (stryCov_9fa48("107"), {
  id: integer().primaryKey(),
  /** Unique per fork. */
  historyId: text().notNull(),
  journalVersion: integer().notNull(),
  /** Events up to and including this one are truncated; the checkpoint after it replaces them. */
  forgottenSeq: integer().notNull(),
  /** Operations that ended before this instant (exclusive) are truncated. */
  operationsForgottenBefore: instant().notNull(),
  /** The history that this one was forked from, if any. */
  origin: text(stryMutAct_9fa48("108") ? {} : (stryCov_9fa48("108"), {
    mode: stryMutAct_9fa48("109") ? "" : (stryCov_9fa48("109"), "json")
  })).$type<HistoryOrigin>(),
  checksum: checksum()
}));

/** Worlds at regular points of history. A past world is rebuilt from the nearest one. */
export const checkpoints = sqliteTable(stryMutAct_9fa48("110") ? "" : (stryCov_9fa48("110"), "checkpoints"), stryMutAct_9fa48("111") ? {} : (stryCov_9fa48("111"), {
  seq: integer().primaryKey(),
  at: instant().notNull(),
  /** The chain checksum after this event. */
  chain: integer().notNull(),
  /** A `Checkpoint` as JSON, compressed. */
  world: blob(stryMutAct_9fa48("112") ? {} : (stryCov_9fa48("112"), {
    mode: stryMutAct_9fa48("113") ? "" : (stryCov_9fa48("113"), "buffer")
  })).notNull()
}));

/** One row: the state of the world outside its tables. */
export const world = sqliteTable(stryMutAct_9fa48("114") ? "" : (stryCov_9fa48("114"), "world"), stryMutAct_9fa48("115") ? {} : (stryCov_9fa48("115"), {
  id: integer().primaryKey(),
  settings: text(stryMutAct_9fa48("116") ? {} : (stryCov_9fa48("116"), {
    mode: stryMutAct_9fa48("117") ? "" : (stryCov_9fa48("117"), "json")
  })).$type<WorldSettings>().notNull(),
  numbers: text(stryMutAct_9fa48("118") ? {} : (stryCov_9fa48("118"), {
    mode: stryMutAct_9fa48("119") ? "" : (stryCov_9fa48("119"), "json")
  })).$type<Numbers>().notNull(),
  clock: text(stryMutAct_9fa48("120") ? {} : (stryCov_9fa48("120"), {
    mode: stryMutAct_9fa48("121") ? "" : (stryCov_9fa48("121"), "json")
  })).$type<ClockState>().notNull(),
  /** Sequence number of the last event applied to the tables. */
  seq: integer().notNull(),
  /** Instant of that event; `now` is the latest instant that the world has reached. */
  at: instant().notNull(),
  now: instant().notNull(),
  /** The chain checksum after that event. */
  chain: integer().notNull().default(0),
  checksum: checksum()
}));
export const accounts = sqliteTable(stryMutAct_9fa48("122") ? "" : (stryCov_9fa48("122"), "accounts"), stryMutAct_9fa48("123") ? {} : (stryCov_9fa48("123"), {
  id: text().primaryKey(),
  number: integer().notNull(),
  name: text().notNull(),
  email: text().notNull(),
  plan: text().$type<Account["plan"]>().notNull(),
  organizationId: text().notNull(),
  createdAt: instant().notNull(),
  checksum: checksum()
}));

/** Without an index on `hash`: keys are looked up in memory, and an index of random values costs a page write per new key. */
export const apiKeys = sqliteTable(stryMutAct_9fa48("124") ? "" : (stryCov_9fa48("124"), "api_keys"), stryMutAct_9fa48("125") ? {} : (stryCov_9fa48("125"), {
  id: integer().primaryKey(),
  accountId: text().notNull(),
  name: text().notNull(),
  hash: text().notNull(),
  createdAt: instant().notNull(),
  revokedAt: instant(),
  scope: text(stryMutAct_9fa48("126") ? {} : (stryCov_9fa48("126"), {
    mode: stryMutAct_9fa48("127") ? "" : (stryCov_9fa48("127"), "json")
  })).$type<NonNullable<ApiKey["scope"]>>(),
  checksum: checksum()
}));
export const apiKeyUses = sqliteTable(stryMutAct_9fa48("128") ? "" : (stryCov_9fa48("128"), "api_key_uses"), stryMutAct_9fa48("129") ? {} : (stryCov_9fa48("129"), {
  keyId: integer().primaryKey(),
  lastUsedAt: instant().notNull(),
  lastUsedFromAddr: text().notNull(),
  checksum: checksum()
}));

/** Secrets that are readable again but not in history. Removed when a world is exported. */
export const secrets = sqliteTable(stryMutAct_9fa48("130") ? "" : (stryCov_9fa48("130"), "secrets"), stryMutAct_9fa48("131") ? {} : (stryCov_9fa48("131"), {
  id: text().primaryKey(),
  value: text().notNull(),
  checksum: checksum()
}));

/** Where the data of branches and of their snapshots is. The data itself is in volumes. */
export const branchData = sqliteTable(stryMutAct_9fa48("132") ? "" : (stryCov_9fa48("132"), "branch_data"), stryMutAct_9fa48("133") ? {} : (stryCov_9fa48("133"), {
  id: text().primaryKey(),
  volumeId: text(),
  at: instant().notNull(),
  lsn: text(),
  writes: flag(),
  isOpen: flag(),
  since: instant(),
  schemaOnly: flag(),
  past: text(stryMutAct_9fa48("134") ? {} : (stryCov_9fa48("134"), {
    mode: stryMutAct_9fa48("135") ? "" : (stryCov_9fa48("135"), "json")
  })).$type<NonNullable<BranchData["past"]>>(),
  checksum: checksum()
}));
export const projects = sqliteTable(stryMutAct_9fa48("136") ? "" : (stryCov_9fa48("136"), "projects"), stryMutAct_9fa48("137") ? {} : (stryCov_9fa48("137"), {
  id: text().primaryKey(),
  number: integer().notNull(),
  accountId: text().notNull(),
  name: text().notNull(),
  regionId: text().notNull(),
  provisioner: text().notNull(),
  pgVersion: integer().notNull(),
  storePasswords: flag().notNull(),
  historyRetentionSeconds: integer().notNull(),
  settings: text(stryMutAct_9fa48("138") ? {} : (stryCov_9fa48("138"), {
    mode: stryMutAct_9fa48("139") ? "" : (stryCov_9fa48("139"), "json")
  })).$type<Project["settings"]>().notNull(),
  defaultEndpointSettings: text(stryMutAct_9fa48("140") ? {} : (stryCov_9fa48("140"), {
    mode: stryMutAct_9fa48("141") ? "" : (stryCov_9fa48("141"), "json")
  })).$type<Project["defaultEndpointSettings"]>().notNull(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
  deletedAt: instant(),
  recoverableUntil: instant(),
  checksum: checksum()
}));
export const branches = sqliteTable(stryMutAct_9fa48("142") ? "" : (stryCov_9fa48("142"), "branches"), stryMutAct_9fa48("143") ? {} : (stryCov_9fa48("143"), {
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
  roles: text(stryMutAct_9fa48("144") ? {} : (stryCov_9fa48("144"), {
    mode: stryMutAct_9fa48("145") ? "" : (stryCov_9fa48("145"), "json")
  })).$type<Branch["roles"]>().notNull(),
  databases: text(stryMutAct_9fa48("146") ? {} : (stryCov_9fa48("146"), {
    mode: stryMutAct_9fa48("147") ? "" : (stryCov_9fa48("147"), "json")
  })).$type<Branch["databases"]>().notNull(),
  annotations: text(stryMutAct_9fa48("148") ? {} : (stryCov_9fa48("148"), {
    mode: stryMutAct_9fa48("149") ? "" : (stryCov_9fa48("149"), "json")
  })).$type<Branch["annotations"]>().notNull(),
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
  backupSchedule: text(stryMutAct_9fa48("150") ? {} : (stryCov_9fa48("150"), {
    mode: stryMutAct_9fa48("151") ? "" : (stryCov_9fa48("151"), "json")
  })).$type<NonNullable<Branch["backupSchedule"]>>(),
  logicalSizeBytes: integer(),
  past: text(stryMutAct_9fa48("152") ? {} : (stryCov_9fa48("152"), {
    mode: stryMutAct_9fa48("153") ? "" : (stryCov_9fa48("153"), "json")
  })).$type<NonNullable<Branch["past"]>>(),
  checksum: checksum()
}), stryMutAct_9fa48("154") ? () => undefined : (stryCov_9fa48("154"), table => stryMutAct_9fa48("155") ? [] : (stryCov_9fa48("155"), [uniqueIndex(stryMutAct_9fa48("156") ? "" : (stryCov_9fa48("156"), "branches_name")).on(table.projectId, table.name).where(stryMutAct_9fa48("157") ? sql`` : (stryCov_9fa48("157"), sql`deleted_at IS NULL`)), uniqueIndex(stryMutAct_9fa48("158") ? "" : (stryCov_9fa48("158"), "branches_default")).on(table.projectId).where(stryMutAct_9fa48("159") ? sql`` : (stryCov_9fa48("159"), sql`"default" = 1 AND deleted_at IS NULL`))])));
export const computes = sqliteTable(stryMutAct_9fa48("160") ? "" : (stryCov_9fa48("160"), "computes"), stryMutAct_9fa48("161") ? {} : (stryCov_9fa48("161"), {
  id: text().primaryKey(),
  number: integer().notNull(),
  projectId: text().notNull(),
  branchId: text().notNull(),
  regionId: text().notNull(),
  type: text().$type<Compute["type"]>().notNull(),
  name: text(),
  range: text(stryMutAct_9fa48("162") ? {} : (stryCov_9fa48("162"), {
    mode: stryMutAct_9fa48("163") ? "" : (stryCov_9fa48("163"), "json")
  })).$type<Compute["range"]>().notNull(),
  suspendTimeoutSeconds: integer().notNull(),
  settings: text(stryMutAct_9fa48("164") ? {} : (stryCov_9fa48("164"), {
    mode: stryMutAct_9fa48("165") ? "" : (stryCov_9fa48("165"), "json")
  })).$type<Compute["settings"]>().notNull(),
  poolerEnabled: flag().notNull(),
  passwordlessAccess: flag().notNull(),
  disabled: flag().notNull(),
  provisioner: text().notNull(),
  phase: text(stryMutAct_9fa48("166") ? {} : (stryCov_9fa48("166"), {
    mode: stryMutAct_9fa48("167") ? "" : (stryCov_9fa48("167"), "json")
  })).$type<Compute["phase"]>().notNull(),
  waiting: text(stryMutAct_9fa48("168") ? {} : (stryCov_9fa48("168"), {
    mode: stryMutAct_9fa48("169") ? "" : (stryCov_9fa48("169"), "json")
  })).$type<NonNullable<Compute["waiting"]>>(),
  lastActiveAt: instant(),
  startedAt: instant(),
  suspendedAt: instant(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
  checksum: checksum()
}), // R: at most one primary read-write compute per branch. The rules reject this first; a violation here is a bug.
stryMutAct_9fa48("170") ? () => undefined : (stryCov_9fa48("170"), table => stryMutAct_9fa48("171") ? [] : (stryCov_9fa48("171"), [uniqueIndex(stryMutAct_9fa48("172") ? "" : (stryCov_9fa48("172"), "computes_primary")).on(table.branchId).where(stryMutAct_9fa48("173") ? sql`` : (stryCov_9fa48("173"), sql`type = 'read_write'`))])));
export const connections = sqliteTable(stryMutAct_9fa48("174") ? "" : (stryCov_9fa48("174"), "connections"), stryMutAct_9fa48("175") ? {} : (stryCov_9fa48("175"), {
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
  checksum: checksum()
}));
export const operations = sqliteTable(stryMutAct_9fa48("176") ? "" : (stryCov_9fa48("176"), "operations"), stryMutAct_9fa48("177") ? {} : (stryCov_9fa48("177"), {
  id: text().primaryKey(),
  number: integer().notNull(),
  projectId: text().notNull(),
  branchId: text(),
  endpointId: text(),
  action: text().$type<Operation["action"]>().notNull(),
  status: text().generatedAlwaysAs(stryMutAct_9fa48("178") ? sql`` : (stryCov_9fa48("178"), sql`json_extract("state", '$.status')`), stryMutAct_9fa48("179") ? {} : (stryCov_9fa48("179"), {
    mode: stryMutAct_9fa48("180") ? "" : (stryCov_9fa48("180"), "virtual")
  })),
  state: text(stryMutAct_9fa48("181") ? {} : (stryCov_9fa48("181"), {
    mode: stryMutAct_9fa48("182") ? "" : (stryCov_9fa48("182"), "json")
  })).$type<Operation["state"]>().notNull(),
  durationMs: integer().notNull(),
  cause: text().$type<Operation["cause"]>().notNull(),
  thenStart: flag().notNull(),
  failures: text(stryMutAct_9fa48("183") ? {} : (stryCov_9fa48("183"), {
    mode: stryMutAct_9fa48("184") ? "" : (stryCov_9fa48("184"), "json")
  })).$type<NonNullable<Operation["failures"]>>(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
  checksum: checksum()
}), stryMutAct_9fa48("185") ? () => undefined : (stryCov_9fa48("185"), table => stryMutAct_9fa48("186") ? [] : (stryCov_9fa48("186"), [index(stryMutAct_9fa48("187") ? "" : (stryCov_9fa48("187"), "operations_of_project")).on(table.projectId, table.number), index(stryMutAct_9fa48("188") ? "" : (stryCov_9fa48("188"), "operations_unfinished")).on(table.number).where(stryMutAct_9fa48("189") ? sql`` : (stryCov_9fa48("189"), sql`status IN ('scheduling', 'running')`))])));
export const scheduledActivities = sqliteTable(stryMutAct_9fa48("190") ? "" : (stryCov_9fa48("190"), "scheduled_activities"), stryMutAct_9fa48("191") ? {} : (stryCov_9fa48("191"), {
  number: integer().primaryKey(),
  at: instant().notNull(),
  activity: text(stryMutAct_9fa48("192") ? {} : (stryCov_9fa48("192"), {
    mode: stryMutAct_9fa48("193") ? "" : (stryCov_9fa48("193"), "json")
  })).$type<Activity>().notNull(),
  checksum: checksum()
}));
export const usage = sqliteTable(stryMutAct_9fa48("194") ? "" : (stryCov_9fa48("194"), "usage"), stryMutAct_9fa48("195") ? {} : (stryCov_9fa48("195"), {
  id: text().primaryKey(),
  activeMs: integer().notNull(),
  cuMs: real().notNull(),
  /** The current hour. */
  hour: text(stryMutAct_9fa48("196") ? {} : (stryCov_9fa48("196"), {
    mode: stryMutAct_9fa48("197") ? "" : (stryCov_9fa48("197"), "json")
  })).$type<NonNullable<Usage["hour"]>>(),
  data: text(stryMutAct_9fa48("198") ? {} : (stryCov_9fa48("198"), {
    mode: stryMutAct_9fa48("199") ? "" : (stryCov_9fa48("199"), "json")
  })).$type<DataTraffic>(),
  checksum: checksum()
}));
export const hourlyUsage = sqliteTable(stryMutAct_9fa48("200") ? "" : (stryCov_9fa48("200"), "hourly_usage"), stryMutAct_9fa48("201") ? {} : (stryCov_9fa48("201"), {
  key: text().primaryKey(),
  of: text().notNull(),
  hour: integer().notNull(),
  activeMs: integer().notNull(),
  cuMs: real().notNull(),
  data: text(stryMutAct_9fa48("202") ? {} : (stryCov_9fa48("202"), {
    mode: stryMutAct_9fa48("203") ? "" : (stryCov_9fa48("203"), "json")
  })).$type<DataTraffic>(),
  checksum: checksum()
}));
export const branchSnapshots = sqliteTable(stryMutAct_9fa48("204") ? "" : (stryCov_9fa48("204"), "branch_snapshots"), stryMutAct_9fa48("205") ? {} : (stryCov_9fa48("205"), {
  id: text().primaryKey(),
  number: integer().notNull(),
  projectId: text().notNull(),
  sourceBranchId: text().notNull(),
  name: text().notNull(),
  timestamp: instant().notNull(),
  lsn: text(),
  manual: flag().notNull(),
  expiresAt: instant(),
  content: text(stryMutAct_9fa48("206") ? {} : (stryCov_9fa48("206"), {
    mode: stryMutAct_9fa48("207") ? "" : (stryCov_9fa48("207"), "json")
  })).$type<BranchSnapshot["content"]>().notNull(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
  checksum: checksum()
}));
export const records = sqliteTable(stryMutAct_9fa48("208") ? "" : (stryCov_9fa48("208"), "records"), stryMutAct_9fa48("209") ? {} : (stryCov_9fa48("209"), {
  id: text().primaryKey(),
  number: integer().notNull(),
  kind: text().$type<SettingsRecord["kind"]>().notNull(),
  scope: text().notNull(),
  fields: text(stryMutAct_9fa48("210") ? {} : (stryCov_9fa48("210"), {
    mode: stryMutAct_9fa48("211") ? "" : (stryCov_9fa48("211"), "json")
  })).$type<SettingsRecord["fields"]>().notNull(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
  checksum: checksum()
}));
export const faults = sqliteTable(stryMutAct_9fa48("212") ? "" : (stryCov_9fa48("212"), "faults"), stryMutAct_9fa48("213") ? {} : (stryCov_9fa48("213"), {
  name: text().primaryKey(),
  number: integer().notNull(),
  scope: text(stryMutAct_9fa48("214") ? {} : (stryCov_9fa48("214"), {
    mode: stryMutAct_9fa48("215") ? "" : (stryCov_9fa48("215"), "json")
  })).$type<Fault["scope"]>().notNull(),
  timing: text(stryMutAct_9fa48("216") ? {} : (stryCov_9fa48("216"), {
    mode: stryMutAct_9fa48("217") ? "" : (stryCov_9fa48("217"), "json")
  })).$type<Fault["timing"]>().notNull(),
  effect: text(stryMutAct_9fa48("218") ? {} : (stryCov_9fa48("218"), {
    mode: stryMutAct_9fa48("219") ? "" : (stryCov_9fa48("219"), "json")
  })).$type<Fault["effect"]>().notNull(),
  setAt: instant().notNull(),
  seen: integer().notNull(),
  hits: integer().notNull(),
  rate: text(stryMutAct_9fa48("220") ? {} : (stryCov_9fa48("220"), {
    mode: stryMutAct_9fa48("221") ? "" : (stryCov_9fa48("221"), "json")
  })).$type<NonNullable<Fault["rate"]>>(),
  checksum: checksum()
}));

/** The request log, outside history: the newest requests, in blocks. */
export const requests = sqliteTable(stryMutAct_9fa48("222") ? "" : (stryCov_9fa48("222"), "requests"), stryMutAct_9fa48("223") ? {} : (stryCov_9fa48("223"), {
  /** Number of the first request of the block; `last` is that of the last one. */
  number: integer().primaryKey(),
  last: integer().notNull(),
  /** Instant of the last request. */
  at: instant().notNull(),
  /** A list of `RequestLogEntry` as JSON. */
  payload: text().notNull()
}));