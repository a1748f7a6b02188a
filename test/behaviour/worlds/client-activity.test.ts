import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { CLIENT_CONNECTION_PREFIX } from "../../../src/platform/model/connection.ts";
import { SqliteJournal } from "../../../src/store/journal/sqlite-journal.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { MOST_UNDURABLE } from "../../../src/worlds/hosted/pending-activity.ts";
import type { HostedWorld } from "../../../src/worlds/hosted-world.ts";
import type { StoreUnavailable } from "../../../src/worlds/world-handle.ts";
import { createDouble, createProject } from "../../support/double/double.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { holdSyncs, IO_ERROR } from "../../support/store/held-syncs.ts";

/** A world in a file with an active compute, whose syncs the test ends. */
async function createActive() {
  const { path, remove } = temporaryDirectory();
  const storage = new DataDirectory(path, MIGRATIONS_FOLDER);
  const double = await createDouble({ storage, operations: "immediate" });
  const { projectId, endpointId } = await createProject(double);
  const world = double.world as HostedWorld;
  const record = (kind: "connect" | "disconnect", connectionId: string) =>
    world.transactForClient((transaction) =>
      transaction.execute({ type: "RecordActivity", activity: { endpointId, kind, connectionId } }),
    );
  await record("connect", "first");
  await world.flush();
  const syncs = holdSyncs();
  onTestFinished(async () => {
    syncs.failsAtOnce = false;
    await double.close();
    storage.release();
    remove();
  });
  const names = () =>
    world.transactForClient((transaction) => transaction.world.connections.toArray().map(({ id }) => id));
  const settles = async (answer: unknown) => {
    let isSettled = false;
    void Promise.resolve(answer)
      .catch(() => undefined)
      .then(() => {
        isSettled = true;
      });
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    return isSettled;
  };
  return { double, world, projectId, endpointId, syncs, record, names, settles };
}

test("a client of an active compute waits for no disk, neither when it connects nor when it leaves", async () => {
  const { world, syncs, record, names } = await createActive();
  const before = world.settledSeq() ?? 0;
  for (const answer of [record("connect", "second"), record("disconnect", "first"), names()])
    expect(answer).not.toBeInstanceOf(Promise);
  expect(await names()).toEqual(["second"]);
  expect([world.settledSeq(), world.history().seq, syncs.held]).toEqual([before + 2, before, 0]);
});

test("activity of clients is committed soon, as one group", async () => {
  const { world, syncs, record } = await createActive();
  await record("connect", "second");
  await record("connect", "third");
  await expect.poll(() => syncs.held).toBe(1);
  await record("disconnect", "third");
  syncs.end();
  await expect.poll(() => world.history().seq).toBe((world.settledSeq() ?? 0) - 1);
  await expect.poll(() => syncs.held).toBe(1);
  syncs.end();
});

test("clients wait while much activity is not durable", async () => {
  const { syncs, record, settles } = await createActive();
  for (let count = 0; count < MOST_UNDURABLE; count += 1)
    expect(record(count % 2 === 0 ? "connect" : "disconnect", "second")).not.toBeInstanceOf(Promise);
  const connected = record("connect", "third");
  expect(await settles(connected)).toBe(false);
  expect(syncs.held).toBe(1);
  syncs.end();
  await connected;
});

test("an answer of the API that shows the activity of a client waits until it is durable", async () => {
  const { double, projectId, endpointId, syncs, record, settles } = await createActive();
  await record("connect", "second");
  const answer = double.api("GET", `/projects/${projectId}/endpoints/${endpointId}`);
  expect([await settles(answer), syncs.held]).toEqual([false, 1]);
  syncs.end();
  expect((await answer).status).toBe(200);
});

test("a client waits until a change before its activity is durable", async () => {
  const { double, world, projectId, syncs, record, settles } = await createActive();
  const renamed = double.api("PATCH", `/projects/${projectId}`, { project: { name: "renamed" } });
  expect(await settles(renamed)).toBe(false);
  const connected = record("connect", "second");
  expect([await settles(connected), world.settledSeq()]).toEqual([false, undefined]);
  syncs.end();
  await renamed;
  expect(await settles(connected)).toBe(false);
  syncs.end();
  expect(await connected).toMatchObject({ ok: true });
});

test("a client that starts a compute waits until the start is durable", async () => {
  const { double, endpointId, projectId, syncs, record, settles } = await createActive();
  const suspended = double.api("POST", `/projects/${projectId}/endpoints/${endpointId}/suspend`);
  await settles(suspended);
  syncs.end();
  await suspended;
  await settles(undefined);
  syncs.end();
  const connected = record("connect", "second");
  expect(await settles(connected)).toBe(false);
  syncs.end();
  await connected;
});

test("a failed commit that loses a connection notifies the subscribers, which end it", async () => {
  const { double, world, syncs, record, settles } = await createActive();
  const commits: number[] = [];
  onTestFinished(world.subscribe((events) => void commits.push(events.length)));
  await record("connect", "second");
  const created = double.api("POST", "/api_keys", { key_name: "new" });
  await settles(created);
  syncs.failsAtOnce = true;
  syncs.end(IO_ERROR);
  expect([(await created).status, commits]).toEqual([503, [0]]);
});

test("a failed commit that loses that a client has left closes its connection", async () => {
  const { double, world, record, names, syncs } = await createActive();
  const id = `${CLIENT_CONNECTION_PREFIX}1`;
  await record("connect", id);
  const flushed = world.flush();
  await expect.poll(() => syncs.held).toBe(1);
  syncs.end();
  await flushed;
  await record("disconnect", id);
  vi.spyOn(SqliteJournal.prototype, "beginWrite").mockImplementationOnce(() => {
    throw new Error("no space left on device");
  });
  expect((await double.api("POST", "/api_keys", { key_name: "new" })).status).toBe(503);
  expect(await names()).toEqual(["first"]);
});

test.each([
  ["SQLITE_FULL", true],
  ["ENOSPC", true],
  ["SQLITE_IOERR_WRITE", false],
])("subscribers know that %s has lost activity", async (code, isDiskFull) => {
  const { double, world, record } = await createActive();
  const failures: (StoreUnavailable | undefined)[] = [];
  onTestFinished(world.subscribe((_, failure) => void failures.push(failure)));
  await record("connect", "second");
  vi.spyOn(SqliteJournal.prototype, "beginWrite").mockImplementationOnce(() => {
    throw Object.assign(new Error("it cannot be written"), { code });
  });
  expect((await double.api("POST", "/api_keys", { key_name: "new" })).status).toBe(503);
  expect(failures.map((failure) => [failure?.isDiskFull, failure?.message])).toEqual([
    [isDiskFull, expect.stringContaining("could not commit: it cannot be written")],
  ]);
});

test("a failed commit without activity does not notify the subscribers", async () => {
  const { double, world, syncs, settles } = await createActive();
  const commits: number[] = [];
  onTestFinished(world.subscribe((events) => void commits.push(events.length)));
  const created = double.api("POST", "/api_keys", { key_name: "new" });
  await settles(created);
  syncs.failsAtOnce = true;
  syncs.end(IO_ERROR);
  expect((await created).status).toBe(503);
  expect(commits).toEqual([]);
});
