import fc from "fast-check";
import { expect, test } from "vitest";
import { takeCheckpoint } from "../../src/simulation/checkpoint.ts";
import { resolvePoint, worldAt } from "../../src/simulation/replay.ts";
import { createDouble } from "../support/double/double.ts";
import { commandSequences } from "../support/model/commands.ts";
import { projectsIn, RANDOM_STARTS, recordRun, replayRun, splitAt } from "../support/model/recorded-run.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { TwinJournal } from "../support/store/twin-journal.ts";
import { storageOf } from "../support/store/world-storage.ts";

const ALL = Number.MAX_SAFE_INTEGER;
const share = fc.double({ min: 0, max: 1, noNaN: true });
/** A fraction of the history, often one of its ends. */
const place = fc.oneof(share, fc.constantFrom(0, 1));
const limit = fc.constantFrom(0, 1, 2, 7, 500, ALL);

type Question = { readonly place: number; readonly off: number; readonly limit: number };
const question: fc.Arbitrary<Question> = fc.record({ place, off: fc.integer({ min: -3, max: 3 }), limit });

/** A truncation: up to which event, and operations up to which instant. */
type Truncation = { readonly upTo: number; readonly before: number };
const truncation: fc.Arbitrary<Truncation> = fc.record({ upTo: share, before: share });

/** Makes every kind of query; the twins compare their answers. */
function readPages(
  journal: TwinJournal,
  questions: readonly Question[],
  ids: readonly string[],
  projects: readonly string[],
): void {
  const { oldest } = journal;
  expect(journal.newestCheckpoint.seq).toBeGreaterThanOrEqual(oldest.seq);
  const events = journal.events(0, ALL);
  const head = events.at(-1) ?? oldest;
  for (const { place, off, limit } of questions) {
    const seq = Math.max(0, Math.floor(place * head.seq) + off);
    const at = oldest.at + Math.floor(place * (head.at - oldest.at)) + off;
    journal.events(seq, limit);
    journal.checkpointBefore({ seq });
    journal.checkpointBefore({ at });
    journal.checkpointPositionBefore({ seq });
    journal.checkpointPositionBefore({ at });
    for (const id of ids.slice(0, 60)) journal.eventsAbout(id, seq, limit);
    for (const id of projects) journal.operations(id, limit, Math.floor(place * 50) + off);
  }
  for (const id of ids) journal.operation(id);
  for (const id of projects) {
    journal.operations(id, ALL);
    for (const only of [undefined, "lifecycle", "OperationScheduled"] as const)
      journal.eventsAbout(id, ALL, ALL, only);
  }
}

/** Every quoted text that may be an id. */
function idsIn(events: readonly unknown[]): string[] {
  const text = JSON.stringify(events);
  return [
    ...new Set(
      [...text.matchAll(/"((?:br|ep|co|op)-[a-z0-9-]+|[0-9a-f]{8}-[0-9a-f-]{27}|[a-z]+-[a-z]+-\d{8})"/g)].map(
        ([, id]) => id ?? "",
      ),
    ),
  ];
}

async function forget(journal: TwinJournal, { upTo, before }: Truncation, now: number): Promise<void> {
  const { oldest } = journal;
  const head = journal.events(0, ALL).at(-1) ?? oldest;
  const cut = resolvePoint(
    journal,
    { seq: oldest.seq + Math.max(1, Math.floor(upTo * (head.seq - oldest.seq))) },
    { seq: head.seq, at: now },
  );
  if (!cut.ok) return;
  const { seq } = cut.value;
  await journal.storeCheckpoint(takeCheckpoint(await worldAt(journal, seq, async () => undefined)));
  journal.truncate({ eventsUpTo: seq, operationsBefore: oldest.at + Math.floor(before * (now - oldest.at)) });
  while (!journal.prune());
}

test("a journal in memory and one in a file return the same history, before and after truncation", async () => {
  const sequences = commandSequences({ keys: false });
  const truncations = fc.array(truncation, { minLength: 1, maxLength: 3 });
  await expectHolds(
    fc.asyncProperty(
      sequences,
      share,
      truncations,
      fc.array(question, { minLength: 1, maxLength: 4 }),
      async (...drawn) => {
        const [commands, stop, truncations, questions] = drawn;
        const [before, after] = splitAt(await recordRun(commands), stop);
        const journal = new TwinJournal();
        const double = await createDouble({ ...RANDOM_STARTS, storage: storageOf(() => journal.history()) });
        try {
          await replayRun(double, before);
          await double.world.flush();
          const events = journal.events(0, ALL);
          const [ids, projects] = [idsIn(events), projectsIn(events)];
          readPages(journal, questions, ids, projects);
          for (const one of truncations) {
            await forget(journal, one, double.world.now());
            readPages(journal, questions, ids, projects);
          }
          journal.reopen();
          readPages(journal, questions, ids, projects);
          await replayRun(double, after);
          await double.world.flush();
          const later = journal.events(0, ALL);
          readPages(
            journal,
            questions,
            [...new Set([...ids, ...idsIn(later)])],
            [...new Set([...projects, ...projectsIn(later)])],
          );
        } finally {
          await double.close();
          journal.end();
        }
      },
    ),
    40,
  );
});
