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
import BetterSqlite3 from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { NotAWorldFile } from "../tables/format-version.ts";
import { openForReading } from "./open-read-only.ts";
import { connectReadOnly, retainStatements } from "./sqlite-connection.ts";
type SchemaObject = {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
};

/**
 * Throws `NotAWorldFile` if a file from elsewhere has other tables, indexes, triggers or views than a world. A
 * trigger would change what is written later, and a view could stand for a table.
 */
export function checkSchema(path: string, migrationsFolder: string): void {
  if (stryMutAct_9fa48("88")) {
    {}
  } else {
    stryCov_9fa48("88");
    // Before an upgrade could fire a trigger.
    const original = connectReadOnly(path);
    try {
      if (stryMutAct_9fa48("89")) {
        {}
      } else {
        stryCov_9fa48("89");
        const [active] = stryMutAct_9fa48("90") ? objectsIn(original) : (stryCov_9fa48("90"), objectsIn(original).filter(stryMutAct_9fa48("91") ? () => undefined : (stryCov_9fa48("91"), ({
          type
        }) => stryMutAct_9fa48("94") ? type === "trigger" && type === "view" : stryMutAct_9fa48("93") ? false : stryMutAct_9fa48("92") ? true : (stryCov_9fa48("92", "93", "94"), (stryMutAct_9fa48("96") ? type !== "trigger" : stryMutAct_9fa48("95") ? false : (stryCov_9fa48("95", "96"), type === (stryMutAct_9fa48("97") ? "" : (stryCov_9fa48("97"), "trigger")))) || (stryMutAct_9fa48("99") ? type !== "view" : stryMutAct_9fa48("98") ? false : (stryCov_9fa48("98", "99"), type === (stryMutAct_9fa48("100") ? "" : (stryCov_9fa48("100"), "view"))))))));
        if (stryMutAct_9fa48("103") ? active === undefined : stryMutAct_9fa48("102") ? false : stryMutAct_9fa48("101") ? true : (stryCov_9fa48("101", "102", "103"), active !== undefined)) throw unexpected(active);
      }
    } finally {
      if (stryMutAct_9fa48("104")) {
        {}
      } else {
        stryCov_9fa48("104");
        original.close();
      }
    }
    const {
      sqlite,
      close
    } = openForReading(path, migrationsFolder);
    try {
      if (stryMutAct_9fa48("105")) {
        {}
      } else {
        stryCov_9fa48("105");
        const expected = new Set(expectedObjects(migrationsFolder).map(textOf));
        for (const object of objectsIn(sqlite)) {
          if (stryMutAct_9fa48("106")) {
            {}
          } else {
            stryCov_9fa48("106");
            if (stryMutAct_9fa48("109") ? !expected.delete(textOf(object)) || !isOfReplicator(object) : stryMutAct_9fa48("108") ? false : stryMutAct_9fa48("107") ? true : (stryCov_9fa48("107", "108", "109"), (stryMutAct_9fa48("110") ? expected.delete(textOf(object)) : (stryCov_9fa48("110"), !expected.delete(textOf(object)))) && (stryMutAct_9fa48("111") ? isOfReplicator(object) : (stryCov_9fa48("111"), !isOfReplicator(object))))) throw unexpected(object);
          }
        }
        const [missing] = expected;
        if (stryMutAct_9fa48("114") ? missing === undefined : stryMutAct_9fa48("113") ? false : stryMutAct_9fa48("112") ? true : (stryCov_9fa48("112", "113", "114"), missing !== undefined)) throw new NotAWorldFile(stryMutAct_9fa48("115") ? `` : (stryCov_9fa48("115"), `its schema lacks ${missing}`));
      }
    } finally {
      if (stryMutAct_9fa48("116")) {
        {}
      } else {
        stryCov_9fa48("116");
        close();
      }
    }
  }
}

/** The tables that Litestream creates in every database that it replicates. */
function isOfReplicator({
  type,
  name
}: SchemaObject): boolean {
  if (stryMutAct_9fa48("117")) {
    {}
  } else {
    stryCov_9fa48("117");
    return stryMutAct_9fa48("120") ? type === "table" || name === "_litestream_seq" || name === "_litestream_lock" : stryMutAct_9fa48("119") ? false : stryMutAct_9fa48("118") ? true : (stryCov_9fa48("118", "119", "120"), (stryMutAct_9fa48("122") ? type !== "table" : stryMutAct_9fa48("121") ? true : (stryCov_9fa48("121", "122"), type === (stryMutAct_9fa48("123") ? "" : (stryCov_9fa48("123"), "table")))) && (stryMutAct_9fa48("125") ? name === "_litestream_seq" && name === "_litestream_lock" : stryMutAct_9fa48("124") ? true : (stryCov_9fa48("124", "125"), (stryMutAct_9fa48("127") ? name !== "_litestream_seq" : stryMutAct_9fa48("126") ? false : (stryCov_9fa48("126", "127"), name === (stryMutAct_9fa48("128") ? "" : (stryCov_9fa48("128"), "_litestream_seq")))) || (stryMutAct_9fa48("130") ? name !== "_litestream_lock" : stryMutAct_9fa48("129") ? false : (stryCov_9fa48("129", "130"), name === (stryMutAct_9fa48("131") ? "" : (stryCov_9fa48("131"), "_litestream_lock")))))));
  }
}
function expectedObjects(migrationsFolder: string): SchemaObject[] {
  if (stryMutAct_9fa48("132")) {
    {}
  } else {
    stryCov_9fa48("132");
    const empty = retainStatements(new BetterSqlite3(stryMutAct_9fa48("133") ? "" : (stryCov_9fa48("133"), ":memory:")));
    try {
      if (stryMutAct_9fa48("134")) {
        {}
      } else {
        stryCov_9fa48("134");
        migrate(drizzle(empty, stryMutAct_9fa48("135") ? {} : (stryCov_9fa48("135"), {
          casing: stryMutAct_9fa48("136") ? "" : (stryCov_9fa48("136"), "snake_case")
        })), stryMutAct_9fa48("137") ? {} : (stryCov_9fa48("137"), {
          migrationsFolder
        }));
        return objectsIn(empty);
      }
    } finally {
      if (stryMutAct_9fa48("138")) {
        {}
      } else {
        stryCov_9fa48("138");
        empty.close();
      }
    }
  }
}
function objectsIn(sqlite: BetterSqlite3.Database): SchemaObject[] {
  if (stryMutAct_9fa48("139")) {
    {}
  } else {
    stryCov_9fa48("139");
    return sqlite.prepare<[], SchemaObject>(stryMutAct_9fa48("140") ? "" : (stryCov_9fa48("140"), "SELECT type, name, sql FROM sqlite_master ORDER BY type, name")).all();
  }
}
function textOf({
  type,
  name,
  sql
}: SchemaObject): string {
  if (stryMutAct_9fa48("141")) {
    {}
  } else {
    stryCov_9fa48("141");
    return stryMutAct_9fa48("142") ? `` : (stryCov_9fa48("142"), `${type} ${name}: ${sql}`);
  }
}
function unexpected({
  type,
  name
}: SchemaObject): NotAWorldFile {
  if (stryMutAct_9fa48("143")) {
    {}
  } else {
    stryCov_9fa48("143");
    return new NotAWorldFile(stryMutAct_9fa48("144") ? `` : (stryCov_9fa48("144"), `its schema has an unexpected ${type} "${name}"`));
  }
}