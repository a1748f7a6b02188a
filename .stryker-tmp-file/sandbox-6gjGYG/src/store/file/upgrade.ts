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
import { randomUUID } from "node:crypto";
import { copyFileSync } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { readHistoryRow, writeHistoryRow } from "../journal/journal-row.ts";
import { rechain } from "../journal/rechain.ts";
import { FIRST_VERSION, JOURNAL_VERSION, markVersion, schemaVersionOf } from "../tables/format-version.ts";
import { checkChecksums, rewriteChecksums } from "../tables/stored-tables.ts";
import { makePrivateFile, moveIntoPlace, removeDatabase, replaceAndPreserve, temporaryPath } from "./atomic-file.ts";
import { checkpointAndClose, checkpointWal, connect } from "./sqlite-connection.ts";

/** Creates the file of an empty world with a new history. It appears at `path` only when it is complete. */
export function createFile(path: string, migrationsFolder: string): void {
  if (stryMutAct_9fa48("687")) {
    {}
  } else {
    stryCov_9fa48("687");
    const newFile = temporaryPath(path);
    removeDatabase(newFile);
    makePrivateFile(newFile);
    const sqlite = connect(newFile);
    try {
      if (stryMutAct_9fa48("688")) {
        {}
      } else {
        stryCov_9fa48("688");
        migrate(drizzle(sqlite, stryMutAct_9fa48("689") ? {} : (stryCov_9fa48("689"), {
          casing: stryMutAct_9fa48("690") ? "" : (stryCov_9fa48("690"), "snake_case")
        })), stryMutAct_9fa48("691") ? {} : (stryCov_9fa48("691"), {
          migrationsFolder
        }));
        sqlite.transaction(() => {
          if (stryMutAct_9fa48("692")) {
            {}
          } else {
            stryCov_9fa48("692");
            beginHistory(sqlite);
            markVersion(sqlite);
          }
        })();
      }
    } finally {
      if (stryMutAct_9fa48("693")) {
        {}
      } else {
        stryCov_9fa48("693");
        checkpointAndClose(sqlite);
      }
    }
    moveIntoPlace(newFile, path);
  }
}

/**
 * Upgrades the file of an older release, which must not be open. Works on a copy that then replaces the
 * file, so a kill leaves either the old or the new one. Keeps the original at `backupPath`, if given.
 */
export function upgradeFile(path: string, migrationsFolder: string, backupPath?: string): void {
  if (stryMutAct_9fa48("694")) {
    {}
  } else {
    stryCov_9fa48("694");
    checkpointWal(path);
    const copy = temporaryPath(path);
    removeDatabase(copy);
    copyFileSync(path, copy);
    const sqlite = connect(copy);
    try {
      if (stryMutAct_9fa48("695")) {
        {}
      } else {
        stryCov_9fa48("695");
        const version = schemaVersionOf(sqlite);
        // Before the checksums are rewritten: new ones would hide existing damage.
        if (stryMutAct_9fa48("699") ? version <= FIRST_VERSION : stryMutAct_9fa48("698") ? version >= FIRST_VERSION : stryMutAct_9fa48("697") ? false : stryMutAct_9fa48("696") ? true : (stryCov_9fa48("696", "697", "698", "699"), version > FIRST_VERSION)) checkChecksums(sqlite);
        migrate(drizzle(sqlite, stryMutAct_9fa48("700") ? {} : (stryCov_9fa48("700"), {
          casing: stryMutAct_9fa48("701") ? "" : (stryCov_9fa48("701"), "snake_case")
        })), stryMutAct_9fa48("702") ? {} : (stryCov_9fa48("702"), {
          migrationsFolder
        }));
        sqlite.transaction(() => {
          if (stryMutAct_9fa48("703")) {
            {}
          } else {
            stryCov_9fa48("703");
            if (stryMutAct_9fa48("707") ? version <= FIRST_VERSION : stryMutAct_9fa48("706") ? version >= FIRST_VERSION : stryMutAct_9fa48("705") ? false : stryMutAct_9fa48("704") ? true : (stryCov_9fa48("704", "705", "706", "707"), version > FIRST_VERSION)) rewriteChecksums(sqlite);else {
              if (stryMutAct_9fa48("708")) {
                {}
              } else {
                stryCov_9fa48("708");
                beginHistory(sqlite);
                rechain(sqlite, inferDecision());
              }
            }
            markVersion(sqlite);
          }
        })();
      }
    } finally {
      if (stryMutAct_9fa48("709")) {
        {}
      } else {
        stryCov_9fa48("709");
        checkpointAndClose(sqlite);
      }
    }
    if (stryMutAct_9fa48("712") ? backupPath !== undefined : stryMutAct_9fa48("711") ? false : stryMutAct_9fa48("710") ? true : (stryCov_9fa48("710", "711", "712"), backupPath === undefined)) moveIntoPlace(copy, path);else replaceAndPreserve(copy, path, backupPath);
  }
}

/** From now on the file may contain events that earlier releases would misinterpret, so they must reject it. */
export function markJournalVersion(sqlite: BetterSqlite3.Database): void {
  if (stryMutAct_9fa48("713")) {
    {}
  } else {
    stryCov_9fa48("713");
    const history = readHistoryRow(sqlite);
    if (stryMutAct_9fa48("717") ? history.journalVersion >= JOURNAL_VERSION : stryMutAct_9fa48("716") ? history.journalVersion <= JOURNAL_VERSION : stryMutAct_9fa48("715") ? false : stryMutAct_9fa48("714") ? true : (stryCov_9fa48("714", "715", "716", "717"), history.journalVersion < JOURNAL_VERSION)) writeHistoryRow(sqlite, stryMutAct_9fa48("718") ? {} : (stryCov_9fa48("718"), {
      ...history,
      journalVersion: JOURNAL_VERSION
    }));
  }
}
function beginHistory(sqlite: BetterSqlite3.Database): void {
  if (stryMutAct_9fa48("719")) {
    {}
  } else {
    stryCov_9fa48("719");
    writeHistoryRow(sqlite, stryMutAct_9fa48("720") ? {} : (stryCov_9fa48("720"), {
      historyId: randomUUID(),
      journalVersion: JOURNAL_VERSION,
      forgottenSeq: 0,
      operationsForgottenBefore: 0
    }));
  }
}

/** Version 1 did not record decisions. Events of the same instant are taken as one decision. */
function inferDecision() {
  if (stryMutAct_9fa48("721")) {
    {}
  } else {
    stryCov_9fa48("721");
    let decision = 0;
    let instant: number | undefined;
    return <E extends {
      readonly seq: number;
      readonly at: number;
    },>(event: E): E & {
      readonly decision: number;
    } => {
      if (stryMutAct_9fa48("722")) {
        {}
      } else {
        stryCov_9fa48("722");
        if (stryMutAct_9fa48("725") ? event.at === instant : stryMutAct_9fa48("724") ? false : stryMutAct_9fa48("723") ? true : (stryCov_9fa48("723", "724", "725"), event.at !== instant)) decision = event.seq;
        instant = event.at;
        return stryMutAct_9fa48("726") ? {} : (stryCov_9fa48("726"), {
          ...event,
          decision
        });
      }
    };
  }
}