import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findInstallations } from "../../../src/postgres/installations/installation.ts";
import { packageName } from "../../../src/postgres/installations/installed-engines.ts";
import { engineUser } from "../../../src/postgres/machine/os-user.ts";
import { Volumes } from "../../../src/postgres/volumes/volumes.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";

// That of the npm package would be found before it.
const [system] = (await findInstallations(undefined, engineUser())).filter(
  ({ origin }) => origin === "system",
);

test.skipIf(system === undefined)(
  "standin engines lists what is installed in the data directory, and removes only that",
  async () => {
    const { version = 0, binDirectory = "" } = system ?? {};
    const data = testDirectory();
    chmodSync(data, 0o711);
    const native = join(data, "engines", String(version), "node_modules", packageName(), "native");
    mkdirSync(native, { recursive: true });
    symlinkSync(binDirectory, join(native, "bin"));
    const listed = await runStandin(["engines", "list", "--json", "--data", data]);
    expect(JSON.parse(listed.stdout).engines).toContainEqual({
      version,
      origin: "installed",
      bin_directory: join(native, "bin"),
    });
    expect(await runStandin(["engines", "install", String(version), "--data", data])).toMatchObject({
      code: 0,
      stdout: `Postgres ${version} is already installed\n`,
    });
    const remove = ["engines", "remove", String(version), "--data", data];
    expect(await runStandin(remove)).toMatchObject({ code: 0, stdout: `removed Postgres ${version}\n` });
    expect(await runStandin(remove)).toMatchObject({
      code: 1,
      stderr: `standin: Postgres ${version} was not installed by standin engines install\n`,
    });
    const after = await runStandin(["engines", "list", "--json", "--data", data]);
    expect(JSON.parse(after.stdout).engines).toContainEqual(
      expect.objectContaining({ version, bin_directory: binDirectory }),
    );
  },
);

test("standin run finds what is installed in the data directory that --data or STANDIN_DATA names", async () => {
  const directory = testDirectory();
  const data = join(directory, "data");
  const bin = join(data, "engines/15/node_modules", packageName(), "native/bin");
  mkdirSync(bin, { recursive: true });
  for (const [name, then] of [
    ["postgres", ""],
    ["initdb", '[ "$1" = --version ] || { echo "the one of the data directory" >&2; exit 1; }'],
  ] as const)
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} (PostgreSQL) 15.1"\n${then}\n`, { mode: 0o755 });
  chmodSync(directory, 0o711);
  const file = join(directory, "shop.yaml");
  writeFileSync(
    file,
    'version: 1\nworld: { projects: { shop: { pg_version: 15 } } }\nsteps: [{ sql: { on: shop/main, query: "select 1" } }]\n',
  );
  const failures = join(directory, "failures");
  const given = await runStandin(["run", file, "--data", data, "--failures", failures]);
  expect(given.stdout).toContain("initdb of Postgres 15 failed: the one of the data directory");
  expect(given.stderr).toContain(`standin run ${join(failures, "shop.yaml")} --data ${data}\n`);
  const fromVariable = await runStandin(["run", file], { STANDIN_DATA: data });
  expect(fromVariable.stdout).toContain("the one of the data directory");
  expect((await runStandin(["run", file])).stdout).not.toContain("the one of the data directory");
  for (const other of ["target", "queue"]) {
    const url = other === "target" ? "http://127.0.0.1:1" : "redis://127.0.0.1:1";
    const { code, stderr } = await runStandin(["run", file, "--data", data, `--${other}`, url, "--insecure"]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`--data cannot be combined with --${other}`),
    });
  }
});

test("standin engines remove keeps a version that data of branches needs, unless it is forced", async () => {
  const data = testDirectory();
  const bin = join(data, "engines/99/node_modules", packageName(), "native/bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "initdb"), "");
  const { id } = await createVolume(data, "99");
  await createVolume(data, "98");
  const remove = ["engines", "remove", "99", "--data", data];
  expect(await runStandin(remove)).toMatchObject({
    code: 1,
    stderr: "standin: the data of 1 branch needs Postgres 99; delete the branches, or repeat with --force\n",
  });
  expect(existsSync(bin)).toBe(true);
  expect(await runStandin([...remove, "--force"])).toMatchObject({
    code: 0,
    stdout: "removed Postgres 99\n",
    stderr: 'standin: the data of 1 branch needs Postgres 99: run "standin engines install 99" to open it\n',
  });
  expect(existsSync(bin)).toBe(false);
  expect(existsSync(join(data, "volumes", id))).toBe(true);
});

/** Data of a branch, as a server leaves it. */
async function createVolume(data: string, version: string) {
  const volumes = new Volumes(join(data, "volumes"), data);
  const { volume, release } = await volumes.create("history", `br-${version}`, async ({ dataDirectory }) => {
    mkdirSync(dataDirectory);
    writeFileSync(join(dataDirectory, "PG_VERSION"), `${version}\n`);
    return { bases: [] };
  });
  release();
  return volume;
}

test.each(["", "0", "16.2", "sixteen"])("standin engines install rejects the version %j", async (major) => {
  const { code, stderr } = await runStandin(["engines", "install", major, "--data", testDirectory()]);
  expect(code).toBe(2);
  expect(stderr).toContain(`<major>: expected a major version such as 16, got "${major}"`);
});
