import { expect, test } from "vitest";
import { memoryStorage, openWorlds } from "../../../src/app/open-worlds.ts";
import { MINUTE } from "../../../src/kernel/time.ts";
import type { Batch } from "../../../src/simulation/journal.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const ARRIVALS = 1_200;

test("while it advances, a world in memory commits every 500 events", async () => {
  const committed: number[] = [];
  class ObservedJournal extends MemoryJournal {
    override write(batch: Batch): void {
      committed.push(batch.events.length);
      super.write(batch);
    }
  }
  const { world, worlds } = await openWorlds(
    memoryStorage(() => new ObservedJournal()),
    { seed: 7, startAt: START, clock: { mode: "manual", factor: 0 }, operations: "immediate" },
    (error) => {
      throw error;
    },
  );
  await world.transact(({ world: { accounts, computes }, execute }) => {
    execute({ type: "CreateProject", accountId: [...accounts.values()][0]?.id ?? "" });
    const endpointId = [...computes.values()][0]?.id ?? "";
    for (let number = 0; number < ARRIVALS; number += 1)
      execute({
        type: "ScheduleActivity",
        at: START + MINUTE + number,
        activity: { endpointId, kind: "query" },
      });
  });
  committed.length = 0;
  await world.advance({ by: 2 * MINUTE });
  await worlds.close();
  expect(committed.reduce((sum, events) => sum + events, 0)).toBeGreaterThanOrEqual(ARRIVALS);
  expect(Math.max(...committed)).toBeLessThan(510);
});
