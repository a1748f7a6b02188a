import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { createProject } from "../../support/double/double.ts";
import {
  createTestDouble,
  forkWorld,
  fullState,
  requestFork,
} from "../../support/double/history-requests.ts";
import { doubleOfWorld, STORAGE_KINDS } from "../../support/double/storage-double.ts";

const AT_RULE =
  /^at: .*(ISO 8601 instant like 2026-01-31T12:00:00Z, or the sequence number of an event|must be at least 0)/;
const CLOCK_RULE = /^clock: must be real, manual, a factor like 60x/;
const NAME_RULE = /^name: must be 1 to 63 of a-z, 0-9 and -/;

test.each([
  [{}, 400, "BAD_REQUEST", /^name: /],
  [undefined, 400, "BAD_REQUEST", /object/],
  [[], 400, "BAD_REQUEST", /object/],
  ["{", 400, "BAD_REQUEST", /not valid JSON/],
  [{ name: 5 }, 400, "BAD_REQUEST", /^name: /],
  [{ name: "" }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "Pull" }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "pull request" }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "pull_request" }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "a.b" }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "-a" }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "a-" }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: ".." }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "../a" }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "a\n" }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "a".repeat(64) }, 400, "BAD_REQUEST", NAME_RULE],
  [{ name: "default" }, 409, "WORLD_EXISTS", /^name: world "default" already exists/],
  [{ name: "taken" }, 409, "WORLD_EXISTS", /^name: world "taken" already exists/],
  [{ name: "x", from: "No!" }, 400, "BAD_REQUEST", /^from: must be 1 to 63/],
  [{ name: "x", from: "nowhere" }, 404, "WORLD_NOT_FOUND", /"nowhere".*default, taken/],
  [{ name: "x", at: "2026-01-01T00:00:10.001Z" }, 422, "POINT_NOT_REACHED", /event 13/],
  [{ name: "x", at: 14 }, 422, "POINT_NOT_REACHED", /event 13/],
  [{ name: "x", at: "14" }, 422, "POINT_NOT_REACHED", /event 13/],
  [
    { name: "x", at: "2025-12-31T23:59:59.999Z" },
    422,
    "HISTORY_FORGOTTEN",
    /before event 1, which created the world/,
  ],
  [{ name: "x", at: "yesterday" }, 400, "BAD_REQUEST", AT_RULE],
  [{ name: "x", at: "" }, 400, "BAD_REQUEST", AT_RULE],
  [{ name: "x", at: "2026-02-30T00:00:00Z" }, 400, "BAD_REQUEST", AT_RULE],
  [{ name: "x", at: "2026-01-01" }, 400, "BAD_REQUEST", AT_RULE],
  [{ name: "x", at: -1 }, 400, "BAD_REQUEST", AT_RULE],
  [{ name: "x", clock: "fast" }, 400, "BAD_REQUEST", CLOCK_RULE],
  [{ name: "x", clock: "0x" }, 400, "BAD_REQUEST", CLOCK_RULE],
  [{ name: "x", clock: { mode: "scaled" } }, 400, "BAD_REQUEST", CLOCK_RULE],
  [{ name: "x", clock: { mode: "scaled", factor: -60 } }, 400, "BAD_REQUEST", CLOCK_RULE],
  [{ name: "x", clock: { mode: "fast" } }, 400, "BAD_REQUEST", CLOCK_RULE],
  [{ name: "x", clock: { mode: "real", speed: 1 } }, 400, "BAD_REQUEST", /^clock: .*speed/],
  [{ name: "x", seed: -1 }, 400, "BAD_REQUEST", /^seed: /],
  [{ name: "x", seed: 1.5 }, 400, "BAD_REQUEST", /^seed: /],
  [{ name: "x", seed: "7" }, 400, "BAD_REQUEST", /^seed: /],
  [{ name: "x", colour: "red" }, 400, "BAD_REQUEST", /colour/],
] as const)(
  "fork %j is rejected with %i %s and the field, and nothing changes",
  async (body, status, code, message) => {
    const double = (await createTestDouble("in memory")).double();
    await createProject(double);
    await forkWorld(double, { name: "taken" });
    const before = await fullState(double);
    const refused = await requestFork(double, body);
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status, code });
    expect(refused.body.message).toMatch(message);
    expect(await fullState(double)).toEqual(before);
  },
);

test.each([
  [{ at: 1.5 }, AT_RULE],
  [{ at: true }, AT_RULE],
  [{ at: null }, AT_RULE],
  [{ clock: 5 }, CLOCK_RULE],
  [{ clock: {} }, CLOCK_RULE],
  [{ at: "2027-01-01T00:00:00Z" }, /^at: /],
  [{ at: 1_000 }, /^at: /],
  [{ from: "nowhere" }, /^from: /],
] as const)("fork with %j is rejected with the field and what is expected", async (fields, message) => {
  const double = (await createTestDouble("in memory")).double();
  const { status, body } = await requestFork(double, { name: "x", ...fields });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(body.message).toMatch(message);
});

test.each(["manual", "real"])("a factor with mode %s is rejected, as in PUT /clock", async (mode) => {
  const double = (await createTestDouble("in memory")).double();
  expect((await double.sim("PUT", "/clock", { mode, factor: 60 })).status).toBe(400);
  const { status, body } = await requestFork(double, { name: "x", clock: { mode, factor: 60 } });
  expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
});

test.each(["a", "0", "a-b", "a--b", "a".repeat(63)])("%s is a valid name for a world", async (name) => {
  const double = (await createTestDouble("in files")).double();
  const copy = await forkWorld(double, { name });
  expect((await copy.sim("GET", "/health")).body.world).toBe(name);
});

test("the default world cannot be deleted through any path, and the error says how to empty it", async () => {
  const double = (await createTestDouble("in memory")).double();
  await forkWorld(double, { name: "other" });
  const before = await fullState(double);
  for (const world of [double, doubleOfWorld(double, "other")]) {
    const { status, body } = await world.sim("DELETE", "/worlds/default");
    expect([status, body.code]).toEqual([422, "WORLD_IS_DEFAULT"]);
    expect(body.message).toContain("POST /_sim/reset");
  }
  expect(await fullState(double)).toEqual(before);
});

test.each(STORAGE_KINDS)(
  "%s: the limit of worlds includes the default one, and deleting a world makes room",
  async (kind) => {
    const double = (await createTestDouble(kind, { limits: { maxWorlds: 3 } })).double();
    await forkWorld(double, { name: "one" });
    await forkWorld(double, { name: "two" });
    const before = await fullState(double);
    const { status, body } = await requestFork(double, { name: "three" });
    expect([status, body.code]).toEqual([422, "WORLDS_LIMIT_EXCEEDED"]);
    expect(body.message).toMatch(/limited to 3 worlds \(--max-worlds\)/);
    expect(await fullState(double)).toEqual(before);
    await double.sim("DELETE", "/worlds/one");
    await forkWorld(double, { name: "three" });
  },
);

test("a world above the size limit cannot be forked, and the error has both sizes", async () => {
  const kept = await createTestDouble("in files", { limits: { maxWorldBytes: 100_000 } });
  const double = kept.double();
  await createProject(double);
  const { size_bytes } = (await double.sim("GET", "/health")).body;
  const before = await fullState(double);
  for (const at of [undefined, 3]) {
    const { status, body } = await requestFork(double, { name: "copy", at });
    expect([status, body.code]).toEqual([422, "WORLD_TOO_LARGE"]);
    expect(body.message).toMatch(
      new RegExp(`"default" has ${size_bytes} bytes; the limit is 100000 .*--max-world-size`),
    );
  }
  expect(await fullState(double)).toEqual(before);
  expect(readdirSync(`${kept.directory}/worlds`).filter((file) => file.startsWith("copy"))).toEqual([]);
});
