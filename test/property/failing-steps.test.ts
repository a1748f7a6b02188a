import { setImmediate as nextTurn } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { BatchWriter } from "../../src/store/journal/batch-writer.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import { createDouble, createProject, type Double } from "../support/double/double.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";

const USAGE =
  "/consumption_history/account?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&granularity=daily";
const OTHERS = {
  list: (double: Double, projectId: string) => double.api("GET", `/projects/${projectId}/operations`),
  usage: (double: Double) => double.api("GET", USAGE),
  about: (double: Double, projectId: string) =>
    double.world.read(({ eventsAbout }) => eventsAbout(projectId, 5)),
  events: (double: Double) => double.world.events(0, 1_000),
  advance: (double: Double) => double.world.advance({ by: 100_000 }),
  clear: (double: Double) => double.world.clearRequests(),
  flush: (double: Double) => double.world.flush(),
  requests: (double: Double) => double.world.requests(0, 100),
  view: (double: Double) => double.world.viewAt({ seq: 5 }),
  bug: (double: Double) =>
    double.world.transact(({ execute }) => {
      execute({ type: "ResetWorld" });
      throw new Error("a bug");
    }),
} as const;

const names = Object.keys(OTHERS) as (keyof typeof OTHERS)[];
/** What begins in each turn of the event loop, and which steps of commits fail. */
const turns = fc.array(fc.array(fc.constantFrom("key", "key", "key", ...names), { maxLength: 4 }), {
  minLength: 10,
  maxLength: 40,
});
/** One step in sixteen. */
const failures = fc.array(
  fc.nat(15).map((number) => number === 0),
  { minLength: 200, maxLength: 200 },
);

/** Its own failure is expected, and has other tests. */
async function settled(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {}
}

/** The steps of commits fail as the list says. Returns a function that ends this. */
function failSteps(fails: readonly boolean[]): () => void {
  const write = BatchWriter.prototype.write;
  let next = 0;
  const spy = vi.spyOn(BatchWriter.prototype, "write").mockImplementation(function* (
    this: BatchWriter,
    ...args: Parameters<typeof write>
  ) {
    const steps = write.apply(this, args);
    for (let step = steps.next(); ; step = steps.next()) {
      next += 1;
      if (fails[next] === true)
        throw new BetterSqlite3.SqliteError("database or disk is full", "SQLITE_FULL");
      if (step.done === true) return step.value;
      yield;
    }
  });
  return () => spy.mockRestore();
}

test("when steps of commits fail among other requests, each answer says what is stored", async () => {
  const met = { stored: 0, refused: 0 };
  await expectHolds(
    fc.asyncProperty(turns, failures, async (begun, fails) => {
      const { path, remove } = temporaryDirectory();
      const storage = new DataDirectory(path, MIGRATIONS_FOLDER);
      const double = await createDouble({ storage, operations: "immediate" });
      const { projectId } = await createProject(double);
      const endFailures = failSteps(fails);
      let now = 0;
      // Each look at the clock takes a while, so that all work in steps takes many turns.
      const clock = vi.spyOn(performance, "now").mockImplementation(() => {
        now += 0.15;
        return now;
      });
      const keys: { readonly name: string; readonly answer: Promise<{ readonly status: number }> }[] = [];
      const others: Promise<unknown>[] = [];
      try {
        for (const names of begun) {
          for (const name of names) {
            const key = `key ${keys.length}`;
            if (name === "key")
              keys.push({ name: key, answer: double.api("POST", "/api_keys", { key_name: key }) });
            else others.push(settled(() => OTHERS[name](double, projectId)));
          }
          await nextTurn();
        }
        const answers = await Promise.all(keys.map(({ answer }) => answer));
        await Promise.all(others);
        clock.mockRestore();
        endFailures();
        const listed = (await double.api("GET", "/api_keys")).body as readonly { readonly name: string }[];
        const stored = new Set(listed.map(({ name }) => name));
        for (const [index, { status }] of answers.entries()) {
          expect([200, 503]).toContain(status);
          met[status === 200 ? "stored" : "refused"] += 1;
          expect([keys[index]?.name, stored.has(keys[index]?.name ?? "")]).toEqual([
            keys[index]?.name,
            status === 200,
          ]);
        }
        const events = await double.world.events(0, 10_000);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
        expect(events).toHaveLength(double.world.history().seq);
      } finally {
        clock.mockRestore();
        endFailures();
        await double.close();
        storage.release();
        remove();
      }
    }),
    40,
  );
  expect(Math.min(met.stored, met.refused), JSON.stringify(met)).toBeGreaterThan(0);
});
