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
import { rmSync, statSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import { makeWalDurable } from "./wal-file.ts";

/** Only this process writes to a world's file, and a program that reads it must not block it for long. */
const BUSY_TIMEOUT_MS = 100;
/** A replicator locks the file while it checkpoints the log, and Litestream asks for this time. */
const REPLICATED_BUSY_TIMEOUT_MS = 5_000;

/**
 * A file may come from another person: its triggers and views may call no function with side effects. The
 * driver also opens every file in SQLite's defensive mode.
 */
const DISTRUST_SCHEMA = stryMutAct_9fa48("620") ? "" : (stryCov_9fa48("620"), "PRAGMA trusted_schema = OFF");

/**
 * A connection whose commits survive a kill and a power failure. `leavesLog`: another program checkpoints the
 * write-ahead log.
 */
export function connect(path: string, leavesLog = stryMutAct_9fa48("621") ? true : (stryCov_9fa48("621"), false)): BetterSqlite3.Database {
  if (stryMutAct_9fa48("622")) {
    {}
  } else {
    stryCov_9fa48("622");
    const timeout = leavesLog ? REPLICATED_BUSY_TIMEOUT_MS : BUSY_TIMEOUT_MS;
    const sqlite = retainStatements(new BetterSqlite3(path, stryMutAct_9fa48("623") ? {} : (stryCov_9fa48("623"), {
      timeout
    })));
    try {
      if (stryMutAct_9fa48("624")) {
        {}
      } else {
        stryCov_9fa48("624");
        sqlite.exec(DISTRUST_SCHEMA);
        // FULL: a commit is on disk when it returns. WAL: readers and the writer do not block each other.
        sqlite.exec(stryMutAct_9fa48("625") ? "" : (stryCov_9fa48("625"), "PRAGMA journal_mode = WAL"));
        sqlite.exec(stryMutAct_9fa48("626") ? "" : (stryCov_9fa48("626"), "PRAGMA synchronous = FULL"));
        // Overwrites deleted values where that needs no further write, such as a password that is now encrypted.
        sqlite.exec(stryMutAct_9fa48("627") ? "" : (stryCov_9fa48("627"), "PRAGMA secure_delete = FAST"));
        if (stryMutAct_9fa48("629") ? false : stryMutAct_9fa48("628") ? true : (stryCov_9fa48("628", "629"), leavesLog)) sqlite.exec(stryMutAct_9fa48("630") ? "" : (stryCov_9fa48("630"), "PRAGMA wal_autocheckpoint = 0"));
        return sqlite;
      }
    } catch (error) {
      if (stryMutAct_9fa48("631")) {
        {}
      } else {
        stryCov_9fa48("631");
        sqlite.close();
        throw error;
      }
    }
  }
}

/** A read-only connection with one open read transaction: it sees the state as of its first read. */
export function connectReadOnly(path: string): BetterSqlite3.Database {
  if (stryMutAct_9fa48("632")) {
    {}
  } else {
    stryCov_9fa48("632");
    const sqlite = retainStatements(new BetterSqlite3(path, stryMutAct_9fa48("633") ? {} : (stryCov_9fa48("633"), {
      readonly: stryMutAct_9fa48("634") ? false : (stryCov_9fa48("634"), true),
      timeout: BUSY_TIMEOUT_MS
    })));
    sqlite.exec(DISTRUST_SCHEMA);
    sqlite.exec(stryMutAct_9fa48("635") ? "" : (stryCov_9fa48("635"), "BEGIN"));
    return sqlite;
  }
}

/**
 * Checkpoints the write-ahead log, so that a closed world is a single file. Closes even if the checkpoint
 * fails.
 */
export function checkpointAndClose(sqlite: BetterSqlite3.Database): void {
  if (stryMutAct_9fa48("636")) {
    {}
  } else {
    stryCov_9fa48("636");
    try {
      if (stryMutAct_9fa48("637")) {
        {}
      } else {
        stryCov_9fa48("637");
        sqlite.exec(stryMutAct_9fa48("638") ? "" : (stryCov_9fa48("638"), "PRAGMA wal_checkpoint(TRUNCATE)"));
      }
    } catch {
      // On a full disk the log stays next to the file, and the next open reads both.
    }
    sqlite.close();
  }
}

/** Moves everything from the write-ahead log into the file. Returns false while a reader prevents it. */
export function checkpoint(sqlite: BetterSqlite3.Database): boolean {
  if (stryMutAct_9fa48("639")) {
    {}
  } else {
    stryCov_9fa48("639");
    return stryMutAct_9fa48("642") ? sqlite.prepare<[], {
      busy: number;
    }>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy !== 0 : stryMutAct_9fa48("641") ? false : stryMutAct_9fa48("640") ? true : (stryCov_9fa48("640", "641", "642"), (stryMutAct_9fa48("643") ? sqlite.prepare<[], {
      busy: number;
    }>("PRAGMA wal_checkpoint(TRUNCATE)").get().busy : (stryCov_9fa48("643"), sqlite.prepare<[], {
      busy: number;
    }>(stryMutAct_9fa48("644") ? "" : (stryCov_9fa48("644"), "PRAGMA wal_checkpoint(TRUNCATE)")).get()?.busy)) === 0);
  }
}

/**
 * Checkpoints and removes the write-ahead log before another file replaces this one: SQLite would apply a
 * leftover log to the new file. Throws when the log cannot be checkpointed.
 */
export function checkpointWal(path: string): void {
  if (stryMutAct_9fa48("645")) {
    {}
  } else {
    stryCov_9fa48("645");
    makeWalDurable(path);
    checkpointAndClose(connect(path));
    if (stryMutAct_9fa48("648") ? false : stryMutAct_9fa48("647") ? true : stryMutAct_9fa48("646") ? removeEmptyWal(path) : (stryCov_9fa48("646", "647", "648"), !removeEmptyWal(path))) throw new Error(stryMutAct_9fa48("649") ? `` : (stryCov_9fa48("649"), `${path} is being read by another program, or its disk is full; try again later`));
  }
}

/**
 * Removes the empty `-wal` and `-shm` files of a database that is not open. Returns false if the log is
 * not empty.
 */
export function removeEmptyWal(path: string): boolean {
  if (stryMutAct_9fa48("650")) {
    {}
  } else {
    stryCov_9fa48("650");
    if (stryMutAct_9fa48("654") ? (statSync(`${path}-wal`, {
      throwIfNoEntry: false
    })?.size ?? 0) <= 0 : stryMutAct_9fa48("653") ? (statSync(`${path}-wal`, {
      throwIfNoEntry: false
    })?.size ?? 0) >= 0 : stryMutAct_9fa48("652") ? false : stryMutAct_9fa48("651") ? true : (stryCov_9fa48("651", "652", "653", "654"), (stryMutAct_9fa48("655") ? statSync(`${path}-wal`, {
      throwIfNoEntry: false
    })?.size && 0 : (stryCov_9fa48("655"), (stryMutAct_9fa48("656") ? statSync(`${path}-wal`, {
      throwIfNoEntry: false
    }).size : (stryCov_9fa48("656"), statSync(stryMutAct_9fa48("657") ? `` : (stryCov_9fa48("657"), `${path}-wal`), stryMutAct_9fa48("658") ? {} : (stryCov_9fa48("658"), {
      throwIfNoEntry: stryMutAct_9fa48("659") ? true : (stryCov_9fa48("659"), false)
    }))?.size)) ?? 0)) > 0)) return stryMutAct_9fa48("660") ? true : (stryCov_9fa48("660"), false);
    for (const suffix of stryMutAct_9fa48("661") ? [] : (stryCov_9fa48("661"), [stryMutAct_9fa48("662") ? "" : (stryCov_9fa48("662"), "-wal"), stryMutAct_9fa48("663") ? "" : (stryCov_9fa48("663"), "-shm")])) rmSync(stryMutAct_9fa48("664") ? path - suffix : (stryCov_9fa48("664"), path + suffix), stryMutAct_9fa48("665") ? {} : (stryCov_9fa48("665"), {
      force: stryMutAct_9fa48("666") ? false : (stryCov_9fa48("666"), true)
    }));
    return stryMutAct_9fa48("667") ? false : (stryCov_9fa48("667"), true);
  }
}

/** Every database of this process and its statements: a few dozen each time a file is opened. */
const retainedObjects: unknown[] = stryMutAct_9fa48("668") ? ["Stryker was here"] : (stryCov_9fa48("668"), []);

/**
 * Keeps statements of the driver from being garbage-collected. Node 24.19 and later abort when they collect a
 * statement of a driver that was compiled against their headers (nodejs/node 65446).
 */
export function retainStatements(sqlite: BetterSqlite3.Database): BetterSqlite3.Database {
  if (stryMutAct_9fa48("669")) {
    {}
  } else {
    stryCov_9fa48("669");
    if (stryMutAct_9fa48("672") ? false : stryMutAct_9fa48("671") ? true : stryMutAct_9fa48("670") ? DRIVER_IS_AT_RISK : (stryCov_9fa48("670", "671", "672"), !DRIVER_IS_AT_RISK)) return sqlite;
    const prepare = sqlite.prepare.bind(sqlite) as (source: string) => BetterSqlite3.Statement;
    retainedObjects.push(sqlite);
    sqlite.prepare = ((source: string) => {
      const statement = prepare(source);
      retainedObjects.push(statement);
      return statement;
    }) as typeof sqlite.prepare;
    return sqlite;
  }
}
const [major = 0, minor = 0] = process.versions.node.split(stryMutAct_9fa48("673") ? "" : (stryCov_9fa48("673"), ".")).map(Number);
const DRIVER_IS_AT_RISK = stryMutAct_9fa48("676") ? major > 24 && major === 24 && minor >= 19 : stryMutAct_9fa48("675") ? false : stryMutAct_9fa48("674") ? true : (stryCov_9fa48("674", "675", "676"), (stryMutAct_9fa48("679") ? major <= 24 : stryMutAct_9fa48("678") ? major >= 24 : stryMutAct_9fa48("677") ? false : (stryCov_9fa48("677", "678", "679"), major > 24)) || (stryMutAct_9fa48("681") ? major === 24 || minor >= 19 : stryMutAct_9fa48("680") ? false : (stryCov_9fa48("680", "681"), (stryMutAct_9fa48("683") ? major !== 24 : stryMutAct_9fa48("682") ? true : (stryCov_9fa48("682", "683"), major === 24)) && (stryMutAct_9fa48("686") ? minor < 19 : stryMutAct_9fa48("685") ? minor > 19 : stryMutAct_9fa48("684") ? true : (stryCov_9fa48("684", "685", "686"), minor >= 19)))));