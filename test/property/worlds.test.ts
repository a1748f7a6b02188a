import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnsweredEvent } from "../support/answers/control-answers.ts";
import { clockStepOf, journalOf } from "../support/double/call-log.ts";
import type { Double } from "../support/double/double.ts";
import { follow } from "../support/double/follower.ts";
import { createStorageDouble, STORAGE_KINDS, type StorageDouble } from "../support/double/storage-double.ts";
import { commandSequences } from "../support/model/commands.ts";
import {
  eventsOf,
  pointChoice,
  RANDOM_STARTS,
  recordRun,
  replayRun,
  resolvePoint,
  splitAt,
  worldStateText,
} from "../support/model/recorded-run.ts";
import { expectHolds } from "../support/properties/properties.ts";

const sequences = commandSequences({ keys: false });
const share = fc.double({ min: 0, max: 1, noNaN: true });
/** Each step draws random numbers, and it fits every world. */
const FIRST_STEPS = ["POST /projects", "advance", "POST /projects", "advance", "POST /projects"] as const;

async function onEveryStorage(work: (stored: StorageDouble) => Promise<void>): Promise<void> {
  for (const kind of STORAGE_KINDS) {
    const stored = await createStorageDouble(kind, RANDOM_STARTS);
    try {
      await work(stored);
    } finally {
      await stored.end();
    }
  }
}

async function fork(
  stored: StorageDouble,
  name: string,
  fields: Record<string, unknown> = {},
): Promise<Double> {
  const { status, body } = await stored.double().sim("POST", "/worlds", { name, ...fields });
  expect(status, JSON.stringify(body)).toBe(201);
  return stored.world(name);
}

/** Creates as many projects as the plan allows; returns all events. */
async function takeFirstSteps(double: Double): Promise<AnsweredEvent[]> {
  for (const step of FIRST_STEPS) {
    if (step === "advance") await double.advance("20m");
    else await double.api("POST", "/projects", { project: {} });
  }
  await double.advance("1h");
  return journalOf(double);
}

test("a fork that gets the same requests as its origin has the same history", async () => {
  await expectHolds(
    fc.asyncProperty(sequences, share, async (commands, share) => {
      const life = await recordRun(commands);
      await onEveryStorage(async (stored) => {
        const [before, after] = splitAt(life, share);
        const origin = stored.double();
        await replayRun(origin, before);
        const forked = await fork(stored, "fork");
        // Alternating, so that each would disturb the other if they shared anything.
        for (const entry of after) {
          await replayRun(forked, [entry]);
          await replayRun(origin, [entry]);
        }
        expect(JSON.stringify(await journalOf(forked))).toBe(JSON.stringify(await journalOf(origin)));
        expect(await worldStateText(forked)).toBe(await worldStateText(origin));
      });
    }),
    15,
  );
});

test("a fork and its origin see nothing of each other, in journals, streams and states", async () => {
  await expectHolds(
    fc.asyncProperty(
      sequences,
      share,
      fc.constantFrom("origin" as const, "fork" as const),
      async (commands, share, liveliest) => {
        const life = await recordRun(commands);
        await onEveryStorage(async (stored) => {
          const [before, after] = splitAt(life, share);
          const origin = stored.double();
          await replayRun(origin, before);
          const forked = await fork(stored, "fork");
          const [lively, still] = liveliest === "origin" ? [origin, forked] : [forked, origin];
          const untouched = [await worldStateText(still), JSON.stringify(await journalOf(still))];
          const streams = await Promise.all([follow(lively), follow(still)]);
          const { seq } = still.world.history();
          await replayRun(lively, after);
          expect([await worldStateText(still), JSON.stringify(await journalOf(still))]).toEqual(untouched);
          // Then the other one gets an event of its own, and no other has arrived there.
          await still.sim("POST", "/accounts", { id: "late", name: "late" });
          await lively.sim("POST", "/accounts", { id: "later", name: "later" });
          for (const [index, world] of [lively, still].entries()) {
            const received = await streams[index]?.upTo(world.world.history().seq);
            expect(received).toEqual((await journalOf(world)).slice(seq));
            await streams[index]?.stop();
          }
        });
      },
    ),
    15,
  );
});

test("a fork with another seed draws other numbers; a second such fork draws the same", async () => {
  await expectHolds(
    fc.asyncProperty(
      sequences,
      pointChoice,
      fc.integer({ min: 100, max: 1_000_000 }),
      async (commands, place, seed) => {
        const life = await recordRun(commands);
        await onEveryStorage(async (stored) => {
          const origin = stored.double();
          await replayRun(origin, life);
          const { requested } = resolvePoint(await eventsOf(origin), origin.world.now(), place);
          const [same, one, other] = [
            await fork(stored, "same", { at: requested }),
            await fork(stored, "one", { at: requested, seed }),
            await fork(stored, "other", { at: requested, seed }),
          ];
          const before = (await journalOf(same)).length;
          const lives = [
            await takeFirstSteps(same),
            await takeFirstSteps(one),
            await takeFirstSteps(other),
          ] as const;
          expect(JSON.stringify(lives[2])).toBe(JSON.stringify(lives[1]));
          expect(lives[1].slice(0, before)).toEqual(lives[0].slice(0, before));
          const [ids, otherIds] = [lives[0], lives[1]].map((events) => projectIds(events.slice(before)));
          expect(otherIds?.filter((id) => ids?.includes(id))).toEqual([]);
          // The third event creates the API key of the requests.
          if (before >= 3) expect(otherIds).toHaveLength(3);
          // The settings contain the seed.
          expect(JSON.parse(await worldStateText(one)).world.seed).toBe(seed);
          expect(JSON.parse(await worldStateText(origin)).world.seed).toBe(RANDOM_STARTS.seed);
        });
      },
    ),
    15,
  );
});

test("a fork that advances by a and then by b equals one that advances by a + b", async () => {
  await expectHolds(
    fc.asyncProperty(sequences, share, share, async (commands, share, part) => {
      const life = await recordRun(commands);
      await onEveryStorage(async (stored) => {
        const [before, after] = splitAt(life, share);
        await replayRun(stored.double(), before);
        const [atOnce, inSteps] = [await fork(stored, "at-once"), await fork(stored, "in-steps")];
        await replayRun(atOnce, after);
        for (const entry of after) {
          const by = clockStepOf(entry);
          if (by === undefined) await replayRun(inSteps, [entry]);
          else
            await replayRun(
              inSteps,
              [Math.floor(by * part), by - Math.floor(by * part)].map((by) => ({ ...entry, body: { by } })),
            );
        }
        expect(JSON.stringify(await journalOf(inSteps))).toBe(JSON.stringify(await journalOf(atOnce)));
        expect(await worldStateText(inSteps)).toBe(await worldStateText(atOnce));
      });
    }),
    15,
  );
});

function projectIds(events: readonly AnsweredEvent[]): string[] {
  return events.filter(({ type }) => type === "ProjectCreated").map(({ project }) => project.id);
}
