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
import { gunzipSync, gzipSync } from "node:zlib";
import type BetterSqlite3 from "better-sqlite3";
import type { ApiKey } from "../../platform/account/api-key.ts";
import type { Checkpoint } from "../../simulation/checkpoint.ts";
import type { StoredEvent } from "../journal/journal-checksum.ts";
import { rechain } from "../journal/rechain.ts";
import { connectToCurrent, type OpenOptions } from "./open-world.ts";
import { checkpointAndClose } from "./sqlite-connection.ts";

/**
 * Removes every secret from a copy of a world's file: passwords, key hashes, and the addresses that keys were
 * used from. Also removes the request log. History and world stay otherwise unchanged; the keys in the copy
 * no longer authenticate.
 */
export function redactSecrets(path: string, options: OpenOptions, replacementHash: ReplacementHash = redactedHash): void {
  if (stryMutAct_9fa48("588")) {
    {}
  } else {
    stryCov_9fa48("588");
    const sqlite = connectToCurrent(path, options);
    try {
      if (stryMutAct_9fa48("589")) {
        {}
      } else {
        stryCov_9fa48("589");
        sqlite.transaction(() => {
          if (stryMutAct_9fa48("590")) {
            {}
          } else {
            stryCov_9fa48("590");
            sqlite.exec(stryMutAct_9fa48("591") ? "" : (stryCov_9fa48("591"), "DELETE FROM secrets; DELETE FROM api_key_uses; DELETE FROM branch_data; DELETE FROM requests"));
            sqlite.function(stryMutAct_9fa48("592") ? "" : (stryCov_9fa48("592"), "hash_of"), stryMutAct_9fa48("593") ? {} : (stryCov_9fa48("593"), {
              deterministic: stryMutAct_9fa48("594") ? false : (stryCov_9fa48("594"), true)
            }), stryMutAct_9fa48("595") ? () => undefined : (stryCov_9fa48("595"), (id: unknown) => replacementHash(Number(id))));
            sqlite.exec(stryMutAct_9fa48("596") ? "" : (stryCov_9fa48("596"), "UPDATE api_keys SET hash = hash_of(id)"));
            redactCheckpoints(sqlite, replacementHash);
            rechain(sqlite, stryMutAct_9fa48("597") ? () => undefined : (stryCov_9fa48("597"), event => redactEvent(event, replacementHash)));
          }
        })();
        // Leaves a single file, without remains of deleted rows in free pages.
        sqlite.exec(stryMutAct_9fa48("598") ? "" : (stryCov_9fa48("598"), "PRAGMA journal_mode = DELETE"));
        sqlite.exec(stryMutAct_9fa48("599") ? "" : (stryCov_9fa48("599"), "VACUUM"));
      }
    } finally {
      if (stryMutAct_9fa48("600")) {
        {}
      } else {
        stryCov_9fa48("600");
        checkpointAndClose(sqlite);
      }
    }
  }
}

/** The hash that replaces the hash of a key's secret. */
export type ReplacementHash = (keyId: number) => string;
export const redactedHash: ReplacementHash = stryMutAct_9fa48("601") ? () => undefined : (stryCov_9fa48("601"), (() => {
  const redactedHash: ReplacementHash = keyId => stryMutAct_9fa48("602") ? `` : (stryCov_9fa48("602"), `emptied-${keyId}`);
  return redactedHash;
})());
function redactEvent(event: StoredEvent, replacementHash: ReplacementHash): StoredEvent {
  if (stryMutAct_9fa48("603")) {
    {}
  } else {
    stryCov_9fa48("603");
    if (stryMutAct_9fa48("606") ? event.type === "ApiKeyCreated" : stryMutAct_9fa48("605") ? false : stryMutAct_9fa48("604") ? true : (stryCov_9fa48("604", "605", "606"), event.type !== (stryMutAct_9fa48("607") ? "" : (stryCov_9fa48("607"), "ApiKeyCreated")))) return event;
    const {
      apiKey,
      ...rest
    } = JSON.parse(event.payload) as {
      apiKey: ApiKey;
    };
    return stryMutAct_9fa48("608") ? {} : (stryCov_9fa48("608"), {
      ...event,
      payload: JSON.stringify(stryMutAct_9fa48("609") ? {} : (stryCov_9fa48("609"), {
        apiKey: stryMutAct_9fa48("610") ? {} : (stryCov_9fa48("610"), {
          ...apiKey,
          hash: replacementHash(apiKey.id)
        }),
        ...rest
      }))
    });
  }
}
function redactCheckpoints(sqlite: BetterSqlite3.Database, replacementHash: ReplacementHash): void {
  if (stryMutAct_9fa48("611")) {
    {}
  } else {
    stryCov_9fa48("611");
    const update = sqlite.prepare(stryMutAct_9fa48("612") ? "" : (stryCov_9fa48("612"), "UPDATE checkpoints SET world = ? WHERE seq = ?"));
    const read = sqlite.prepare<[number], Buffer>(stryMutAct_9fa48("613") ? "" : (stryCov_9fa48("613"), "SELECT world FROM checkpoints WHERE seq = ?")).pluck();
    for (const seq of sqlite.prepare<[], number>(stryMutAct_9fa48("614") ? "" : (stryCov_9fa48("614"), "SELECT seq FROM checkpoints")).pluck().all()) {
      if (stryMutAct_9fa48("615")) {
        {}
      } else {
        stryCov_9fa48("615");
        const checkpoint = JSON.parse(gunzipSync(read.get(seq) as Buffer).toString()) as Checkpoint;
        const apiKeys = (checkpoint.tables["apiKeys"] as ApiKey[]).map(stryMutAct_9fa48("616") ? () => undefined : (stryCov_9fa48("616"), apiKey => stryMutAct_9fa48("617") ? {} : (stryCov_9fa48("617"), {
          ...apiKey,
          hash: replacementHash(apiKey.id)
        })));
        update.run(gzipSync(JSON.stringify(stryMutAct_9fa48("618") ? {} : (stryCov_9fa48("618"), {
          ...checkpoint,
          tables: stryMutAct_9fa48("619") ? {} : (stryCov_9fa48("619"), {
            ...checkpoint.tables,
            apiKeys
          })
        }))), seq);
      }
    }
  }
}