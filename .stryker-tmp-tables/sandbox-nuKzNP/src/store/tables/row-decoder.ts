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
import type { Column } from "drizzle-orm";

/** A column with a value of the row, and the property that has it. */
export type ValueColumn = readonly [property: string, column: Column];
type ValueReader = (row: Record<string, unknown>, value: unknown) => void;

/** Converts the stored values of rows to objects of the world. A NULL column becomes an absent property. */
export function rowDecoder(columns: readonly ValueColumn[]): (values: readonly unknown[]) => Record<string, unknown> {
  if (stryMutAct_9fa48("68")) {
    {}
  } else {
    stryCov_9fa48("68");
    const readers = columns.map(stryMutAct_9fa48("69") ? () => undefined : (stryCov_9fa48("69"), ([property, column]) => valueReader(property, column)));
    return values => {
      if (stryMutAct_9fa48("70")) {
        {}
      } else {
        stryCov_9fa48("70");
        const row: Record<string, unknown> = {};
        for (let index = 0; stryMutAct_9fa48("73") ? index >= readers.length : stryMutAct_9fa48("72") ? index <= readers.length : stryMutAct_9fa48("71") ? false : (stryCov_9fa48("71", "72", "73"), index < readers.length); stryMutAct_9fa48("74") ? index -= 1 : (stryCov_9fa48("74"), index += 1)) {
          if (stryMutAct_9fa48("75")) {
            {}
          } else {
            stryCov_9fa48("75");
            const value = values[index];
            if (stryMutAct_9fa48("78") ? value === null : stryMutAct_9fa48("77") ? false : stryMutAct_9fa48("76") ? true : (stryCov_9fa48("76", "77", "78"), value !== null)) stryMutAct_9fa48("79") ? readers[index](row, value) : (stryCov_9fa48("79"), readers[index]?.(row, value));
          }
        }
        return row;
      }
    };
  }
}

/**
 * Sets a property to the value of a column. Equal values of successive rows become one value in memory, which
 * is possible because rows are never edited. `undefined` for the key, which is made of other columns.
 */
function valueReader(property: string, column: Column): ValueReader | undefined {
  if (stryMutAct_9fa48("80")) {
    {}
  } else {
    stryCov_9fa48("80");
    if (stryMutAct_9fa48("83") ? property !== "key" : stryMutAct_9fa48("82") ? false : stryMutAct_9fa48("81") ? true : (stryCov_9fa48("81", "82", "83"), property === (stryMutAct_9fa48("84") ? "" : (stryCov_9fa48("84"), "key")))) return undefined;
    if (stryMutAct_9fa48("87") ? column.dataType !== "number" : stryMutAct_9fa48("86") ? false : stryMutAct_9fa48("85") ? true : (stryCov_9fa48("85", "86", "87"), column.dataType === (stryMutAct_9fa48("88") ? "" : (stryCov_9fa48("88"), "number")))) return (row, value) => {
      if (stryMutAct_9fa48("89")) {
        {}
      } else {
        stryCov_9fa48("89");
        row[property] = value;
      }
    };
    const isText = stryMutAct_9fa48("92") ? column.dataType !== "string" : stryMutAct_9fa48("91") ? false : stryMutAct_9fa48("90") ? true : (stryCov_9fa48("90", "91", "92"), column.dataType === (stryMutAct_9fa48("93") ? "" : (stryCov_9fa48("93"), "string")));
    let last: unknown;
    let decoded: unknown;
    return (row, value) => {
      if (stryMutAct_9fa48("94")) {
        {}
      } else {
        stryCov_9fa48("94");
        if (stryMutAct_9fa48("97") ? value === last : stryMutAct_9fa48("96") ? false : stryMutAct_9fa48("95") ? true : (stryCov_9fa48("95", "96", "97"), value !== last)) {
          if (stryMutAct_9fa48("98")) {
            {}
          } else {
            stryCov_9fa48("98");
            decoded = isText ? value : column.mapFromDriverValue(value);
            last = value;
          }
        }
        row[property] = decoded;
      }
    };
  }
}