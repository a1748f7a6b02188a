import fc from "fast-check";
import { expect, test } from "vitest";
import { clockStepOf, journalOf } from "../support/call-log.ts";
import type { Double } from "../support/double.ts";
import { follow } from "../support/follower.ts";
import { commandSequences } from "../support/model/commands.ts";
import { expectHolds } from "../support/properties.ts";
import {
  eventsOf,
  pointChoice,
  RANDOM_STARTS,
  recordRun,
  replayRun,
  resolvePoint,
  splitAt,
  worldStateText,
} from "../support/recorded-run.ts";
import { createStorageDouble, STORAGE_KINDS, type StorageDouble } from "../support/storage-double.ts";

const sequences = commandSequences({ keys: false });
const share = fc.double({ min: 0, max: 1, noNaN: true });
/** Chance has a part in every step of it, and it can be told to any world. */
const FIRST_STEPS = ["POST /projects", "advance", "POST /projects", "advance", "POST /projects"] as const;

async function onEveryShelf(work: (shelved: StorageDouble) => Promise<void>): Promise<void> {
  for (const kind of STORAGE_KINDS) {
    const shelved = await createStorageDouble(kind, RANDOM_STARTS);
    try {
      await work(shelved);
    } finally {
      await shelved.end();
    }
  }
}

async function fork(
  shelved: StorageDouble,
  name: string,
  asked: Record<string, unknown> = {},
): Promise<Double> {
  const { status, body } = await shelved.double().sim("POST", "/worlds", { name, ...asked });
  expect(status, JSON.stringify(body)).toBe(201);
  return shelved.world(name);
}

/** Makes projects, as many as the plan allows; gives all that has happened. */
async function takeFirstSteps(double: Double): Promise<unknown[]> {
  for (const step of FIRST_STEPS) {
    if (step === "advance") await double.advance("20m");
    else await double.api("POST", "/projects", { project: {} });
  }
  await double.advance("1h");
  return journalOf(double);
}

test("a fork that is told what its origin is told lives the same life", async () => {
  await expectHolds(
    fc.asyncProperty(sequences, share, async (commands, share) => {
      const life = await recordRun(commands);
      await onEveryShelf(async (shelved) => {
        const [before, after] = splitAt(life, share);
        const origin = shelved.double();
        await replayRun(origin, before);
        const forked = await fork(shelved, "fork");
        // By turns: neither is in the other's way.
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

test("nothing that happens in a fork is seen in its origin, nor the other way round: not in journals, streams or states", async () => {
  await expectHolds(
    fc.asyncProperty(
      sequences,
      share,
      fc.constantFrom("origin" as const, "fork" as const),
      async (commands, share, liveliest) => {
        const life = await recordRun(commands);
        await onEveryShelf(async (shelved) => {
          const [before, after] = splitAt(life, share);
          const origin = shelved.double();
          await replayRun(origin, before);
          const forked = await fork(shelved, "fork");
          const [lively, still] = liveliest === "origin" ? [origin, forked] : [forked, origin];
          const untouched = [await worldStateText(still), JSON.stringify(await journalOf(still))];
          const streams = await Promise.all([follow(lively), follow(still)]);
          const { seq } = still.world.history();
          await replayRun(lively, after);
          expect([await worldStateText(still), JSON.stringify(await journalOf(still))]).toEqual(untouched);
          // Then something of its own happens in the other one, and nothing else has come there.
          await still.sim("POST", "/accounts", { id: "late", name: "late" });
          await lively.sim("POST", "/accounts", { id: "later", name: "later" });
          for (const [index, world] of [lively, still].entries()) {
            const told = await streams[index]?.upTo(world.world.history().seq);
            expect(told).toEqual((await journalOf(world)).slice(seq));
            await streams[index]?.stop();
          }
        });
      },
    ),
    15,
  );
});

test("a fork with another seed draws differently from then on, and the same again in another fork", async () => {
  await expectHolds(
    fc.asyncProperty(
      sequences,
      pointChoice,
      fc.integer({ min: 100, max: 1_000_000 }),
      async (commands, place, seed) => {
        const life = await recordRun(commands);
        await onEveryShelf(async (shelved) => {
          const origin = shelved.double();
          await replayRun(origin, life);
          const { requested: asked } = resolvePoint(await eventsOf(origin), origin.world.now(), place);
          const [same, one, other] = [
            await fork(shelved, "same", { at: asked }),
            await fork(shelved, "one", { at: asked, seed }),
            await fork(shelved, "other", { at: asked, seed }),
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
          // The third event gives the key that they are made with.
          if (before >= 3) expect(otherIds).toHaveLength(3);
          // The settings say by what a world draws.
          expect(JSON.parse(await worldStateText(one)).world.seed).toBe(seed);
          expect(JSON.parse(await worldStateText(origin)).world.seed).toBe(RANDOM_STARTS.seed);
        });
      },
    ),
    15,
  );
});

test("a fork that advances by a and then by b comes to what one comes to that advances by a + b", async () => {
  await expectHolds(
    fc.asyncProperty(sequences, share, share, async (commands, share, part) => {
      const life = await recordRun(commands);
      await onEveryShelf(async (shelved) => {
        const [before, after] = splitAt(life, share);
        await replayRun(shelved.double(), before);
        const [atOnce, inSteps] = [await fork(shelved, "at-once"), await fork(shelved, "in-steps")];
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

function projectIds(events: readonly unknown[]): string[] {
  return (events as any[]).filter(({ type }) => type === "ProjectCreated").map(({ project }) => project.id);
}
