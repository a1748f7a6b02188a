import fc from "fast-check";
import { expect, test } from "vitest";
import { renderState } from "../../src/control-api/routes/state.ts";
import { replay } from "../../src/simulation/replay.ts";
import type { ApiResponse, Rejection } from "../support/answers/api-response.ts";
import { createDouble, type Double } from "../support/double/double.ts";
import { commandSequences, runCommands } from "../support/model/commands.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { FaultyJournal, type InjectedFailures, retryingDouble } from "../support/store/faulty-journal.ts";

const ALL = Number.MAX_SAFE_INTEGER;
const seeds = fc.integer({ min: 1, max: 1_000_000 });

test("when writes fail and clients repeat their requests, the world follows the same rules", async () => {
  const met: InjectedFailures = { failed: 0, unknown: 0, undecided: 0 };
  await expectHolds(
    fc.asyncProperty(seeds, commandSequences({ maxCommands: 40 }), async (seed, commands) => {
      const journal = new FaultyJournal(seed);
      const double = await createDouble({ journal });
      try {
        journal.breakDown();
        const retrying = retryingDouble(double);
        await runCommands(commands, { double: () => retrying });
        journal.heal();
        const lived = await double.world.transact(({ world }) => renderState(world));
        expect(renderState(replay(await double.world.events(0, ALL)))).toEqual(lived);
      } finally {
        for (const name of ["failed", "unknown", "undecided"] as const) met[name] += journal.injected[name];
        journal.heal();
        await double.close();
      }
    }),
    40,
  );
  for (const count of Object.values(met)) expect(count, JSON.stringify(met)).toBeGreaterThan(0);
});

const requests = fc.array(
  fc.constantFrom<(double: Double) => Promise<ApiResponse<Rejection>>>(
    (double) => double.api("POST", "/projects", { project: {} }),
    (double) => double.api("POST", "/api_keys", { key_name: "another" }),
    (double) => double.sim("POST", "/clock/advance", { by: "10m" }),
    (double) => double.sim("POST", "/reset"),
    (double) => double.api("GET", "/projects"),
  ),
  { minLength: 1, maxLength: 30 },
);

test("after each 5xx the state is what the answer states, now and after the world is reopened", async () => {
  const met = { unchanged: 0, unknown: 0 };
  await expectHolds(
    fc.asyncProperty(seeds, requests, async (seed, sequence) => {
      const journal = new FaultyJournal(seed);
      const double = await createDouble({ journal });
      try {
        for (const send of sequence) {
          const before = journal.head;
          journal.breakDown();
          const { status, body } = await send(double);
          journal.heal();
          if (status < 500) continue;
          expect(status).toBe(503);
          const isUnknown = body.code === "OUTCOME_UNKNOWN";
          met[isUnknown ? "unknown" : "unchanged"] += 1;
          expect(body.message).toMatch(
            isUnknown ? /; it is unknown whether the change was made$/ : /; nothing was changed$/,
          );
          // A failed commit of this journal is always undone.
          expect(journal.head).toBe(before);
          expect(double.world.history().seq).toBe(before);
          expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
        }
      } finally {
        journal.heal();
        await double.close();
      }
    }),
    60,
  );
  expect(Math.min(met.unchanged, met.unknown), JSON.stringify(met)).toBeGreaterThan(0);
});
