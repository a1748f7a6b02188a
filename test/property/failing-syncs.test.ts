import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import { createDouble, createProject } from "../support/double/double.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { keyNames, OTHERS, settled, worldTurns } from "../support/requests/world-turns.ts";
import { holdSyncs, IO_ERROR } from "../support/store/held-syncs.ts";

/** What happens to the syncs at the end of each turn. `toggle`: those that block the thread begin or end to fail. */
const outcomes = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: fc.constant("hold" as const) },
    { weight: 10, arbitrary: fc.constant("end" as const) },
    { weight: 1, arbitrary: fc.constant("fail" as const) },
    { weight: 1, arbitrary: fc.constant("toggle" as const) },
  ),
  { minLength: 40, maxLength: 40 },
);

/** Reads that commit, shortly after the world was dropped. */
const turns = worldTurns(30, ["key", "key", "about", "about", "bug", "bug"]);

test("when syncs end late or fail, each answer says what is stored, and followers get each change once and in order", async () => {
  const met = { stored: 0, refused: 0, unknown: 0, reopens: 0 };
  const syncs = holdSyncs();
  await expectHolds(
    fc.asyncProperty(turns, outcomes, async (begun, ends) => {
      const { path, remove } = temporaryDirectory();
      const storage = new DataDirectory(path, MIGRATIONS_FOLDER);
      let [areFree, isOver] = [true, false];
      const drained = (async () => {
        for (; !isOver; await nextTurn()) if (areFree) syncs.end();
      })();
      const double = await createDouble({ storage, operations: "immediate" });
      const seen: number[] = [];
      let unsubscribe = () => {};
      try {
        const { projectId } = await createProject(double);
        unsubscribe = double.world.subscribe((events) => void seen.push(...events.map(({ seq }) => seq)));
        const createKey = (name: string) => double.api("POST", "/api_keys", { key_name: name });
        const keys: { readonly name: string; readonly answer: ReturnType<typeof createKey> }[] = [];
        const others: Promise<unknown>[] = [];
        areFree = false;
        for (const [turn, names] of begun.entries()) {
          for (const name of names) {
            const key = `key ${keys.length}`;
            if (name === "key") keys.push({ name: key, answer: createKey(key) });
            else others.push(settled(() => OTHERS[name](double, projectId)));
          }
          const outcome = ends[turn];
          if (outcome === "toggle") syncs.failsAtOnce = !syncs.failsAtOnce;
          else if (outcome !== "hold") syncs.end(outcome === "fail" ? IO_ERROR : null);
          await nextTurn();
        }
        syncs.failsAtOnce = false;
        areFree = true;
        const answers = await Promise.all(keys.map(({ answer }) => answer));
        await Promise.all(others);
        const stored = await keyNames(double);
        for (const [index, { status, body }] of answers.entries()) {
          const name = keys[index]?.name ?? "";
          const isUnknown = JSON.stringify(body).includes("OUTCOME_UNKNOWN");
          met[isUnknown ? "unknown" : status === 200 ? "stored" : "refused"] += 1;
          if (!isUnknown) expect([name, status, stored.has(name)]).toEqual([name, status, status === 200]);
        }
        met.reopens += double.world.diagnostics().reopens;
        expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
        const events = await double.world.events(0, 10_000);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
        expect(events).toHaveLength(double.world.history().seq);
      } finally {
        unsubscribe();
        syncs.failsAtOnce = false;
        areFree = true;
        await double.close();
        isOver = true;
        await drained;
        storage.release();
        remove();
      }
    }),
    60,
  );
  expect(Math.min(...Object.values(met)), JSON.stringify(met)).toBeGreaterThan(0);
});
