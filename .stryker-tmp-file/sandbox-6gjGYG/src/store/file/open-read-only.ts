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
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { asCorruptFile } from "../journal/journal-checksum.ts";
import { SCHEMA_VERSION, schemaVersionOf } from "../tables/format-version.ts";
import { makePrivateFile } from "./atomic-file.ts";
import { connectToCurrent } from "./open-world.ts";
import { checkpointAndClose, connectReadOnly } from "./sqlite-connection.ts";

/** A world's file opened for reading; the file does not change. */
export type ReadOnlyDatabase = {
  readonly sqlite: BetterSqlite3.Database;
  readonly close: () => void;
};

/**
 * Opens a world's file for reading, also while it is in use. For a file of an older release, opens an
 * upgraded temporary copy. Throws if the file is not a world, is damaged, or was written by a newer release.
 */
export function openForReading(path: string, migrationsFolder: string): ReadOnlyDatabase {
  if (stryMutAct_9fa48("404")) {
    {}
  } else {
    stryCov_9fa48("404");
    const sqlite = openReadOnly(path);
    if (stryMutAct_9fa48("407") ? sqlite.version !== SCHEMA_VERSION : stryMutAct_9fa48("406") ? false : stryMutAct_9fa48("405") ? true : (stryCov_9fa48("405", "406", "407"), sqlite.version === SCHEMA_VERSION)) return stryMutAct_9fa48("408") ? {} : (stryCov_9fa48("408"), {
      sqlite: sqlite.database,
      close: stryMutAct_9fa48("409") ? () => undefined : (stryCov_9fa48("409"), () => sqlite.database.close())
    });
    sqlite.database.close();
    const directory = mkdtempSync(join(tmpdir(), stryMutAct_9fa48("410") ? "" : (stryCov_9fa48("410"), "standin-")));
    const copy = join(directory, stryMutAct_9fa48("411") ? "" : (stryCov_9fa48("411"), "world.sqlite"));
    try {
      if (stryMutAct_9fa48("412")) {
        {}
      } else {
        stryCov_9fa48("412");
        vacuumCopy(path, copy);
        const upgraded = connectToCurrent(copy, stryMutAct_9fa48("413") ? {} : (stryCov_9fa48("413"), {
          migrationsFolder
        }));
        return stryMutAct_9fa48("414") ? {} : (stryCov_9fa48("414"), {
          sqlite: upgraded,
          close() {
            if (stryMutAct_9fa48("415")) {
              {}
            } else {
              stryCov_9fa48("415");
              checkpointAndClose(upgraded);
              rmSync(directory, stryMutAct_9fa48("416") ? {} : (stryCov_9fa48("416"), {
                recursive: stryMutAct_9fa48("417") ? false : (stryCov_9fa48("417"), true),
                force: stryMutAct_9fa48("418") ? false : (stryCov_9fa48("418"), true)
              }));
            }
          }
        });
      }
    } catch (error) {
      if (stryMutAct_9fa48("419")) {
        {}
      } else {
        stryCov_9fa48("419");
        rmSync(directory, stryMutAct_9fa48("420") ? {} : (stryCov_9fa48("420"), {
          recursive: stryMutAct_9fa48("421") ? false : (stryCov_9fa48("421"), true),
          force: stryMutAct_9fa48("422") ? false : (stryCov_9fa48("422"), true)
        }));
        throw error;
      }
    }
  }
}

/** Copies a world's file, also while it is in use, without the free pages of deleted rows. */
export function vacuumCopy(path: string, copy: string): void {
  if (stryMutAct_9fa48("423")) {
    {}
  } else {
    stryCov_9fa48("423");
    const {
      database
    } = openReadOnly(path);
    try {
      if (stryMutAct_9fa48("424")) {
        {}
      } else {
        stryCov_9fa48("424");
        database.exec(stryMutAct_9fa48("425") ? "" : (stryCov_9fa48("425"), "ROLLBACK"));
        makePrivateFile(copy);
        database.prepare(stryMutAct_9fa48("426") ? "" : (stryCov_9fa48("426"), "VACUUM INTO ?")).run(copy);
      }
    } catch (error) {
      if (stryMutAct_9fa48("427")) {
        {}
      } else {
        stryCov_9fa48("427");
        throw asCorruptFile(error);
      }
    } finally {
      if (stryMutAct_9fa48("428")) {
        {}
      } else {
        stryCov_9fa48("428");
        database.close();
      }
    }
  }
}
function openReadOnly(path: string): {
  readonly database: BetterSqlite3.Database;
  readonly version: number;
} {
  if (stryMutAct_9fa48("429")) {
    {}
  } else {
    stryCov_9fa48("429");
    try {
      if (stryMutAct_9fa48("430")) {
        {}
      } else {
        stryCov_9fa48("430");
        const database = connectReadOnly(path);
        try {
          if (stryMutAct_9fa48("431")) {
            {}
          } else {
            stryCov_9fa48("431");
            return stryMutAct_9fa48("432") ? {} : (stryCov_9fa48("432"), {
              database,
              version: schemaVersionOf(database)
            });
          }
        } catch (error) {
          if (stryMutAct_9fa48("433")) {
            {}
          } else {
            stryCov_9fa48("433");
            database.close();
            throw error;
          }
        }
      }
    } catch (error) {
      if (stryMutAct_9fa48("434")) {
        {}
      } else {
        stryCov_9fa48("434");
        throw asCorruptFile(error);
      }
    }
  }
}