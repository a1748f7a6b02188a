import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyWorld } from "../../src/cli/history/world-history.ts";
import { openInProcessScene } from "../support/postgres-walk/in-process-scene.ts";
import { walk } from "../support/postgres-walk/walk.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { repeatableWalk } from "../support/properties/repeatable-walk.ts";

const FIRST_SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);
const VARIABLE = "STANDIN_TEST_POSTGRES_WALKS";
const WALKS = Number(process.env[VARIABLE] ?? 2);
const STEPS = 30;

let directory: ReturnType<typeof temporaryDirectory>;
beforeAll(() => {
  directory = temporaryDirectory();
  // As root, Postgres runs as another user, which must be able to reach its files.
  chmodSync(directory.path, 0o711);
});
afterAll(() => directory.remove());

const seeds = Array.from({ length: WALKS }, (_, number) => FIRST_SEED + number);
test.each(seeds)("seed %i: connections, queries and suspends at random break no promise", async (seed) => {
  const data = join(directory.path, `data-${seed}`);
  const clock = seed % 3 === 0 ? "scaled" : "manual";
  const operations = seed % 2 === 0 ? "immediate" : "timed";
  // All walks share the directory of volumes, and with it one new cluster to copy from.
  const scene = await openInProcessScene(data, join(directory.path, "volumes"), clock, operations);
  try {
    await repeatableWalk({ seed, variable: VARIABLE, file: "test/property/postgres-walk.test.ts" }, () =>
      walk(scene, seed, STEPS),
    );
  } finally {
    await scene.close();
  }
  scene.check();
  await expect.poll(() => scene.openEngineSockets(), { timeout: 10_000 }).toBe(0);
  expect(await verifyWorld(data, "default")).toMatchObject({ ok: true });
  expect(existsSync(join(data, "volumes"))).toBe(false);
});
