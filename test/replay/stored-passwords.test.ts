import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { checksumOf } from "../../src/store/tables/journal-checksum.ts";
import { SecretBox } from "../../src/worlds/secret-box.ts";
import { createProject, type Double } from "../support/double/double.ts";
import { createStorageDouble, openStorageDouble, STORAGE_KINDS } from "../support/double/storage-double.ts";
import { testDirectory } from "../support/server/running-server.ts";

/** The files below `directory` that contain `text`. */
function filesWith(directory: string, text: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}

async function passwordOf(double: Double, ids: { projectId: string; branchId: string }) {
  const role = `/projects/${ids.projectId}/branches/${ids.branchId}/roles/neondb_owner`;
  const { status, body } = await double.api("GET", `${role}/reveal_password`);
  return status === 200 ? (body.password as string) : status;
}

test("no file of a data directory contains a password, and the key is for its user only", async () => {
  const stored = await createStorageDouble("in files");
  onTestFinished(stored.end);
  const ids = await createProject(stored.double());
  await stored.double().sim("POST", "/snapshots", { name: "kept" });
  await stored.double().sim("POST", "/worlds", { name: "side" });
  const password = String(await passwordOf(stored.double(), ids));
  expect(password).toMatch(/^npg_\w{16}$/);
  expect(filesWith(stored.directory, password)).toEqual([]);
  await stored.reopen();
  expect(filesWith(stored.directory, password)).toEqual([]);
  expect(await passwordOf(stored.double(), ids)).toBe(password);
  expect(statSync(`${stored.directory}/secrets.key`).mode & 0o777).toBe(0o600);
});

test.each(STORAGE_KINDS)("a restored and a forked world reveal the same password, %s", async (kind) => {
  const stored = await createStorageDouble(kind);
  onTestFinished(stored.end);
  const ids = await createProject(stored.double());
  const password = await passwordOf(stored.double(), ids);
  await stored.double().sim("POST", "/snapshots", { name: "kept" });
  const seq = (await stored.double().sim("GET", "/health")).body.history.seq;
  await stored.double().api("DELETE", `/projects/${ids.projectId}`);
  await stored.double().sim("POST", "/snapshots/kept/restore", {});
  expect(await passwordOf(stored.double(), ids)).toBe(password);
  await stored.double().sim("POST", "/worlds", { name: "side" });
  await stored.double().sim("POST", "/worlds", { name: "past", at: seq });
  for (const world of ["side", "past"]) expect(await passwordOf(stored.world(world), ids)).toBe(password);
});

test("without the key of its directory, a world has no passwords; a reset issues new ones", async () => {
  const stored = await createStorageDouble("in files");
  const ids = await createProject(stored.double());
  await stored.release();
  onTestFinished(stored.end);
  const elsewhere = testDirectory();
  cpSync(stored.directory, elsewhere, { recursive: true });
  rmSync(`${elsewhere}/secrets.key`);
  const copy = await openStorageDouble(elsewhere);
  onTestFinished(copy.end);
  expect(await passwordOf(copy.double(), ids)).toBe(412);
  const role = `/projects/${ids.projectId}/branches/${ids.branchId}/roles/neondb_owner`;
  const reset = await copy.double().api("POST", `${role}/reset_password`);
  expect(reset.status).toBe(200);
  expect(await passwordOf(copy.double(), ids)).toBe(reset.body.role.password);
});

test("the passwords of an older release are encrypted when the world is opened, and stay readable", async () => {
  const stored = await createStorageDouble("in files");
  const ids = await createProject(stored.double());
  await stored.release();
  onTestFinished(stored.end);
  const file = new BetterSqlite3(stored.file());
  const plain = "npg_0123456789abcdef";
  for (const id of file.prepare<[], string>("SELECT id FROM secrets").pluck().all())
    file
      .prepare("UPDATE secrets SET value = ?, checksum = ? WHERE id = ?")
      .run(plain, checksumOf([id, plain]), id);
  file.close();
  expect(filesWith(stored.directory, plain)).toEqual([stored.file()]);
  const opened = await openStorageDouble(stored.directory);
  expect(await passwordOf(opened.double(), ids)).toBe(plain);
  await opened.release();
  expect(filesWith(stored.directory, plain)).toEqual([]);
  const again = await openStorageDouble(stored.directory);
  expect(await passwordOf(again.double(), ids)).toBe(plain);
  await again.end();
});

test("a damaged key is an error that says what to do", async () => {
  const path = testDirectory();
  writeFileSync(`${path}/secrets.key`, "short\n");
  await expect(openStorageDouble(path)).rejects.toThrow(/secrets\.key is damaged.*restore it, or delete it/);
});

test("a sealed secret opens only with its key and its id, and differs each time", () => {
  const box = new SecretBox();
  const sealed = box.seal("role-1", "npg_secret");
  expect(box.open("role-1", sealed)).toBe("npg_secret");
  expect(box.open("role-2", sealed)).toBe(undefined);
  expect(new SecretBox().open("role-1", sealed)).toBe(undefined);
  expect(box.open("role-1", `${sealed.slice(0, -4)}AAAA`)).toBe(undefined);
  expect(box.open("role-1", "sealed:1:")).toBe(undefined);
  expect(box.seal("role-1", "npg_secret")).not.toBe(sealed);
});
