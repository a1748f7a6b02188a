import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { findInstallations } from "../../src/postgres/engine/installation.ts";
import { engineUser } from "../../src/postgres/engine/os-user.ts";
import {
  connect,
  createBranch,
  startPostgresServer,
  stateOf,
  withoutVerification,
} from "../support/postgres/postgres.ts";

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

test("a version that is not installed is replaced with a warning; starts are measured", async () => {
  const [installation] = await findInstallations(undefined, engineUser());
  const { version = 0, binDirectory = "" } = installation ?? {};
  const other = version === 16 ? 15 : 16;
  const server = await startPostgresServer(["--engine-bin", binDirectory, "--operations", "immediate"]);
  onTestFinished(() => server.end());
  const branch = await createBranch(server, { pg_version: other });
  const { rows } = await (await connect(branch.uri)).query("show server_version_num");
  expect(Math.floor(rows[0].server_version_num / 10_000)).toBe(version);
  await expect
    .poll(server.stderr)
    .toMatch(new RegExp(`Postgres ${other} is not installed, so computes .* run Postgres ${version}`));
  const { body } = await server.sim("GET", "/metrics");
  expect(body).toMatch(/standin_postgres_engine_starts_total 1\n/);
  expect(body).toMatch(/standin_postgres_engine_start_seconds_total (0\.\d+|[1-9])/);
});
