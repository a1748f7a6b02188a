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
import type { BranchData } from "../../platform/branch-data/branch-data.ts";
import { asCorruptFile } from "../journal/journal-checksum.ts";
import { readHistoryRow } from "../journal/journal-row.ts";
import { schemaVersionOf } from "../tables/format-version.ts";
import { prepareReader } from "../tables/stored-tables.ts";
import { readWorldRow } from "./open-world.ts";
import { connect, connectReadOnly } from "./sqlite-connection.ts";

/** Summary of a world's file; `error` when it cannot be read. */
type FileInfo = {
  readonly historyId: string;
  readonly seq: number;
  readonly now: number;
  readonly error?: string;
};

/** Turns a copy of a world's file into a snapshot: a single file, and reading it creates no `-wal` file. */
export function finalizeSnapshot(path: string): void {
  if (stryMutAct_9fa48("1086")) {
    {}
  } else {
    stryCov_9fa48("1086");
    const sqlite = connect(path);
    try {
      if (stryMutAct_9fa48("1087")) {
        {}
      } else {
        stryCov_9fa48("1087");
        sqlite.exec(stryMutAct_9fa48("1088") ? "" : (stryCov_9fa48("1088"), "PRAGMA journal_mode = DELETE"));
      }
    } finally {
      if (stryMutAct_9fa48("1089")) {
        {}
      } else {
        stryCov_9fa48("1089");
        sqlite.close();
      }
    }
  }
}

/** Reads the summary of a file that is not open. */
export function readFileInfo(path: string): FileInfo {
  if (stryMutAct_9fa48("1090")) {
    {}
  } else {
    stryCov_9fa48("1090");
    const unknown = stryMutAct_9fa48("1091") ? {} : (stryCov_9fa48("1091"), {
      historyId: stryMutAct_9fa48("1092") ? "Stryker was here!" : (stryCov_9fa48("1092"), ""),
      seq: 0,
      now: 0
    });
    try {
      if (stryMutAct_9fa48("1093")) {
        {}
      } else {
        stryCov_9fa48("1093");
        const sqlite = connectReadOnly(path);
        try {
          if (stryMutAct_9fa48("1094")) {
            {}
          } else {
            stryCov_9fa48("1094");
            const isOlder = stryMutAct_9fa48("1097") ? schemaVersionOf(sqlite) !== 1 : stryMutAct_9fa48("1096") ? false : stryMutAct_9fa48("1095") ? true : (stryCov_9fa48("1095", "1096", "1097"), schemaVersionOf(sqlite) === 1);
            if (stryMutAct_9fa48("1099") ? false : stryMutAct_9fa48("1098") ? true : (stryCov_9fa48("1098", "1099"), isOlder)) return stryMutAct_9fa48("1100") ? {} : (stryCov_9fa48("1100"), {
              ...unknown,
              ...sqlite.prepare<[], {
                seq: number;
                now: number;
              }>(stryMutAct_9fa48("1101") ? "" : (stryCov_9fa48("1101"), "SELECT seq, now FROM world")).get()
            });
            const {
              seq = 0,
              now = 0
            } = stryMutAct_9fa48("1102") ? readWorldRow(sqlite) && {} : (stryCov_9fa48("1102"), readWorldRow(sqlite) ?? {});
            return stryMutAct_9fa48("1103") ? {} : (stryCov_9fa48("1103"), {
              historyId: readHistoryRow(sqlite).historyId,
              seq,
              now
            });
          }
        } finally {
          if (stryMutAct_9fa48("1104")) {
            {}
          } else {
            stryCov_9fa48("1104");
            sqlite.close();
          }
        }
      }
    } catch (error) {
      if (stryMutAct_9fa48("1105")) {
        {}
      } else {
        stryCov_9fa48("1105");
        const cause = asCorruptFile(error);
        return stryMutAct_9fa48("1106") ? {} : (stryCov_9fa48("1106"), {
          ...unknown,
          error: cause instanceof Error ? cause.message : String(cause)
        });
      }
    }
  }
}

/** The first version of the tables with references to the data of branches. */
const BRANCH_DATA_VERSION = 5;

/** Where the data of the branches is, in a file that is not open. Throws if the file cannot be read. */
export function readBranchData(path: string): BranchData[] {
  if (stryMutAct_9fa48("1107")) {
    {}
  } else {
    stryCov_9fa48("1107");
    const sqlite = connectReadOnly(path);
    try {
      if (stryMutAct_9fa48("1108")) {
        {}
      } else {
        stryCov_9fa48("1108");
        if (stryMutAct_9fa48("1112") ? schemaVersionOf(sqlite) >= BRANCH_DATA_VERSION : stryMutAct_9fa48("1111") ? schemaVersionOf(sqlite) <= BRANCH_DATA_VERSION : stryMutAct_9fa48("1110") ? false : stryMutAct_9fa48("1109") ? true : (stryCov_9fa48("1109", "1110", "1111", "1112"), schemaVersionOf(sqlite) < BRANCH_DATA_VERSION)) return stryMutAct_9fa48("1113") ? ["Stryker was here"] : (stryCov_9fa48("1113"), []);
        return prepareReader<BranchData>(sqlite, stryMutAct_9fa48("1114") ? "" : (stryCov_9fa48("1114"), "branchData"))();
      }
    } finally {
      if (stryMutAct_9fa48("1115")) {
        {}
      } else {
        stryCov_9fa48("1115");
        sqlite.close();
      }
    }
  }
}