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
import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { type BranchData, copyBranchData } from "../../platform/branch-data/branch-data.ts";
import { hasOwner } from "../../platform/branch-data/evolve-branch-data.ts";
import type { Change } from "../../platform/core/change-set.ts";
import { JOURNALED_TABLES } from "../../platform/core/tables.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { Operation } from "../../platform/operation/operation.ts";
import { foldOperation, isTerminal } from "../../simulation/fold-operation.ts";
import type { HistoryOrigin } from "../../simulation/journal.ts";
import type { ClockMode, ClockState } from "../../simulation/world-clock.ts";
import { CorruptFile, checksumOf } from "../journal/journal-checksum.ts";
import { readHistoryRow, writeHistoryRow } from "../journal/journal-row.ts";
import { RequestRows } from "../journal/request-rows.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { prepareReader, RowWriter, tableName } from "../tables/stored-tables.ts";
import { connectToCurrent, type OpenOptions, readWorldRow, type WorldRow } from "./open-world.ts";
import { checkpointAndClose } from "./sqlite-connection.ts";

/** How a copy of a world's file differs from its origin. */
export type DivergenceOptions = {
  readonly historyId: string;
  /** The world that it was copied from. */
  readonly originWorld: string;
  /** The clock continues from the instant of the copy; mode and factor default to those of the origin. */
  readonly clock: {
    readonly mode?: ClockMode;
    readonly factor?: number;
    readonly wallNow: number;
  };
  /** Rewinds the copy to an earlier point; `world` is the world at that point. */
  readonly rewindTo?: {
    readonly at: SimTime;
    readonly world: World;
  };
};

/** Number of rows deleted or written between two pauses. */
const ROWS_PER_PORTION = 2_000;

/** Turns a copy that is not open into a history of its own. If this fails, the copy must be discarded. */
export async function divergeCopy(path: string, options: OpenOptions, {
  historyId,
  originWorld,
  clock,
  rewindTo
}: DivergenceOptions): Promise<void> {
  if (stryMutAct_9fa48("172")) {
    {}
  } else {
    stryCov_9fa48("172");
    const sqlite = connectToCurrent(path, options);
    try {
      if (stryMutAct_9fa48("173")) {
        {}
      } else {
        stryCov_9fa48("173");
        // An unfinished copy is never read, and it is synced before it is moved into place.
        sqlite.exec(stryMutAct_9fa48("174") ? "" : (stryCov_9fa48("174"), "PRAGMA synchronous = OFF"));
        const row = readWorldRow(sqlite);
        if (stryMutAct_9fa48("177") ? row !== undefined : stryMutAct_9fa48("176") ? false : stryMutAct_9fa48("175") ? true : (stryCov_9fa48("175", "176", "177"), row === undefined)) throw new CorruptFile(stryMutAct_9fa48("178") ? "" : (stryCov_9fa48("178"), "there is no world in this file"));
        const history = readHistoryRow(sqlite);
        const now = stryMutAct_9fa48("179") ? rewindTo?.at && row.now : (stryCov_9fa48("179"), (stryMutAct_9fa48("180") ? rewindTo.at : (stryCov_9fa48("180"), rewindTo?.at)) ?? row.now);
        const rewound = (stryMutAct_9fa48("183") ? rewindTo !== undefined : stryMutAct_9fa48("182") ? false : stryMutAct_9fa48("181") ? true : (stryCov_9fa48("181", "182", "183"), rewindTo === undefined)) ? row : await rewindHistory(sqlite, row, rewindTo.world, now);
        const origin: HistoryOrigin = stryMutAct_9fa48("184") ? {} : (stryCov_9fa48("184"), {
          world: originWorld,
          historyId: history.historyId,
          seq: rewound.seq,
          at: now
        });
        const mode = stryMutAct_9fa48("185") ? clock.mode && row.clock.mode : (stryCov_9fa48("185"), clock.mode ?? row.clock.mode);
        const state: ClockState = stryMutAct_9fa48("186") ? {} : (stryCov_9fa48("186"), {
          mode,
          factor: stryMutAct_9fa48("187") ? clock.factor && row.clock.factor : (stryCov_9fa48("187"), clock.factor ?? row.clock.factor),
          simAnchor: now,
          wallAnchor: clock.wallNow
        });
        const readBranchData = prepareReader<BranchData>(sqlite, stryMutAct_9fa48("188") ? "" : (stryCov_9fa48("188"), "branchData"));
        const writer = new RowWriter(sqlite);
        sqlite.transaction(() => {
          if (stryMutAct_9fa48("189")) {
            {}
          } else {
            stryCov_9fa48("189");
            for (const data of readBranchData()) {
              if (stryMutAct_9fa48("190")) {
                {}
              } else {
                stryCov_9fa48("190");
                const value = (stryMutAct_9fa48("193") ? rewindTo?.world === undefined && hasOwner(rewindTo.world, data.id) : stryMutAct_9fa48("192") ? false : stryMutAct_9fa48("191") ? true : (stryCov_9fa48("191", "192", "193"), (stryMutAct_9fa48("195") ? rewindTo?.world !== undefined : stryMutAct_9fa48("194") ? false : (stryCov_9fa48("194", "195"), (stryMutAct_9fa48("196") ? rewindTo.world : (stryCov_9fa48("196"), rewindTo?.world)) === undefined)) || hasOwner(rewindTo.world, data.id))) ? data : undefined;
                writer.write(stryMutAct_9fa48("197") ? {} : (stryCov_9fa48("197"), {
                  table: stryMutAct_9fa48("198") ? "" : (stryCov_9fa48("198"), "branchData"),
                  key: data.id,
                  value: stryMutAct_9fa48("201") ? value || copyBranchData(value, now, rewindTo === undefined) : stryMutAct_9fa48("200") ? false : stryMutAct_9fa48("199") ? true : (stryCov_9fa48("199", "200", "201"), value && copyBranchData(value, now, stryMutAct_9fa48("204") ? rewindTo !== undefined : stryMutAct_9fa48("203") ? false : stryMutAct_9fa48("202") ? true : (stryCov_9fa48("202", "203", "204"), rewindTo === undefined)))
                }));
              }
            }
            writeWorldRow(sqlite, stryMutAct_9fa48("205") ? {} : (stryCov_9fa48("205"), {
              ...rewound,
              clock: state,
              now
            }));
            writeHistoryRow(sqlite, stryMutAct_9fa48("206") ? {} : (stryCov_9fa48("206"), {
              ...history,
              historyId,
              origin
            }));
          }
        })();
      }
    } finally {
      if (stryMutAct_9fa48("207")) {
        {}
      } else {
        stryCov_9fa48("207");
        checkpointAndClose(sqlite);
      }
    }
  }
}

/** Restores events, checkpoints and tables to their state at `world.seq`. */
async function rewindHistory(sqlite: BetterSqlite3.Database, row: WorldRow, world: World, now: SimTime): Promise<WorldRow> {
  if (stryMutAct_9fa48("208")) {
    {}
  } else {
    stryCov_9fa48("208");
    const {
      seq,
      at,
      settings,
      numbers
    } = world;
    const journal = new SqliteJournal(sqlite, row);
    const wasReset = stryMutAct_9fa48("211") ? sqlite.prepare("SELECT 1 FROM events WHERE seq > ? AND type = 'WorldReset' LIMIT 1").get(seq) === undefined : stryMutAct_9fa48("210") ? false : stryMutAct_9fa48("209") ? true : (stryCov_9fa48("209", "210", "211"), sqlite.prepare(stryMutAct_9fa48("212") ? "" : (stryCov_9fa48("212"), "SELECT 1 FROM events WHERE seq > ? AND type = 'WorldReset' LIMIT 1")).get(seq) !== undefined);
    // A reset has deleted the finished operations from their table; they remain only in the events.
    const finished = wasReset ? finishedOperations(journal, seq) : stryMutAct_9fa48("213") ? ["Stryker was here"] : (stryCov_9fa48("213"), []);
    const chain = journal.chainAt(seq);
    if (stryMutAct_9fa48("216") ? chain !== undefined : stryMutAct_9fa48("215") ? false : stryMutAct_9fa48("214") ? true : (stryCov_9fa48("214", "215", "216"), chain === undefined)) throw new CorruptFile(stryMutAct_9fa48("217") ? `` : (stryCov_9fa48("217"), `event ${seq} is missing`));
    sqlite.prepare(stryMutAct_9fa48("218") ? "" : (stryCov_9fa48("218"), "DELETE FROM checkpoints WHERE seq > ?")).run(seq);
    sqlite.prepare(stryMutAct_9fa48("219") ? "" : (stryCov_9fa48("219"), "DELETE FROM api_key_uses WHERE last_used_at > ?")).run(now);
    new RequestRows(sqlite).deleteAfter(now);
    await deleteRows(sqlite, stryMutAct_9fa48("220") ? "" : (stryCov_9fa48("220"), "events"), stryMutAct_9fa48("221") ? `` : (stryCov_9fa48("221"), `seq > ${seq}`));
    for (const name of JOURNALED_TABLES) {
      if (stryMutAct_9fa48("222")) {
        {}
      } else {
        stryCov_9fa48("222");
        const isHistory = stryMutAct_9fa48("225") ? name === "operations" || !wasReset : stryMutAct_9fa48("224") ? false : stryMutAct_9fa48("223") ? true : (stryCov_9fa48("223", "224", "225"), (stryMutAct_9fa48("227") ? name !== "operations" : stryMutAct_9fa48("226") ? true : (stryCov_9fa48("226", "227"), name === (stryMutAct_9fa48("228") ? "" : (stryCov_9fa48("228"), "operations")))) && (stryMutAct_9fa48("229") ? wasReset : (stryCov_9fa48("229"), !wasReset)));
        await deleteRows(sqlite, tableName(name), isHistory ? stryMutAct_9fa48("230") ? `` : (stryCov_9fa48("230"), `number > ${numbers.operation}`) : stryMutAct_9fa48("231") ? "" : (stryCov_9fa48("231"), "true"));
        await writeRows(sqlite, (stryMutAct_9fa48("232") ? [] : (stryCov_9fa48("232"), [...world[name].entries()])).map(stryMutAct_9fa48("233") ? () => undefined : (stryCov_9fa48("233"), ([key, value]) => stryMutAct_9fa48("234") ? {} : (stryCov_9fa48("234"), {
          table: name,
          key,
          value
        }))));
      }
    }
    await writeRows(sqlite, finished.map(stryMutAct_9fa48("235") ? () => undefined : (stryCov_9fa48("235"), operation => stryMutAct_9fa48("236") ? {} : (stryCov_9fa48("236"), {
      table: stryMutAct_9fa48("237") ? "" : (stryCov_9fa48("237"), "operations"),
      key: operation.id,
      value: operation
    }))));
    return stryMutAct_9fa48("238") ? {} : (stryCov_9fa48("238"), {
      ...row,
      settings,
      numbers,
      seq,
      at,
      chain
    });
  }
}
async function deleteRows(sqlite: BetterSqlite3.Database, table: string, where: string): Promise<void> {
  if (stryMutAct_9fa48("239")) {
    {}
  } else {
    stryCov_9fa48("239");
    const deletePortion = sqlite.prepare(stryMutAct_9fa48("240") ? `` : (stryCov_9fa48("240"), `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${where} ORDER BY rowid DESC LIMIT ${ROWS_PER_PORTION})`));
    while (stryMutAct_9fa48("243") ? deletePortion.run().changes <= 0 : stryMutAct_9fa48("242") ? deletePortion.run().changes >= 0 : stryMutAct_9fa48("241") ? false : (stryCov_9fa48("241", "242", "243"), deletePortion.run().changes > 0)) await nextTurn();
  }
}
async function writeRows(sqlite: BetterSqlite3.Database, changes: readonly Change[]): Promise<void> {
  if (stryMutAct_9fa48("244")) {
    {}
  } else {
    stryCov_9fa48("244");
    const writer = new RowWriter(sqlite);
    const writePortion = sqlite.transaction((portion: readonly Change[]) => {
      if (stryMutAct_9fa48("245")) {
        {}
      } else {
        stryCov_9fa48("245");
        for (const change of portion) writer.write(change);
      }
    });
    for (let from = 0; stryMutAct_9fa48("248") ? from >= changes.length : stryMutAct_9fa48("247") ? from <= changes.length : stryMutAct_9fa48("246") ? false : (stryCov_9fa48("246", "247", "248"), from < changes.length); stryMutAct_9fa48("249") ? from -= ROWS_PER_PORTION : (stryCov_9fa48("249"), from += ROWS_PER_PORTION)) {
      if (stryMutAct_9fa48("250")) {
        {}
      } else {
        stryCov_9fa48("250");
        writePortion(stryMutAct_9fa48("251") ? changes : (stryCov_9fa48("251"), changes.slice(from, stryMutAct_9fa48("252") ? from - ROWS_PER_PORTION : (stryCov_9fa48("252"), from + ROWS_PER_PORTION))));
        await nextTurn();
      }
    }
  }
}
function finishedOperations(journal: SqliteJournal, upTo: number): Operation[] {
  if (stryMutAct_9fa48("253")) {
    {}
  } else {
    stryCov_9fa48("253");
    const operations = new Map<string, Operation>();
    for (const operation of (journal.checkpointBefore({
      seq: journal.oldest.seq
    }).tables["operations"] ?? []) as Operation[]) {
      if (stryMutAct_9fa48("254")) {
        {}
      } else {
        stryCov_9fa48("254");
        operations.set(operation.id, operation);
      }
    }
    for (let seq = journal.oldest.seq; stryMutAct_9fa48("257") ? seq >= upTo : stryMutAct_9fa48("256") ? seq <= upTo : stryMutAct_9fa48("255") ? false : (stryCov_9fa48("255", "256", "257"), seq < upTo);) {
      if (stryMutAct_9fa48("258")) {
        {}
      } else {
        stryCov_9fa48("258");
        for (const event of journal.events(seq, stryMutAct_9fa48("259") ? Math.max(upTo - seq, 5_000) : (stryCov_9fa48("259"), Math.min(stryMutAct_9fa48("260") ? upTo + seq : (stryCov_9fa48("260"), upTo - seq), 5_000)))) {
          if (stryMutAct_9fa48("261")) {
            {}
          } else {
            stryCov_9fa48("261");
            foldOperation(operations, event);
            seq = event.seq;
          }
        }
      }
    }
    return stryMutAct_9fa48("262") ? [...operations.values()] : (stryCov_9fa48("262"), (stryMutAct_9fa48("263") ? [] : (stryCov_9fa48("263"), [...operations.values()])).filter(stryMutAct_9fa48("264") ? () => undefined : (stryCov_9fa48("264"), ({
      state
    }) => isTerminal(state))));
  }
}
function writeWorldRow(sqlite: BetterSqlite3.Database, {
  settings,
  numbers,
  clock,
  seq,
  at,
  now,
  chain
}: WorldRow): void {
  if (stryMutAct_9fa48("265")) {
    {}
  } else {
    stryCov_9fa48("265");
    const values = stryMutAct_9fa48("266") ? [] : (stryCov_9fa48("266"), [JSON.stringify(settings), JSON.stringify(numbers), JSON.stringify(clock), seq, at, now, chain]);
    sqlite.prepare(stryMutAct_9fa48("267") ? "" : (stryCov_9fa48("267"), "UPDATE world SET settings = ?, numbers = ?, clock = ?, seq = ?, at = ?, now = ?, chain = ?, checksum = ?")).run(...values, checksumOf(values));
  }
}