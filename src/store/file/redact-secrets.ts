import { gunzipSync, gzipSync } from "node:zlib";
import type BetterSqlite3 from "better-sqlite3";
import type { ApiKey } from "../../platform/account/api-key.ts";
import type { Checkpoint } from "../../simulation/checkpoint.ts";
import { rechain } from "../journal/rechain.ts";
import type { StoredEvent } from "../tables/checksum.ts";
import { checkpointAndClose } from "./connection.ts";
import { connectToCurrent, type OpenOptions } from "./open-world.ts";

/**
 * Empties a copy of a world's file of every secret: passwords, the hashes of keys, the addresses that keys were used from; and of the
 * journal of requests, which is nobody else's business. History and world stay what they are; a key in it opens nothing any more.
 */
export function redactSecrets(
  path: string,
  options: OpenOptions,
  replacementHash: ReplacementHash = redactedHash,
): void {
  const sqlite = connectToCurrent(path, options);
  try {
    sqlite.transaction(() => {
      sqlite.exec("DELETE FROM secrets; DELETE FROM api_key_uses; DELETE FROM requests");
      sqlite.function("hash_of", { deterministic: true }, (id: unknown) => replacementHash(Number(id)));
      sqlite.exec("UPDATE api_keys SET hash = hash_of(id)");
      redactCheckpoints(sqlite, replacementHash);
      rechain(sqlite, (event) => redactEvent(event, replacementHash));
    })();
    // One file, in which nothing is left of what was deleted.
    sqlite.exec("PRAGMA journal_mode = DELETE");
    sqlite.exec("VACUUM");
  } finally {
    checkpointAndClose(sqlite);
  }
}

/** What takes the place of the hash of a key's secret. */
export type ReplacementHash = (keyId: number) => string;

export const redactedHash: ReplacementHash = (keyId) => `emptied-${keyId}`;

function redactEvent(event: StoredEvent, replacementHash: ReplacementHash): StoredEvent {
  if (event.type !== "ApiKeyCreated") return event;
  const { apiKey, ...rest } = JSON.parse(event.payload) as { apiKey: ApiKey };
  return {
    ...event,
    payload: JSON.stringify({ apiKey: { ...apiKey, hash: replacementHash(apiKey.id) }, ...rest }),
  };
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
    update.run(gzipSync(JSON.stringify({ ...checkpoint, tables: { ...checkpoint.tables, apiKeys } })), seq);
  }
}
