import { setImmediate as nextTurn } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { BatchWriter } from "../../src/store/journal/batch-writer.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import { createDouble, createProject } from "../support/double/double.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { keyNames, OTHERS, settled, worldTurns } from "../support/requests/world-turns.ts";

/** One step in sixteen. */
const failures = fc.array(
  fc.nat(15).map((number) => number === 0),
  { minLength: 200, maxLength: 200 },
);

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
    fc.asyncProperty(worldTurns(10, ["key"]), failures, async (begun, fails) => {
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
        const stored = await keyNames(double);
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
