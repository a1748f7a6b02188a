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
import { isDeepStrictEqual } from "node:util";
import type BetterSqlite3 from "better-sqlite3";
import { JOURNALED_TABLES, type TableName, UNJOURNALED_TABLES } from "../../platform/core/tables.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { Operation } from "../../platform/operation/operation.ts";
import { takeCheckpoint, worldFromCheckpoint } from "../../simulation/checkpoint.ts";
import { foldOperation, isTerminal } from "../../simulation/fold-operation.ts";
import { checkInvariants } from "../../simulation/invariants.ts";
import { replay } from "../../simulation/replay.ts";
import { asCorruptFile, CorruptFile } from "../journal/journal-checksum.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { prepareReader, tableName } from "../tables/stored-tables.ts";
import { readWorldRow, type WorldRow } from "./open-world.ts";

/** Where a file differs from its journal, or is damaged. */
type VerificationDifference = {
  readonly where: string;
  readonly message: string;
};
export type Verification = {
  readonly ok: boolean;
  /** The replay starts after this event: 0, or the event up to which history was truncated. */
  readonly from: number;
  /** The last event that was replayed. */
  readonly to: number;
  /** Number of rows, checkpoints and invariants compared. */
  readonly rows: number;
  readonly checkpoints: number;
  readonly invariants: number;
  /** At most the first 100. */
  readonly differences: readonly VerificationDifference[];
};
const MAX_DIFFERENCES = 100;
const EVENTS_PER_PORTION = 500;
type CheckpointLink = {
  readonly seq: number;
  readonly at: SimTime;
  readonly chain: number;
};

/** Called with the number of events replayed and the total. Awaited, so that other work can run. */
export type VerificationProgress = (folded: number, of: number) => Promise<void>;

/**
 * Replays the journal of a world's file into an empty world, or from its oldest checkpoint. Compares the
 * result with the tables row by row, with every later checkpoint, and with the invariants.
 */
export async function verifyFile(sqlite: BetterSqlite3.Database, progress: VerificationProgress): Promise<Verification> {
  if (stryMutAct_9fa48("727")) {
    {}
  } else {
    stryCov_9fa48("727");
    const verifier = new Verifier(sqlite);
    await verifier.run(progress);
    return verifier.verification();
  }
}
class Verifier {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #differences: VerificationDifference[] = stryMutAct_9fa48("728") ? ["Stryker was here"] : (stryCov_9fa48("728"), []);
  readonly #count = stryMutAct_9fa48("729") ? {} : (stryCov_9fa48("729"), {
    from: 0,
    to: 0,
    rows: 0,
    checkpoints: 0,
    invariants: 0
  });
  constructor(sqlite: BetterSqlite3.Database) {
    if (stryMutAct_9fa48("730")) {
      {}
    } else {
      stryCov_9fa48("730");
      this.#sqlite = sqlite;
    }
  }
  async run(progress: VerificationProgress): Promise<void> {
    if (stryMutAct_9fa48("731")) {
      {}
    } else {
      stryCov_9fa48("731");
      await this.#collectCorruption(stryMutAct_9fa48("732") ? "" : (stryCov_9fa48("732"), "file"), () => {
        if (stryMutAct_9fa48("733")) {
          {}
        } else {
          stryCov_9fa48("733");
          for (const problem of this.#sqlite.prepare(stryMutAct_9fa48("734") ? "" : (stryCov_9fa48("734"), "PRAGMA integrity_check")).pluck().all()) {
            if (stryMutAct_9fa48("735")) {
              {}
            } else {
              stryCov_9fa48("735");
              if (stryMutAct_9fa48("738") ? problem === "ok" : stryMutAct_9fa48("737") ? false : stryMutAct_9fa48("736") ? true : (stryCov_9fa48("736", "737", "738"), problem !== (stryMutAct_9fa48("739") ? "" : (stryCov_9fa48("739"), "ok")))) this.#addDifference(stryMutAct_9fa48("740") ? "" : (stryCov_9fa48("740"), "file"), String(problem));
            }
          }
        }
      });
      await this.#collectCorruption(stryMutAct_9fa48("741") ? "" : (stryCov_9fa48("741"), "journal"), async () => {
        if (stryMutAct_9fa48("742")) {
          {}
        } else {
          stryCov_9fa48("742");
          const row = readWorldRow(this.#sqlite);
          if (stryMutAct_9fa48("745") ? row !== undefined : stryMutAct_9fa48("744") ? false : stryMutAct_9fa48("743") ? true : (stryCov_9fa48("743", "744", "745"), row === undefined)) throw new CorruptFile(stryMutAct_9fa48("746") ? "" : (stryCov_9fa48("746"), "the file contains no world yet"));
          const journal = new SqliteJournal(this.#sqlite, row);
          const {
            world,
            operations
          } = await this.#fold(journal, row, progress);
          this.#compare(stryMutAct_9fa48("747") ? "" : (stryCov_9fa48("747"), "world"), stryMutAct_9fa48("748") ? "" : (stryCov_9fa48("748"), "settings"), world.settings, row.settings);
          this.#compare(stryMutAct_9fa48("749") ? "" : (stryCov_9fa48("749"), "world"), stryMutAct_9fa48("750") ? "" : (stryCov_9fa48("750"), "numbers"), world.numbers, row.numbers);
          this.#compare(stryMutAct_9fa48("751") ? "" : (stryCov_9fa48("751"), "world"), stryMutAct_9fa48("752") ? "" : (stryCov_9fa48("752"), "at"), world.at, row.at);
          for (const name of JOURNALED_TABLES) {
            if (stryMutAct_9fa48("753")) {
              {}
            } else {
              stryCov_9fa48("753");
              await this.#collectCorruption(tableName(name), () => {
                if (stryMutAct_9fa48("754")) {
                  {}
                } else {
                  stryCov_9fa48("754");
                  if (stryMutAct_9fa48("757") ? name !== "operations" : stryMutAct_9fa48("756") ? false : stryMutAct_9fa48("755") ? true : (stryCov_9fa48("755", "756", "757"), name === (stryMutAct_9fa48("758") ? "" : (stryCov_9fa48("758"), "operations")))) this.#compareOperations(journal, world, operations);else this.#compareRows(name, world);
                }
              });
            }
          }
          for (const name of UNJOURNALED_TABLES) await this.#collectCorruption(tableName(name), stryMutAct_9fa48("759") ? () => undefined : (stryCov_9fa48("759"), () => prepareReader(this.#sqlite, name)()));
          const {
            checked,
            violations
          } = checkInvariants(world, row.now);
          this.#count.invariants = checked;
          for (const {
            invariant,
            message
          } of violations) this.#addDifference(stryMutAct_9fa48("760") ? "" : (stryCov_9fa48("760"), "invariants"), stryMutAct_9fa48("761") ? `` : (stryCov_9fa48("761"), `${invariant}: ${message}`));
        }
      });
    }
  }
  verification(): Verification {
    if (stryMutAct_9fa48("762")) {
      {}
    } else {
      stryCov_9fa48("762");
      return stryMutAct_9fa48("763") ? {} : (stryCov_9fa48("763"), {
        ok: stryMutAct_9fa48("766") ? this.#differences.length !== 0 : stryMutAct_9fa48("765") ? false : stryMutAct_9fa48("764") ? true : (stryCov_9fa48("764", "765", "766"), this.#differences.length === 0),
        ...this.#count,
        differences: this.#differences
      });
    }
  }
  async #fold(journal: SqliteJournal, row: WorldRow, progress: VerificationProgress) {
    if (stryMutAct_9fa48("767")) {
      {}
    } else {
      stryCov_9fa48("767");
      const {
        oldest
      } = journal;
      const world = worldFromCheckpoint(journal.checkpointBefore(stryMutAct_9fa48("768") ? {} : (stryCov_9fa48("768"), {
        seq: oldest.seq
      })));
      const operations = new Map<string, Operation>();
      for (const operation of world.operations.values()) operations.set(operation.id, operation);
      const checkpoints = this.#sqlite.prepare<[number], CheckpointLink>(stryMutAct_9fa48("769") ? "" : (stryCov_9fa48("769"), "SELECT seq, at, chain FROM checkpoints WHERE seq > ? ORDER BY seq")).all(oldest.seq);
      this.#compare(stryMutAct_9fa48("770") ? "" : (stryCov_9fa48("770"), "checkpoints"), stryMutAct_9fa48("771") ? `` : (stryCov_9fa48("771"), `the instant of checkpoint ${oldest.seq}`), world.at, oldest.at);
      this.#count.from = oldest.seq;
      this.#count.to = oldest.seq;
      while (stryMutAct_9fa48("774") ? world.seq >= row.seq : stryMutAct_9fa48("773") ? world.seq <= row.seq : stryMutAct_9fa48("772") ? false : (stryCov_9fa48("772", "773", "774"), world.seq < row.seq)) {
        if (stryMutAct_9fa48("775")) {
          {}
        } else {
          stryCov_9fa48("775");
          const [next] = checkpoints;
          const portion = stryMutAct_9fa48("776") ? Math.max((next?.seq ?? row.seq) - world.seq, row.seq - world.seq, EVENTS_PER_PORTION) : (stryCov_9fa48("776"), Math.min(stryMutAct_9fa48("777") ? (next?.seq ?? row.seq) + world.seq : (stryCov_9fa48("777"), (stryMutAct_9fa48("778") ? next?.seq && row.seq : (stryCov_9fa48("778"), (stryMutAct_9fa48("779") ? next.seq : (stryCov_9fa48("779"), next?.seq)) ?? row.seq)) - world.seq), stryMutAct_9fa48("780") ? row.seq + world.seq : (stryCov_9fa48("780"), row.seq - world.seq), EVENTS_PER_PORTION));
          journal.verifyChain(world.seq, portion);
          const events = journal.events(world.seq, portion);
          if (stryMutAct_9fa48("783") ? events.length !== 0 : stryMutAct_9fa48("782") ? false : stryMutAct_9fa48("781") ? true : (stryCov_9fa48("781", "782", "783"), events.length === 0)) throw new CorruptFile(stryMutAct_9fa48("784") ? `` : (stryCov_9fa48("784"), `the journal ends at event ${world.seq}, but the tables are at event ${row.seq}`));
          this.#replay(events, world);
          for (const event of events) foldOperation(operations, event);
          this.#count.to = world.seq;
          if (stryMutAct_9fa48("787") ? world.seq !== next?.seq : stryMutAct_9fa48("786") ? false : stryMutAct_9fa48("785") ? true : (stryCov_9fa48("785", "786", "787"), world.seq === (stryMutAct_9fa48("788") ? next.seq : (stryCov_9fa48("788"), next?.seq)))) {
            if (stryMutAct_9fa48("789")) {
              {}
            } else {
              stryCov_9fa48("789");
              checkpoints.shift();
              await this.#collectCorruption(stryMutAct_9fa48("790") ? "" : (stryCov_9fa48("790"), "checkpoints"), stryMutAct_9fa48("791") ? () => undefined : (stryCov_9fa48("791"), () => this.#compareCheckpoint(journal, world, next)));
            }
          }
          await progress(stryMutAct_9fa48("792") ? world.seq + oldest.seq : (stryCov_9fa48("792"), world.seq - oldest.seq), stryMutAct_9fa48("793") ? row.seq + oldest.seq : (stryCov_9fa48("793"), row.seq - oldest.seq));
        }
      }
      if (stryMutAct_9fa48("797") ? journal.events(world.seq, 1).length <= 0 : stryMutAct_9fa48("796") ? journal.events(world.seq, 1).length >= 0 : stryMutAct_9fa48("795") ? false : stryMutAct_9fa48("794") ? true : (stryCov_9fa48("794", "795", "796", "797"), journal.events(world.seq, 1).length > 0)) throw new CorruptFile(stryMutAct_9fa48("798") ? `` : (stryCov_9fa48("798"), `the tables are at event ${row.seq}, but the journal continues after it`));
      if (stryMutAct_9fa48("801") ? this.#lastChain() !== undefined || this.#lastChain() !== row.chain : stryMutAct_9fa48("800") ? false : stryMutAct_9fa48("799") ? true : (stryCov_9fa48("799", "800", "801"), (stryMutAct_9fa48("803") ? this.#lastChain() === undefined : stryMutAct_9fa48("802") ? true : (stryCov_9fa48("802", "803"), this.#lastChain() !== undefined)) && (stryMutAct_9fa48("805") ? this.#lastChain() === row.chain : stryMutAct_9fa48("804") ? true : (stryCov_9fa48("804", "805"), this.#lastChain() !== row.chain)))) throw new CorruptFile(stryMutAct_9fa48("806") ? `` : (stryCov_9fa48("806"), `event ${row.seq} is not the event that the tables were written with`));
      for (const {
        seq
      } of checkpoints) this.#addDifference(stryMutAct_9fa48("807") ? "" : (stryCov_9fa48("807"), "checkpoints"), stryMutAct_9fa48("808") ? `` : (stryCov_9fa48("808"), `checkpoint ${seq} is after the last event`));
      return stryMutAct_9fa48("809") ? {} : (stryCov_9fa48("809"), {
        world,
        operations
      });
    }
  }

  /** Applying an event throws when it does not fit the events before it. */
  #replay(events: readonly RecordedEvent[], world: World): void {
    if (stryMutAct_9fa48("810")) {
      {}
    } else {
      stryCov_9fa48("810");
      try {
        if (stryMutAct_9fa48("811")) {
          {}
        } else {
          stryCov_9fa48("811");
          replay(events, world);
        }
      } catch (error) {
        if (stryMutAct_9fa48("812")) {
          {}
        } else {
          stryCov_9fa48("812");
          throw new CorruptFile(stryMutAct_9fa48("813") ? `` : (stryCov_9fa48("813"), `event ${world.seq} contradicts the events before it: ${error instanceof Error ? error.message : error}`), stryMutAct_9fa48("814") ? {} : (stryCov_9fa48("814"), {
            cause: error
          }));
        }
      }
    }
  }
  #lastChain(): number | undefined {
    if (stryMutAct_9fa48("815")) {
      {}
    } else {
      stryCov_9fa48("815");
      return this.#sqlite.prepare<[], number>(stryMutAct_9fa48("816") ? "" : (stryCov_9fa48("816"), "SELECT chain FROM events ORDER BY seq DESC LIMIT 1")).pluck().get();
    }
  }

  /** Compares rows by key: a loaded world does not always list them in the same order as a replayed one. */
  #compareCheckpoint(journal: SqliteJournal, world: World, {
    seq,
    at,
    chain
  }: CheckpointLink): void {
    if (stryMutAct_9fa48("817")) {
      {}
    } else {
      stryCov_9fa48("817");
      stryMutAct_9fa48("818") ? this.#count.checkpoints -= 1 : (stryCov_9fa48("818"), this.#count.checkpoints += 1);
      this.#compare(stryMutAct_9fa48("819") ? "" : (stryCov_9fa48("819"), "checkpoints"), stryMutAct_9fa48("820") ? `` : (stryCov_9fa48("820"), `the instant of checkpoint ${seq}`), world.at, at);
      this.#compare(stryMutAct_9fa48("821") ? "" : (stryCov_9fa48("821"), "checkpoints"), stryMutAct_9fa48("822") ? `` : (stryCov_9fa48("822"), `the chain checksum of checkpoint ${seq}`), journal.chainAt(seq), chain);
      const {
        tables: journaled,
        ...head
      } = takeCheckpoint(world);
      const {
        tables: stored,
        ...storedHead
      } = journal.checkpointBefore(stryMutAct_9fa48("823") ? {} : (stryCov_9fa48("823"), {
        seq
      }));
      this.#compare(stryMutAct_9fa48("824") ? "" : (stryCov_9fa48("824"), "checkpoints"), stryMutAct_9fa48("825") ? `` : (stryCov_9fa48("825"), `checkpoint ${seq}`), head, storedHead);
      for (const name of JOURNALED_TABLES) {
        if (stryMutAct_9fa48("826")) {
          {}
        } else {
          stryCov_9fa48("826");
          const byKey = stryMutAct_9fa48("827") ? () => undefined : (stryCov_9fa48("827"), (() => {
            const byKey = (rows: Iterable<unknown> = stryMutAct_9fa48("828") ? ["Stryker was here"] : (stryCov_9fa48("828"), [])) => Object.fromEntries(stryMutAct_9fa48("829") ? [...rows].map(row => [world[name].keyOf(row as never), row]) : (stryCov_9fa48("829"), (stryMutAct_9fa48("830") ? [] : (stryCov_9fa48("830"), [...rows])).map(stryMutAct_9fa48("831") ? () => undefined : (stryCov_9fa48("831"), row => stryMutAct_9fa48("832") ? [] : (stryCov_9fa48("832"), [world[name].keyOf(row as never), row]))).sort(stryMutAct_9fa48("833") ? () => undefined : (stryCov_9fa48("833"), ([a], [b]) => (stryMutAct_9fa48("837") ? String(a) >= String(b) : stryMutAct_9fa48("836") ? String(a) <= String(b) : stryMutAct_9fa48("835") ? false : stryMutAct_9fa48("834") ? true : (stryCov_9fa48("834", "835", "836", "837"), String(a) < String(b))) ? stryMutAct_9fa48("838") ? +1 : (stryCov_9fa48("838"), -1) : 1))));
            return byKey;
          })());
          this.#compare(stryMutAct_9fa48("839") ? "" : (stryCov_9fa48("839"), "checkpoints"), stryMutAct_9fa48("840") ? `` : (stryCov_9fa48("840"), `${tableName(name)} of checkpoint ${seq}`), byKey(journaled[name]), byKey(stored[name]));
        }
      }
    }
  }
  #compareRows(name: TableName, world: World): void {
    if (stryMutAct_9fa48("841")) {
      {}
    } else {
      stryCov_9fa48("841");
      const expected = new Map(world[name].entries() as Iterable<[string, unknown]>);
      const keyOf = stryMutAct_9fa48("842") ? () => undefined : (stryCov_9fa48("842"), (() => {
        const keyOf = (row: unknown) => world[name].keyOf(row as never);
        return keyOf;
      })());
      for (const row of prepareReader(this.#sqlite, name)()) {
        if (stryMutAct_9fa48("843")) {
          {}
        } else {
          stryCov_9fa48("843");
          const key = keyOf(row);
          if (stryMutAct_9fa48("846") ? false : stryMutAct_9fa48("845") ? true : stryMutAct_9fa48("844") ? expected.has(key) : (stryCov_9fa48("844", "845", "846"), !expected.has(key))) this.#addDifference(tableName(name), stryMutAct_9fa48("847") ? `` : (stryCov_9fa48("847"), `${key} is in the table but not in the journal`));else this.#compare(tableName(name), key, expected.get(key), row);
          expected.delete(key);
        }
      }
      for (const key of expected.keys()) this.#addDifference(tableName(name), stryMutAct_9fa48("848") ? `` : (stryCov_9fa48("848"), `${key} is in the journal but not in the table`));
    }
  }

  /** Finished operations stay in their table until they are pruned, which may be later than their events. */
  #compareOperations(journal: SqliteJournal, world: World, expected: Map<string, Operation>): void {
    if (stryMutAct_9fa48("849")) {
      {}
    } else {
      stryCov_9fa48("849");
      const where = tableName(stryMutAct_9fa48("850") ? "" : (stryCov_9fa48("850"), "operations"));
      const {
        operationsPrunedBefore,
        oldest
      } = journal;
      const isOlder = stryMutAct_9fa48("851") ? () => undefined : (stryCov_9fa48("851"), (() => {
        const isOlder = ({
          state,
          updatedAt,
          number
        }: Operation) => stryMutAct_9fa48("854") ? oldest.seq > 0 && isTerminal(state) && updatedAt <= oldest.at || number <= world.numbers.operation : stryMutAct_9fa48("853") ? false : stryMutAct_9fa48("852") ? true : (stryCov_9fa48("852", "853", "854"), (stryMutAct_9fa48("856") ? oldest.seq > 0 && isTerminal(state) || updatedAt <= oldest.at : stryMutAct_9fa48("855") ? true : (stryCov_9fa48("855", "856"), (stryMutAct_9fa48("858") ? oldest.seq > 0 || isTerminal(state) : stryMutAct_9fa48("857") ? true : (stryCov_9fa48("857", "858"), (stryMutAct_9fa48("861") ? oldest.seq <= 0 : stryMutAct_9fa48("860") ? oldest.seq >= 0 : stryMutAct_9fa48("859") ? true : (stryCov_9fa48("859", "860", "861"), oldest.seq > 0)) && isTerminal(state))) && (stryMutAct_9fa48("864") ? updatedAt > oldest.at : stryMutAct_9fa48("863") ? updatedAt < oldest.at : stryMutAct_9fa48("862") ? true : (stryCov_9fa48("862", "863", "864"), updatedAt <= oldest.at)))) && (stryMutAct_9fa48("867") ? number > world.numbers.operation : stryMutAct_9fa48("866") ? number < world.numbers.operation : stryMutAct_9fa48("865") ? true : (stryCov_9fa48("865", "866", "867"), number <= world.numbers.operation)));
        return isOlder;
      })());
      for (const row of prepareReader<Operation>(this.#sqlite, stryMutAct_9fa48("868") ? "" : (stryCov_9fa48("868"), "operations"))()) {
        if (stryMutAct_9fa48("869")) {
          {}
        } else {
          stryCov_9fa48("869");
          const journaled = expected.get(row.id);
          if (stryMutAct_9fa48("872") ? journaled === undefined : stryMutAct_9fa48("871") ? false : stryMutAct_9fa48("870") ? true : (stryCov_9fa48("870", "871", "872"), journaled !== undefined)) this.#compare(where, row.id, journaled, row);else if (stryMutAct_9fa48("875") ? false : stryMutAct_9fa48("874") ? true : stryMutAct_9fa48("873") ? isOlder(row) : (stryCov_9fa48("873", "874", "875"), !isOlder(row))) this.#addDifference(where, stryMutAct_9fa48("876") ? `` : (stryCov_9fa48("876"), `${row.id} is in the table but not in the journal`));
          expected.delete(row.id);
        }
      }
      for (const {
        id,
        state,
        updatedAt
      } of expected.values()) {
        if (stryMutAct_9fa48("877")) {
          {}
        } else {
          stryCov_9fa48("877");
          if (stryMutAct_9fa48("880") ? isTerminal(state) || updatedAt < operationsPrunedBefore : stryMutAct_9fa48("879") ? false : stryMutAct_9fa48("878") ? true : (stryCov_9fa48("878", "879", "880"), isTerminal(state) && (stryMutAct_9fa48("883") ? updatedAt >= operationsPrunedBefore : stryMutAct_9fa48("882") ? updatedAt <= operationsPrunedBefore : stryMutAct_9fa48("881") ? true : (stryCov_9fa48("881", "882", "883"), updatedAt < operationsPrunedBefore)))) continue;
          this.#addDifference(where, stryMutAct_9fa48("884") ? `` : (stryCov_9fa48("884"), `${id} is in the journal but not in the table`));
        }
      }
    }
  }

  /** `journaled` may have undefined properties, which JSON omits. */
  #compare(where: string, what: string, journaled: unknown, stored: unknown): void {
    if (stryMutAct_9fa48("885")) {
      {}
    } else {
      stryCov_9fa48("885");
      stryMutAct_9fa48("886") ? this.#count.rows -= 1 : (stryCov_9fa48("886"), this.#count.rows += 1);
      if (stryMutAct_9fa48("888") ? false : stryMutAct_9fa48("887") ? true : (stryCov_9fa48("887", "888"), isDeepStrictEqual(JSON.parse(JSON.stringify(journaled)), stored))) return;
      this.#addDifference(where, stryMutAct_9fa48("889") ? `` : (stryCov_9fa48("889"), `${what} is ${JSON.stringify(stored)}, but the journal gives ${JSON.stringify(journaled)}`));
    }
  }
  #addDifference(where: string, message: string): void {
    if (stryMutAct_9fa48("890")) {
      {}
    } else {
      stryCov_9fa48("890");
      if (stryMutAct_9fa48("894") ? this.#differences.length >= MAX_DIFFERENCES : stryMutAct_9fa48("893") ? this.#differences.length <= MAX_DIFFERENCES : stryMutAct_9fa48("892") ? false : stryMutAct_9fa48("891") ? true : (stryCov_9fa48("891", "892", "893", "894"), this.#differences.length < MAX_DIFFERENCES)) this.#differences.push(stryMutAct_9fa48("895") ? {} : (stryCov_9fa48("895"), {
        where,
        message
      }));
    }
  }

  /** Records damage as a difference, and continues with the rest. */
  async #collectCorruption(where: string, work: () => unknown): Promise<void> {
    if (stryMutAct_9fa48("896")) {
      {}
    } else {
      stryCov_9fa48("896");
      try {
        if (stryMutAct_9fa48("897")) {
          {}
        } else {
          stryCov_9fa48("897");
          await work();
        }
      } catch (error) {
        if (stryMutAct_9fa48("898")) {
          {}
        } else {
          stryCov_9fa48("898");
          const corrupt = asCorruptFile(error);
          if (stryMutAct_9fa48("901") ? false : stryMutAct_9fa48("900") ? true : stryMutAct_9fa48("899") ? corrupt instanceof CorruptFile : (stryCov_9fa48("899", "900", "901"), !(corrupt instanceof CorruptFile))) throw error;
          this.#addDifference(where, corrupt.message);
        }
      }
    }
  }
}