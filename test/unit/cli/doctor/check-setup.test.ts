import { expect, test } from "vitest";
import { checkSetup, type SetupFacts } from "../../../../src/cli/doctor/check-setup.ts";

const MIB = 1024 ** 2;

const READY: SetupFacts = {
  node: "22.11.0",
  oldestNode: "20.15",
  sqlite: { value: "3.50.4" },
  data: { path: ".standin", state: "absent" },
  worlds: { stored: [], currentVersion: 10 },
  freeBytes: 50_000 * MIB,
  apiPort: { port: 4620, use: "free" },
  postgresPort: { port: 5432, use: "free" },
  engines: { value: [16, 17] },
  names: { domain: "standin.localhost", resolve: true, inHostsFile: 0 },
};

type Worlds = NonNullable<SetupFacts["worlds"]>;
const stored = (...worlds: Worlds["stored"]): Worlds => ({ stored: worlds, currentVersion: 10 });

const checksOf = (facts: Partial<SetupFacts>) => checkSetup({ ...READY, ...facts });
/** The check of this name: its level, what was found, and the fix. */
function checkOf(name: string, facts: Partial<SetupFacts>) {
  const { level, found, fix } = checksOf(facts).find(({ check }) => check === name) ?? {};
  return { level, text: `${found} → ${fix}` };
}

test("a machine with everything has no warning and nothing to fix", () => {
  const checks = checksOf({});
  expect(checks.map(({ check, level, fix }) => [check, level, fix])).toEqual(
    ["node", "sqlite", "data", "disk", "api port", "postgres", "postgres port", "names"].map((check) => [
      ...[check, "ok", undefined],
    ]),
  );
});

test.each([
  ["18.20.4", "problem"],
  ["20.14.9", "problem"],
  ["20.15.0", "ok"],
  ["21.7.3", "warning"],
  ["24.0.0", "ok"],
  ["25.1.0", "warning"],
])("Node %s is: %s", (node, level) => {
  expect(checkOf("node", { node })).toEqual({ level, text: expect.stringContaining(`Node ${node}`) });
});

test.each([
  [1_024 * MIB, "ok"],
  [1_024 * MIB - 1, "warning"],
  [100 * MIB, "warning"],
  [100 * MIB - 1, "problem"],
])("%i free bytes are: %s", (freeBytes, level) => {
  expect(checkOf("disk", { freeBytes }).level).toBe(level);
});

test.each<[string, string, Partial<SetupFacts>, string]>([
  [
    "sqlite",
    "problem",
    { sqlite: { error: "Could not locate the bindings file." } },
    "npm rebuild better-sqlite3",
  ],
  ["data", "problem", { data: { path: "shop", state: "in use" } }, "another --data directory"],
  ["data", "problem", { data: { path: "shop", state: "not accessible" } }, "change its owner"],
  ["data", "problem", { data: { path: "shop", state: "no directory" } }, "use another --data directory"],
  ["data", "ok", { data: { path: "shop", state: "served", pid: 7 } }, "served by process 7"],
  ["worlds", "ok", { worlds: stored({ world: "shop", version: 9 }) }, "the next start upgrades shop"],
  [
    "worlds",
    "problem",
    { worlds: stored({ world: "shop", error: "it is newer" }) },
    "shop cannot be opened: it is newer",
  ],
  ["api port", "problem", { apiPort: { port: 4620, use: "other" } }, "another --port"],
  ["api port", "ok", { apiPort: { port: 8080, use: "this server" } }, "the server of this directory"],
  ["postgres", "warning", { engines: { error: "no Postgres was found" } }, "standin engines install 16"],
  ["postgres", "warning", { engines: { value: [15, 17] } }, "standin engines install 16"],
  ["postgres", "ok", { engines: { value: [16] } }, "Postgres 16"],
  ["postgres port", "warning", { postgresPort: { port: 5432, use: "other" } }, "stop the other program"],
  ["names", "warning", { names: { ...READY.names, resolve: false } }, "sudo standin hosts install"],
  ["names", "ok", { names: { ...READY.names, resolve: false, inHostsFile: 4 } }, "standin hosts check"],
])("%s is: %s, for %j", (name, level, facts, text) => {
  expect(checkOf(name, facts)).toEqual({ level, text: expect.stringContaining(text) });
});

test("a current world is not upgraded, and of many unreadable worlds three are named", () => {
  expect(checkOf("worlds", { worlds: stored({ world: "shop", version: 10 }) }).text).not.toContain(
    "upgrades",
  );
  const worlds = ["a", "b", "c", "d", "e"].map((world) => ({ world, error: "damaged" }));
  expect(checkOf("worlds", { worlds: stored(...worlds) }).text).toContain(
    "a, b, c and 2 others cannot be opened: damaged",
  );
});

test("what is a problem or a warning says how to fix it", () => {
  const checks = checksOf({
    node: "18.0.0",
    sqlite: { error: "none" },
    data: { path: "shop", state: "in use" },
    worlds: stored({ world: "shop", error: "none" }),
    freeBytes: 0,
    apiPort: { port: 4620, use: "other" },
    postgresPort: { port: 5432, use: "other" },
    engines: { error: "none" },
    names: { ...READY.names, resolve: false },
  });
  expect(checks.filter(({ level, fix }) => level === "ok" || fix === undefined)).toEqual([]);
});
