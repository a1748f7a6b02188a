import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../src/kernel/time.ts";
import { createDouble, createProject, type Double, START } from "../../support/double/double.ts";
import { TestHost } from "../../support/double/test-host.ts";

const STARTS = 2_000;

/** A world whose compute starts every hour, on a running clock. */
async function createBusyWorld(factor: number): Promise<{ double: Double; host: TestHost }> {
  const host = new TestHost(START);
  const double = await createDouble({ hostClock: host.clock, clock: { mode: "scaled", factor } });
  const { endpointId } = await createProject(double);
  await double.world.transact(({ execute, now }) => {
    for (let start = 1; start <= STARTS; start += 1)
      execute({
        type: "ScheduleActivity",
        at: now + start * HOUR,
        activity: { endpointId, kind: "query", durationMs: MINUTE },
      });
  });
  return { double, host };
}

/** Reads until the advance ends. Returns how often a read saw work that was due and had not run. */
async function overdueReads(double: Double, advance: Promise<unknown>, between: () => void) {
  let isOver = false;
  let reads = 0;
  let overdue = 0;
  void advance.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await double.world.read(
      ({ world, now }) => {
        reads += 1;
        if (world.scheduledActivities.toArray().some(({ at }) => at <= now)) overdue += 1;
      },
      () => ({ project: "any", keyId: undefined }),
    );
    between();
    await nextTurn();
  }
  return { reads, overdue };
}

test("a read during an advance sees no work that is due, although the clock runs", async () => {
  const { double, host } = await createBusyWorld(1_000_000);
  const seen = await overdueReads(double, double.world.advance({ by: STARTS * HOUR + DAY }), () => {
    host.passes(500);
  });
  expect(seen.reads).toBeGreaterThan(3);
  expect(seen.overdue).toBe(0);
});

test("a read during the work before an advance sees no work that is due", async () => {
  const { double, host } = await createBusyWorld(1);
  host.passes(STARTS * HOUR + DAY);
  const seen = await overdueReads(double, double.world.advance({ by: HOUR }), () => undefined);
  expect(seen.reads).toBeGreaterThan(0);
  expect(seen.overdue).toBe(0);
});
