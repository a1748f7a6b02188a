import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openStore } from "../../../src/store/file/open-world.ts";
import { redactSecrets } from "../../../src/store/file/redact-secrets.ts";
import { connectReadOnly } from "../../../src/store/file/sqlite-connection.ts";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import { readHistoryRow } from "../../../src/store/tables/journal-row.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import {
  ADDRESS,
  copyOf,
  inMemory,
  KEY_HASH,
  OPTIONS,
  PASSWORD,
  REMOVED_KEY_HASH,
} from "../../support/store/world-files.ts";

const files = worldFiles();
const SECRETS = [KEY_HASH, REMOVED_KEY_HASH.slice(0, 32), PASSWORD, ADDRESS];

/** The bytes of a file, and its checkpoints as text. */
function contentOf(file: string): string {
  const checkpoints = inMemory(file).prepare<[], Buffer>("SELECT world FROM checkpoints").pluck().all();
  return [readFileSync(file, "latin1"), ...checkpoints.map((world) => gunzipSync(world).toString())].join(
    "\n",
  );
}

function countRows(file: string, table: string): unknown {
  return inMemory(file).prepare(`SELECT count(*) FROM ${table}`).pluck().get();
}

function eventsOf(file: string) {
  const { journal, close } = openStore(file, OPTIONS);
  try {
    return journal.events(0, 999);
  } finally {
    close();
  }
}

describe.each(["complete", "truncated"] as const)("a redacted copy of a world with %s history", (which) => {
  const redacted = () => {
    const file = copyOf(files[which]);
    redactSecrets(file, OPTIONS);
    return file;
  };

  test("contains no secret, not even in free pages and in checkpoints", () => {
    const original = contentOf(files[which]);
    for (const secret of SECRETS) expect(original).toContain(secret);
    const content = contentOf(redacted());
    for (const secret of SECRETS) expect(content).not.toContain(secret);
  });

  test("has no requests, no uses of keys, no secrets, and no data of branches", () => {
    const file = redacted();
    for (const table of ["secrets", "api_key_uses", "requests", "branch_data"]) {
      expect(countRows(files[which], table), table).not.toBe(0);
      expect(countRows(file, table), table).toBe(0);
    }
  });

  test("has the same history and world, apart from the hashes of keys", async () => {
    const file = redacted();
    const verification = await verifyFile(inMemory(file), async () => undefined);
    expect(verification).toMatchObject({ ok: true, differences: [], to: files.head });
    expect(readHistoryRow(inMemory(file))).toEqual(readHistoryRow(inMemory(files[which])));
    const withoutHash = (event: ReturnType<typeof eventsOf>[number]) => {
      if (event.type === "ApiKeyRemoved") return { ...event, hash: `emptied-${event.keyId}` };
      return event.type === "ApiKeyCreated"
        ? { ...event, apiKey: { ...event.apiKey, hash: `emptied-${event.apiKey.id}` } }
        : event;
    };
    expect(eventsOf(file)).toEqual(eventsOf(copyOf(files[which])).map(withoutHash));
    const hashes = inMemory(file).prepare("SELECT hash FROM api_keys ORDER BY id").pluck().all();
    expect(hashes).toEqual(["emptied-1", "emptied-3"]);
    const removed = inMemory(file).prepare("SELECT hash FROM revoked_hashes").pluck().all();
    expect(removed).toEqual(["emptied-2"]);
  });

  test("is a single file, also while it is read", () => {
    const file = redacted();
    const reader = connectReadOnly(file);
    try {
      expect(reader.prepare("SELECT count(*) FROM events").pluck().get()).toBeGreaterThan(0);
      for (const suffix of ["-wal", "-shm", "-journal"]) expect(existsSync(file + suffix)).toBe(false);
    } finally {
      reader.close();
    }
  });
});

test("a copy has no truncated events, which may wait to be deleted", () => {
  const file = copyOf(files.complete);
  const { journal, close } = openStore(file, OPTIONS);
  journal.truncate({ eventsUpTo: files.first, operationsBefore: 0 });
  close();
  expect(contentOf(file)).toContain(KEY_HASH);
  redactSecrets(file, OPTIONS);
  expect(contentOf(file)).not.toContain(KEY_HASH);
  expect(inMemory(file).prepare("SELECT min(seq) FROM events").pluck().get()).toBe(files.first + 1);
});

test("hashes can be replaced by those of other keys", () => {
  const file = copyOf(files.complete);
  redactSecrets(file, OPTIONS, (keyId) => `hash of ${keyId}`);
  const created = eventsOf(file).flatMap((event) =>
    event.type === "ApiKeyCreated" ? [event.apiKey.hash] : [],
  );
  expect(created).toEqual(["hash of 1", "hash of 2", "hash of 3"]);
  const stored = inMemory(file).prepare("SELECT hash FROM api_keys ORDER BY id").pluck().all();
  expect(stored).toEqual(["hash of 1", "hash of 3"]);
  const removed = inMemory(file).prepare("SELECT hash FROM revoked_hashes").pluck().all();
  expect(removed).toEqual(["hash of 2"]);
});

test("the places of the data of branches can be retained, without secrets", () => {
  const kept = countRows(files.complete, "branch_data");
  for (const [keepsBranchData, rows] of [
    [true, kept],
    [false, 0],
  ] as const) {
    const file = copyOf(files.complete);
    redactSecrets(file, { ...OPTIONS, keepsBranchData });
    expect(countRows(file, "branch_data")).toBe(rows);
    expect(contentOf(file)).not.toContain(PASSWORD);
  }
});

test("a copy that cannot be redacted completely stays as it is, and closed", () => {
  const file = copyOf(files.complete);
  const failing = () => {
    throw new Error("no hash");
  };
  expect(() => redactSecrets(file, OPTIONS, failing)).toThrow("no hash");
  expect(countRows(file, "secrets")).toBe(1);
  expect(existsSync(`${file}-wal`)).toBe(false);
});
