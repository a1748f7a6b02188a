import BetterSqlite3 from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { memoryStorage } from "../../../src/app/open-worlds.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import type { Batch } from "../../../src/simulation/journal.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { openLiveWorld } from "../../../src/worlds/hosted/live-world.ts";
import { SecretBox } from "../../../src/worlds/secret-box.ts";
import { worldState } from "../../support/double/compute.ts";
import { createDouble, createProject, START } from "../../support/double/double.ts";
import { createStorageDouble, STORAGE_KINDS } from "../../support/double/storage-double.ts";
import { TestHost } from "../../support/double/test-host.ts";

/** A journal on a disk that can be made full. */
class FullJournal extends MemoryJournal {
  full = false;

  override write(batch: Batch): void {
    if (this.full) throw new Error("no space left on device");
    super.write(batch);
  }
}

async function createOnDisk() {
  const journal = new FullJournal();
  const double = await createDouble({ journal });
  return { double, journal, ...(await createProject(double)) };
}

test("a change that cannot be committed is answered with 503 and has not happened", async () => {
  const { double, journal, path } = await createOnDisk();
  const before = await worldState(double);
  journal.full = true;
  const { status, headers, body } = await double.api("PATCH", path, { endpoint: { name: "lost" } });
  expect([status, body.code, headers.get("retry-after")]).toEqual([503, "STORE_UNAVAILABLE", "1"]);
  expect(body.message).toContain("nothing was changed");
  journal.full = false;
  expect(await worldState(double)).toBe(before);
  expect((await double.api("GET", path)).body.endpoint).not.toHaveProperty("name");
});

test("the log states whether a commit, a fork or a snapshot failed", async () => {
  const journal = new FullJournal();
  const storage = memoryStorage(() => journal);
  const failing = () => Promise.reject(new Error("it is being read"));
  Object.assign(storage, { fork: failing, takeSnapshot: failing });
  const failures: string[] = [];
  const double = await createDouble({ storage, onFailure: (_, failure) => failures.push(failure) });
  await double.sim("POST", "/worlds", { name: "copy" });
  await double.sim("POST", "/snapshots", { name: "first" });
  journal.full = true;
  await double.api("POST", "/api_keys", { key_name: "lost" });
  expect(failures).toEqual([
    'world "default" could not be forked',
    'the snapshot "first" of world "default" could not be taken',
    'commit failed; reopening world "default" from its file',
  ]);
});

test("a world that cannot commit while it is opened closes its history", () => {
  const journal = new FullJournal();
  journal.full = true;
  const world = emptyWorld();
  // Stored without encryption by an older release, so opening the world encrypts it.
  world.secrets.set({ id: "role", value: "password" });
  let closings = 0;
  const close = () => {
    closings += 1;
  };
  const open = () => ({ journal, world, historyId: "id", secretBox: new SecretBox(), close });
  const options = {
    ...{ name: "old", open, hostClock: new TestHost(START).clock, requestsLimit: 0 },
    initialClock: { mode: "manual", factor: 0, simAnchor: START, wallAnchor: START } as const,
    retention: {},
    onFailure: () => undefined,
  };
  expect(() => openLiveWorld(options, { previousHistoryId: undefined, wallStepMs: 0 })).toThrow(
    'world "old" cannot be opened: no space left on device',
  );
  expect(closings).toBe(1);
});

test.each([
  [
    "SQLITE_READONLY",
    "this user cannot write its file or the directory of the file; change their owner or mode",
  ],
  [
    "SQLITE_READONLY_DIRECTORY",
    "this user cannot write the directory of its file; change the owner or the mode of the directory",
  ],
  ["SQLITE_READONLY_DBMOVED", "the message of SQLite"],
])("a world that cannot be written names what this user cannot write: %s", (code, problem) => {
  const options = {
    ...{ name: "old", hostClock: new TestHost(START).clock, requestsLimit: 0, retention: {} },
    onFailure: () => undefined,
    open: () => {
      throw new BetterSqlite3.SqliteError("the message of SQLite", code);
    },
    initialClock: { mode: "manual", factor: 0, simAnchor: START, wallAnchor: START } as const,
  };
  expect(() => openLiveWorld(options, { previousHistoryId: undefined, wallStepMs: 0 })).toThrow(
    `world "old" cannot be opened: ${problem}`,
  );
});

test("everything in a failed commit fails together, including reads of the same turn", async () => {
  const { double, journal } = await createOnDisk();
  journal.full = true;
  const responses = await Promise.all([
    double.api("POST", "/projects", { project: {} }),
    double.api("POST", "/api_keys", { key_name: "lost" }),
    double.api("POST", "/projects", { project: {} }),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([503, 503, 503]);
  journal.full = false;
  expect((await double.api("GET", "/projects")).body.projects).toHaveLength(1);
  expect((await double.api("GET", "/api_keys")).body).toHaveLength(1);
});

test("when there is space again everything works, and the ids of the failed change are used", async () => {
  const { double, journal } = await createOnDisk();
  journal.full = true;
  await double.api("POST", "/projects", { project: {} });
  journal.full = false;
  const { status, body } = await double.api("POST", "/projects", { project: {} });
  expect(status).toBe(201);
  const spared = await createOnDisk();
  const expected = await spared.double.api("POST", "/projects", { project: {} });
  expect(body.project.id).toBe(expected.body.project.id);
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
});

test("an advance that cannot be committed is 503 too, and can be repeated", async () => {
  const { double, journal, path } = await createOnDisk();
  journal.full = true;
  expect((await double.advance("1h")).status).toBe(503);
  journal.full = false;
  expect((await double.api("GET", path)).body.endpoint.current_state).toBe("active");
  expect((await double.advance("1h")).status).toBe(200);
  expect((await double.api("GET", path)).body.endpoint.current_state).toBe("idle");
});

test("reads without pending writes are answered even on a full disk", async () => {
  const { double, journal, path } = await createOnDisk();
  journal.full = true;
  expect((await double.api("GET", path)).status).toBe(200);
  expect((await double.api("GET", "/projects", undefined, "unknown")).status).toBe(401);
});

test.each(STORAGE_KINDS)("%s: a bug before any command fails only its own transaction", async (kind) => {
  const made = await createStorageDouble(kind);
  onTestFinished(made.end);
  const double = made.double();
  const bug = new Error("a bug in a route");
  const throwBug = () => {
    throw bug;
  };
  const { seq } = double.world.history();
  const beside = double.world.transact((transaction) => transaction.execute({ type: "ResetWorld" }));
  expect(() => double.world.transact(throwBug)).toThrow(bug);
  expect((await beside).ok).toBe(true);
  expect((await double.api("POST", "/api_keys", { key_name: "after" })).status).toBe(200);
  await made.reopen();
  expect(await made.double().world.events(seq, 10)).toMatchObject([
    { type: "WorldReset" },
    { type: "ApiKeyCreated" },
  ]);
});

test("a bug after a command fails everything in its commit", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const { seq } = double.world.history();
  const beside = double.world.transact((transaction) => transaction.execute({ type: "ResetWorld" }));
  const work = () =>
    double.world.transact((transaction) => {
      transaction.execute({ type: "ResetWorld" });
      throw new Error("a bug in a route");
    });
  expect(work).toThrow("a bug in a route");
  await expect(beside).rejects.toThrow("could not commit: a bug in a route");
  expect(await double.world.events(seq, 10)).toEqual([]);
});

test("a request that cannot be described is not logged, and its transaction is committed", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  await double.world.transact((transaction) => {
    transaction.execute({ type: "ResetWorld" });
    transaction.logRequest(() => {
      throw new Error("a bug in the request log");
    });
  });
  expect((await double.sim("GET", "/events?limit=10000")).body.events.at(-1).type).toBe("WorldReset");
  expect((await double.sim("GET", "/requests")).body.requests).toEqual([]);
});

test.each(["requests", "api_key_uses"])("history is committed while no row of %s can be", async (table) => {
  const made = await createStorageDouble("in files");
  onTestFinished(made.end);
  await made.double().close();
  const sqlite = new BetterSqlite3(made.file());
  sqlite.exec(
    `CREATE TRIGGER failing BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'cannot be written'); END`,
  );
  sqlite.close();
  await made.reopen();
  const responses = await Promise.all([
    made.double().api("POST", "/projects", { project: { name: "shop" } }),
    made.double().api("POST", "/api_keys", { key_name: "beside" }),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([201, 200]);
  await made.reopen();
  expect((await made.double().api("GET", "/projects")).body.projects).toMatchObject([{ name: "shop" }]);
  expect((await made.double().api("GET", "/api_keys")).body).toHaveLength(2);
  expect((await made.double().sim("GET", "/requests")).body.requests).toEqual([]);
  expect(await made.verify("default")).toMatchObject([{ ok: true }]);
});

test("events that a read of stored history has committed are not committed again", async () => {
  const journal = new MemoryJournal();
  const double = await createDouble({ journal });
  const { body } = await double.api("POST", "/projects", { project: { name: "one" } });
  const write = journal.write.bind(journal);
  let writes = 0;
  journal.write = (batch) => {
    writes += 1;
    write(batch);
  };
  const { world } = double;
  const renamed = world.transact(({ world: { accounts }, execute }) =>
    execute({
      type: "UpdateProject" as const,
      accountId: [...accounts.values()][0]?.id ?? "",
      projectId: body.project.id,
      name: "two",
    }),
  );
  await world.transact((transaction) => transaction.operations(body.project.id, 1));
  await renamed;
  await new Promise(setImmediate);
  expect(writes).toBe(1);
});
