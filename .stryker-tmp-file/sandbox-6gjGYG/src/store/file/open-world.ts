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
import { existsSync, statSync } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { TABLE_NAMES, type TableName } from "../../platform/core/tables.ts";
import type { SimTime } from "../../platform/core/time.ts";
import { emptyWorld, NO_NUMBERS, type Numbers, type World } from "../../platform/core/world.ts";
import type { WorldSettings } from "../../platform/core/world-settings.ts";
import type { HourlyUsage } from "../../platform/usage/usage-totals.ts";
import type { ClockState } from "../../simulation/world-clock.ts";
import { asCorruptFile, CorruptFile, checksumOf } from "../journal/journal-checksum.ts";
import { readHistoryRow } from "../journal/journal-row.ts";
import { type JournalHead, SqliteJournal } from "../journal/sqlite-journal.ts";
import { SCHEMA_VERSION, schemaVersionOf } from "../tables/format-version.ts";
import { prepareReader, readAllRows, tableName } from "../tables/stored-tables.ts";
import { syncEntry } from "./atomic-file.ts";
import { copyDatabase, whilePinned } from "./copy.ts";
import { HeadMark } from "./head-mark.ts";
import { checkForLoss, preserveDamagedWal } from "./lost-changes.ts";
import { checkpoint, checkpointAndClose, connect, connectReadOnly } from "./sqlite-connection.ts";
import { createFile, markJournalVersion, upgradeFile } from "./upgrade.ts";
import { makeWalDurable } from "./wal-file.ts";

/** An open world's file: the world loaded from its tables, and the journal that keeps the tables current. */
export type Store = {
  readonly journal: SqliteJournal;
  readonly world: World;
  /** Where the clock continues; absent for a world that has not been created yet. */
  readonly clock?: {
    readonly state: ClockState;
    readonly now: SimTime;
  };
  readonly historyId: string;
  /** Copies the file while it stays in use. Later commits are not in the copy. */
  readonly copyTo: (path: string) => Promise<void>;
  /** Runs work while the file does not change and its log only grows. */
  readonly whilePinned: (work: () => Promise<void>) => Promise<void>;
  readonly walBytes: () => number;
  /** Moves everything from the write-ahead log into the file, so that a lost log would lose nothing. */
  readonly checkpoint: () => void;
  readonly close: () => void;
};
export type OpenOptions = {
  /** The folder of drizzle-kit's output. */
  readonly migrationsFolder: string;
  /** Where to keep the original file when a file of an older release is upgraded. */
  readonly backupPath?: string;
  /** Called after an upgrade. */
  readonly onUpgrade?: () => void;
  /** Another program checkpoints the write-ahead log, such as one that replicates it. */
  readonly leavesLog?: boolean;
  /** Opens the file even if acknowledged changes are missing. Called with what is missing, if anything. */
  readonly onAcceptedLoss?: ((missing: readonly string[]) => void) | undefined;
  /** Marks the acknowledged head beside the file, for a world in service. */
  readonly marksHead?: boolean;
  /** Throws if the file must not be written any more. */
  readonly checkUsable?: () => void;
  /** Default: `FULL_CHECK_MAX_BYTES`. */
  readonly fullCheckMaxBytes?: number;
};

/** The state of a world outside its tables. */
export type WorldRow = JournalHead & {
  readonly settings: WorldSettings;
  readonly numbers: Numbers;
  readonly clock: ClockState;
  readonly now: SimTime;
};

/**
 * Opens or creates the file at `path` and upgrades it to the current schema. Throws if the file is not a
 * world, is damaged, or was written by a newer release.
 */
export function openStore(path: string, {
  fullCheckMaxBytes = FULL_CHECK_MAX_BYTES,
  ...options
}: OpenOptions): Store {
  if (stryMutAct_9fa48("435")) {
    {}
  } else {
    stryCov_9fa48("435");
    const sqlite = connectToCurrent(path, options);
    const {
      leavesLog = stryMutAct_9fa48("436") ? true : (stryCov_9fa48("436"), false)
    } = options;
    try {
      if (stryMutAct_9fa48("437")) {
        {}
      } else {
        stryCov_9fa48("437");
        const isChecked = stryMutAct_9fa48("441") ? statSync(path).size > fullCheckMaxBytes : stryMutAct_9fa48("440") ? statSync(path).size < fullCheckMaxBytes : stryMutAct_9fa48("439") ? false : stryMutAct_9fa48("438") ? true : (stryCov_9fa48("438", "439", "440", "441"), statSync(path).size <= fullCheckMaxBytes);
        checkStructure(sqlite, isChecked);
        markJournalVersion(sqlite);
        const world = emptyWorld();
        const row = readWorldRow(sqlite);
        if (stryMutAct_9fa48("444") ? row === undefined : stryMutAct_9fa48("443") ? false : stryMutAct_9fa48("442") ? true : (stryCov_9fa48("442", "443", "444"), row !== undefined)) load(sqlite, world, row, stryMutAct_9fa48("445") ? isChecked : (stryCov_9fa48("445"), !isChecked));else if (stryMutAct_9fa48("448") ? sqlite.prepare("SELECT 1 FROM events").get() !== undefined && readHistoryRow(sqlite).forgottenSeq > 0 : stryMutAct_9fa48("447") ? false : stryMutAct_9fa48("446") ? true : (stryCov_9fa48("446", "447", "448"), (stryMutAct_9fa48("450") ? sqlite.prepare("SELECT 1 FROM events").get() === undefined : stryMutAct_9fa48("449") ? false : (stryCov_9fa48("449", "450"), sqlite.prepare(stryMutAct_9fa48("451") ? "" : (stryCov_9fa48("451"), "SELECT 1 FROM events")).get() !== undefined)) || (stryMutAct_9fa48("454") ? readHistoryRow(sqlite).forgottenSeq <= 0 : stryMutAct_9fa48("453") ? readHistoryRow(sqlite).forgottenSeq >= 0 : stryMutAct_9fa48("452") ? false : (stryCov_9fa48("452", "453", "454"), readHistoryRow(sqlite).forgottenSeq > 0)))) {
          if (stryMutAct_9fa48("455")) {
            {}
          } else {
            stryCov_9fa48("455");
            throw new CorruptFile(stryMutAct_9fa48("456") ? "" : (stryCov_9fa48("456"), "the world row is missing"));
          }
        }
        const {
          historyId
        } = readHistoryRow(sqlite);
        let mark: HeadMark | undefined;
        const journal = new SqliteJournal(sqlite, stryMutAct_9fa48("457") ? row && {
          seq: 0,
          at: 0,
          chain: 0
        } : (stryCov_9fa48("457"), row ?? (stryMutAct_9fa48("458") ? {} : (stryCov_9fa48("458"), {
          seq: 0,
          at: 0,
          chain: 0
        }))), stryMutAct_9fa48("459") ? {} : (stryCov_9fa48("459"), {
          checkUsable: options.checkUsable,
          onWritten: stryMutAct_9fa48("460") ? () => undefined : (stryCov_9fa48("460"), head => stryMutAct_9fa48("461") ? mark.write({
            ...head,
            historyId
          }) : (stryCov_9fa48("461"), mark?.write(stryMutAct_9fa48("462") ? {} : (stryCov_9fa48("462"), {
            ...head,
            historyId
          }))))
        }));
        if (stryMutAct_9fa48("465") ? options.marksHead !== true : stryMutAct_9fa48("464") ? false : stryMutAct_9fa48("463") ? true : (stryCov_9fa48("463", "464", "465"), options.marksHead === (stryMutAct_9fa48("466") ? false : (stryCov_9fa48("466"), true)))) {
          if (stryMutAct_9fa48("467")) {
            {}
          } else {
            stryCov_9fa48("467");
            // SQLite syncs the name of a new log with its first commit, but ignores a failure of that sync.
            syncEntry(path);
            mark = new HeadMark(path);
          }
        }
        if (stryMutAct_9fa48("470") ? row === undefined : stryMutAct_9fa48("469") ? false : stryMutAct_9fa48("468") ? true : (stryCov_9fa48("468", "469", "470"), row !== undefined)) stryMutAct_9fa48("471") ? mark.write({
          ...row,
          historyId
        }) : (stryCov_9fa48("471"), mark?.write(stryMutAct_9fa48("472") ? {} : (stryCov_9fa48("472"), {
          ...row,
          historyId
        })));
        return stryMutAct_9fa48("473") ? {} : (stryCov_9fa48("473"), {
          journal,
          world,
          historyId,
          ...((stryMutAct_9fa48("476") ? row !== undefined : stryMutAct_9fa48("475") ? false : stryMutAct_9fa48("474") ? true : (stryCov_9fa48("474", "475", "476"), row === undefined)) ? {} : stryMutAct_9fa48("477") ? {} : (stryCov_9fa48("477"), {
            clock: stryMutAct_9fa48("478") ? {} : (stryCov_9fa48("478"), {
              state: row.clock,
              now: row.now
            })
          })),
          walBytes: stryMutAct_9fa48("479") ? () => undefined : (stryCov_9fa48("479"), () => stryMutAct_9fa48("480") ? statSync(`${path}-wal`, {
            throwIfNoEntry: false
          })?.size && 0 : (stryCov_9fa48("480"), (stryMutAct_9fa48("481") ? statSync(`${path}-wal`, {
            throwIfNoEntry: false
          }).size : (stryCov_9fa48("481"), statSync(stryMutAct_9fa48("482") ? `` : (stryCov_9fa48("482"), `${path}-wal`), stryMutAct_9fa48("483") ? {} : (stryCov_9fa48("483"), {
            throwIfNoEntry: stryMutAct_9fa48("484") ? true : (stryCov_9fa48("484"), false)
          }))?.size)) ?? 0)),
          copyTo: stryMutAct_9fa48("485") ? () => undefined : (stryCov_9fa48("485"), target => copyDatabase(sqlite, path, target, leavesLog)),
          whilePinned: stryMutAct_9fa48("486") ? () => undefined : (stryCov_9fa48("486"), work => whilePinned(sqlite, path, leavesLog, work)),
          checkpoint() {
            if (stryMutAct_9fa48("487")) {
              {}
            } else {
              stryCov_9fa48("487");
              if (stryMutAct_9fa48("490") ? !leavesLog || checkpoint(sqlite) : stryMutAct_9fa48("489") ? false : stryMutAct_9fa48("488") ? true : (stryCov_9fa48("488", "489", "490"), (stryMutAct_9fa48("491") ? leavesLog : (stryCov_9fa48("491"), !leavesLog)) && checkpoint(sqlite))) stryMutAct_9fa48("492") ? mark.sync() : (stryCov_9fa48("492"), mark?.sync());
            }
          },
          close() {
            if (stryMutAct_9fa48("493")) {
              {}
            } else {
              stryCov_9fa48("493");
              stryMutAct_9fa48("494") ? mark.close() : (stryCov_9fa48("494"), mark?.close());
              if (stryMutAct_9fa48("496") ? false : stryMutAct_9fa48("495") ? true : (stryCov_9fa48("495", "496"), leavesLog)) sqlite.close();else checkpointAndClose(sqlite);
            }
          }
        });
      }
    } catch (error) {
      if (stryMutAct_9fa48("497")) {
        {}
      } else {
        stryCov_9fa48("497");
        sqlite.close();
        throw asCorruptFile(error);
      }
    }
  }
}

/** A connection to a world's file of the current version; creates or upgrades the file if necessary. */
export function connectToCurrent(path: string, {
  migrationsFolder,
  backupPath,
  onUpgrade,
  onAcceptedLoss,
  leavesLog
}: OpenOptions): BetterSqlite3.Database {
  if (stryMutAct_9fa48("498")) {
    {}
  } else {
    stryCov_9fa48("498");
    try {
      if (stryMutAct_9fa48("499")) {
        {}
      } else {
        stryCov_9fa48("499");
        // Before anything opens the log: SQLite deletes what it cannot read.
        if (stryMutAct_9fa48("502") ? onAcceptedLoss !== undefined : stryMutAct_9fa48("501") ? false : stryMutAct_9fa48("500") ? true : (stryCov_9fa48("500", "501", "502"), onAcceptedLoss === undefined)) checkForLoss(path);else preserveDamagedWal(path, onAcceptedLoss);
        makeWalDurable(path);
        if (stryMutAct_9fa48("505") ? false : stryMutAct_9fa48("504") ? true : stryMutAct_9fa48("503") ? existsSync(path) : (stryCov_9fa48("503", "504", "505"), !existsSync(path))) createFile(path, migrationsFolder);
        // Read-only first, so that a file that is not a world stays unchanged.
        if (stryMutAct_9fa48("509") ? readVersion(path) >= SCHEMA_VERSION : stryMutAct_9fa48("508") ? readVersion(path) <= SCHEMA_VERSION : stryMutAct_9fa48("507") ? false : stryMutAct_9fa48("506") ? true : (stryCov_9fa48("506", "507", "508", "509"), readVersion(path) < SCHEMA_VERSION)) {
          if (stryMutAct_9fa48("510")) {
            {}
          } else {
            stryCov_9fa48("510");
            upgradeFile(path, migrationsFolder, backupPath);
            stryMutAct_9fa48("511") ? onUpgrade() : (stryCov_9fa48("511"), onUpgrade?.());
          }
        }
        return connect(path, leavesLog);
      }
    } catch (error) {
      if (stryMutAct_9fa48("512")) {
        {}
      } else {
        stryCov_9fa48("512");
        throw asCorruptFile(error);
      }
    }
  }
}
function readVersion(path: string): number {
  if (stryMutAct_9fa48("513")) {
    {}
  } else {
    stryCov_9fa48("513");
    const sqlite = connectReadOnly(path);
    try {
      if (stryMutAct_9fa48("514")) {
        {}
      } else {
        stryCov_9fa48("514");
        return schemaVersionOf(sqlite);
      }
    } finally {
      if (stryMutAct_9fa48("515")) {
        {}
      } else {
        stryCov_9fa48("515");
        sqlite.close();
      }
    }
  }
}

/** The single world row; `undefined` for a world that has not been created yet. */
export function readWorldRow(sqlite: BetterSqlite3.Database): WorldRow | undefined {
  if (stryMutAct_9fa48("516")) {
    {}
  } else {
    stryCov_9fa48("516");
    const row = sqlite.prepare("SELECT settings, numbers, clock, seq, at, now, chain, checksum FROM world").raw().get() as [string, string, string, number, number, number, number, number] | undefined;
    if (stryMutAct_9fa48("519") ? row !== undefined : stryMutAct_9fa48("518") ? false : stryMutAct_9fa48("517") ? true : (stryCov_9fa48("517", "518", "519"), row === undefined)) return undefined;
    const [settings, numbers, clock, seq, at, now, chain, checksum] = row;
    if (stryMutAct_9fa48("522") ? checksumOf(row.slice(0, -1)) === checksum : stryMutAct_9fa48("521") ? false : stryMutAct_9fa48("520") ? true : (stryCov_9fa48("520", "521", "522"), checksumOf(stryMutAct_9fa48("523") ? row : (stryCov_9fa48("523"), row.slice(0, stryMutAct_9fa48("524") ? +1 : (stryCov_9fa48("524"), -1)))) !== checksum)) throw new CorruptFile(stryMutAct_9fa48("525") ? "" : (stryCov_9fa48("525"), "the world row is damaged"));
    return stryMutAct_9fa48("526") ? {} : (stryCov_9fa48("526"), {
      settings: JSON.parse(settings),
      numbers: stryMutAct_9fa48("527") ? {} : (stryCov_9fa48("527"), {
        ...NO_NUMBERS,
        ...JSON.parse(numbers)
      }),
      clock: JSON.parse(clock),
      seq,
      at,
      now,
      chain
    });
  }
}

/** Loads rows in the order of their creation, which is the order in which the world lists them. */
function load(sqlite: BetterSqlite3.Database, world: World, {
  settings,
  numbers,
  seq,
  at,
  chain
}: WorldRow, readsUsageLater: boolean): void {
  if (stryMutAct_9fa48("528")) {
    {}
  } else {
    stryCov_9fa48("528");
    const last = sqlite.prepare<[], {
      seq: number;
      chain: number;
    }>(stryMutAct_9fa48("529") ? "" : (stryCov_9fa48("529"), "SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1")).get();
    const {
      forgottenSeq
    } = readHistoryRow(sqlite);
    if (stryMutAct_9fa48("531") ? false : stryMutAct_9fa48("530") ? true : (stryCov_9fa48("530", "531"), (stryMutAct_9fa48("534") ? last !== undefined : stryMutAct_9fa48("533") ? false : stryMutAct_9fa48("532") ? true : (stryCov_9fa48("532", "533", "534"), last === undefined)) ? stryMutAct_9fa48("537") ? seq === forgottenSeq : stryMutAct_9fa48("536") ? false : stryMutAct_9fa48("535") ? true : (stryCov_9fa48("535", "536", "537"), seq !== forgottenSeq) : stryMutAct_9fa48("540") ? last.seq !== seq && last.chain !== chain : stryMutAct_9fa48("539") ? false : stryMutAct_9fa48("538") ? true : (stryCov_9fa48("538", "539", "540"), (stryMutAct_9fa48("542") ? last.seq === seq : stryMutAct_9fa48("541") ? false : (stryCov_9fa48("541", "542"), last.seq !== seq)) || (stryMutAct_9fa48("544") ? last.chain === chain : stryMutAct_9fa48("543") ? false : (stryCov_9fa48("543", "544"), last.chain !== chain))))) {
      if (stryMutAct_9fa48("545")) {
        {}
      } else {
        stryCov_9fa48("545");
        throw new CorruptFile(stryMutAct_9fa48("546") ? `` : (stryCov_9fa48("546"), `the tables are at event ${seq}, but the journal ends at event ${stryMutAct_9fa48("547") ? last?.seq && forgottenSeq : (stryCov_9fa48("547"), (stryMutAct_9fa48("548") ? last.seq : (stryCov_9fa48("548"), last?.seq)) ?? forgottenSeq)}`));
      }
    }
    world.settings = settings;
    world.numbers = numbers;
    world.seq = seq;
    world.at = at;
    for (const name of TABLE_NAMES) {
      if (stryMutAct_9fa48("549")) {
        {}
      } else {
        stryCov_9fa48("549");
        if (stryMutAct_9fa48("552") ? name === "hourlyUsage" || readsUsageLater : stryMutAct_9fa48("551") ? false : stryMutAct_9fa48("550") ? true : (stryCov_9fa48("550", "551", "552"), (stryMutAct_9fa48("554") ? name !== "hourlyUsage" : stryMutAct_9fa48("553") ? true : (stryCov_9fa48("553", "554"), name === (stryMutAct_9fa48("555") ? "" : (stryCov_9fa48("555"), "hourlyUsage")))) && readsUsageLater)) {
          if (stryMutAct_9fa48("556")) {
            {}
          } else {
            stryCov_9fa48("556");
            loadHourlyUsageLater(sqlite, world);
            continue;
          }
        }
        const rows = (stryMutAct_9fa48("559") ? name !== "operations" : stryMutAct_9fa48("558") ? false : stryMutAct_9fa48("557") ? true : (stryCov_9fa48("557", "558", "559"), name === (stryMutAct_9fa48("560") ? "" : (stryCov_9fa48("560"), "operations")))) ? prepareReader(sqlite, name, UNFINISHED_OPERATIONS)() : readAllRows(sqlite, name);
        const table: {
          load(row: unknown): void;
        } = world[name] as never;
        for (const row of rows) table.load(row);
      }
    }
  }
}
const UNFINISHED_OPERATIONS = stryMutAct_9fa48("561") ? "" : (stryCov_9fa48("561"), "WHERE status IN ('scheduling', 'running') ORDER BY number");

/** The rows of hourly usage are most rows of a world, and few of them are needed. */
function loadHourlyUsageLater(sqlite: BetterSqlite3.Database, world: World): void {
  if (stryMutAct_9fa48("562")) {
    {}
  } else {
    stryCov_9fa48("562");
    const name = tableName(stryMutAct_9fa48("563") ? "" : (stryCov_9fa48("563"), "hourlyUsage"));
    const read = prepareReader<HourlyUsage>(sqlite, stryMutAct_9fa48("564") ? "" : (stryCov_9fa48("564"), "hourlyUsage"), // Keys continue with "/" and the hour, or with "#" and the length of the period.
    stryMutAct_9fa48("565") ? `` : (stryCov_9fa48("565"), `WHERE "key" > @id || '#' AND "key" < @id || '0' AND "of" IN (@id, @id || '#day', @id || '#month') ORDER BY "key"`));
    world.hourlyUsage.loadLater(stryMutAct_9fa48("566") ? {} : (stryCov_9fa48("566"), {
      ids: Array.from(world.usage.values(), stryMutAct_9fa48("567") ? () => undefined : (stryCov_9fa48("567"), ({
        id
      }) => id)),
      size: sqlite.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number,
      rowsOf: stryMutAct_9fa48("568") ? () => undefined : (stryCov_9fa48("568"), id => read(stryMutAct_9fa48("569") ? {} : (stryCov_9fa48("569"), {
        id
      })))
    }));
  }
}

/**
 * Up to this size the whole file is checked each time it is opened; above it, only tables that are read
 * completely.
 */
const FULL_CHECK_MAX_BYTES = stryMutAct_9fa48("570") ? 32 / 1024 ** 2 : (stryCov_9fa48("570"), 32 * 1024 ** 2);
const TABLES_READ_IN_PARTS: readonly TableName[] = stryMutAct_9fa48("571") ? [] : (stryCov_9fa48("571"), [stryMutAct_9fa48("572") ? "" : (stryCov_9fa48("572"), "operations"), stryMutAct_9fa48("573") ? "" : (stryCov_9fa48("573"), "hourlyUsage")]);

/** Checks pages and indexes: without this, a row lost to a damaged page would go unnoticed. */
function checkStructure(sqlite: BetterSqlite3.Database, isWhole: boolean): void {
  if (stryMutAct_9fa48("574")) {
    {}
  } else {
    stryCov_9fa48("574");
    const tables = stryMutAct_9fa48("575") ? TABLE_NAMES : (stryCov_9fa48("575"), TABLE_NAMES.filter(stryMutAct_9fa48("576") ? () => undefined : (stryCov_9fa48("576"), name => stryMutAct_9fa48("577") ? TABLES_READ_IN_PARTS.includes(name) : (stryCov_9fa48("577"), !TABLES_READ_IN_PARTS.includes(name)))));
    const checks = isWhole ? stryMutAct_9fa48("578") ? [] : (stryCov_9fa48("578"), [stryMutAct_9fa48("579") ? "" : (stryCov_9fa48("579"), "integrity_check")]) : tables.map(stryMutAct_9fa48("580") ? () => undefined : (stryCov_9fa48("580"), name => stryMutAct_9fa48("581") ? `` : (stryCov_9fa48("581"), `quick_check('${tableName(name)}')`)));
    for (const check of checks) {
      if (stryMutAct_9fa48("582")) {
        {}
      } else {
        stryCov_9fa48("582");
        const [first] = sqlite.prepare(stryMutAct_9fa48("583") ? `` : (stryCov_9fa48("583"), `PRAGMA ${check}`)).pluck().all();
        if (stryMutAct_9fa48("586") ? first === "ok" : stryMutAct_9fa48("585") ? false : stryMutAct_9fa48("584") ? true : (stryCov_9fa48("584", "585", "586"), first !== (stryMutAct_9fa48("587") ? "" : (stryCov_9fa48("587"), "ok")))) throw new CorruptFile(String(first));
      }
    }
  }
}