import { gunzipSync, gzipSync } from "node:zlib";
import type BetterSqlite3 from "better-sqlite3";
import { type ApiKey, REVOKED_HASH_DIGITS, type RevokedHash } from "../../platform/model/api-key.ts";
import type { Checkpoint } from "../../simulation/checkpoint.ts";
import { rechain } from "../journal/rechain.ts";
import type { StoredEvent } from "../tables/journal-checksum.ts";
import { connectToCurrent, type OpenOptions } from "./open-world.ts";
import { checkpointAndClose } from "./sqlite-connection.ts";

/**
 * Removes every secret from a copy of a world's file: passwords, key hashes, and the addresses that keys were
 * used from. Also removes the request log, and unless `keepsBranchData`, where the data of branches is. History and world stay otherwise unchanged; the keys in the copy
 * no longer authenticate.
 */
export function redactSecrets(
  path: string,
  options: OpenOptions & { readonly keepsBranchData?: boolean },
  replacementHash: ReplacementHash = redactedHash,
): void {
  const sqlite = connectToCurrent(path, options);
  try {
    sqlite.transaction(() => {
      sqlite.exec("DELETE FROM secrets; DELETE FROM api_key_uses; DELETE FROM requests");
      if (options.keepsBranchData !== true) sqlite.exec("DELETE FROM branch_data");
      sqlite.function("hash_of", { deterministic: true }, (id: unknown) => replacementHash(Number(id)));
      sqlite.exec(
        `UPDATE api_keys SET hash = hash_of(id); UPDATE revoked_hashes SET hash = substr(hash_of(key_id), 1, ${REVOKED_HASH_DIGITS})`,
      );
      redactCheckpoints(sqlite, replacementHash);
      rechain(sqlite, (event) => redactEvent(event, replacementHash));
    })();
    // Leaves a single file, without remains of deleted rows in free pages.
    sqlite.exec("PRAGMA journal_mode = DELETE");
    sqlite.exec("VACUUM");
  } finally {
    checkpointAndClose(sqlite);
  }
}

/** The hash that replaces the hash of a key's secret. */
export type ReplacementHash = (keyId: number) => string;

export const redactedHash: ReplacementHash = (keyId) => `emptied-${keyId}`;

function redactEvent(event: StoredEvent, replacementHash: ReplacementHash): StoredEvent {
  if (event.type === "ApiKeyRemoved") {
    const removed = JSON.parse(event.payload) as RemovedKey;
    return { ...event, payload: JSON.stringify(withoutRemovedHash(removed, replacementHash)) };
  }
  if (event.type !== "ApiKeyCreated") return event;
  const { apiKey, ...rest } = JSON.parse(event.payload) as { apiKey: ApiKey };
  return {
    ...event,
    payload: JSON.stringify({ apiKey: { ...apiKey, hash: replacementHash(apiKey.id) }, ...rest }),
  };
}

type RemovedKey = { readonly keyId: number; readonly hash?: string };

/** With the hash that replaces that of a removed key, if it has one. */
export function withoutRemovedHash<E extends RemovedKey>(
  removed: E,
  replacementHash: ReplacementHash = redactedHash,
): E {
  if (removed.hash === undefined) return removed;
  return { ...removed, hash: replacementHash(removed.keyId).slice(0, REVOKED_HASH_DIGITS) };
}

function redactCheckpoints(sqlite: BetterSqlite3.Database, replacementHash: ReplacementHash): void {
  const update = sqlite.prepare("UPDATE checkpoints SET world = ? WHERE seq = ?");
  const read = sqlite.prepare<[number], Buffer>("SELECT world FROM checkpoints WHERE seq = ?").pluck();
  for (const seq of sqlite.prepare<[], number>("SELECT seq FROM checkpoints").pluck().all()) {
    const checkpoint = JSON.parse(gunzipSync(read.get(seq) as Buffer).toString()) as Checkpoint;
    const apiKeys = (checkpoint.tables["apiKeys"] as ApiKey[]).map((apiKey) => ({
      ...apiKey,
      hash: replacementHash(apiKey.id),
    }));
    const revokedHashes = ((checkpoint.tables["revokedHashes"] ?? []) as RevokedHash[]).map((revoked) =>
      withoutRemovedHash(revoked, replacementHash),
    );
    const tables = { ...checkpoint.tables, apiKeys, revokedHashes };
    update.run(gzipSync(JSON.stringify({ ...checkpoint, tables })), seq);
  }
}
