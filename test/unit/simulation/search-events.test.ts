import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runToEnd } from "../../../src/kernel/run-to-end.ts";
import type { RecordedEvent } from "../../../src/platform/model/events.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { mentions } from "../../../src/simulation/mentions.ts";
import {
  joinFound,
  searchEvents,
  searchWithLifecycle,
  withUncommitted,
} from "../../../src/simulation/search-events.ts";
import { expectHolds } from "../../support/properties/properties.ts";

const clock = { mode: "manual", factor: 0, simAnchor: 0, wallAnchor: 0 } as const;
const { settings, numbers } = emptyWorld();
const ID = "ep-main";

/** One letter for each event: activity, activation or creation of the compute, something else of the same decision. */
type Letter = "q" | "a" | "c" | "-";

function journalOf(letters: readonly Letter[]): MemoryJournal {
  const journal = new MemoryJournal();
  const events = letters.map((letter, index) => eventOf(letter, index + 1, letters));
  journal.write({ events, changes: [], settings, numbers, clock, now: 0 });
  return journal;
}

function eventOf(letter: Letter, seq: number, letters: readonly Letter[]): RecordedEvent {
  // A creation is of the same decision as the event before it.
  const decision = letter === "c" && letters.length > 1 ? Math.max(1, seq - 1) : seq;
  const place = { seq, decision, at: seq };
  switch (letter) {
    case "q":
      return { ...place, type: "ActivityRecorded", activity: { endpointId: ID } } as RecordedEvent;
    case "a":
      return { ...place, type: "ComputeActivated", endpointId: ID } as RecordedEvent;
    case "c":
      return { ...place, type: "ComputeCreated", compute: { id: ID } } as RecordedEvent;
    default:
      return { ...place, type: "ComputeActivated", endpointId: "ep-other" } as RecordedEvent;
  }
}

const search = (journal: MemoryJournal, after: number, before: number, limit: number) =>
  runToEnd(searchWithLifecycle(journal, ID, { after, before }, limit));
const seqs = (events: readonly RecordedEvent[]) => events.map(({ seq }) => seq);

describe("a search for the events about an object", () => {
  test("takes a step for each thousand events, and finds them in all steps", () => {
    const letters = Array.from({ length: 5_000 }, (_, index): Letter => (index % 1_000 === 0 ? "a" : "-"));
    const steps = searchEvents(journalOf(letters), ID, { after: 0, before: 5_001 }, 100);
    let count = 1;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count += 1;
    expect(count).toBe(5);
    expect(seqs(step.value)).toEqual([4_001, 3_001, 2_001, 1_001, 1]);
  });

  test("ends at the decision that created it", () => {
    expect(seqs(search(journalOf(["a", "-", "a", "c", "q", "a"]), 0, 7, 10))).toEqual([6, 5, 4, 3]);
    // The decision may begin in a later step.
    const letters: Letter[] = ["a", "a", "c", ...Array.from({ length: 1_023 }, (): Letter => "-")];
    expect(seqs(search(journalOf(letters), 0, 1_027, 10))).toEqual([3, 2]);
  });

  test("finds no event at its ends", () => {
    const journal = journalOf(["a", "a", "a", "a"]);
    expect(seqs(search(journal, 1, 4, 10))).toEqual([3, 2]);
    expect(seqs(search(journal, 3, 4, 10))).toEqual([]);
    expect(seqs(search(journal, 4, 4, 10))).toEqual([]);
  });

  test("finds as many events of the lifecycle as of any type", () => {
    const journal = journalOf(["a", "a", "a", "q", "q", "q"]);
    expect(seqs(search(journal, 0, 7, 2))).toEqual([6, 5, 3, 2]);
    expect(seqs(search(journal, 0, 7, 4))).toEqual([6, 5, 4, 3, 2, 1]);
  });

  test("in two parts finds what one search finds", async () => {
    const letter = fc.constantFrom<Letter>("q", "q", "a", "-", "c");
    await expectHolds(
      fc.property(
        fc.array(letter, { maxLength: 60 }),
        fc.nat(60),
        fc.integer({ min: 1, max: 8 }),
        (letters, cut, limit) => {
          const journal = journalOf(letters);
          const end = letters.length;
          const between = Math.min(cut, end);
          // A part ends with a commit, which divides no decision.
          fc.pre(letters[between] !== "c");
          const newer = search(journal, between, end + 1, limit);
          const older = search(journal, 0, between + 1, limit);
          expect(seqs(joinFound(newer, older, { id: ID, limit }))).toEqual(
            seqs(search(journal, 0, end + 1, limit)),
          );
        },
      ),
      500,
    );
  });

  test("finds before a commit what it finds after it", async () => {
    const letter = fc.constantFrom<Letter>("q", "q", "a", "-", "c");
    const place = fc.nat(61);
    await expectHolds(
      fc.property(
        fc.array(letter, { maxLength: 60 }),
        ...([place, place, place] as const),
        fc.integer({ min: 1, max: 8 }),
        (letters, cut, after, before, limit) => {
          const all = journalOf(letters);
          const uncommitted = all.events(cut, 60);
          const journal = withUncommitted(journalOf(letters.slice(0, cut)), uncommitted);
          const found = runToEnd(searchWithLifecycle(journal, ID, { after, before }, limit));
          expect(found).toEqual(search(all, after, before, limit));
        },
      ),
      500,
    );
  });
});

test("a value mentions an id if its JSON contains it in quotes", async () => {
  const word = fc.constantFrom("ep-1", "ep-12", "x", "");
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      word,
      fc.constantFrom(null, undefined, 1, true),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(word, tie("value"), { maxKeys: 3 }),
    ),
  }));
  await expectHolds(
    fc.property(value, (item) => {
      expect(mentions({ item }, "ep-1")).toBe(JSON.stringify({ item }).includes('"ep-1"'));
    }),
    1_000,
  );
});
