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
import { crc32 } from "node:zlib";
import type BetterSqlite3 from "better-sqlite3";
import { getTableColumns, getTableName } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { ALL_ROWS, type Change } from "../../platform/core/change-set.ts";
import type { TableName } from "../../platform/core/tables.ts";
import { CorruptFile, checksumOf } from "../journal/journal-checksum.ts";
import { rowDecoder, type ValueColumn } from "./row-decoder.ts";
import * as schema from "./schema.ts";

/** A database table, its key column, and the column that orders rows by creation. */
type StoredTable = {
  readonly table: SQLiteTable;
  readonly key: string;
  readonly order: string;
};

/** The database table of each table of the world. */
const STORED_TABLES: Readonly<Record<TableName, StoredTable>> = stryMutAct_9fa48("224") ? {} : (stryCov_9fa48("224"), {
  accounts: stryMutAct_9fa48("225") ? {} : (stryCov_9fa48("225"), {
    table: schema.accounts,
    key: stryMutAct_9fa48("226") ? "" : (stryCov_9fa48("226"), "id"),
    order: stryMutAct_9fa48("227") ? "" : (stryCov_9fa48("227"), "number")
  }),
  apiKeys: stryMutAct_9fa48("228") ? {} : (stryCov_9fa48("228"), {
    table: schema.apiKeys,
    key: stryMutAct_9fa48("229") ? "" : (stryCov_9fa48("229"), "id"),
    order: stryMutAct_9fa48("230") ? "" : (stryCov_9fa48("230"), "id")
  }),
  apiKeyUses: stryMutAct_9fa48("231") ? {} : (stryCov_9fa48("231"), {
    table: schema.apiKeyUses,
    key: stryMutAct_9fa48("232") ? "" : (stryCov_9fa48("232"), "keyId"),
    order: stryMutAct_9fa48("233") ? "" : (stryCov_9fa48("233"), "keyId")
  }),
  secrets: stryMutAct_9fa48("234") ? {} : (stryCov_9fa48("234"), {
    table: schema.secrets,
    key: stryMutAct_9fa48("235") ? "" : (stryCov_9fa48("235"), "id"),
    order: stryMutAct_9fa48("236") ? "" : (stryCov_9fa48("236"), "id")
  }),
  branchData: stryMutAct_9fa48("237") ? {} : (stryCov_9fa48("237"), {
    table: schema.branchData,
    key: stryMutAct_9fa48("238") ? "" : (stryCov_9fa48("238"), "id"),
    order: stryMutAct_9fa48("239") ? "" : (stryCov_9fa48("239"), "id")
  }),
  projects: stryMutAct_9fa48("240") ? {} : (stryCov_9fa48("240"), {
    table: schema.projects,
    key: stryMutAct_9fa48("241") ? "" : (stryCov_9fa48("241"), "id"),
    order: stryMutAct_9fa48("242") ? "" : (stryCov_9fa48("242"), "number")
  }),
  branches: stryMutAct_9fa48("243") ? {} : (stryCov_9fa48("243"), {
    table: schema.branches,
    key: stryMutAct_9fa48("244") ? "" : (stryCov_9fa48("244"), "id"),
    order: stryMutAct_9fa48("245") ? "" : (stryCov_9fa48("245"), "number")
  }),
  computes: stryMutAct_9fa48("246") ? {} : (stryCov_9fa48("246"), {
    table: schema.computes,
    key: stryMutAct_9fa48("247") ? "" : (stryCov_9fa48("247"), "id"),
    order: stryMutAct_9fa48("248") ? "" : (stryCov_9fa48("248"), "number")
  }),
  connections: stryMutAct_9fa48("249") ? {} : (stryCov_9fa48("249"), {
    table: schema.connections,
    key: stryMutAct_9fa48("250") ? "" : (stryCov_9fa48("250"), "key"),
    order: stryMutAct_9fa48("251") ? "" : (stryCov_9fa48("251"), "rowid")
  }),
  operations: stryMutAct_9fa48("252") ? {} : (stryCov_9fa48("252"), {
    table: schema.operations,
    key: stryMutAct_9fa48("253") ? "" : (stryCov_9fa48("253"), "id"),
    order: stryMutAct_9fa48("254") ? "" : (stryCov_9fa48("254"), "number")
  }),
  scheduledActivities: stryMutAct_9fa48("255") ? {} : (stryCov_9fa48("255"), {
    table: schema.scheduledActivities,
    key: stryMutAct_9fa48("256") ? "" : (stryCov_9fa48("256"), "number"),
    order: stryMutAct_9fa48("257") ? "" : (stryCov_9fa48("257"), "number")
  }),
  usage: stryMutAct_9fa48("258") ? {} : (stryCov_9fa48("258"), {
    table: schema.usage,
    key: stryMutAct_9fa48("259") ? "" : (stryCov_9fa48("259"), "id"),
    order: stryMutAct_9fa48("260") ? "" : (stryCov_9fa48("260"), "id")
  }),
  hourlyUsage: stryMutAct_9fa48("261") ? {} : (stryCov_9fa48("261"), {
    table: schema.hourlyUsage,
    key: stryMutAct_9fa48("262") ? "" : (stryCov_9fa48("262"), "key"),
    order: stryMutAct_9fa48("263") ? "" : (stryCov_9fa48("263"), "key")
  }),
  branchSnapshots: stryMutAct_9fa48("264") ? {} : (stryCov_9fa48("264"), {
    table: schema.branchSnapshots,
    key: stryMutAct_9fa48("265") ? "" : (stryCov_9fa48("265"), "id"),
    order: stryMutAct_9fa48("266") ? "" : (stryCov_9fa48("266"), "number")
  }),
  records: stryMutAct_9fa48("267") ? {} : (stryCov_9fa48("267"), {
    table: schema.records,
    key: stryMutAct_9fa48("268") ? "" : (stryCov_9fa48("268"), "id"),
    order: stryMutAct_9fa48("269") ? "" : (stryCov_9fa48("269"), "number")
  }),
  faults: stryMutAct_9fa48("270") ? {} : (stryCov_9fa48("270"), {
    table: schema.faults,
    key: stryMutAct_9fa48("271") ? "" : (stryCov_9fa48("271"), "name"),
    order: stryMutAct_9fa48("272") ? "" : (stryCov_9fa48("272"), "number")
  })
});

/** The columns with values of a row: without its checksum and without columns that SQLite computes. */
function valueColumns(table: SQLiteTable): readonly ValueColumn[] {
  if (stryMutAct_9fa48("273")) {
    {}
  } else {
    stryCov_9fa48("273");
    return stryMutAct_9fa48("274") ? Object.entries(getTableColumns(table)) : (stryCov_9fa48("274"), Object.entries(getTableColumns(table)).filter(stryMutAct_9fa48("275") ? () => undefined : (stryCov_9fa48("275"), ([property, column]) => stryMutAct_9fa48("278") ? column.generated === undefined || property !== "checksum" : stryMutAct_9fa48("277") ? false : stryMutAct_9fa48("276") ? true : (stryCov_9fa48("276", "277", "278"), (stryMutAct_9fa48("280") ? column.generated !== undefined : stryMutAct_9fa48("279") ? true : (stryCov_9fa48("279", "280"), column.generated === undefined)) && (stryMutAct_9fa48("282") ? property === "checksum" : stryMutAct_9fa48("281") ? true : (stryCov_9fa48("281", "282"), property !== (stryMutAct_9fa48("283") ? "" : (stryCov_9fa48("283"), "checksum"))))))));
  }
}
export function tableName(name: TableName): string {
  if (stryMutAct_9fa48("284")) {
    {}
  } else {
    stryCov_9fa48("284");
    return getTableName(STORED_TABLES[name].table);
  }
}
type TableWriter = {
  readonly upsert: (key: string, row: Record<string, unknown>) => void;
  readonly remove: BetterSqlite3.Statement<[string]>;
  readonly empty: BetterSqlite3.Statement<[]>;
};

/**
 * Writes changed rows with statements that are prepared once, because every commit waits for it: at the first
 * change of a table, because preparing all of them is a large part of opening a small world.
 */
export class RowWriter {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #writers = new Map<string, TableWriter>();
  constructor(sqlite: BetterSqlite3.Database) {
    if (stryMutAct_9fa48("285")) {
      {}
    } else {
      stryCov_9fa48("285");
      this.#sqlite = sqlite;
    }
  }
  write({
    table,
    key,
    value
  }: Change): void {
    if (stryMutAct_9fa48("286")) {
      {}
    } else {
      stryCov_9fa48("286");
      const writer = stryMutAct_9fa48("287") ? this.#writers.get(table) && this.#prepare(table) : (stryCov_9fa48("287"), this.#writers.get(table) ?? this.#prepare(table));
      if (stryMutAct_9fa48("290") ? key !== ALL_ROWS : stryMutAct_9fa48("289") ? false : stryMutAct_9fa48("288") ? true : (stryCov_9fa48("288", "289", "290"), key === ALL_ROWS)) writer.empty.run();else if (stryMutAct_9fa48("293") ? value !== undefined : stryMutAct_9fa48("292") ? false : stryMutAct_9fa48("291") ? true : (stryCov_9fa48("291", "292", "293"), value === undefined)) writer.remove.run(key);else writer.upsert(key, value as Record<string, unknown>);
    }
  }
  #prepare(table: string): TableWriter {
    if (stryMutAct_9fa48("294")) {
      {}
    } else {
      stryCov_9fa48("294");
      const stored = (STORED_TABLES as Readonly<Record<string, StoredTable>>)[table];
      if (stryMutAct_9fa48("297") ? stored !== undefined : stryMutAct_9fa48("296") ? false : stryMutAct_9fa48("295") ? true : (stryCov_9fa48("295", "296", "297"), stored === undefined)) throw new Error(stryMutAct_9fa48("298") ? `` : (stryCov_9fa48("298"), `there is no table for changes of ${table}`));
      const writer = prepareWriter(this.#sqlite, stored);
      this.#writers.set(table, writer);
      return writer;
    }
  }
}

/**
 * An upsert that names its columns. `INSERT OR REPLACE` would silently delete another row on a conflict with a unique index, so the
 * constraints would not detect broken rules.
 */
function prepareWriter(sqlite: BetterSqlite3.Database, {
  table,
  key
}: StoredTable): TableWriter {
  if (stryMutAct_9fa48("299")) {
    {}
  } else {
    stryCov_9fa48("299");
    const name = quote(getTableName(table));
    const columns = valueColumns(table);
    const names = stryMutAct_9fa48("300") ? [] : (stryCov_9fa48("300"), [...columns.map(stryMutAct_9fa48("301") ? () => undefined : (stryCov_9fa48("301"), ([property]) => quoteColumn(property))), stryMutAct_9fa48("302") ? "" : (stryCov_9fa48("302"), "checksum")]);
    const updates = stryMutAct_9fa48("303") ? names.map(column => `${column} = excluded.${column}`) : (stryCov_9fa48("303"), names.filter(stryMutAct_9fa48("304") ? () => undefined : (stryCov_9fa48("304"), column => stryMutAct_9fa48("307") ? column === quoteColumn(key) : stryMutAct_9fa48("306") ? false : stryMutAct_9fa48("305") ? true : (stryCov_9fa48("305", "306", "307"), column !== quoteColumn(key)))).map(stryMutAct_9fa48("308") ? () => undefined : (stryCov_9fa48("308"), column => stryMutAct_9fa48("309") ? `` : (stryCov_9fa48("309"), `${column} = excluded.${column}`))));
    const upsert = sqlite.prepare(stryMutAct_9fa48("310") ? `` : (stryCov_9fa48("310"), `INSERT INTO ${name} (${names.join(stryMutAct_9fa48("311") ? "" : (stryCov_9fa48("311"), ", "))}) VALUES (${names.map(stryMutAct_9fa48("312") ? () => undefined : (stryCov_9fa48("312"), () => stryMutAct_9fa48("313") ? "" : (stryCov_9fa48("313"), "?"))).join(stryMutAct_9fa48("314") ? "" : (stryCov_9fa48("314"), ", "))})
     ON CONFLICT (${quoteColumn(key)}) DO UPDATE SET ${updates.join(stryMutAct_9fa48("315") ? "" : (stryCov_9fa48("315"), ", "))}`));
    return stryMutAct_9fa48("316") ? {} : (stryCov_9fa48("316"), {
      upsert(rowKey, row) {
        if (stryMutAct_9fa48("317")) {
          {}
        } else {
          stryCov_9fa48("317");
          const values = columns.map(([property, column]) => {
            if (stryMutAct_9fa48("318")) {
              {}
            } else {
              stryCov_9fa48("318");
              const value = (stryMutAct_9fa48("321") ? property !== "key" : stryMutAct_9fa48("320") ? false : stryMutAct_9fa48("319") ? true : (stryCov_9fa48("319", "320", "321"), property === (stryMutAct_9fa48("322") ? "" : (stryCov_9fa48("322"), "key")))) ? rowKey : row[property];
              return (stryMutAct_9fa48("325") ? value !== undefined : stryMutAct_9fa48("324") ? false : stryMutAct_9fa48("323") ? true : (stryCov_9fa48("323", "324", "325"), value === undefined)) ? null : column.mapToDriverValue(value);
            }
          });
          values.push(checksumOf(values));
          upsert.run(values);
        }
      },
      remove: sqlite.prepare(stryMutAct_9fa48("326") ? `` : (stryCov_9fa48("326"), `DELETE FROM ${name} WHERE ${quoteColumn(key)} = ?`)),
      empty: sqlite.prepare(stryMutAct_9fa48("327") ? `` : (stryCov_9fa48("327"), `DELETE FROM ${name}`))
    });
  }
}

/**
 * Reads rows as objects of the world, and verifies their checksums. A NULL column becomes an absent property. `clause` is the SQL
 * after the table name; by default all rows in order of creation.
 */
export function prepareReader<T>(sqlite: BetterSqlite3.Database, name: TableName, clause = stryMutAct_9fa48("328") ? `` : (stryCov_9fa48("328"), `ORDER BY ${quoteColumn(STORED_TABLES[name].order)}`)): (...parameters: unknown[]) => T[] {
  if (stryMutAct_9fa48("329")) {
    {}
  } else {
    stryCov_9fa48("329");
    const columns = valueColumns(STORED_TABLES[name].table);
    const key = columns.findIndex(stryMutAct_9fa48("330") ? () => undefined : (stryCov_9fa48("330"), ([property]) => stryMutAct_9fa48("333") ? property !== STORED_TABLES[name].key : stryMutAct_9fa48("332") ? false : stryMutAct_9fa48("331") ? true : (stryCov_9fa48("331", "332", "333"), property === STORED_TABLES[name].key)));
    const names = columns.map(stryMutAct_9fa48("334") ? () => undefined : (stryCov_9fa48("334"), ([property]) => quoteColumn(property)));
    const select = sqlite.prepare(stryMutAct_9fa48("335") ? `` : (stryCov_9fa48("335"), `SELECT ${names.join(stryMutAct_9fa48("336") ? "" : (stryCov_9fa48("336"), ", "))}, checksum FROM ${quote(tableName(name))} ${clause}`)).raw();
    const decode = rowDecoder(columns);
    return stryMutAct_9fa48("337") ? () => undefined : (stryCov_9fa48("337"), (...parameters) => (select.all(...parameters) as unknown[][]).map(values => {
      if (stryMutAct_9fa48("338")) {
        {}
      } else {
        stryCov_9fa48("338");
        const checksum = values.pop();
        if (stryMutAct_9fa48("341") ? checksumOf(values) === checksum : stryMutAct_9fa48("340") ? false : stryMutAct_9fa48("339") ? true : (stryCov_9fa48("339", "340", "341"), checksumOf(values) !== checksum)) throw new CorruptFile(stryMutAct_9fa48("342") ? `` : (stryCov_9fa48("342"), `row ${JSON.stringify(values[key])} of ${tableName(name)} is damaged`));
        return decode(values) as T;
      }
    }));
  }
}

/**
 * Reads all rows in order of creation. SQLite writes the values of a row as one text, which is the text that
 * the checksum covers. This takes half the time of reading every value.
 */
export function readAllRows(sqlite: BetterSqlite3.Database, name: TableName): readonly unknown[] {
  if (stryMutAct_9fa48("343")) {
    {}
  } else {
    stryCov_9fa48("343");
    const {
      table,
      order
    } = STORED_TABLES[name];
    const columns = valueColumns(table);
    if (stryMutAct_9fa48("346") ? columns.every(([, column]) => column.getSQLType() === "real") : stryMutAct_9fa48("345") ? false : stryMutAct_9fa48("344") ? true : (stryCov_9fa48("344", "345", "346"), columns.some(stryMutAct_9fa48("347") ? () => undefined : (stryCov_9fa48("347"), ([, column]) => stryMutAct_9fa48("350") ? column.getSQLType() !== "real" : stryMutAct_9fa48("349") ? false : stryMutAct_9fa48("348") ? true : (stryCov_9fa48("348", "349", "350"), column.getSQLType() === (stryMutAct_9fa48("351") ? "" : (stryCov_9fa48("351"), "real"))))))) return prepareReader(sqlite, name, stryMutAct_9fa48("352") ? "" : (stryCov_9fa48("352"), "ORDER BY rowid"))();
    const decode = rowDecoder(columns);
    const readOne = prepareReader(sqlite, name, stryMutAct_9fa48("353") ? "" : (stryCov_9fa48("353"), "WHERE rowid = ?"));
    const text = stryMutAct_9fa48("354") ? `` : (stryCov_9fa48("354"), `json_array(${columns.map(stryMutAct_9fa48("355") ? () => undefined : (stryCov_9fa48("355"), ([property]) => quoteColumn(property))).join(stryMutAct_9fa48("356") ? "" : (stryCov_9fa48("356"), ", "))})`);
    const rows: unknown[] = stryMutAct_9fa48("357") ? ["Stryker was here"] : (stryCov_9fa48("357"), []);
    for (const [rowid, values, checksum] of readInPortions(sqlite, tableName(name), stryMutAct_9fa48("358") ? [] : (stryCov_9fa48("358"), [text, stryMutAct_9fa48("359") ? "" : (stryCov_9fa48("359"), "checksum")]))) {
      if (stryMutAct_9fa48("360")) {
        {}
      } else {
        stryCov_9fa48("360");
        // SQLite and JavaScript may write the same value in different ways.
        if (stryMutAct_9fa48("363") ? crc32(values as string) !== checksum : stryMutAct_9fa48("362") ? false : stryMutAct_9fa48("361") ? true : (stryCov_9fa48("361", "362", "363"), crc32(values as string) === checksum)) rows.push(decode(JSON.parse(values as string)));else rows.push(...readOne(rowid));
      }
    }
    const numberOf = stryMutAct_9fa48("364") ? () => undefined : (stryCov_9fa48("364"), (() => {
      const numberOf = (row: unknown) => (row as {
        readonly number: number;
      }).number;
      return numberOf;
    })());
    const isSorted = stryMutAct_9fa48("367") ? order !== "number" && rows.every((row, index) => index === 0 || numberOf(rows[index - 1]) < numberOf(row)) : stryMutAct_9fa48("366") ? false : stryMutAct_9fa48("365") ? true : (stryCov_9fa48("365", "366", "367"), (stryMutAct_9fa48("369") ? order === "number" : stryMutAct_9fa48("368") ? false : (stryCov_9fa48("368", "369"), order !== (stryMutAct_9fa48("370") ? "" : (stryCov_9fa48("370"), "number")))) || (stryMutAct_9fa48("371") ? rows.some((row, index) => index === 0 || numberOf(rows[index - 1]) < numberOf(row)) : (stryCov_9fa48("371"), rows.every(stryMutAct_9fa48("372") ? () => undefined : (stryCov_9fa48("372"), (row, index) => stryMutAct_9fa48("375") ? index === 0 && numberOf(rows[index - 1]) < numberOf(row) : stryMutAct_9fa48("374") ? false : stryMutAct_9fa48("373") ? true : (stryCov_9fa48("373", "374", "375"), (stryMutAct_9fa48("377") ? index !== 0 : stryMutAct_9fa48("376") ? false : (stryCov_9fa48("376", "377"), index === 0)) || (stryMutAct_9fa48("380") ? numberOf(rows[index - 1]) >= numberOf(row) : stryMutAct_9fa48("379") ? numberOf(rows[index - 1]) <= numberOf(row) : stryMutAct_9fa48("378") ? false : (stryCov_9fa48("378", "379", "380"), numberOf(rows[stryMutAct_9fa48("381") ? index + 1 : (stryCov_9fa48("381"), index - 1)]) < numberOf(row)))))))));
    return isSorted ? rows : stryMutAct_9fa48("382") ? rows : (stryCov_9fa48("382"), rows.sort(stryMutAct_9fa48("383") ? () => undefined : (stryCov_9fa48("383"), (one, other) => stryMutAct_9fa48("384") ? numberOf(one) + numberOf(other) : (stryCov_9fa48("384"), numberOf(one) - numberOf(other)))));
  }
}

/** Verifies the checksum of every row, also in a file of an older schema with fewer columns. */
export function checkChecksums(sqlite: BetterSqlite3.Database): void {
  if (stryMutAct_9fa48("385")) {
    {}
  } else {
    stryCov_9fa48("385");
    for (const {
      table
    } of Object.values(STORED_TABLES)) {
      if (stryMutAct_9fa48("386")) {
        {}
      } else {
        stryCov_9fa48("386");
        const name = getTableName(table);
        const existingColumns = new Set(sqlite.prepare<[string], string>(stryMutAct_9fa48("387") ? "" : (stryCov_9fa48("387"), "SELECT name FROM pragma_table_info(?)")).pluck().all(name));
        if (stryMutAct_9fa48("390") ? existingColumns.size !== 0 : stryMutAct_9fa48("389") ? false : stryMutAct_9fa48("388") ? true : (stryCov_9fa48("388", "389", "390"), existingColumns.size === 0)) continue;
        const columns = stryMutAct_9fa48("391") ? valueColumns(table).map(([property]) => toSnakeCase(property)) : (stryCov_9fa48("391"), valueColumns(table).map(stryMutAct_9fa48("392") ? () => undefined : (stryCov_9fa48("392"), ([property]) => toSnakeCase(property))).filter(stryMutAct_9fa48("393") ? () => undefined : (stryCov_9fa48("393"), column => existingColumns.has(column))));
        for (const [, ...values] of readInPortions(sqlite, name, stryMutAct_9fa48("394") ? [] : (stryCov_9fa48("394"), [...columns.map(quote), stryMutAct_9fa48("395") ? "" : (stryCov_9fa48("395"), "checksum")]))) {
          if (stryMutAct_9fa48("396")) {
            {}
          } else {
            stryCov_9fa48("396");
            const checksum = values.pop();
            if (stryMutAct_9fa48("399") ? checksumOf(values) === checksum : stryMutAct_9fa48("398") ? false : stryMutAct_9fa48("397") ? true : (stryCov_9fa48("397", "398", "399"), checksumOf(values) !== checksum)) throw new CorruptFile(stryMutAct_9fa48("400") ? `` : (stryCov_9fa48("400"), `a row of ${name} is damaged`));
          }
        }
      }
    }
  }
}

/** Recomputes the checksum of every row, after rows were written without a `RowWriter`. */
export function rewriteChecksums(sqlite: BetterSqlite3.Database): void {
  if (stryMutAct_9fa48("401")) {
    {}
  } else {
    stryCov_9fa48("401");
    for (const {
      table
    } of Object.values(STORED_TABLES)) {
      if (stryMutAct_9fa48("402")) {
        {}
      } else {
        stryCov_9fa48("402");
        const name = getTableName(table);
        const columns = valueColumns(table).map(stryMutAct_9fa48("403") ? () => undefined : (stryCov_9fa48("403"), ([property]) => quoteColumn(property)));
        const update = sqlite.prepare<[number, number]>(stryMutAct_9fa48("404") ? `` : (stryCov_9fa48("404"), `UPDATE ${quote(name)} SET checksum = ? WHERE rowid = ?`));
        for (const [rowid, ...values] of readInPortions(sqlite, name, columns)) update.run(checksumOf(values), rowid);
      }
    }
  }
}

/** Few enough that most of what a portion allocates is short-lived. */
const ROWS_PER_PORTION = 500;

/**
 * All rows, each with its rowid first. Read in portions: an iterating statement blocks writes on its connection, and some versions
 * of Node cannot collect its iterator (see `retainStatements`).
 */
function* readInPortions(sqlite: BetterSqlite3.Database, name: string, columns: readonly string[]): Generator<[rowid: number, ...unknown[]]> {
  if (stryMutAct_9fa48("405")) {
    {}
  } else {
    stryCov_9fa48("405");
    const selectPortion = sqlite.prepare<[number], [number, ...unknown[]]>(stryMutAct_9fa48("406") ? `` : (stryCov_9fa48("406"), `SELECT rowid, ${columns.join(stryMutAct_9fa48("407") ? "" : (stryCov_9fa48("407"), ", "))} FROM ${quote(name)} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_PER_PORTION}`)).raw();
    if (stryMutAct_9fa48("408")) {
      for (let rowid = -1; false;) {
        const rows = selectPortion.all(rowid);
        const last = rows.at(-1);
        if (last === undefined) return;
        yield* rows;
        rowid = last[0];
      }
    } else {
      stryCov_9fa48("408");
      for (let rowid = stryMutAct_9fa48("409") ? +1 : (stryCov_9fa48("409"), -1);;) {
        if (stryMutAct_9fa48("410")) {
          {}
        } else {
          stryCov_9fa48("410");
          const rows = selectPortion.all(rowid);
          const last = rows.at(stryMutAct_9fa48("411") ? +1 : (stryCov_9fa48("411"), -1));
          if (stryMutAct_9fa48("414") ? last !== undefined : stryMutAct_9fa48("413") ? false : stryMutAct_9fa48("412") ? true : (stryCov_9fa48("412", "413", "414"), last === undefined)) return;
          yield* rows;
          rowid = last[0];
        }
      }
    }
  }
}
function quote(name: string): string {
  if (stryMutAct_9fa48("415")) {
    {}
  } else {
    stryCov_9fa48("415");
    return stryMutAct_9fa48("416") ? `` : (stryCov_9fa48("416"), `"${name}"`);
  }
}
function quoteColumn(property: string): string {
  if (stryMutAct_9fa48("417")) {
    {}
  } else {
    stryCov_9fa48("417");
    return (stryMutAct_9fa48("420") ? property !== "rowid" : stryMutAct_9fa48("419") ? false : stryMutAct_9fa48("418") ? true : (stryCov_9fa48("418", "419", "420"), property === (stryMutAct_9fa48("421") ? "" : (stryCov_9fa48("421"), "rowid")))) ? property : quote(toSnakeCase(property));
  }
}