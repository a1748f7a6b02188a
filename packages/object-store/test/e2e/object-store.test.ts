import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnStandin } from "../../../../test/support/process/process.ts";
import {
  nothingLeft,
  pull,
  push,
  stateOf,
  teamWithSnapshot,
  worldOn,
} from "../../../../test/support/server/snapshot-files.ts";
import { type ObjectStore, startObjectStore } from "../support/object-store.ts";

/** A store with the snapshot of a team, and the checksum of its file. */
async function pushedToStore(): Promise<
  Awaited<ReturnType<typeof teamWithSnapshot>> & { store: ObjectStore; get: string; sha256: string }
> {
  const [scene, store] = await Promise.all([teamWithSnapshot(), startObjectStore()]);
  const { code, stdout, stderr } = await push(scene.data, store.presign("PUT", "nightly.sqlite"), "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { sha256 } = JSON.parse(stdout) as { sha256: string };
  return { ...scene, store, get: store.presign("GET", "nightly.sqlite"), sha256 };
}

test("a snapshot is pulled from an object store into a running server", async () => {
  const { data, server, team, store, get, sha256 } = await pushedToStore();
  const state = await stateOf(team);
  await team.api("POST", "/api_keys", { key_name: "later" });
  store.faults.push("cut");
  const added = await pull(data, get, "team", "--name", "from-store", "--sha256", sha256);
  expect([added.code, added.stdout]).toEqual([
    0,
    expect.stringContaining("added snapshot from-store to world team"),
  ]);
  expect(added.stderr).toMatch(/aborted; trying again in 0\.5 s/);
  expect(added.stdout + added.stderr).not.toContain("X-Amz");
  await team.sim("POST", "/snapshots/from-store/restore", {});
  expect(await stateOf(team)).toBe(state);

  const created = await pull(data, get, "team-copy", "--json");
  expect(JSON.parse(created.stdout)).toMatchObject({ world: "team-copy", created_world: true, sha256 });
  const copy = worldOn(server, "team-copy", server.ready.api_key);
  expect(await stateOf(copy)).toBe(state);
  await copy.api("POST", "/api_keys", { key_name: "only here" });
  expect(await stateOf(team)).toBe(state);
  nothingLeft(data);
});

test("Ctrl-C ends a push and a pull with 130, and leaves nothing", async () => {
  const { data, store, get } = await pushedToStore();
  // Each attempt fails, so that the command waits for the next one.
  store.faults.push(...Array.from({ length: 20 }, () => ({ status: 503, code: "SlowDown" })));
  for (const args of [
    ["push", "nightly", "--world", "team", "--to", store.presign("PUT", "again.sqlite")],
    ["pull", get, "--world", "copy"],
  ]) {
    const command = spawnStandin(["snapshots", ...args, "--data", data]);
    while (!command.stderr().includes("trying again")) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await command.kill("SIGINT")).toBe(130);
    expect(command.stderr()).toContain("interrupted; nothing was changed");
  }
  expect(store.objects.has("/again.sqlite")).toBe(false);
  expect(existsSync(join(data, "worlds", "copy.sqlite"))).toBe(false);
  nothingLeft(data);
});
