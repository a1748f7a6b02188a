import { copyFileSync, rmSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { type TableName, UNJOURNALED_TABLES } from "../../src/platform/world/tables.ts";
import { type Checkpoint, takeCheckpoint } from "../../src/simulation/checkpoint.ts";
import { worldAt } from "../../src/simulation/replay.ts";
import { openStore } from "../../src/store/file/open-world.ts";
import { checksumOf } from "../../src/store/tables/journal-checksum.ts";
import { RowWriter } from "../../src/store/tables/row-writer.ts";
import { prepareReader, tableName } from "../../src/store/tables/stored-tables.ts";
import { createBranch } from "../support/double/compute.ts";
import { createProject, type Double } from "../support/double/double.ts";
import { createStorageDouble, verify } from "../support/double/storage-double.ts";
import { commandSequences, runCommands } from "../support/model/commands.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";

type Manipulation = {
  readonly what: string;
  /** Returns what the difference must name. */
  readonly change: (sqlite: BetterSqlite3.Database) => string | RegExp;
  /** Where the difference must be reported. */
  readonly where: string;
};

const CHECKPOINT_SEQ = "SELECT seq FROM checkpoints ORDER BY seq";

let directory: ReturnType<typeof temporaryDirectory>;
/** A world's file with complete history and a checkpoint, and one of the same history, truncated. */
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

/** Fills every table: a deleted branch, open connections, keys, scheduled activity, finished and unfinished operations. */
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

/** Stores a checkpoint at the head of a closed file: of the world in its tables, or of the replayed one. */
async function keepCheckpoint(file: string, of: "tables" | "journal"): Promise<void> {
  const { journal, world, close } = openStore(file, { migrationsFolder: MIGRATIONS_FOLDER });
  const kept = of === "tables" ? world : await worldAt(journal, world.seq, async () => undefined);
  await journal.storeCheckpoint(takeCheckpoint(kept));
  close();
}

/** The result of `verify` for a changed copy of a file. */
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

// biome-ignore lint/suspicious/noExplicitAny: what a test damages need not be valid
type Damaged = any;

/** Edits a row as the store would write it, including its checksum; returns its key. */
function editRow(
  sqlite: BetterSqlite3.Database,
  table: TableName,
  edit: (row: Damaged) => object,
  which = (_: Damaged) => true,
): string {
  const row = prepareReader<Damaged>(sqlite, table)().find(which);
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
  const row = prepareReader<Damaged>(sqlite, table)().at(-1);
  new RowWriter(sqlite).write({ table, key: id, value: { ...row, id, ...changes } });
  return id;
}

/** Edits the world row, including its checksum. */
function editWorld(sqlite: BetterSqlite3.Database, edit: (row: Damaged) => void): void {
  const columns = ["settings", "numbers", "clock", "seq", "at", "now", "chain"];
  const row: Damaged = sqlite.prepare(`SELECT ${columns} FROM world`).get();
  edit(row);
  const values = columns.map((column) => row[column]);
  sqlite
    .prepare(`UPDATE world SET ${columns.map((column) => `${column} = ?`)}, checksum = ?`)
    .run(...values, checksumOf(values));
}

function editJson(text: string, edit: (value: Damaged) => void): string {
  const value = JSON.parse(text);
  edit(value);
  return JSON.stringify(value);
}

function editCheckpoint(
  sqlite: BetterSqlite3.Database,
  seq: number,
  edit: (checkpoint: Damaged) => void,
): void {
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

/** A checkpoint after the one where history begins. */
function laterCheckpoint(sqlite: BetterSqlite3.Database): number {
  return sqlite.prepare(CHECKPOINT_SEQ).pluck().all().at(-1) as number;
}

const isOver = ({ state }: { state: { status: string } }) =>
  state.status === "finished" || state.status === "cancelled";
/** The newest one, which no file has truncated. */
const newest = (sqlite: BetterSqlite3.Database, which: (operation: Damaged) => boolean) => {
  const all = prepareReader<Damaged>(sqlite, "operations")().filter(which);
  return (operation: Damaged) => operation.id === all.at(-1)?.id;
};

const MANIPULATIONS: readonly Manipulation[] = [
  {
    what: "a project's name was changed",
    where: "projects",
    change: (sqlite) => editRow(sqlite, "projects", () => ({ name: "edited" })),
  },
  {
    what: "an account's plan was changed",
    where: "accounts",
    change: (sqlite) => editRow(sqlite, "accounts", () => ({ plan: "free" })),
  },
  {
    what: "a key's hash was changed",
    where: "api_keys",
    change: (sqlite) => editRow(sqlite, "apiKeys", () => ({ hash: "0".repeat(64) })),
  },
  {
    what: "a branch's protection was changed",
    where: "branches",
    change: (sqlite) => editRow(sqlite, "branches", () => ({ protected: true })),
  },
  {
    what: "a compute's suspend timeout was changed",
    where: "computes",
    change: (sqlite) => editRow(sqlite, "computes", () => ({ suspendTimeoutSeconds: 3_600 })),
  },
  {
    what: "a compute's phase was changed",
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
    what: "a connection's end was changed",
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
    what: "the instant of a scheduled activity was changed",
    where: "scheduled_activities",
    change: (sqlite) => editRow(sqlite, "scheduledActivities", ({ at }) => ({ at: at + 1 })),
  },
  {
    what: "active time was increased by a millisecond",
    where: "usage",
    change: (sqlite) => editRow(sqlite, "usage", ({ activeMs }) => ({ activeMs: activeMs + 1 })),
  },
  {
    what: "CU usage was increased",
    where: "usage",
    change: (sqlite) => editRow(sqlite, "usage", ({ cuMs }) => ({ cuMs: cuMs * 2 + 1 })),
  },
  {
    what: "a finished operation was marked as failed",
    where: "operations",
    change: (sqlite) =>
      editRow(sqlite, "operations", () => ({ state: { status: "scheduling" } }), newest(sqlite, isOver)),
  },
  {
    what: "the end of a finished operation was changed",
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
    what: "a running operation was marked as finished",
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
    what: "a finished operation is missing",
    where: "operations",
    change: (sqlite) =>
      deleteRow(
        sqlite,
        "operations",
        "status = 'finished' AND number = (SELECT max(number) FROM operations WHERE status = 'finished')",
      ),
  },
  {
    what: "a running operation is missing",
    where: "operations",
    change: (sqlite) => deleteRow(sqlite, "operations", "status = 'running'"),
  },
  {
    what: "an operation was added",
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
      what: `a row of ${table} is missing`,
      where: tableName(table),
      change: (sqlite) => deleteRow(sqlite, table),
    }),
  ),
  {
    what: "an account was added",
    where: "accounts",
    change: (sqlite) => addRow(sqlite, "accounts", "added", { number: 99 }),
  },
  {
    what: "a project was added",
    where: "projects",
    change: (sqlite) => addRow(sqlite, "projects", "added-project-1", { number: 99 }),
  },
  {
    what: "a branch was added",
    where: "branches",
    change: (sqlite) =>
      addRow(sqlite, "branches", "br-added-branch-1", { number: 99, name: "added", default: false }),
  },
  {
    what: "a compute was added",
    where: "computes",
    change: (sqlite) => addRow(sqlite, "computes", "ep-added-compute-1", { number: 99, type: "read_only" }),
  },
  {
    what: "usage of an unknown object was added",
    where: "usage",
    change: (sqlite) => addRow(sqlite, "usage", "br-nobody", {}),
  },
  {
    what: "a row does not match its checksum",
    where: "projects",
    change: (sqlite) => {
      sqlite.exec("UPDATE projects SET name = 'edited' WHERE number = 1");
      return /row .* of projects is damaged/;
    },
  },
  ...UNJOURNALED_TABLES.map(
    (table): Manipulation => ({
      what: `a row of ${table}, which no event describes, does not match its checksum`,
      where: tableName(table),
      change: (sqlite) => {
        if (table === "branchData") addRow(sqlite, table, "br-nobody", { at: 1 });
        const { changes } = sqlite.prepare(`UPDATE ${tableName(table)} SET checksum = checksum + 1`).run();
        expect(changes).toBeGreaterThan(0);
        return /row .* is damaged/;
      },
    }),
  ),
  {
    what: "a counter of the world was changed",
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
    what: "a setting of the world was changed",
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
    what: "the instant of the world's last event was changed",
    where: "world",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.at -= 1;
      });
      return /^at is/;
    },
  },
  {
    what: "the tables are at an earlier event",
    where: "journal",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.seq -= 1;
      });
      return String(headOf(sqlite));
    },
  },
  {
    what: "the world row does not match its checksum",
    where: "journal",
    change: (sqlite) => {
      sqlite.exec("UPDATE world SET now = now + 1");
      return "world row";
    },
  },
  {
    what: "the clock is before the last event",
    where: "invariants",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.now = row.at - 1;
      });
      return /./;
    },
  },
  {
    what: "the clock is after work that is due",
    where: "invariants",
    change: (sqlite) => {
      editWorld(sqlite, (row) => {
        row.now += 86_400_000;
      });
      return /./;
    },
  },
  {
    what: "a later checkpoint has another name in it",
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
    what: "a later checkpoint has other counters",
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
    what: "a later checkpoint has lost a row",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      editCheckpoint(sqlite, seq, ({ tables }) => tables.usage.pop());
      return String(seq);
    },
  },
  {
    what: "a later checkpoint cannot be decompressed",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      sqlite.prepare("UPDATE checkpoints SET world = substr(world, 1, 100) WHERE seq = ?").run(seq);
      return String(seq);
    },
  },
  {
    what: "a later checkpoint has another instant",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      sqlite.prepare("UPDATE checkpoints SET at = at - 3600000 WHERE seq = ?").run(seq);
      return String(seq);
    },
  },
  {
    what: "a later checkpoint has the chain checksum of another event",
    where: "checkpoints",
    change: (sqlite) => {
      const seq = laterCheckpoint(sqlite);
      sqlite.prepare("UPDATE checkpoints SET chain = chain + 1 WHERE seq = ?").run(seq);
      return String(seq);
    },
  },
  {
    what: "there is a checkpoint after the last event",
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

test("an unchanged file verifies, complete or truncated", async () => {
  for (const file of [whole, forgetful]) {
    const { verification } = await verifyChanged(file, () => undefined);
    expect(verification).toMatchObject({ ok: true, differences: [], checkpoints: 1 });
    expect(verification.from > 0).toBe(file === forgetful);
  }
});

for (const { what, change, where } of MANIPULATIONS) {
  test(`verify finds that ${what}, and reports where`, async () => {
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

test("verify finds an edited checkpoint at the beginning of history by its difference to the tables", async () => {
  const { verification } = await verifyChanged(forgetful, (sqlite) => {
    const seq = sqlite.prepare(CHECKPOINT_SEQ).pluck().get() as number;
    editCheckpoint(sqlite, seq, ({ tables }) => {
      tables.projects[0].name = "edited";
    });
  });
  expect(verification.differences.map(({ where }) => where)).toContain("projects");
});

test("verify finds that the checkpoint at the beginning of history is missing", async () => {
  const { verification } = await verifyChanged(forgetful, (sqlite) => sqlite.exec("DELETE FROM checkpoints"));
  expect(verification).toMatchObject({ ok: false, differences: [{ where: "journal" }] });
});

type Tampering = (sqlite: BetterSqlite3.Database, seq: number, other: number) => void;

/** Ways to tamper with events; the first broken or missing one is reported. */
const TAMPERINGS: Readonly<Record<string, Tampering>> = {
  "is edited": (sqlite, seq) =>
    sqlite.prepare("UPDATE events SET payload = payload || ' ' WHERE seq = ?").run(seq),
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

test("verify finds tampered events anywhere and names the first", async () => {
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
        // An event missing at the end is reported as the end of the journal.
        expect(verification.differences[0]?.message).toMatch(
          new RegExp(`event ${changed.first}\\b|event ${changed.first - 1}\\b`),
        );
      },
    ),
    120,
  );
});

test("verify finds missing events at the end, and a journal without events", async () => {
  const { verification: end } = await verifyChanged(whole, (sqlite) =>
    sqlite.prepare("DELETE FROM events WHERE seq > ?").run(headOf(sqlite) - 2),
  );
  expect(end).toMatchObject({
    ok: false,
    differences: [{ where: "journal", message: expect.stringContaining("ends at event") }],
  });
  for (const file of [whole, forgetful]) {
    const { verification: all } = await verifyChanged(file, (sqlite) => sqlite.exec("DELETE FROM events"));
    expect(all).toMatchObject({ ok: false, differences: [{ where: "journal" }] });
  }
});

test("verify finds an event added at the end", async () => {
  const { verification } = await verifyChanged(whole, (sqlite) =>
    sqlite.exec(
      "INSERT INTO events SELECT seq + 1, at, type, payload, decision, chain FROM events ORDER BY seq DESC LIMIT 1",
    ),
  );
  expect(verification).toMatchObject({ ok: false, differences: [{ where: "journal" }] });
});

test("a checkpoint taken after a restart does not differ", async () => {
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

test("the file of a world verifies after any history with any number of restarts", async () => {
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
            .sim("POST", "/compact", { keep: `${Math.floor(keep * (now - Date.parse("2026-01-01")))}ms` });
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
