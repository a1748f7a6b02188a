import BetterSqlite3 from "better-sqlite3";
import { expect, test } from "vitest";
import { HOUR } from "../../../src/kernel/time.ts";
import type { Branch } from "../../../src/platform/model/branch.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { StoreUnavailable } from "../../../src/worlds/world-handle.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

async function createWorld() {
  const double = await createDouble();
  const { endpointId, branchId } = await createProject(double);
  await double.world.transact(({ execute, now }) =>
    execute({
      type: "ScheduleActivity",
      at: now + HOUR,
      activity: { endpointId, kind: "query", durationMs: 2 * HOUR },
    }),
  );
  const { world } = double;
  world.peek().world.hourlyUsage.loadLater({
    ids: [branchId],
    size: 1,
    rowsOf: () => {
      throw new BetterSqlite3.SqliteError("disk I/O error", "SQLITE_IOERR_READ");
    },
  });
  return world;
}

test("an advance that cannot read stored usage is undone, and can be repeated", async () => {
  const world = await createWorld();
  const { seq } = world.history();
  await expect(world.advance({ by: 6 * HOUR })).rejects.toThrow(StoreUnavailable);
  // Nothing of the event that could not be applied is left, and the world is read from its file again.
  expect(world.history().seq).toBe(seq);
  expect(world.peek().world.seq).toBe(seq);
  const { events } = (await world.advance({ by: 6 * HOUR })) ?? {};
  expect(events?.map(({ type }) => type)).toContain("ComputeSuspended");
});

test("a look at a whole world that cannot read stored usage is answered as unavailable", async () => {
  const world = await createWorld();
  const look = world.inspect(function* ({ hourlyUsage }) {
    yield undefined;
    return hourlyUsage.toArray();
  });
  await expect(look).rejects.toThrow(StoreUnavailable);
});

const unreadable = () => {
  throw new CorruptFile("a row is damaged");
};

test("a read of a damaged row fails alone: the world stays open, and others commit", async () => {
  const { world } = await createDouble();
  const { world: view } = world.peek();
  const created = world.transact(({ execute }) =>
    execute({ type: "CreateAccount", id: "other", name: "other" }),
  );
  await expect((async () => world.read(unreadable))()).rejects.toThrow(StoreUnavailable);
  await expect(created).resolves.toMatchObject({ ok: true });
  expect(world.peek().world).toBe(view);
  expect(world.diagnostics().reopens).toBe(0);
});

/** A world with a project, and its branches cannot be read from now on. */
async function withUnreadableBranch() {
  const double = await createDouble();
  const { projectId, branchId } = await createProject(double);
  const { branches } = double.world.peek().world;
  const row = branches.get(branchId) as Branch;
  branches.readFrom({ read: unreadable, readInOrder: () => unreadable });
  branches.loadStored({ ...row, id: "br-damaged", number: 10 });
  const [account] = double.world.peek().world.accounts.values();
  const ids = { accountId: account?.id ?? "", projectId, branchId: "br-damaged" };
  return { world: double.world, update: { type: "UpdateBranch", ...ids, name: "new" } as const };
}

test("a command that finds a damaged row before it changes anything fails alone", async () => {
  const { world, update } = await withUnreadableBranch();
  const { world: view } = world.peek();
  const created = world.transact(({ execute }) =>
    execute({ type: "CreateAccount", id: "other", name: "other" }),
  );
  const failed = (async () => world.transact(({ execute }) => execute(update)))();
  await expect(failed).rejects.toThrow(StoreUnavailable);
  await expect(created).resolves.toMatchObject({ ok: true });
  expect(world.peek().world).toBe(view);
  expect(world.diagnostics().reopens).toBe(0);
});

test("a command that finds a damaged row after an earlier command of its request undoes both", async () => {
  const { world, update } = await withUnreadableBranch();
  const { seq } = world.history();
  const failed = (async () =>
    world.transact(({ execute }) => {
      execute({ type: "CreateAccount", id: "other", name: "other" });
      return execute(update);
    }))();
  await expect(failed).rejects.toThrow(StoreUnavailable);
  expect(world.peek().world.accounts.get("other")).toBeUndefined();
  expect(world.history().seq).toBe(seq);
});

test("a damaged row that decides whether an answer waits for the disk makes the answer unavailable", async () => {
  const { world } = await createDouble();
  const read = async () => world.read(({ world: { seq } }) => seq, unreadable);
  await expect(read()).rejects.toThrow(StoreUnavailable);
  expect(world.diagnostics().reopens).toBe(0);
});

test("a world is changed while an inspection reads its stored rows", async () => {
  const double = await createDouble();
  const { branchId } = await createProject(double);
  const { world } = double;
  const { branches } = world.peek().world;
  const row = branches.get(branchId) as Branch;
  const stored = Array.from({ length: 1_200 }, (_, index) => ({
    ...row,
    id: `br-${index}`,
    number: 10 + index,
  }));
  branches.readFrom({
    read: () => row,
    readInOrder: () => (key) => stored[Number(key.slice(3))] as Branch,
  });
  for (const one of stored) branches.loadStored(one);
  const seen: string[] = [];
  const inspected = world.inspect(function* ({ accounts }) {
    yield undefined;
    seen.push("inspected");
    return accounts.get("meanwhile");
  });
  await world.transact(({ execute }) =>
    execute({ type: "CreateAccount", id: "meanwhile", name: "meanwhile" }),
  );
  seen.push("changed");
  expect(await inspected).toBeDefined();
  expect(seen).toEqual(["changed", "inspected"]);
});
