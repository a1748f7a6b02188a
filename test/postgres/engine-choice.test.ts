import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import { PostgresEngine } from "../../src/postgres/processes/postgres-engine.ts";
import { writeExtension } from "../../src/postgres/rights/extension.ts";
import {
  connect,
  createBranch,
  startPostgresServer,
  stateOf,
  withoutVerification,
} from "../support/postgres/postgres.ts";
import { runStandin } from "../support/process/in-process-command.ts";
import { testDirectory } from "../support/server/running-server.ts";

test("with --engine none, clients are rejected and start no compute", async () => {
  const server = await startPostgresServer(["--engine", "none", "--operations", "immediate"]);
  onTestFinished(() => server.end());
  const branch = await createBranch(server);
  await server.sim("PUT", "/clock", { mode: "manual" });
  await server.sim("POST", "/clock/advance", { by: "10m" });
  const client = new pg.Client(withoutVerification(branch.uri));
  client.on("error", () => undefined);
  await expect(client.connect()).rejects.toMatchObject({
    code: "53000",
    message: "this server runs no Postgres (--engine none)",
  });
  expect(await stateOf(server, branch)).toBe("idle");
  expect(server.stderr()).not.toContain("no Postgres was found");
});

test("variables of the operator's own clients do not reach Postgres", async () => {
  vi.stubEnv("PGSSLMODE", "require");
  vi.stubEnv("PGOPTIONS", "endpoint=ep-other-1");
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const server = await startPostgresServer();
  onTestFinished(() => server.end());
  const client = await connect((await createBranch(server)).uri);
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("with --engine-version nearest, a missing version is replaced with a warning; starts are measured", async () => {
  const [installation] = await findInstallations(undefined, engineUser());
  const { version = 0, binDirectory = "" } = installation ?? {};
  const other = version === 16 ? 15 : 16;
  const nearest = ["--engine-version", "nearest", "--operations", "immediate"];
  const server = await startPostgresServer(["--engine-bin", binDirectory, ...nearest]);
  onTestFinished(() => server.end());
  // Before the first client connects.
  await expect.poll(server.stderr).toContain(`Postgres versions: ${version} (${binDirectory})`);
  const branch = await createBranch(server, { pg_version: other });
  const { rows } = await (await connect(branch.uri)).query("show server_version_num");
  expect(Math.floor(rows[0].server_version_num / 10_000)).toBe(version);
  await expect
    .poll(server.stderr)
    .toMatch(new RegExp(`Postgres ${other} is not installed, so computes .* run Postgres ${version}`));
  const { body: data } = await server.sim("GET", `/branches/${branch.branchId}/data`);
  expect(data).toMatchObject({ engine: `postgres ${version}` });
  const versions = { pg_version: other, running_pg_version: version };
  expect((await server.sim("GET", "/endpoints")).body.endpoints).toMatchObject([versions]);
  expect((await server.sim("GET", `/endpoints/${branch.endpointId}/stats`)).body).toMatchObject(versions);
  const status = await runStandin(["status", "--data", server.data]);
  expect(status.stdout).toContain(
    `\n${branch.endpointId}: Postgres ${other} was not installed, so it runs ${version}\n`,
  );
  const { body } = await server.sim("GET", "/metrics");
  expect(body).toMatch(/standin_postgres_engine_starts_total 1\n/);
  expect(body).toMatch(/standin_postgres_engine_start_seconds_total (0\.\d+|[1-9])/);
});

/** A version that this machine has, and two that it has not. */
async function versions() {
  const installations = await findInstallations(undefined, engineUser());
  const installed = installations.map(({ version }) => version);
  const [present, [missing = 0, alsoMissing = 0]] = [
    installed.find((version) => version <= 17) ?? 0,
    [16, 15, 14, 17].filter((version) => !installed.includes(version)),
  ];
  return { present, missing, alsoMissing };
}

test("clients of a version that is not installed learn the command, also from the log of the next start", async (context) => {
  const { present, missing, alsoMissing } = await versions();
  if (alsoMissing === 0) {
    context.skip("this machine lacks fewer than two versions of the platform");
    return;
  }
  const server = await startPostgresServer();
  onTestFinished(() => server.end());
  const same = await connect((await createBranch(server, { pg_version: present })).uri);
  expect((await same.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  const branch = await createBranch(server, { pg_version: missing });
  // The next start does not open this world.
  expect((await server.sim("POST", "/worlds", { name: "other" })).status).toBe(201);
  await createBranch(server, { pg_version: alsoMissing });
  await createBranch(server, { pg_version: alsoMissing });
  await expect(connect(branch.uri)).rejects.toMatchObject({
    code: "53000",
    message: `Postgres ${missing} is not installed; run "standin engines install ${missing}", or start the server with --engine-version nearest`,
  });
  expect((await server.sim("GET", "/endpoints")).body.endpoints).toContainEqual(
    expect.objectContaining({ pg_version: missing, running_pg_version: null }),
  );
  await server.kill("SIGTERM");
  const again = await startPostgresServer([], server.data);
  onTestFinished(() => again.end());
  const command = (version: number) =>
    `clients are rejected; run "standin engines install ${version} --data ${server.data}"`;
  await expect
    .poll(again.stderr)
    .toContain(
      JSON.stringify(
        `Postgres ${missing} is not installed, and 2 projects have it: ${command(missing)}`,
      ).slice(1, -1),
    );
  expect(again.stderr()).toContain(
    JSON.stringify(
      `Postgres ${alsoMissing} is not installed, and 2 projects have it: ${command(alsoMissing)}`,
    ).slice(1, -1),
  );
});

test("a version that is installed while the server runs is found by the next client", async () => {
  const user = engineUser();
  const [installation] = await findInstallations(undefined, user);
  if (installation === undefined) throw new Error("no Postgres is installed");
  const directory = testDirectory();
  chmodSync(directory, 0o711);
  let found = [{ ...installation, version: 99 }];
  const engine = new PostgresEngine({
    replacesVersions: false,
    installations: found,
    findInstallations: async () => found,
    templateDirectory: join(directory, "templates"),
    extension: writeExtension(directory, "platform"),
    user,
    maxLogBytes: 2 ** 25,
    maxSlotLogBytes: 2 ** 25,
  });
  onTestFinished(() => engine.close());
  const { version } = installation;
  await expect(engine.emptyCluster(version)).rejects.toThrow(`Postgres ${version} is not installed`);
  found = [installation];
  expect(existsSync(await engine.emptyCluster(version))).toBe(true);
  expect(engine.versions).toEqual([version]);
});

test("with --engine-bin, clients of a project of another version learn which one runs", async () => {
  const [installation] = await findInstallations(undefined, engineUser());
  const { version = 0, binDirectory = "" } = installation ?? {};
  const other = version === 16 ? 15 : 16;
  const exact = ["--engine-version", "exact", "--operations", "immediate"];
  const server = await startPostgresServer(["--engine-bin", binDirectory, ...exact]);
  onTestFinished(() => server.end());
  const branch = await createBranch(server, { pg_version: other });
  await expect(connect(branch.uri)).rejects.toMatchObject({
    code: "53000",
    message: `this server runs Postgres ${version} only (--engine-bin), and the project has ${other}; start the server without --engine-bin, or with --engine-version nearest`,
  });
});

test("data of a version that was removed is not opened by another one, and opens again with its own", async () => {
  const installations = await findInstallations(undefined, engineUser());
  const older = installations[0];
  const newer = installations.at(-1);
  if (older === undefined || newer === undefined || older === newer) return;
  const server = await startPostgresServer(["--engine-bin", older.binDirectory, "--operations", "immediate"]);
  const { uri } = await createBranch(server, { pg_version: older.version });
  const writer = await connect(uri);
  await writer.query("create table kept (id int); insert into kept values (1)");
  await writer.end();
  await server.kill("SIGTERM");
  onTestFinished(() => server.end());
  const withPort = (port: number) => uri.replace(/:\d+\/neondb/, `:${port}/neondb`);
  const without = await startPostgresServer(["--engine-bin", newer.binDirectory], server.data);
  await expect(connect(withPort(without.pgPort))).rejects.toMatchObject({
    code: "53000",
    message: expect.stringContaining(
      `is of Postgres ${older.version}, which is no longer available; run "standin engines install ${older.version}"`,
    ),
  });
  await without.kill("SIGTERM");
  const both = await startPostgresServer([], server.data);
  onTestFinished(() => both.end());
  const reader = await connect(withPort(both.pgPort));
  expect((await reader.query("select id from kept")).rows).toEqual([{ id: 1 }]);
  const { rows } = await reader.query("show server_version_num");
  expect(Math.floor(rows[0].server_version_num / 10_000)).toBe(older.version);
});
