import fc from "fast-check";
import { expect, test } from "vitest";
import { renderState } from "../../src/control-api/routes/state.ts";
import { replay } from "../../src/simulation/replay.ts";
import { createDouble } from "../support/double/double.ts";
import { createFileDouble } from "../support/double/file-double.ts";
import { commandSequences, runCommands } from "../support/model/commands.ts";
import { expectHolds } from "../support/properties/properties.ts";

const ALL = Number.MAX_SAFE_INTEGER;

test("replaying a history into an empty world gives the original world", async () => {
  await expectHolds(
    fc.asyncProperty(commandSequences(), async (commands) => {
      const double = await createDouble();
      await runCommands(commands, { double: () => double });
      const lived = await double.world.transact(({ world }) => renderState(world));
      const replayed = renderState(replay(await double.world.events(0, ALL)));
      expect(replayed).toEqual(lived);
      await double.close();
    }),
    80,
  );
});

test("a history replays the same after it was written and read", async () => {
  await expectHolds(
    fc.asyncProperty(commandSequences(), async (commands) => {
      const double = await createDouble();
      await runCommands(commands, { double: () => double });
      const events = await double.world.events(0, ALL);
      const read = JSON.parse(JSON.stringify(events));
      expect(JSON.stringify(renderState(replay(read)))).toBe(JSON.stringify(renderState(replay(events))));
      await double.close();
    }),
    40,
  );
});

test("the tables of a world's file equal the replay of its journal", async () => {
  await expectHolds(
    fc.asyncProperty(commandSequences({ restarts: true }), async (commands) => {
      const stored = await createFileDouble();
      try {
        await runCommands(commands, stored);
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
