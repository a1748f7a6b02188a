import BetterSqlite3 from "better-sqlite3";
import { expect, test } from "vitest";
import { HOUR } from "../../../src/kernel/time.ts";
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
