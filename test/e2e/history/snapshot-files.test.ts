import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import {
  journalOf,
  type ServerClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";
import {
  nothingLeft,
  pull,
  push,
  stateOf,
  teamWithSnapshot,
  worldOn,
} from "../../support/server/snapshot-files.ts";

test("a snapshot goes through a directory into an empty data directory, with all but its data key", async () => {
  const { data, server, team, projectId, backups } = await teamWithSnapshot();
  const [state, history] = await Promise.all([stateOf(team), journalOf(team)]);
  const uri = `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner`;
  const { body: connection } = await team.api("GET", uri);
  const pushed = await push(data, backups, "--json");
  const file = join(backups, "nightly.sqlite");
  const result = JSON.parse(pushed.stdout);
  expect(result).toMatchObject({
    snapshot: "nightly",
    world: "team",
    to: file,
    size_bytes: statSync(file).size,
  });
  expect(readFileSync(`${file}.sha256`, "utf8")).toBe(`${result.sha256}  nightly.sqlite\n`);
  expect([file, `${file}.sha256`].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
  nothingLeft(backups);

  const elsewhere = testDirectory();
  const pulled = await pull(elsewhere, pathToFileURL(file).href, "team");
  expect(pulled).toMatchObject({ code: 0, stdout: expect.stringContaining("created world team at event") });
  expect(pulled.stderr).toContain("another secrets.key");
  const other = await startServer(elsewhere, ["--pg-port", "none"]);
  const restored = worldOn(other, "team", server.ready.api_key);
  expect(await stateOf(restored)).toBe(state);
  expect(await journalOf(restored)).toEqual(history);
  expect((await restored.api("GET", uri)).status).toBe(412);
  const id = async ({ sim }: Pick<ServerClient, "sim">) => (await sim("GET", "/health")).body.history.id;
  expect(await id(restored)).not.toBe(await id(team));

  // With the same key, passwords are readable.
  const withKey = testDirectory();
  copyFileSync(join(data, "secrets.key"), join(withKey, "secrets.key"));
  expect(await pull(withKey, file, "team")).toMatchObject({ code: 0, stderr: "" });
  const third = worldOn(await startServer(withKey, ["--pg-port", "none"]), "team", server.ready.api_key);
  expect((await third.api("GET", uri)).body).toEqual(connection);
});

test("a damaged or wrong file changes nothing", async () => {
  const { data, backups } = await teamWithSnapshot();
  await push(data, backups);
  const file = join(backups, "nightly.sqlite");
  const before = readdirSync(data, { recursive: true }).sort();
  const refused = async (source: string, text: string, ...more: string[]) => {
    const { code, stdout, stderr } = await pull(data, source, "copy", ...more);
    expect([code, stdout, stderr]).toEqual([expect.any(Number), "", expect.stringContaining(text)]);
    expect(code).not.toBe(0);
    expect(readdirSync(data, { recursive: true }).sort()).toEqual(before);
  };
  const bytes = readFileSync(file);
  await refused(join(backups, "nothing"), "does not exist");
  await refused(backups, "is not a file");
  await refused(
    "s3://bucket/nightly.sqlite",
    "source: expected a path, file:///path, or a presigned https:// URL",
  );
  await refused(file, "but --sha256 states", "--sha256", "0".repeat(64));
  const damaged = Buffer.from(bytes);
  damaged.write("shoq", damaged.indexOf('"shop"') + 1);
  writeFileSync(file, damaged);
  await refused(file, `but ${file}.sha256 states`);
  // Without a checksum, the checksums within the file are left.
  const alone = join(backups, "alone.sqlite");
  writeFileSync(alone, damaged);
  await refused(alone, alone);
  writeFileSync(alone, "not a database");
  await refused(alone, "corrupt or not a world file");
  nothingLeft(data);
});

test("a push replaces no checksum that exists, and leaves nothing unfinished", async () => {
  const { data, backups } = await teamWithSnapshot();
  const digest = join(backups, "nightly.sqlite.sha256");
  mkdirSync(digest);
  const { code, stderr } = await push(data, backups);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `standin: --to: ${digest} already exists; choose another file\n`,
  });
  expect(readdirSync(backups)).toEqual(["nightly.sqlite.sha256"]);
});

test("existing files, snapshots and unknown names are errors that name the fix", async () => {
  const { data, backups } = await teamWithSnapshot();
  await push(data, backups);
  const file = join(backups, "nightly.sqlite");
  const stderrOf = async (...args: string[]) => (await runStandin([...args, "--data", data])).stderr;
  expect((await push(data, backups)).stderr).toContain(`--to: ${file} already exists`);
  for (const parent of [join(backups, "no"), file])
    expect((await push(data, join(parent, "x.sqlite"))).stderr).toBe(
      `standin: --to: directory ${parent} does not exist\n`,
    );
  expect(await stderrOf("snapshots", "push", "hourly", "--to", backups)).toContain('world "default" in');
  expect((await pull(data, file, "team")).stderr).toContain(
    'world "team" already has a snapshot "nightly"; choose another --name',
  );
  expect((await pull(data, file, "team", "--name", "auto-x")).stderr).toContain("--name: a snapshot's name");
  expect((await pull(data, file, "team", "--sha256", "12")).stderr).toContain("64 hexadecimal digits");
});

test("a snapshot that preserves a replaced world can be pushed, too", async () => {
  const { data, team, backups } = await teamWithSnapshot();
  await team.api("POST", "/api_keys", { key_name: "later" });
  const state = await stateOf(team);
  const { former_kept_as } = (await team.sim("POST", "/snapshots/nightly/restore", {})).body;
  const to = join(backups, "former.sqlite");
  const { code, stderr } = await runStandin([
    ...["snapshots", "push", former_kept_as, "--world", "team", "--data", data, "--to", to],
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect((await pull(data, to, "team")).code).toBe(0);
  await team.sim("POST", "/snapshots/former/restore", {});
  expect(await stateOf(team)).toBe(state);
});
