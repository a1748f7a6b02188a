// @ts-nocheck
import fc from "fast-check";
import { expect, test } from "vitest";
import { renderState } from "../../src/control/routes/state.ts";
import { replay } from "../../src/simulation/replay.ts";
import { createDouble } from "../support/double.ts";
import { createFileDouble } from "../support/file-double.ts";
import { expectHolds } from "../support/properties.ts";
import { runWalk, walkCommands } from "../support/random-walk.ts";

const ALL = Number.MAX_SAFE_INTEGER;

test("on a random walk answers fit the document, invariants hold, and a replay agrees", async () => {
  await expectHolds(
    fc.asyncProperty(walkCommands(), async (steps) => {
      const double = await createDouble();
      try {
        await runWalk(steps, { double: () => double });
        const lived = await double.world.transact(({ world }) => renderState(world));
        const events = JSON.parse(JSON.stringify(await double.world.events(0, ALL)));
        expect(renderState(replay(events))).toEqual(lived);
      } finally {
        await double.close();
      }
    }),
    60,
  );
});

test("when operations take no time, a random walk keeps the same rules", async () => {
  await expectHolds(
    fc.asyncProperty(walkCommands({ maxSteps: 40 }), async (steps) => {
      const double = await createDouble({ operations: "immediate" });
      try {
        await runWalk(steps, { double: () => double });
      } finally {
        await double.close();
      }
    }),
    40,
  );
});

test("a world reopened on the way is unchanged, and its tables equal the fold of its journal", async () => {
  await expectHolds(
    fc.asyncProperty(walkCommands({ maxSteps: 40, restarts: true }), async (steps) => {
      const stored = await createFileDouble();
      try {
        await runWalk(steps, stored);
        const { world, journal, close } = await stored.load();
        const folded = replay(journal.events(0, ALL));
        close();
        expect(renderState(world)).toEqual(renderState(folded));
      } finally {
        await stored.end();
      }
    }),
    30,
  );
});
