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
import { constants, existsSync, promises } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { checkpoint, checkpointWal, connectReadOnly } from "./sqlite-connection.ts";
import { walPath } from "./wal-file.ts";

/** The newest work of each database that needs its file pinned. */
const pendingWork = new WeakMap<BetterSqlite3.Database, Promise<unknown>>();

/**
 * Copies an open database while it stays in use. The copy is durable at `path` when this resolves. `leavesLog`:
 * another program checkpoints the write-ahead log.
 */
export async function copyDatabase(sqlite: BetterSqlite3.Database, source: string, path: string, leavesLog: boolean): Promise<void> {
  if (stryMutAct_9fa48("145")) {
    {}
  } else {
    stryCov_9fa48("145");
    await whilePinned(sqlite, source, leavesLog, async () => {
      if (stryMutAct_9fa48("146")) {
        {}
      } else {
        stryCov_9fa48("146");
        await promises.copyFile(source, path, constants.COPYFILE_FICLONE);
        if (stryMutAct_9fa48("149") ? leavesLog || existsSync(walPath(source)) : stryMutAct_9fa48("148") ? false : stryMutAct_9fa48("147") ? true : (stryCov_9fa48("147", "148", "149"), leavesLog && existsSync(walPath(source)))) await promises.copyFile(walPath(source), walPath(path), constants.COPYFILE_FICLONE);
      }
    });
    if (stryMutAct_9fa48("151") ? false : stryMutAct_9fa48("150") ? true : (stryCov_9fa48("150", "151"), leavesLog)) checkpointWal(path);
    const copy = await promises.open(path, stryMutAct_9fa48("152") ? "" : (stryCov_9fa48("152"), "r"));
    try {
      if (stryMutAct_9fa48("153")) {
        {}
      } else {
        stryCov_9fa48("153");
        await copy.sync();
      }
    } finally {
      if (stryMutAct_9fa48("154")) {
        {}
      } else {
        stryCov_9fa48("154");
        await copy.close();
      }
    }
  }
}

/**
 * Runs work while the file and the log of an open database together stay readable, one such work at a time. The
 * write-ahead log is checkpointed into the file, and then a read transaction pins it: while a reader is open,
 * SQLite writes only to the log. So the file does not change, and writers wait no longer than for a commit.
 *
 * If another program checkpoints the log, only the transaction begins. Parts of the log may then be written to
 * the file meanwhile, but they stay in the log, so file and log have every page that the transaction sees. The
 * file must be read before the log.
 */
export function whilePinned<T>(sqlite: BetterSqlite3.Database, source: string, leavesLog: boolean, work: () => Promise<T>): Promise<T> {
  if (stryMutAct_9fa48("155")) {
    {}
  } else {
    stryCov_9fa48("155");
    const done = (stryMutAct_9fa48("156") ? pendingWork.get(sqlite) && Promise.resolve() : (stryCov_9fa48("156"), pendingWork.get(sqlite) ?? Promise.resolve())).catch(() => undefined).then(async () => {
      if (stryMutAct_9fa48("157")) {
        {}
      } else {
        stryCov_9fa48("157");
        const reader = pinDatabaseFile(sqlite, source, leavesLog);
        try {
          if (stryMutAct_9fa48("158")) {
            {}
          } else {
            stryCov_9fa48("158");
            return await work();
          }
        } finally {
          if (stryMutAct_9fa48("159")) {
            {}
          } else {
            stryCov_9fa48("159");
            reader.close();
          }
        }
      }
    });
    pendingWork.set(sqlite, done);
    return done;
  }
}
function pinDatabaseFile(sqlite: BetterSqlite3.Database, source: string, leavesLog: boolean): BetterSqlite3.Database {
  if (stryMutAct_9fa48("160")) {
    {}
  } else {
    stryCov_9fa48("160");
    if (stryMutAct_9fa48("163") ? false : stryMutAct_9fa48("162") ? true : stryMutAct_9fa48("161") ? sqlite.open : (stryCov_9fa48("161", "162", "163"), !sqlite.open)) throw new Error(stryMutAct_9fa48("164") ? "" : (stryCov_9fa48("164"), "the world was closed before it could be copied"));
    if (stryMutAct_9fa48("167") ? !leavesLog || !checkpoint(sqlite) : stryMutAct_9fa48("166") ? false : stryMutAct_9fa48("165") ? true : (stryCov_9fa48("165", "166", "167"), (stryMutAct_9fa48("168") ? leavesLog : (stryCov_9fa48("168"), !leavesLog)) && (stryMutAct_9fa48("169") ? checkpoint(sqlite) : (stryCov_9fa48("169"), !checkpoint(sqlite))))) throw new Error(stryMutAct_9fa48("170") ? "" : (stryCov_9fa48("170"), "another program is reading the world's file; try again when it has finished"));
    const reader = connectReadOnly(source);
    reader.prepare(stryMutAct_9fa48("171") ? "" : (stryCov_9fa48("171"), "SELECT history_id FROM history")).get();
    return reader;
  }
}