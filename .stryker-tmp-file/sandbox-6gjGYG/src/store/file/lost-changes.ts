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
import { copyFileSync, existsSync, renameSync } from "node:fs";
import { basename, dirname } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { asCorruptFile, CorruptFile } from "../journal/journal-checksum.ts";
import { readHistoryRow } from "../journal/journal-row.ts";
import { FIRST_VERSION, schemaVersionOf } from "../tables/format-version.ts";
import { makeDirectory } from "./atomic-file.ts";
import { headMarkPath, readHeadMark } from "./head-mark.ts";
import { checkpointWal, connectReadOnly, removeEmptyWal } from "./sqlite-connection.ts";
import { findWalDamage, walPath } from "./wal-file.ts";

/** Changes that were acknowledged are missing from a world's files, for example with a lost log. */
export class LostChanges extends CorruptFile {
  override readonly name = stryMutAct_9fa48("326") ? "" : (stryCov_9fa48("326"), "LostChanges");
}

/** Throws `LostChanges` if changes are missing from the file at `path`. Changes nothing. */
export function checkForLoss(path: string): void {
  if (stryMutAct_9fa48("327")) {
    {}
  } else {
    stryCov_9fa48("327");
    const [loss] = findLosses(path);
    if (stryMutAct_9fa48("330") ? loss === undefined : stryMutAct_9fa48("329") ? false : stryMutAct_9fa48("328") ? true : (stryCov_9fa48("328", "329", "330"), loss !== undefined)) throw new LostChanges(loss);
  }
}

/**
 * Describes what is missing from a world's files: commits after a damaged place of the write-ahead log, and
 * commits up to the head mark. A file without a mark, such as one of an older release, has only the first.
 */
export function findLosses(path: string): string[] {
  if (stryMutAct_9fa48("331")) {
    {}
  } else {
    stryCov_9fa48("331");
    const mark = readHeadMark(path);
    const name = basename(path);
    if (stryMutAct_9fa48("334") ? false : stryMutAct_9fa48("333") ? true : stryMutAct_9fa48("332") ? existsSync(path) : (stryCov_9fa48("332", "333", "334"), !existsSync(path))) {
      if (stryMutAct_9fa48("335")) {
        {}
      } else {
        stryCov_9fa48("335");
        if (stryMutAct_9fa48("338") ? mark !== undefined : stryMutAct_9fa48("337") ? false : stryMutAct_9fa48("336") ? true : (stryCov_9fa48("336", "337", "338"), mark === undefined)) return stryMutAct_9fa48("339") ? ["Stryker was here"] : (stryCov_9fa48("339"), []);
        return stryMutAct_9fa48("340") ? [] : (stryCov_9fa48("340"), [stryMutAct_9fa48("341") ? `` : (stryCov_9fa48("341"), `${name} is missing, and its last acknowledged event is ${mark.seq}. To begin a new world, also delete ${basename(headMarkPath(path))}`)]);
      }
    }
    const damage = findWalDamage(path);
    const losses = (stryMutAct_9fa48("344") ? damage !== undefined : stryMutAct_9fa48("343") ? false : stryMutAct_9fa48("342") ? true : (stryCov_9fa48("342", "343", "344"), damage === undefined)) ? stryMutAct_9fa48("345") ? ["Stryker was here"] : (stryCov_9fa48("345"), []) : stryMutAct_9fa48("346") ? [] : (stryCov_9fa48("346"), [stryMutAct_9fa48("347") ? `` : (stryCov_9fa48("347"), `the write-ahead log ${basename(walPath(path))} is damaged at byte ${damage.atByte}, and at least ${damage.unreadableCommits} commits after it cannot be read`)]);
    if (stryMutAct_9fa48("350") ? mark !== undefined : stryMutAct_9fa48("349") ? false : stryMutAct_9fa48("348") ? true : (stryCov_9fa48("348", "349", "350"), mark === undefined)) return losses;
    const sqlite = connectReadOnly(path);
    try {
      if (stryMutAct_9fa48("351")) {
        {}
      } else {
        stryCov_9fa48("351");
        if (stryMutAct_9fa48("354") ? schemaVersionOf(sqlite) !== FIRST_VERSION : stryMutAct_9fa48("353") ? false : stryMutAct_9fa48("352") ? true : (stryCov_9fa48("352", "353", "354"), schemaVersionOf(sqlite) === FIRST_VERSION)) return losses;
        const {
          historyId,
          forgottenSeq
        } = readHistoryRow(sqlite);
        if (stryMutAct_9fa48("357") ? historyId === mark.historyId : stryMutAct_9fa48("356") ? false : stryMutAct_9fa48("355") ? true : (stryCov_9fa48("355", "356", "357"), historyId !== mark.historyId)) return losses;
        const head = readHead(sqlite);
        const log = stryMutAct_9fa48("358") ? `` : (stryCov_9fa48("358"), `; the write-ahead log ${basename(walPath(path))} is lost or damaged, or ${name} was replaced by an older file`);
        if (stryMutAct_9fa48("362") ? head.seq >= mark.seq : stryMutAct_9fa48("361") ? head.seq <= mark.seq : stryMutAct_9fa48("360") ? false : stryMutAct_9fa48("359") ? true : (stryCov_9fa48("359", "360", "361", "362"), head.seq < mark.seq)) losses.push(stryMutAct_9fa48("363") ? `` : (stryCov_9fa48("363"), `the file ends at event ${head.seq}, but event ${mark.seq} was acknowledged, so ${stryMutAct_9fa48("364") ? mark.seq + head.seq : (stryCov_9fa48("364"), mark.seq - head.seq)} events are missing${log}`));else if (stryMutAct_9fa48("368") ? head.now >= mark.now : stryMutAct_9fa48("367") ? head.now <= mark.now : stryMutAct_9fa48("366") ? false : stryMutAct_9fa48("365") ? true : (stryCov_9fa48("365", "366", "367", "368"), head.now < mark.now)) losses.push(stryMutAct_9fa48("369") ? `` : (stryCov_9fa48("369"), `the file ends at ${instant(head.now)}, but its clock had reached ${instant(mark.now)}${log}`));else if (stryMutAct_9fa48("372") ? mark.seq > forgottenSeq || chainAt(sqlite, mark.seq) !== mark.chain : stryMutAct_9fa48("371") ? false : stryMutAct_9fa48("370") ? true : (stryCov_9fa48("370", "371", "372"), (stryMutAct_9fa48("375") ? mark.seq <= forgottenSeq : stryMutAct_9fa48("374") ? mark.seq >= forgottenSeq : stryMutAct_9fa48("373") ? true : (stryCov_9fa48("373", "374", "375"), mark.seq > forgottenSeq)) && (stryMutAct_9fa48("377") ? chainAt(sqlite, mark.seq) === mark.chain : stryMutAct_9fa48("376") ? true : (stryCov_9fa48("376", "377"), chainAt(sqlite, mark.seq) !== mark.chain)))) losses.push(stryMutAct_9fa48("378") ? `` : (stryCov_9fa48("378"), `event ${mark.seq} is not the one that was acknowledged${log}`));
        return losses;
      }
    } catch (error) {
      if (stryMutAct_9fa48("379")) {
        {}
      } else {
        stryCov_9fa48("379");
        throw asCorruptFile(error);
      }
    } finally {
      if (stryMutAct_9fa48("380")) {
        {}
      } else {
        stryCov_9fa48("380");
        sqlite.close();
      }
    }
  }
}

/**
 * Copies a log that SQLite cannot read completely before it is overwritten. Calls `onLoss` with what is missing.
 */
export function preserveDamagedWal(path: string, onLoss: (missing: readonly string[]) => void): void {
  if (stryMutAct_9fa48("381")) {
    {}
  } else {
    stryCov_9fa48("381");
    const losses = findLosses(path);
    if (stryMutAct_9fa48("384") ? losses.length !== 0 : stryMutAct_9fa48("383") ? false : stryMutAct_9fa48("382") ? true : (stryCov_9fa48("382", "383", "384"), losses.length === 0)) return;
    if (stryMutAct_9fa48("386") ? false : stryMutAct_9fa48("385") ? true : (stryCov_9fa48("385", "386"), existsSync(walPath(path)))) copyFileSync(walPath(path), stryMutAct_9fa48("387") ? `` : (stryCov_9fa48("387"), `${walPath(path)}.damaged`));
    onLoss(losses);
  }
}

/**
 * Checkpoints the log of a file that is about to be replaced and preserved at `preservedAs`. The log of a
 * damaged file, which SQLite would apply to the new one, is preserved with it.
 */
export function checkpointOrPreserveWal(path: string, preservedAs: string): void {
  if (stryMutAct_9fa48("388")) {
    {}
  } else {
    stryCov_9fa48("388");
    try {
      if (stryMutAct_9fa48("389")) {
        {}
      } else {
        stryCov_9fa48("389");
        checkpointWal(path);
      }
    } catch (error) {
      if (stryMutAct_9fa48("390")) {
        {}
      } else {
        stryCov_9fa48("390");
        if (stryMutAct_9fa48("393") ? false : stryMutAct_9fa48("392") ? true : stryMutAct_9fa48("391") ? asCorruptFile(error) instanceof CorruptFile : (stryCov_9fa48("391", "392", "393"), !(asCorruptFile(error) instanceof CorruptFile))) throw error;
        if (stryMutAct_9fa48("395") ? false : stryMutAct_9fa48("394") ? true : (stryCov_9fa48("394", "395"), removeEmptyWal(path))) return;
        makeDirectory(dirname(preservedAs));
        renameSync(walPath(path), walPath(preservedAs));
      }
    }
  }
}
function readHead(sqlite: BetterSqlite3.Database): {
  readonly seq: number;
  readonly now: number;
} {
  if (stryMutAct_9fa48("396")) {
    {}
  } else {
    stryCov_9fa48("396");
    return stryMutAct_9fa48("397") ? sqlite.prepare<[], {
      seq: number;
      now: number;
    }>("SELECT seq, now FROM world").get() && {
      seq: 0,
      now: Number.NEGATIVE_INFINITY
    } : (stryCov_9fa48("397"), sqlite.prepare<[], {
      seq: number;
      now: number;
    }>(stryMutAct_9fa48("398") ? "" : (stryCov_9fa48("398"), "SELECT seq, now FROM world")).get() ?? (stryMutAct_9fa48("399") ? {} : (stryCov_9fa48("399"), {
      seq: 0,
      now: Number.NEGATIVE_INFINITY
    })));
  }
}
function chainAt(sqlite: BetterSqlite3.Database, seq: number): number | undefined {
  if (stryMutAct_9fa48("400")) {
    {}
  } else {
    stryCov_9fa48("400");
    return sqlite.prepare<[number], number>(stryMutAct_9fa48("401") ? "" : (stryCov_9fa48("401"), "SELECT chain FROM events WHERE seq = ?")).pluck().get(seq);
  }
}
function instant(at: number): string {
  if (stryMutAct_9fa48("402")) {
    {}
  } else {
    stryCov_9fa48("402");
    return Number.isFinite(at) ? new Date(at).toISOString() : stryMutAct_9fa48("403") ? "" : (stryCov_9fa48("403"), "the beginning");
  }
}