import { gunzipSync, gzipSync } from "node:zlib";
import type BetterSqlite3 from "better-sqlite3";
import { eq, sql } from "drizzle-orm";
import { type ApiKey, REVOKED_HASH_DIGITS, type RevokedHash } from "../../platform/model/api-key.ts";
import type { Checkpoint } from "../../simulation/checkpoint.ts";
import { rechain } from "../journal/rechain.ts";
import type { StoredEvent } from "../tables/journal-checksum.ts";
import {
  apiKeys,
  apiKeyUses,
  branchData,
  checkpoints,
  requests,
  revokedHashes,
  secrets,
} from "../tables/schema.ts";
import { query, textOf } from "../tables/statement.ts";
import { connectToCurrent, type OpenOptions } from "./open-world.ts";
import { checkpointAndClose } from "./sqlite-connection.ts";

/**
 * Removes every secret from a copy of a world's file: passwords, key hashes, and the addresses that keys were
 * used from. Also removes the request log, unless `keepsRequests`, and where the data of branches is, unless
 * `keepsBranchData`. History and world stay otherwise unchanged; the keys in the copy no longer authenticate.
 */
export function redactSecrets(
  path: string,
  options: OpenOptions & { readonly keepsBranchData?: boolean; readonly keepsRequests?: boolean },
  replacementHash: ReplacementHash = redactedHash,
): void {
  const sqlite = connectToCurrent(path, options);
  try {
    sqlite.transaction(() => {
      const emptied = [
        secrets,
        apiKeyUses,
        ...(options.keepsRequests === true ? [] : [requests]),
        ...(options.keepsBranchData === true ? [] : [branchData]),
      ];
      for (const table of emptied) sqlite.exec(textOf(query.delete(table)));
      sqlite.function("hash_of", { deterministic: true }, (id: unknown) => replacementHash(Number(id)));
      sqlite.exec(textOf(query.update(apiKeys).set({ hash: sql`hash_of(${apiKeys.id})` })));
      const removedHash = sql`substr(hash_of(${revokedHashes.keyId}), 1, ${REVOKED_HASH_DIGITS})`;
      sqlite.exec(textOf(query.update(revokedHashes).set({ hash: removedHash })));
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
  const isAt = eq(checkpoints.seq, sql.placeholder("seq"));
  const written = query.update(checkpoints).set({ world: sql`${sql.placeholder("world")}` });
  const update = sqlite.prepare(textOf(written.where(isAt), "world", "seq"));
  const { seq: position, world } = checkpoints;
  const read = sqlite
    .prepare<[number], Buffer>(textOf(query.select({ world }).from(checkpoints).where(isAt), "seq"))
    .pluck();
  const all = sqlite.prepare<[], number>(textOf(query.select({ position }).from(checkpoints))).pluck();
  for (const seq of all.all()) {
    const checkpoint = JSON.parse(gunzipSync(read.get(seq) as Buffer).toString()) as Checkpoint;
    const keys = (checkpoint.tables["apiKeys"] as ApiKey[]).map((apiKey) => ({
      ...apiKey,
      hash: replacementHash(apiKey.id),
    }));
    const revoked = ((checkpoint.tables["revokedHashes"] ?? []) as RevokedHash[]).map((one) =>
      withoutRemovedHash(one, replacementHash),
    );
    const tables = { ...checkpoint.tables, apiKeys: keys, revokedHashes: revoked };
    update.run(gzipSync(JSON.stringify({ ...checkpoint, tables })), seq);
  }
}
