import { describe, expect, test } from "vitest";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { replay, resolvePoint, worldAt } from "../../../src/simulation/replay.ts";
import { restartMain, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

const clock = { mode: "manual", factor: 0, simAnchor: 0, wallAnchor: 0 } as const;

/** A journal with checkpoints after these events, truncated at each of them in turn. */
function truncated(...seqs: readonly number[]) {
  const { journal, events } = new SimulatedWorld(worldWithProject(), restartMain);
  for (const seq of seqs) {
    void journal.storeCheckpoint(takeCheckpoint(replay(events.slice(0, seq))));
    journal.truncate({ eventsUpTo: seq, operationsBefore: 0 });
  }
  return { journal, events };
}

describe("a journal in memory after its oldest events were truncated", () => {
  test("returns the remaining events about an id, down to the first of them", () => {
    const { journal, events } = truncated(5);
    const about = (before: number) => journal.eventsAbout("shop", before, 100).map(({ seq }) => seq);
    const expected = events.filter((event) => JSON.stringify(event).includes('"shop"') && event.seq > 5);
    expect(about(events.length + 1)).toEqual(expected.map(({ seq }) => seq).reverse());
    expect(about(8)).toEqual(
      expected
        .map(({ seq }) => seq)
        .filter((seq) => seq < 8)
        .reverse(),
    );
  });

  test("has the operations of a copy as of the event at which the copy ends", () => {
    const { journal, events } = truncated(5, 7);
    const copy = journal.copy(7);
    expect(copy.events(0, 100)).toEqual([]);
    const { operations } = replay(events.slice(0, 7));
    for (const { id, state } of operations.values()) expect(copy.operation(id)?.state).toEqual(state);
    expect(journal.copy(9).events(0, 100)).toEqual(events.slice(7, 9));
    expect(journal.copy(9).head).toBe(9);
  });

  test("rebuilds the world after an event from the oldest checkpoint", async () => {
    const { journal, events } = truncated(5);
    const folded: number[] = [];
    const world = await worldAt(journal, 8, async (count) => {
      folded.push(count);
    });
    expect(folded).toEqual([3]);
    expect(takeCheckpoint(world)).toEqual(takeCheckpoint(replay(events.slice(0, 8))));
  });
});

describe("a journal in memory", () => {
  test("returns the first event of the world", () => {
    const { journal, events } = new SimulatedWorld(worldWithProject());
    expect(journal.eventsAbout("paid", 2, 10)).toEqual(events.slice(0, 1));
  });

  test("has no requests at first", () => {
    expect(new MemoryJournal().requests(0, 10)).toEqual([]);
  });

  test("has a copy with the same limit, and with the checkpoints and requests until its end", () => {
    const { events } = new SimulatedWorld(worldWithProject());
    const journal = new MemoryJournal({ limit: 100 });
    const { settings, numbers } = emptyWorld();
    const add = [50, 51].map((at) => ({ number: at, at, text: JSON.stringify({ number: at }) }));
    journal.write({ events, changes: [], settings, numbers, clock, now: 50, requests: { add, limit: 9 } });
    for (const seq of [3, 6]) void journal.storeCheckpoint({ ...takeCheckpoint(emptyWorld()), seq });
    const copy = journal.copy(4);
    expect(copy.eventsPerCheckpoint).toBe(100);
    expect(copy.newestCheckpoint.seq).toBe(3);
    expect(copy.requests(0, 10)).toEqual([{ number: 50 }]);
  });
});

test("a point before the first instant is before the world, and an empty history has its beginning", () => {
  const { journal, events, now } = new SimulatedWorld(worldWithProject());
  expect(resolvePoint(journal, { at: -1 }, { seq: events.length, at: now })).toMatchObject({
    ok: false,
    refusal: { message: "this point is before event 1, which created the world" },
  });
  expect(resolvePoint(new MemoryJournal(), { seq: 0 }, { seq: 0, at: 0 })).toEqual({
    ok: true,
    value: { seq: 0, at: 0 },
  });
});
