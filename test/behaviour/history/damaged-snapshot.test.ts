import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import { expect, test } from "vitest";
import { worldState } from "../../support/double/compute.ts";
import { createProject, type Double } from "../../support/double/double.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";

const listOf = async ({ sim }: Pick<Double, "sim">) => (await sim("GET", "/snapshots")).body.snapshots;

function amend(path: string, ...statements: string[]): void {
  const sqlite = new BetterSqlite3(path);
  for (const statement of statements) sqlite.exec(statement);
  sqlite.close();
}

/** Damage to a snapshot's file, and the error that its listing shows, if it shows one. */
const DAMAGES: Readonly<
  Record<string, { readonly damage: (path: string) => void; readonly shows: RegExp | undefined }>
> = {
  "is text": {
    damage: (path) => writeFileSync(path, "not a database, and long enough to be none\n".repeat(100)),
    shows: /not a database/,
  },
  "is cut in its middle": {
    damage: (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
    shows: /malformed|damaged/,
  },
  "is another program's": {
    damage(path) {
      writeFileSync(path, "");
      amend(path, "CREATE TABLE recipes (name TEXT)");
    },
    shows: /not one of standin's worlds/,
  },
  "is of a newer release": {
    damage: (path) => amend(path, "PRAGMA user_version = 99"),
    shows: /newer standin/,
  },
  "has another clock than was written": {
    damage: (path) => amend(path, "UPDATE world SET now = now + 1000"),
    shows: /world row is damaged/,
  },
  "has another name of a project than was written": {
    damage: (path) => amend(path, "UPDATE projects SET name = 'other'"),
    shows: undefined,
  },
  "has lost its last event": {
    damage: (path) => amend(path, "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)"),
    shows: undefined,
  },
};

test.each(Object.keys(DAMAGES))(
  "a snapshot whose file %s cannot be restored, and the world stays unchanged and in service",
  async (name) => {
    const { damage, shows } = DAMAGES[name] as (typeof DAMAGES)[string];
    const kept = await createTestDouble("in files");
    const double = kept.double();
    await createProject(double);
    await double.sim("POST", "/snapshots", { name: "kept" });
    await double.sim("POST", "/snapshots", { name: "sound" });
    await double.advance("1h");
    damage(`${kept.directory}/snapshots/default/kept.sqlite`);
    const [state, { history }] = [await worldState(double), (await double.sim("GET", "/health")).body];
    const list = await listOf(double);
    expect(list.map((snapshot) => snapshot.name).sort()).toEqual(["kept", "sound"]);
    if (shows !== undefined) expect(list.find((snapshot) => snapshot.name === "kept").error).toMatch(shows);
    expect(list.find((snapshot) => snapshot.name === "sound")).not.toHaveProperty("error");

    const refused = await double.sim("POST", "/snapshots/kept/restore");
    expect([refused.status, refused.body.code]).toEqual([503, "STORE_UNAVAILABLE"]);
    expect(refused.body.message).toContain("nothing was changed");
    expect(await worldState(double)).toBe(state);
    expect((await double.sim("GET", "/health")).body.history).toEqual(history);
    expect(await listOf(double)).toEqual(list);
    await createProject(double, { name: "later" });
    await kept.reopen();
    expect((await kept.double().api("GET", "/projects?search=later")).body.projects).toHaveLength(1);
    expect((await kept.double().sim("POST", "/snapshots/sound/restore")).status).toBe(200);
    expect((await kept.double().api("GET", "/projects")).body.projects).toHaveLength(1);
  },
);

test("a damaged snapshot can be deleted, and its name used again", async () => {
  const kept = await createTestDouble("in files");
  const double = kept.double();
  await double.sim("POST", "/snapshots", { name: "kept" });
  const path = `${kept.directory}/snapshots/default/kept.sqlite`;
  writeFileSync(path, "");
  const [listed] = await listOf(double);
  expect(listed).toMatchObject({ name: "kept", kind: "manual", size_bytes: 0, error: expect.any(String) });
  expect((await double.sim("GET", "/snapshots/kept")).body.snapshot).toEqual(listed);
  expect((await double.sim("DELETE", "/snapshots/kept")).status).toBe(200);
  expect((await double.sim("POST", "/snapshots", { name: "kept" })).status).toBe(201);
  expect((await double.sim("POST", "/snapshots/kept/restore")).status).toBe(200);
});

test("a world whose own file is damaged can be restored from a snapshot, as the error advises", async () => {
  const kept = await createTestDouble("in files");
  await createProject(kept.double());
  await kept.double().sim("POST", "/worlds", { name: "other" });
  await kept.world("other").sim("POST", "/snapshots", { name: "sound" });
  const state = await worldState(kept.world("other"));
  await kept.reopen();
  amend(kept.file("other"), "UPDATE projects SET name = 'other'");
  const refused = await kept.double().fetch(new Request("http://localhost/w/other/_sim/state"));
  expect(refused.status).toBe(503);
  const restored = await kept
    .double()
    .fetch(new Request("http://localhost/w/other/_sim/snapshots/sound/restore", { method: "POST" }));
  expect(restored.status).toBe(200);
  expect(await worldState(kept.world("other"))).toBe(state);
});

test("a snapshot file copied from elsewhere is listed as a snapshot of this world", async () => {
  const kept = await createTestDouble("in files");
  const double = kept.double();
  await createProject(double);
  await double.sim("POST", "/snapshots", { name: "kept" });
  const state = await worldState(double);
  const folder = `${kept.directory}/snapshots/default`;
  copyFileSync(`${folder}/kept.sqlite`, `${folder}/brought.sqlite`);
  await double.advance("1h");
  expect((await listOf(double)).map(({ name }) => name).sort()).toEqual(["brought", "kept"]);
  expect((await double.sim("POST", "/snapshots/brought/restore")).status).toBe(200);
  expect(await worldState(double)).toBe(state);
});
