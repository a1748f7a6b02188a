import { copyFileSync, rmSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import type { TableName } from "../../src/platform/core/tables.ts";
import { type Checkpoint, takeCheckpoint } from "../../src/simulation/checkpoint.ts";
import { worldAt } from "../../src/simulation/replay.ts";
import { openStore } from "../../src/store/file/open-world.ts";
import { checksumOf } from "../../src/store/tables/checksum.ts";
import { prepareReader, RowWriter, tableName } from "../../src/store/tables/stored-tables.ts";
import { createBranch } from "../support/compute.ts";
import { createProject, type Double } from "../support/double.ts";
import { commandSequences, runCommands } from "../support/model/commands.ts";
import { temporaryDirectory } from "../support/process.ts";
import { expectHolds } from "../support/properties.ts";
import { createStorageDouble, verify } from "../support/storage-double.ts";

type Manipulation = {
  readonly what: string;
  /** Gives what the difference must name. */
  readonly change: (sqlite: BetterSqlite3.Database) => string | RegExp;
  /** Where it must be told to be. */
  readonly where: string;
};

const CHECKPOINT_SEQ = "SELECT seq FROM checkpoints ORDER BY seq";

let directory: ReturnType<typeof temporaryDirectory>;
/** A world's file with a whole history and a checkpoint in it, and one of the same life that has forgotten some of it. */
let whole: string;
let forgetful: string;

beforeAll(async () => {
  directory = temporaryDirectory();
  whole = `${directory.path}/whole.sqlite`;
  forgetful = `${directory.path}/forgetful.sqlite`;
  for (const file of [whole, forgetful]) {
    const shelved = await createStorageDouble("in files");
    const endpointId = await liveSomewhat(shelved.double());
    if (file === forgetful) await shelved.double().sim("POST", "/compact", { keep: "2h" });
    await shelved.double().close();
    await keepCheckpoint(shelved.file(), "journal");
    await shelved.reopen();
    await liveOn(shelved.double(), endpointId);
    await shelved.release();
    copyFileSync(shelved.file(), file);
    await shelved.end();
  }
});

afterAll(() => directory.remove());

/** Something in every table: a deleted branch, open connections, keys, activity ahead, operations that are over and that are not. */
async function liveSomewhat(double: Double): Promise<string> {
  const { projectId, endpointId } = await createProject(double);
  const { branchId } = await createBranch(double, projectId, [{ type: "read_write" }]);
  await double.api("POST", "/api_keys", { key_name: "another" });
  for (let hour = 0; hour < 6; hour += 1) {
    await double.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 400, load: 1 });
    await double.advance("1h");
  }
  await double.api("DELETE", `/projects/${projectId}/branches/${branchId}`);
  await double.advance("1m");
  return endpointId;
}

async function liveOn(double: Double, endpointId: string): Promise<void> {
  await double.advance("30m");
  await double.sim("POST", "/activity", { endpoint_id: endpointId, at: "2026-01-02T00:00:00Z" });
  const other = await createProject(double);
  await double.sim("POST", "/activity", {
    endpoint_id: other.endpointId,
    kind: "connect",
    connection_id: "open",
  });
  await double.sim("POST", "/accounts", { id: "second", name: "second" });
  await double.api("POST", "/projects", { project: { name: "under way" } });
}

/** Takes a checkpoint at the head of a file that nobody has open: of the world that its tables hold, or of the one that its journal tells. */
async function keepCheckpoint(file: string, of: "tables" | "journal"): Promise<void> {
  const { journal, world, close } = openStore(file, { migrationsFolder: MIGRATIONS_FOLDER });
  const kept = of === "tables" ? world : await worldAt(journal, world.seq, async () => undefined);
  await journal.storeCheckpoint(takeCheckpoint(kept));
  close();
}

/** What `verify` says of a copy of a file after this was done to it. */
async function verifyChanged<T>(file: string, change: (sqlite: BetterSqlite3.Database) => T) {
  const copy = `${directory.path}/copy.sqlite`;
  for (const suffix of ["", "-wal", "-shm"]) rmSync(copy + suffix, { force: true });
  copyFileSync(file, copy);
  const sqlite = new BetterSqlite3(copy);
  try {
    const changed = change(sqlite);
    sqlite.close();
    return { changed, verification: await verify(copy) };
  } finally {
    sqlite.close();
  }
}

/** Edits a row as the store itself would write it, its checksum included; gives its key. */
function editRow(
  sqlite: BetterSqlite3.Database,
  table: TableName,
  edit: (row: any) => object,
  which = (_: any) => true,
): string {
  const row = prepareReader<any>(sqlite, table)().find(which);
  if (row === undefined) throw new Error(`there is no such row of ${table}`);
  const key = table === "connections" ? `${row.endpointId}/${row.id}` : String(row.id ?? row.number);
  new RowWriter(sqlite).write({ table, key, value: { ...row, ...edit(row) } });
  return key;
}

function deleteRow(sqlite: BetterSqlite3.Database, table: TableName, which = "1"): string {
  const name = tableName(table);
  const key = table === "connections" ? "key" : table === "scheduledActivities" ? "number" : "id";
  const id = sqlite.prepare(`SELECT ${key} FROM ${name} WHERE ${which} LIMIT 1`).pluck().get();
  if (id === undefined) throw new Error(`there is no such row of ${table}`);
  sqlite.prepare(`DELETE FROM ${name} WHERE ${key} = ?`).run(id);
  return String(id);
}

function addRow(sqlite: BetterSqlite3.Database, table: TableName, id: string, changes: object): string {
  const row = prepareReader<any>(sqlite, table)().at(-1);
  new RowWriter(sqlite).write({ table, key: id, value: { ...row, id, ...changes } });
  return id;
}

/** Edits the row of the world, its checksum included. */
function editWorld(sqlite: BetterSqlite3.Database, edit: (row: any) => void): void {
  const columns = ["settings", "numbers", "clock", "seq", "at", "now", "chain"];
  const row: any = sqlite.prepare(`SELECT ${columns} FROM world`).get();
  edit(row);
  const values = columns.map((column) => row[column]);
  sqlite
    .prepare(`UPDATE world SET ${columns.map((column) => `${column} = ?`)}, checksum = ?`)
    .run(...values, checksumOf(values));
}

function editJson(text: string, edit: (value: any) => void): string {
  const value = JSON.parse(text);
  edit(value);
  return JSON.stringify(value);
}

function editCheckpoint(sqlite: BetterSqlite3.Database, seq: number, edit: (checkpoint: any) => void): void {
  const world = sqlite
    .prepare<[number], Buffer>("SELECT world FROM checkpoints WHERE seq = ?")
    .pluck()
    .get(seq) as Buffer;
  const checkpoint = JSON.parse(gunzipSync(world).toString()) as Checkpoint;
  edit(checkpoint);
  sqlite
    .prepare("UPDATE checkpoints SET world = ? WHERE seq = ?")
    .run(gzipSync(JSON.stringify(checkpoint)), seq);
}

function headOf(sqlite: BetterSqlite3.Database): number {
  return sqlite.prepare("SELECT max(seq) FROM events").pluck().get() as number;
}

/** A later checkpoint than the one that history begins at, if it begins at one. */
function laterCheckpoint(sqlite: BetterSqlite3.Database): number {
  return sqlite.prepare(CHECKPOINT_SEQ).pluck().all().at(-1) as number;
}

const isOver = ({ state }: { state: { status: string } }) =>
  state.status === "finished" || state.status === "cancelled";
/** The newest, so that no file has forgotten it. */
const newest = (sqlite: BetterSqlite3.Database, which: (operation: any) => boolean) => {
  const all = prepareReader<any>(sqlite, "operations")().filter(which);
  return (operation: any) => operation.id === all.at(-1)?.id;
};

const MANIPULATIONS: readonly Manipulation[] = [
  {
    what: "a project has another name",
    where: "projects",
    change: (sqlite) => editRow(sqlite, "projects", () => ({ name: "edited" })),
  },
  {
    what: "an account has another plan",
    where: "accounts",
    change: (sqlite) => editRow(sqlite, "accounts", () => ({ plan: "free" })),
  },
  {
    what: "a key has another hash",
    where: "api_keys",
    change: (sqlite) => editRow(sqlite, "apiKeys", () => ({ hash: "0".repeat(64) })),
  },
  {
    what: "a branch is protected",
    where: "branches",
    change: (sqlite) => editRow(sqlite, "branches", () => ({ protected: true })),
  },
  {
    what: "a compute has another delay",
    where: "computes",
    change: (sqlite) => editRow(sqlite, "computes", () => ({ suspendTimeoutSeconds: 3_600 })),
  },
  {
    what: "a compute is in another phase",
    where: "computes",
    change: (sqlite) =>
      editRow(
        sqlite,
        "computes",
        () => ({ phase: { state: "idle" } }),
        ({ phase }) => phase.state === "active",
      ),
  },
  {
    what: "a connection closes at another instant",
    where: "connections",
    change: (sqlite) =>
      editRow(
        sqlite,
        "connections",
        () => ({ until: 1 }),
        ({ id }) => id === "open",
      ),
  },
  {
    what: "an activity lies ahead at another instant",
    where: "scheduled_activities",
    change: (sqlite) => editRow(sqlite, "scheduledActivities", ({ at }) => ({ at: at + 1 })),
  },
  {
    what: "somebody is charged a millisecond more",
    where: "usage",
    change: (sqlite) => editRow(sqlite, "usage", ({ activeMs }) => ({ activeMs: activeMs + 1 })),
  },
  {
    what: "somebody is charged for more CU",
    where: "usage",
    change: (sqlite) => editRow(sqlite, "usage", ({ cuMs }) => ({ cuMs: cuMs * 2 + 1 })),
  },
  {
    what: "an operation that is over has failed to end",
    where: "operations",
    change: (sqlite) =>
      editRow(sqlite, "operations", () => ({ state: { status: "scheduling" } }), newest(sqlite, isOver)),
  },
  {
    what: "an operation that is over ended at another instant",
    where: "operations",
    change: (sqlite) =>
      editRow(
        sqlite,
        "operations",
        ({ state }) => ({ state: { ...state, finishedAt: state.finishedAt + 1 } }),
        newest(sqlite, ({ state }) => state.status === "finished"),
      ),
  },
  {
    what: "an operation that runs is over",
    where: "operations",
    change: (sqlite) =>
      editRow(
        sqlite,
        "operations",
        ({ updatedAt }) => ({ state: { status: "finished", startedAt: updatedAt, finishedAt: updatedAt } }),
        ({ state }) => state.status === "running",
      ),
  },
  {
    what: "an operation that is over is gone",
    where: "operations",
    change: (sqlite) =>
      deleteRow(
        sqlite,
        "operations",
        "status = 'finished' AND number = (SELECT max(number) FROM operations WHERE status = 'finished')",
      ),
  },
  {
    what: "an operation that runs is gone",
    where: "operations",
    change: (sqlite) => deleteRow(sqlite, "operations", "status = 'running'"),
  },
  {
    what: "there is one operation more",
    where: "operations",
    change: (sqlite) =>
      addRow(sqlite, "operations", "00000000-0000-4000-8000-000000000000", {
        number: 9_999,
        state: { status: "scheduling" },
      }),
  },
  ...(
    [
      "accounts",
      "apiKeys",
      "projects",
      "branches",
      "computes",
      "connections",
      "scheduledActivities",
      "usage",
    ] as const
  ).map(
    (table): Manipulation => ({
      what: `a row of ${table} is gone`,
      where: tableName(table),
      change: (sqlite) => deleteRow(sqlite, table),
    }),
  ),
  {
    what: "there is one account more",
    where: "accounts",
    change: (sqlite) => addRow(sqlite, "accounts", "added", { number: 99 }),
  },
  {
    what: "there is one project more",
    where: "projects",
    change: (sqlite) => addRow(sqlite, "projects", "added-project-1", { number: 99 }),
  },
  {
    what: "there is one branch more",
    where: "branches",
    change: (sqlite) =>
      addRow(sqlite, "branches", "br-added-branch-1", { number: 99, name: "added", default: false }),
  },
  {
    what: "there is one compute more",
    where: "computes",
    change: (sqlite) => addRow(sqlite, "computes", "ep-added-compute-1", { number: 99, type: "read_only" }),
  },
  {
    what: "there is usage of somebody who is not there",
    where: "usage",
    change: (sqlite) => addRow(sqlite, "usage", "br-nobody", {}),
  },
  {
    what: "a row is not what its checksum is of",
    where: "projects",
    change: (sqlite) => {
      sqlite.exec("UPDATE projects SET name = 'edited' WHERE number = 1");
      return /row .* of projects is damaged/;
    },
  },
  {
    what: "a number of the world is another one",
    where: "world",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.numbers = editJson(row.numbers, (numbers) => {
          numbers.project += 1;
        });
      });
      return "numbers";
    },
  },
  {
    what: "a setting of the world is another one",
    where: "world",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.settings = editJson(row.settings, (settings) => {
          settings.seed += 1;
        });
      });
      return "settings";
    },
  },
  {
    what: "the world's last event is of another instant",
    where: "world",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.at -= 1;
      });
      return /^at is/;
    },
  },
  {
    what: "the tables stand at an earlier event",
    where: "journal",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.seq -= 1;
      });
      return String(headOf(sqlite));
    },
  },
  {
    what: "the row of the world is not what its checksum is of",
    where: "journal",
    change: (sqlite) => {
      sqlite.exec("UPDATE world SET now = now + 1");
      return "row of the world";
    },
  },
  {
    what: "the clock stands before the last event",
    where: "invariants",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.now = row.at - 1;
      });
      return /./;
    },
  },
  {
    what: "the clock stands behind what is long due",
    where: "invariants",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.now += 86_400_000;
      });
      return /./;
    },
  },
  {
    what: "a checkpoint on the way tells of another name",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      editCheckpoint(sqlite, seq, ({ tables }) => {
        tables.projects[0].name = "edited";
      });
      return String(seq);
    },
  },
  {
    what: "a checkpoint on the way has other numbers",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      editCheckpoint(sqlite, seq, ({ numbers }) => {
        numbers.branch += 1;
      });
      return String(seq);
    },
  },
  {
    what: "a checkpoint on the way has lost a row",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      editCheckpoint(sqlite, seq, ({ tables }) => tables.usage.pop());
      return String(seq);
    },
  },
  {
    what: "a checkpoint on the way cannot be unpacked",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      sqlite.prepare("UPDATE checkpoints SET world = substr(world, 1, 100) WHERE seq = ?").run(seq);
      return String(seq);
    },
  },
  {
    what: "a checkpoint on the way is said to be of another instant",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      sqlite.prepare("UPDATE checkpoints SET at = at - 3600000 WHERE seq = ?").run(seq);
      return String(seq);
    },
  },
  {
    what: "a checkpoint on the way is linked to another event",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      sqlite.prepare("UPDATE checkpoints SET chain = chain + 1 WHERE seq = ?").run(seq);
      return String(seq);
    },
  },
  {
    what: "there is a checkpoint of what has not happened yet",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = headOf(sqlite) + 5;
      sqlite
        .prepare(
          "INSERT INTO checkpoints (seq, at, chain, world) SELECT ?, at, chain, world FROM checkpoints LIMIT 1",
        )
        .run(seq);
      return String(seq);
    },
  },
];

test("the file of a world that nobody has touched verifies, whole or forgotten", async () => {
  for (const file of [whole, forgetful]) {
    const { verification } = await verifyChanged(file, () => undefined);
    expect(verification).toMatchObject({ ok: true, differences: [], checkpoints: 1 });
    expect(verification.from > 0).toBe(file === forgetful);
  }
});

for (const { what, change, where } of MANIPULATIONS) {
  test(`verify finds that ${what}, and says where`, async () => {
    for (const file of [whole, forgetful]) {
      const { changed, verification } = await verifyChanged(file, change);
      const found = verification.differences
        .filter((difference) => difference.where === where)
        .map(({ message }) => message);
      expect(verification.ok, `a file that begins behind event ${verification.from}`).toBe(false);
      expect(found.join("\n"), JSON.stringify(verification.differences)).toMatch(changed);
    }
  });
}

test("verify finds that the checkpoint which history begins at has been edited: the tables are not what comes of it", async () => {
  const { verification } = await verifyChanged(forgetful, (sqlite) => {
    const seq = sqlite.prepare(CHECKPOINT_SEQ).pluck().get() as number;
    editCheckpoint(sqlite, seq, ({ tables }) => {
      tables.projects[0].name = "edited";
    });
  });
  expect(verification.differences.map(({ where }) => where)).toContain("projects");
});

test("verify finds that the checkpoint which history begins at is not there", async () => {
  const { verification } = await verifyChanged(forgetful, (sqlite) => sqlite.exec("DELETE FROM checkpoints"));
  expect(verification).toMatchObject({ ok: false, differences: [{ where: "journal" }] });
});

type Tampering = (sqlite: BetterSqlite3.Database, seq: number, other: number) => void;

/** What may be done to an event; the first one whose link breaks, or is not there, is the one that is told. */
const TAMPERINGS: Readonly<Record<string, Tampering>> = {
  "is edited": (sqlite, seq) =>
    sqlite.prepare("UPDATE events SET payload = json_set(payload, '$.edited', 1) WHERE seq = ?").run(seq),
  "has happened at another instant": (sqlite, seq) =>
    sqlite.prepare("UPDATE events SET at = at + 1 WHERE seq = ?").run(seq),
  "is of another type": (sqlite, seq) =>
    sqlite.prepare("UPDATE events SET type = 'WorldReset' WHERE seq = ?").run(seq),
  "came from another decision": (sqlite, seq) =>
    sqlite.prepare("UPDATE events SET decision = decision + 1 WHERE seq = ?").run(seq),
  "is gone": (sqlite, seq) => sqlite.prepare("DELETE FROM events WHERE seq = ?").run(seq),
  "has changed its place with another one": (sqlite, seq, other) => {
    const swap = sqlite.prepare("UPDATE events SET seq = ? WHERE seq = ?");
    for (const [to, from] of [
      [-1, seq],
      [seq, other],
      [other, -1],
    ]) {
      swap.run(to, from);
    }
  },
  "has changed all but its place with another one": (sqlite, seq, other) => {
    const read = sqlite.prepare("SELECT at, type, payload, decision FROM events WHERE seq = ?").raw();
    const write = sqlite.prepare(
      "UPDATE events SET at = ?, type = ?, payload = ?, decision = ? WHERE seq = ?",
    );
    const [one, two] = [read.get(seq) as unknown[], read.get(other) as unknown[]];
    write.run(...two, seq);
    write.run(...one, other);
  },
};

test("verify finds every event that has been tampered with, wherever it stands, and names the first", async () => {
  const kinds = fc.constantFrom(...Object.keys(TAMPERINGS));
  const place = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1));
  await expectHolds(
    fc.asyncProperty(
      fc.constantFrom("whole" as const, "forgetful" as const),
      kinds,
      place,
      place,
      async (which, kind, one, two) => {
        const { changed, verification } = await verifyChanged(
          which === "whole" ? whole : forgetful,
          (sqlite) => {
            const [first, head] = [
              sqlite.prepare("SELECT min(seq) FROM events").pluck().get() as number,
              headOf(sqlite),
            ];
            const places = [one, two].map((share) => first + Math.floor(share * (head - first)));
            const [seq = 0, other = 0] = places.sort((a, b) => a - b);
            const distinct =
              seq === other ? [Math.max(first, seq - 1), Math.max(first + 1, other)] : [seq, other];
            TAMPERINGS[kind]?.(sqlite, distinct[0] ?? 0, distinct[1] ?? 0);
            return { first: distinct[0] ?? 0, isLast: distinct[0] === head };
          },
        );
        expect(verification.ok, `event ${changed.first} ${kind}`).toBe(false);
        expect(verification.differences.map(({ where }) => where)).toEqual(["journal"]);
        // One that is gone from the end is missed where the journal ends.
        expect(verification.differences[0]?.message).toMatch(
          new RegExp(`event ${changed.first}\\b|event ${changed.first - 1}\\b`),
        );
      },
    ),
    120,
  );
});

test("verify finds that events are gone from the end, and that all are", async () => {
  const { verification: end } = await verifyChanged(whole, (sqlite) =>
    sqlite.prepare("DELETE FROM events WHERE seq > ?").run(headOf(sqlite) - 2),
  );
  expect(end).toMatchObject({
    ok: false,
    differences: [{ where: "journal", message: expect.stringContaining("ends with event") }],
  });
  for (const file of [whole, forgetful]) {
    const { verification: all } = await verifyChanged(file, (sqlite) => sqlite.exec("DELETE FROM events"));
    expect(all).toMatchObject({ ok: false, differences: [{ where: "journal" }] });
  }
});

test("verify finds an event that has been added at the end", async () => {
  const { verification } = await verifyChanged(whole, (sqlite) =>
    sqlite.exec(
      "INSERT INTO events SELECT seq + 1, at, type, payload, decision, chain FROM events ORDER BY seq DESC LIMIT 1",
    ),
  );
  expect(verification).toMatchObject({ ok: false, differences: [{ where: "journal" }] });
});

test("a checkpoint that a world took after it had been stopped and started is none that differs", async () => {
  const shelved = await createStorageDouble("in files", { retention: { eventsPerCheckpoint: 50 } });
  try {
    await liveSomewhat(shelved.double());
    await shelved.reopen();
    const { endpointId } = await createProject(shelved.double());
    while (shelved.double().world.history().seq < 1_000) {
      await shelved.double().sim("POST", "/activity", { endpoint_id: endpointId });
      await shelved.double().advance("1h");
    }
    const [verification] = await shelved.verify("default");
    expect(verification?.checkpoints).toBeGreaterThan(0);
    expect(verification?.differences).toEqual([]);
  } finally {
    await shelved.end();
  }
});

test("whatever happens to a world, and however often it is stopped and started, its file verifies", async () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  await expectHolds(
    fc.asyncProperty(
      commandSequences({ restarts: true }),
      fc.option(share, { nil: undefined }),
      async (commands, keep) => {
        const shelved = await createStorageDouble("in files");
        try {
          const reopen = async () => {
            await shelved.double().close();
            await keepCheckpoint(shelved.file(), "tables");
            await shelved.reopen();
          };
          const { now } = await runCommands(commands, { double: shelved.double, reopen });
          expect(await shelved.verify("default")).toMatchObject([{ ok: true, from: 0, differences: [] }]);
          if (keep === undefined) return;
          await shelved
            .double()
            .sim("POST", "/compact", { keep: Math.floor(keep * (now - Date.parse("2026-01-01"))) });
          await shelved.release();
          expect(await verify(shelved.file())).toMatchObject({ ok: true, differences: [] });
        } finally {
          await shelved.end();
        }
      },
    ),
    30,
  );
});
