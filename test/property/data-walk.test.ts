import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyWorld } from "../../src/cli/history/world-history.ts";
import { walkData } from "../support/data-walk/data-walk.ts";
import { openInProcessScene } from "../support/postgres-walk/in-process-scene.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { repeatableWalk } from "../support/properties/repeatable-walk.ts";

const FIRST_SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);
const VARIABLE = "STANDIN_TEST_DATA_WALKS";
const WALKS = Number(process.env[VARIABLE] ?? 1);
/** Seeds that have found a defect. */
const FOUND = process.env["STANDIN_TEST_SEED"] === undefined ? [20260102, 20260203] : [];
const STEPS = 30;

let directory: ReturnType<typeof temporaryDirectory>;
beforeAll(() => {
  directory = temporaryDirectory();
  // As root, Postgres runs as another user, which must be able to reach its files.
  chmodSync(directory.path, 0o711);
});
afterAll(() => directory.remove());

const seeds = [...FOUND, ...Array.from({ length: WALKS }, (_, number) => FIRST_SEED + number)];
test.each(seeds)(
  "seed %i: each branch has the rows that were acknowledged, at each instant",
  async (seed) => {
    const data = join(directory.path, `data-${seed}`);
    const scene = await openInProcessScene(data, join(directory.path, "volumes"), "manual", "immediate");
    try {
      await repeatableWalk({ seed, variable: VARIABLE, file: "test/property/data-walk.test.ts" }, () =>
        walkData(scene, seed, STEPS),
      );
    } finally {
      await scene.close();
    }
    scene.check();
    expect(await verifyWorld(data, "default")).toMatchObject({ ok: true });
  },
);
