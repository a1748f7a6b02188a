// @ts-nocheck
import { expect, test } from "vitest";
import { memoryStorage, openWorlds } from "../../../src/app/open-worlds.ts";
import { DiscardingJournal } from "../../../src/simulation/discarding-journal.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

async function openWorld() {
  const { world, worlds } = await openWorlds(
    memoryStorage(() => new DiscardingJournal()),
    { seed: 1, startAt: START, clock: { mode: "manual", factor: 0 } },
    (error) => {
      throw error;
    },
  );
  const create = () =>
    world.transact(({ world: { accounts }, execute }) =>
      execute({ type: "CreateProject", accountId: [...accounts.values()][0]?.id ?? "" }),
    );
  return { world, worlds, create };
}

test("a world without stored history runs like any other and knows its sequence number", async () => {
  const { world, worlds, create } = await openWorld();
  expect((await create()).ok).toBe(true);
  await world.advance({ by: 60_000 });
  const { seq, forgottenSeq } = world.history();
  expect(seq).toBeGreaterThan(5);
  expect(forgottenSeq).toBe(seq);
  expect(await world.events(0, 100)).toEqual([]);
  await worlds.close();
});

test("reading its past is rejected because it is not stored", async () => {
  const { world, worlds, create } = await openWorld();
  await create();
  await world.advance({ by: 60_000 });
  const past = await world.viewAt({ at: START + 1 });
  expect(past).toMatchObject({ ok: false, refusal: { code: "HISTORY_FORGOTTEN" } });
  await expect(world.viewAt({ seq: world.history().seq })).rejects.toThrow("was not stored");
  await worlds.close();
});
