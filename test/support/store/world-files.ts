import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { onTestFinished } from "vitest";
import type { SimTime } from "../../../src/kernel/time.ts";
import type { TableName } from "../../../src/platform/world/tables.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import type { CheckpointPosition } from "../../../src/simulation/journal.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import type { ClockState } from "../../../src/simulation/world-clock.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { checksumOf } from "../../../src/store/tables/journal-checksum.ts";
import { RowWriter } from "../../../src/store/tables/row-writer.ts";
import { temporaryDirectory } from "../process/process.ts";
import {
  createDev,
  createOther,
  DEV,
  MAIN,
  ORGANIZATION,
  SHOP,
  worldWithProject,
} from "../rules/rule-worlds.ts";
import { after, HOUR, MINUTE, NOW, SECOND, type Step } from "../rules/rules.ts";
import { SimulatedWorld } from "../rules/simulated-world.ts";

export const MIGRATIONS = "migrations";
export const OPTIONS = { migrationsFolder: MIGRATIONS };

/** Secrets that an export must not contain. The hash is that of the key that `FULL_LIFE` creates. */
export const [KEY_HASH, PASSWORD, ADDRESS] = ["5ec7e75ec7e7", "npg_in_the_file", "203.0.113.77"];

/** Hash of a key that was revoked and removed. */
export const REMOVED_KEY_HASH = "0ldc0de".repeat(9);

const connect = { endpointId: "ep-main", kind: "connect", durationMs: HOUR } as const;

const createKey = { type: "CreateApiKey", accountId: "owner", name: "ci", hash: KEY_HASH } as const;

/**
 * Rows in every journaled table, finished and unfinished operations. The parts are separated by checkpoints when
 * they are written to a file.
 */
export const FULL_LIFE: readonly Step[] = [
  [
    worldWithProject(),
    createKey,
    { ...createKey, name: "old", hash: REMOVED_KEY_HASH },
    { type: "RevokeApiKey", accountId: "owner", keyId: 2 },
    after(170 * HOUR),
    { type: "RecordActivity", activity: { ...connect, kind: "query", durationMs: 2 * HOUR } },
    { type: "CreateSnapshot", ...MAIN, name: "weekly" },
    { type: "GrantPermission", ...SHOP, email: "guest@example.com" },
    {
      type: "SetFaults",
      faults: [
        {
          name: "slow",
          scope: {},
          timing: {},
          effect: { kind: "latency", takes: { kind: "fixed", ms: 250 }, clock: "world" },
        },
      ],
    },
    { type: "ScheduleActivity", activity: connect, at: NOW + 240 * HOUR },
    after(3 * HOUR),
    { type: "RecordActivity", activity: { ...connect, connectionId: "first" } },
    after(MINUTE),
    createDev,
  ],
  [
    after(2 * SECOND),
    createOther,
    { ...createKey, name: "cd", hash: `${KEY_HASH}2`, scope: { organizationId: ORGANIZATION } },
    after(MINUTE),
    { type: "UpdateBranch", ...DEV, name: "renamed" },
    { ...createDev, id: "br-next", name: "next" },
  ],
  [
    after(MINUTE),
    { type: "RecordActivity", activity: { ...connect, connectionId: "second" } },
    {
      ...createDev,
      id: "br-late",
      name: "late",
      computes: [{ id: "ep-late", computeType: "read_write", options: {} }],
    },
  ],
];

/** A directory that is removed after the test. */
export function testDirectory(): string {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  return path;
}

export type WorldFileOptions = {
  /** Truncates history at the first checkpoint. As by default, finished operations are retained for longer. */
  readonly truncated?: boolean;
};

/**
 * Writes a world's file, with a checkpoint between two parts and rows in the tables beside history, and closes it.
 */
export async function writeWorldFile(
  path: string,
  parts: readonly Step[] = FULL_LIFE,
  { truncated = false }: WorldFileOptions = {},
): Promise<SimulatedWorld> {
  const { journal, world, close } = openStore(path, OPTIONS);
  try {
    const simulation = new Simulation(world, journal);
    const simulated = new SimulatedWorld().use(simulation);
    world.secrets.set({ id: "br-main/app", value: PASSWORD });
    world.apiKeyUses.set({ keyId: 1, lastUsedAt: NOW, lastUsedFromAddr: ADDRESS });
    world.branchData.set({
      id: "br-main",
      volumeId: "volume-1",
      at: NOW,
      lsn: "0/1500000",
      writes: true,
      isOpen: true,
    });
    let first: CheckpointPosition | undefined;
    for (const [index, part] of parts.entries()) {
      if (index > 0) {
        await journal.storeCheckpoint(takeCheckpoint(world));
        first ??= journal.newestCheckpoint;
      }
      simulated.run(part);
    }
    const { now } = simulated;
    const requests = [
      { number: 1, at: now, text: JSON.stringify({ number: 1, at: now, path: `/${PASSWORD}` }) },
    ];
    simulation.commit(clockAt(now), now, { add: requests, limit: 10 });
    if (truncated && first !== undefined) {
      journal.truncate({ eventsUpTo: first.seq, operationsBefore: 0 });
      while (!journal.prune());
    }
    return simulated;
  } finally {
    close();
  }
}

export function clockAt(now: SimTime): ClockState {
  return { mode: "manual", factor: 0, simAnchor: now, wallAnchor: 0 };
}

/** A copy of a closed database in memory. */
export function inMemory(file: string): BetterSqlite3.Database {
  const bytes = readFileSync(file);
  // A log cannot be in memory. These bytes of the header state the kind of log.
  bytes.fill(1, 18, 20);
  return new BetterSqlite3(bytes);
}

/** A copy of a closed database, in a directory that is removed after the test. */
export function copyOf(file: string, name = "world.sqlite"): string {
  const path = join(testDirectory(), name);
  copyFileSync(file, path);
  return path;
}

export function inDatabase<T>(path: string, work: (sqlite: BetterSqlite3.Database) => T): T {
  const sqlite = new BetterSqlite3(path);
  try {
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

/** Writes a row as a commit does, with its checksum. Returns its key. */
export function writeRow(sqlite: BetterSqlite3.Database, table: TableName, row: object): string {
  const key = emptyWorld()[table].keyOf(row as never);
  new RowWriter(sqlite).write({ table, key, value: row });
  return key;
}

/** The one row of the table `world`. */
type WorldRow = Record<"settings" | "numbers" | "clock", string> &
  Record<"seq" | "at" | "now" | "chain", number>;

/** Edits the world row, and writes it with its checksum. Texts are JSON. */
export function editWorldRow(sqlite: BetterSqlite3.Database, edit: (row: WorldRow) => void): void {
  const columns = ["settings", "numbers", "clock", "seq", "at", "now", "chain"] as const;
  const row = sqlite.prepare(`SELECT ${columns} FROM world`).get() as WorldRow;
  edit(row);
  const values = columns.map((column) => row[column]);
  sqlite
    .prepare(`UPDATE world SET ${columns.map((column) => `${column} = ?`)}, checksum = ?`)
    .run(...values, checksumOf(values));
}

export function removeRow(sqlite: BetterSqlite3.Database, table: TableName, row: object): void {
  const key = emptyWorld()[table].keyOf(row as never);
  new RowWriter(sqlite).write({ table, key, value: undefined });
}
