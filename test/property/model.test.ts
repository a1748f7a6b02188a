import fc from "fast-check";
import { test } from "vitest";
import { createDouble } from "../support/double/double.ts";
import { createFileDouble } from "../support/double/file-double.ts";
import { recordActivityOf } from "../support/model/activity-commands.ts";
import { type CommandSequence, commandSequences, runCommands } from "../support/model/commands.ts";
import { callLifecycle } from "../support/model/endpoint-commands.ts";
import { advanceByMs } from "../support/model/world-commands.ts";
import { expectHolds } from "../support/properties/properties.ts";

/** Runs that failed once. */
const KNOWN_RUNS: [CommandSequence][] = [
  // A compute is started by a call while traffic starts it.
  [
    [
      advanceByMs(600_000),
      recordActivityOf({ index: 0, kind: "query", pooled: false }),
      callLifecycle({ index: 0, verb: "start", as: "owner" }),
    ],
  ],
];

test("whatever clients do, the double follows the platform's rules and its invariants hold", async () => {
  await expectHolds(
    fc.asyncProperty(commandSequences(), async (commands) => {
      const double = await createDouble();
      try {
        await runCommands(commands, { double: () => double });
      } finally {
        await double.close();
      }
    }),
    250,
    KNOWN_RUNS,
  );
});

test("when operations take no time, no request is answered 423", async () => {
  await expectHolds(
    fc.asyncProperty(commandSequences({ maxCommands: 30 }), async (commands) => {
      const double = await createDouble({ operations: "immediate" });
      try {
        await runCommands(commands, { double: () => double }, "none");
      } finally {
        await double.close();
      }
    }),
    100,
  );
});

test("a restarted double continues as if it had not been stopped", async () => {
  await expectHolds(
    fc.asyncProperty(commandSequences({ restarts: true }), async (commands) => {
      const stored = await createFileDouble();
      try {
        await runCommands(commands, stored);
      } finally {
        await stored.end();
      }
    }),
    60,
  );
});
