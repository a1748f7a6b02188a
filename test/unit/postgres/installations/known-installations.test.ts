import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EngineError } from "../../../../src/postgres/engine/engine.ts";
import type { Installation } from "../../../../src/postgres/installations/installation.ts";
import { KnownInstallations } from "../../../../src/postgres/installations/known-installations.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

/** Installations that the test creates and removes while they are known. */
function machine(replacesVersions = false) {
  const directory = testDirectory();
  const present = new Map<number, Installation>();
  let searches = 0;
  const install = (version: number, place = String(version)) => {
    const binDirectory = join(directory, place);
    mkdirSync(binDirectory, { recursive: true });
    writeFileSync(join(binDirectory, "postgres"), "");
    present.set(version, { version, binDirectory, origin: "installed" });
    return binDirectory;
  };
  const remove = (version: number) => {
    rmSync(present.get(version)?.binDirectory ?? "", { recursive: true });
    present.delete(version);
  };
  const known = (installations: readonly Installation[] = [...present.values()]) =>
    new KnownInstallations({
      installations,
      replacesVersions,
      findInstallations: async () => {
        searches += 1;
        if (present.size === 0) throw new EngineError("no Postgres was found");
        return [...present.values()].sort((one, other) => one.version - other.version);
      },
    });
  return { install, remove, known, searches: () => searches };
}

test("data whose version was missing opens as soon as the version is installed", async () => {
  const { install, known } = machine();
  install(16);
  const installations = known();
  await expect(installations.toOpen("/data", 17)).rejects.toThrow(
    'the data in /data is of Postgres 17, which is no longer available; run "standin engines install 17"',
  );
  const binDirectory = install(17);
  expect(await installations.toOpen("/data", 17)).toMatchObject({ version: 17, binDirectory });
});

test("a version that was removed is missing at once, and may be found in another directory", async () => {
  const { install, remove, known } = machine();
  install(16);
  install(17);
  const installations = known();
  remove(17);
  await expect(installations.toOpen("/data", 17)).rejects.toThrow("no longer available");
  await expect(installations.toCreate(17)).rejects.toThrow("Postgres 17 is not installed");
  remove(16);
  await expect(installations.toOpen("/data", 16)).rejects.toThrow("no longer available");
  await expect(installations.toCreate(16)).rejects.toThrow("no Postgres is installed");
  const binDirectory = install(17, "elsewhere");
  expect(await installations.toCreate(17)).toMatchObject({ version: 17, binDirectory });
});

test("nothing is searched for while the version is there", async () => {
  const { install, known, searches } = machine();
  install(16);
  const installations = known();
  await installations.toOpen("/data", 16);
  await installations.toCreate(16);
  expect(searches()).toBe(0);
});

test("a version that was replaced is used as soon as it is installed", async () => {
  const { install, known } = machine(true);
  install(18);
  const installations = known();
  expect(await installations.toCreate(17)).toMatchObject({ version: 18 });
  install(17);
  expect(await installations.toCreate(17)).toMatchObject({ version: 17 });
});
