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
import type BetterSqlite3 from "better-sqlite3";
import { CorruptFile } from "../journal/journal-checksum.ts";
import { readHistoryRow } from "../journal/journal-row.ts";

/** Version of the tables: the number of migrations in `migrations/`. */
export const SCHEMA_VERSION = 7;
/**
 * Version of the meaning of events. Version 2 records the decision of each event; in version 3 the size of a
 * compute follows its load average. A new event type needs no new version; an event that older releases would
 * misinterpret does.
 */
export const JOURNAL_VERSION = 3;
export const FIRST_VERSION = 1;

/** "STAN" in the header marks a file as a world. */
const APPLICATION_ID = 0x5354414e;

/** The file was written by a newer release, and this one could misinterpret it. */
export class NewerFile extends Error {
  override readonly name = stryMutAct_9fa48("0") ? "" : (stryCov_9fa48("0"), "NewerFile");
}

/** The file is a database, but not a world. */
export class NotAWorldFile extends Error {
  override readonly name = stryMutAct_9fa48("1") ? "" : (stryCov_9fa48("1"), "NotAWorldFile");
}

/**
 * The schema version of a file. Throws if it is not a world, is damaged, or was written by a newer release.
 * The version is stored in several places, which must agree: otherwise an upgrade could run on a file that
 * does not need it.
 */
export function schemaVersionOf(sqlite: BetterSqlite3.Database): number {
  if (stryMutAct_9fa48("2")) {
    {}
  } else {
    stryCov_9fa48("2");
    const number = stryMutAct_9fa48("3") ? () => undefined : (stryCov_9fa48("3"), (() => {
      const number = (source: string) => sqlite.prepare(source).pluck().get() as number;
      return number;
    })());
    const has = stryMutAct_9fa48("4") ? () => undefined : (stryCov_9fa48("4"), (() => {
      const has = (table: string) => stryMutAct_9fa48("7") ? sqlite.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) === undefined : stryMutAct_9fa48("6") ? false : stryMutAct_9fa48("5") ? true : (stryCov_9fa48("5", "6", "7"), sqlite.prepare(stryMutAct_9fa48("8") ? "" : (stryCov_9fa48("8"), "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")).get(table) !== undefined);
      return has;
    })());
    const version = number(stryMutAct_9fa48("9") ? "" : (stryCov_9fa48("9"), "PRAGMA user_version"));
    const isMarked = stryMutAct_9fa48("12") ? number("PRAGMA application_id") !== APPLICATION_ID : stryMutAct_9fa48("11") ? false : stryMutAct_9fa48("10") ? true : (stryCov_9fa48("10", "11", "12"), number(stryMutAct_9fa48("13") ? "" : (stryCov_9fa48("13"), "PRAGMA application_id")) === APPLICATION_ID);
    if (stryMutAct_9fa48("16") ? isMarked || version > SCHEMA_VERSION : stryMutAct_9fa48("15") ? false : stryMutAct_9fa48("14") ? true : (stryCov_9fa48("14", "15", "16"), isMarked && (stryMutAct_9fa48("19") ? version <= SCHEMA_VERSION : stryMutAct_9fa48("18") ? version >= SCHEMA_VERSION : stryMutAct_9fa48("17") ? true : (stryCov_9fa48("17", "18", "19"), version > SCHEMA_VERSION)))) throw newerFileError(stryMutAct_9fa48("20") ? "" : (stryCov_9fa48("20"), "schema"), version, SCHEMA_VERSION);
    if (stryMutAct_9fa48("23") ? (!has("events") || !has("world")) && !has("__drizzle_migrations") : stryMutAct_9fa48("22") ? false : stryMutAct_9fa48("21") ? true : (stryCov_9fa48("21", "22", "23"), (stryMutAct_9fa48("25") ? !has("events") && !has("world") : stryMutAct_9fa48("24") ? false : (stryCov_9fa48("24", "25"), (stryMutAct_9fa48("26") ? has("events") : (stryCov_9fa48("26"), !has(stryMutAct_9fa48("27") ? "" : (stryCov_9fa48("27"), "events")))) || (stryMutAct_9fa48("28") ? has("world") : (stryCov_9fa48("28"), !has(stryMutAct_9fa48("29") ? "" : (stryCov_9fa48("29"), "world")))))) || (stryMutAct_9fa48("30") ? has("__drizzle_migrations") : (stryCov_9fa48("30"), !has(stryMutAct_9fa48("31") ? "" : (stryCov_9fa48("31"), "__drizzle_migrations")))))) {
      if (stryMutAct_9fa48("32")) {
        {}
      } else {
        stryCov_9fa48("32");
        if (stryMutAct_9fa48("35") ? isMarked && sqlite.prepare("SELECT 1 FROM sqlite_master").get() === undefined : stryMutAct_9fa48("34") ? false : stryMutAct_9fa48("33") ? true : (stryCov_9fa48("33", "34", "35"), isMarked || (stryMutAct_9fa48("37") ? sqlite.prepare("SELECT 1 FROM sqlite_master").get() !== undefined : stryMutAct_9fa48("36") ? false : (stryCov_9fa48("36", "37"), sqlite.prepare(stryMutAct_9fa48("38") ? "" : (stryCov_9fa48("38"), "SELECT 1 FROM sqlite_master")).get() === undefined)))) throw new CorruptFile(stryMutAct_9fa48("39") ? "" : (stryCov_9fa48("39"), "it is empty"));
        throw new NotAWorldFile(stryMutAct_9fa48("40") ? "" : (stryCov_9fa48("40"), "it is a database, but not one of standin's worlds"));
      }
    }
    // The first release did not mark its files.
    const expected = isMarked ? version : FIRST_VERSION;
    const migrated = number(stryMutAct_9fa48("41") ? "" : (stryCov_9fa48("41"), "SELECT count(*) FROM __drizzle_migrations"));
    if (stryMutAct_9fa48("44") ? migrated !== expected && (isMarked ? version <= FIRST_VERSION : version !== 0) : stryMutAct_9fa48("43") ? false : stryMutAct_9fa48("42") ? true : (stryCov_9fa48("42", "43", "44"), (stryMutAct_9fa48("46") ? migrated === expected : stryMutAct_9fa48("45") ? false : (stryCov_9fa48("45", "46"), migrated !== expected)) || (isMarked ? stryMutAct_9fa48("50") ? version > FIRST_VERSION : stryMutAct_9fa48("49") ? version < FIRST_VERSION : stryMutAct_9fa48("48") ? false : stryMutAct_9fa48("47") ? true : (stryCov_9fa48("47", "48", "49", "50"), version <= FIRST_VERSION) : stryMutAct_9fa48("53") ? version === 0 : stryMutAct_9fa48("52") ? false : stryMutAct_9fa48("51") ? true : (stryCov_9fa48("51", "52", "53"), version !== 0)))) throw new CorruptFile(stryMutAct_9fa48("54") ? "" : (stryCov_9fa48("54"), "its header does not match its tables"));
    if (stryMutAct_9fa48("57") ? expected !== FIRST_VERSION : stryMutAct_9fa48("56") ? false : stryMutAct_9fa48("55") ? true : (stryCov_9fa48("55", "56", "57"), expected === FIRST_VERSION)) return FIRST_VERSION;
    // Before the rest of the row, whose checksum a newer release may compute differently.
    const journalVersion = number(stryMutAct_9fa48("58") ? "" : (stryCov_9fa48("58"), "SELECT journal_version FROM history"));
    if (stryMutAct_9fa48("62") ? journalVersion <= JOURNAL_VERSION : stryMutAct_9fa48("61") ? journalVersion >= JOURNAL_VERSION : stryMutAct_9fa48("60") ? false : stryMutAct_9fa48("59") ? true : (stryCov_9fa48("59", "60", "61", "62"), journalVersion > JOURNAL_VERSION)) throw newerFileError(stryMutAct_9fa48("63") ? "" : (stryCov_9fa48("63"), "journal"), journalVersion, JOURNAL_VERSION);
    readHistoryRow(sqlite);
    return version;
  }
}

/**
 * Marks a file as a world of the current version. Call it in the transaction that creates or upgrades the
 * tables.
 */
export function markVersion(sqlite: BetterSqlite3.Database): void {
  if (stryMutAct_9fa48("64")) {
    {}
  } else {
    stryCov_9fa48("64");
    sqlite.exec(stryMutAct_9fa48("65") ? `` : (stryCov_9fa48("65"), `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`));
  }
}
function newerFileError(what: string, version: number, known: number): NewerFile {
  if (stryMutAct_9fa48("66")) {
    {}
  } else {
    stryCov_9fa48("66");
    return new NewerFile(stryMutAct_9fa48("67") ? `` : (stryCov_9fa48("67"), `it was written by a newer standin: its ${what} has version ${version}, this release supports up to ${known}. Use that release, or another --data directory`));
  }
}