import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { PostgresEngine } from "../../../../src/postgres/processes/postgres-engine.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

/** Cleans up after a Postgres that has left this path of its sockets in its directory. */
async function cleanUp(socketDirectory: string): Promise<void> {
  const dataDirectory = testDirectory();
  const engine = new PostgresEngine({
    templateDirectory: "",
    extension: { name: "", directory: "", programs: new Map() },
    maxLogBytes: 0,
    replacesVersions: false,
    installations: [],
    user: undefined,
    maxSlotLogBytes: 0,
  });
  // No process has this number.
  const lines = [2 ** 31 - 1, dataDirectory, 0, 5432, socketDirectory, ""];
  writeFileSync(join(dataDirectory, "postmaster.pid"), lines.join("\n"));
  expect(await engine.stopLeftover(dataDirectory)).toBe(false);
  engine.close();
  expect(existsSync(join(dataDirectory, "postmaster.pid"))).toBe(false);
}

test("the directory of the sockets of a Postgres that was killed is removed", async () => {
  const root = testDirectory();
  expect(join(tmpdir(), basename(root))).toBe(root);
  mkdirSync(join(root, "1"));
  await cleanUp(join(root, "1"));
  expect(existsSync(root)).toBe(false);
});

test("no other directory is removed, whatever path a client has written", async () => {
  const root = testDirectory();
  const canary = join(root, "nested", "1");
  const file = join(canary, "kept");
  mkdirSync(canary, { recursive: true });
  writeFileSync(file, "");
  symlinkSync(canary, join(root, "2"));
  for (const path of [
    canary,
    join(root, "nested"),
    root,
    join(root, "2"),
    `${root}/3/../nested/1`,
    `${root}/nested/../nested`,
    `${tmpdir()}/standin-x/../${basename(root)}/nested`,
    "",
  ]) {
    await cleanUp(path);
    expect(existsSync(file), path).toBe(true);
  }
});
