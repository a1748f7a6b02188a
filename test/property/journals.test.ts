import fc from "fast-check";
import { expect, test } from "vitest";
import { takeCheckpoint } from "../../src/simulation/checkpoint.ts";
import { resolvePoint, worldAt } from "../../src/simulation/replay.ts";
import { createDouble } from "../support/double.ts";
import { commandSequences } from "../support/model/commands.ts";
import { expectHolds } from "../support/properties.ts";
import { projectsIn, RANDOM_STARTS, recordRun, replayRun, splitAt } from "../support/recorded-run.ts";
import { TwinJournal } from "../support/twin-journal.ts";
import { storageOf } from "../support/world-storage.ts";

const ALL = Number.MAX_SAFE_INTEGER;
const share = fc.double({ min: 0, max: 1, noNaN: true });
/** At the head and beside it, too. */
const place = fc.oneof(share, fc.constantFrom(0, 1));
const limit = fc.constantFrom(0, 1, 2, 7, 500, ALL);

type Question = { readonly place: number; readonly off: number; readonly limit: number };
const question: fc.Arbitrary<Question> = fc.record({ place, off: fc.integer({ min: -3, max: 3 }), limit });

/** How some of it is forgotten: up to where, and operations up to when. */
type Forgetting = { readonly upTo: number; readonly before: number };
const forgetting: fc.Arbitrary<Forgetting> = fc.record({ upTo: share, before: share });

/** Asks everything there is to ask; the twins compare their answers. */
function ask(
  journal: TwinJournal,
  questions: readonly Question[],
  ids: readonly string[],
  projects: readonly string[],
): void {
  const { oldest } = journal;
  expect(journal.newestCheckpoint).toBeGreaterThanOrEqual(oldest.seq);
  const events = journal.events(0, ALL);
  const head = events.at(-1) ?? oldest;
  for (const { place, off, limit } of questions) {
    const seq = Math.max(0, Math.floor(place * head.seq) + off);
    const at = oldest.at + Math.floor(place * (head.at - oldest.at)) + off;
    journal.events(seq, limit);
    journal.checkpointBefore({ seq });
    journal.checkpointBefore({ at });
    for (const id of ids.slice(0, 60)) journal.eventsAbout(id, seq, limit);
    for (const id of projects) journal.operations(id, limit, Math.floor(place * 50) + off);
  }
  for (const id of ids) journal.operation(id);
  for (const id of projects) {
    journal.operations(id, ALL);
    for (const only of [undefined, "life", "OperationScheduled"] as const)
      journal.eventsAbout(id, ALL, ALL, only);
  }
}

/** Everything in quotation marks that may be the id of something. */
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

async function forget(journal: TwinJournal, { upTo, before }: Forgetting, now: number): Promise<void> {
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

test("a journal in memory and one in a file tell the same history, whole or forgotten", async () => {
  const sequences = commandSequences({ keys: false });
  const forgettings = fc.array(forgetting, { minLength: 1, maxLength: 3 });
  await expectHolds(
    fc.asyncProperty(
      sequences,
      share,
      forgettings,
      fc.array(question, { minLength: 1, maxLength: 4 }),
      async (...drawn) => {
        const [commands, stop, forgettings, questions] = drawn;
        const [before, after] = splitAt(await recordRun(commands), stop);
        const journal = new TwinJournal();
        const double = await createDouble({ ...RANDOM_STARTS, storage: storageOf(() => journal.history()) });
        try {
          await replayRun(double, before);
          await double.world.flush();
          const events = journal.events(0, ALL);
          const [ids, projects] = [idsIn(events), projectsIn(events)];
          ask(journal, questions, ids, projects);
          for (const one of forgettings) {
            await forget(journal, one, double.world.now());
            ask(journal, questions, ids, projects);
          }
          journal.reopen();
          ask(journal, questions, ids, projects);
          await replayRun(double, after);
          await double.world.flush();
          const later = journal.events(0, ALL);
          ask(
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
