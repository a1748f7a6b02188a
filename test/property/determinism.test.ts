import fc from "fast-check";
import { expect, test } from "vitest";
import {
  clockStepOf,
  journalOf,
  type RecordedCall,
  recordCalls,
  replayCall,
} from "../support/double/call-log.ts";
import { createDouble, type Double } from "../support/double/double.ts";
import { createFileDouble } from "../support/double/file-double.ts";
import { type CommandSequence, commandSequences, runCommands } from "../support/model/commands.ts";
import { expectHolds } from "../support/properties/properties.ts";

const sequences = commandSequences({ keys: false });

/** Durations are drawn, so that each of these worlds depends on its seed. */
const OPTIONS = {
  seed: 7,
  durations: "varied",
} as const;

/** The journal of a world after these commands, and the requests that they sent. */
async function runIn(
  double: Double,
  commands: CommandSequence,
): Promise<{ journal: unknown[]; entries: RecordedCall[]; text: string }> {
  const recorded = recordCalls(double);
  try {
    await runCommands(commands, { double: () => recorded.double }, "drawn");
    const text = await (await double.fetch(new Request("http://localhost/_sim/events?limit=10000"))).text();
    return { journal: await journalOf(double), entries: recorded.calls, text };
  } finally {
    await double.close();
  }
}

test("the same seed and the same commands give the same journal, byte for byte", async () => {
  await expectHolds(
    fc.asyncProperty(sequences, async (commands) => {
      const { entries, text } = await runIn(await createDouble(OPTIONS), commands);
      const again = await createDouble(OPTIONS);
      for (const entry of entries) await replayCall(again, entry);
      expect(await (await again.fetch(new Request("http://localhost/_sim/events?limit=10000"))).text()).toBe(
        text,
      );
      await again.close();
    }),
    60,
  );
});

test("another seed gives different ids", async () => {
  const [one, other] = [await createDouble({ seed: 1 }), await createDouble({ seed: 2 })];
  const ids = await Promise.all(
    [one, other].map(
      async (double) => (await double.api("POST", "/projects", { project: {} })).body.project.id,
    ),
  );
  expect(ids[0]).not.toBe(ids[1]);
});

test("advancing by a and then by b equals advancing by a + b", async () => {
  const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 });
  await expectHolds(
    fc.asyncProperty(sequences, shares, async (commands, shares) => {
      const { entries, journal } = await runIn(await createDouble(OPTIONS), commands);
      const inSteps = await createDouble(OPTIONS);
      for (const entry of entries) {
        let left = clockStepOf(entry);
        if (left === undefined) {
          await replayCall(inSteps, entry);
          continue;
        }
        for (const share of shares) {
          const by = Math.floor(left * share);
          left -= by;
          await replayCall(inSteps, { ...entry, body: { by: `${by}ms` } });
        }
        await replayCall(inSteps, { ...entry, body: { by: `${left}ms` } });
      }
      expect(await journalOf(inSteps)).toEqual(journal);
      await inSteps.close();
    }),
    60,
  );
});

test("a world in a file has the same journal as one in memory, however often it is restarted", async () => {
  await expectHolds(
    fc.asyncProperty(sequences, fc.uniqueArray(fc.nat(50), { maxLength: 8 }), async (commands, stops) => {
      const { entries, journal } = await runIn(await createDouble(OPTIONS), commands);
      const stored = await createFileDouble(OPTIONS);
      try {
        for (const [index, entry] of entries.entries()) {
          if (stops.includes(index)) await stored.reopen();
          await replayCall(stored.double(), entry);
        }
        expect(await journalOf(stored.double())).toEqual(journal);
      } finally {
        await stored.end();
      }
    }),
    40,
  );
});
