import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Cli } from "../support/clients/cli-bundle.ts";
import { Neonctl } from "../support/clients/neonctl.ts";
import {
  connect,
  createBranch,
  isMissing,
  majorVersionOf,
  NEAREST_VERSION,
  runProgram,
  serverForTests,
  stateOf,
} from "../support/postgres/postgres.ts";
import { testDirectory } from "../support/server/running-server.ts";

const server = await serverForTests(["--operations", "immediate", ...NEAREST_VERSION]);
const branch = await createBranch(server);

function psql(uri: string, ...args: string[]) {
  return runProgram("psql", [uri, "--no-psqlrc", "-At", "-v", "ON_ERROR_STOP=1", ...args]);
}

test.skipIf(isMissing("psql"))("psql connects with the URI of the API, and wakes the compute", async () => {
  await server.api("POST", `${branch.path}/suspend`);
  expect(await stateOf(server, branch)).toBe("idle");
  expect(await psql(branch.uri, "-c", "select 1")).toEqual({ code: 0, stdout: "1\n", stderr: "" });
  expect(await stateOf(server, branch)).toBe("active");
});

test.skipIf(isMissing("psql"))(
  "psql verifies host name and certificate, and binds the login to it",
  async () => {
    // A client asks for TLS first, so that the certificate authority exists.
    await psql(branch.uri, "-c", "select 1");
    const { host, password } = branch;
    const target = `host=${host} hostaddr=127.0.0.1 port=${server.pgPort} user=neondb_owner dbname=neondb`;
    const verified = `${target} password=${password} sslmode=verify-full channel_binding=require`;
    expect(await psql(`${verified} sslrootcert=${server.authority}`, "-c", "select 2")).toEqual({
      code: 0,
      stdout: "2\n",
      stderr: "",
    });
    const unverified = await psql(`${verified} sslrootcert=/dev/null`, "-c", "select 2");
    expect(unverified.code).toBe(2);
  },
);

test.skipIf(isMissing("psql")).each<[Cli, string[]]>([
  ["neonctl", ["connection-string", "main", "--psql"]],
  ["neon", ["psql", "main"]],
])("%s runs psql with the address of the server in PGHOSTADDR and PGPORT", async (cli, command) => {
  const variables = { PGHOSTADDR: "127.0.0.1", PGPORT: String(server.pgPort) };
  const neonctl = new Neonctl(
    server.ready.api_url,
    server.ready.api_key ?? "",
    testDirectory(),
    cli,
    variables,
  );
  const query = ["--", "--no-psqlrc", "-At", "-c", "select 3"];
  const { stdout, stderr } = await neonctl.run([...command, "--project-id", branch.projectId, ...query]);
  expect(stdout, stderr).toBe("3\n");
});

test.skipIf(isMissing("psql"))("\\copy writes rows and reads them", async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => `${index}\trow ${index}\n`).join("");
  await psql(branch.uri, "-c", "create table copied (id int primary key, name text)");
  const copy = ["--no-psqlrc", "-At", "-c", "\\copy copied from pstdin"];
  const written = await runProgram("psql", [branch.uri, ...copy], rows);
  expect(written).toEqual({ code: 0, stdout: "COPY 20000\n", stderr: "" });
  const read = await psql(branch.uri, "-c", "\\copy (select * from copied order by id) to stdout");
  expect(read.stdout === rows).toBe(true);
});

test.skipIf(isMissing("psql"))("Ctrl-C in psql cancels its query by a second connection", async () => {
  const observer = await connect(branch.uri);
  const running = spawn("psql", [branch.uri, "--no-psqlrc", "-c", "select pg_sleep(3600)"]);
  let stderr = "";
  running.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const ended = once(running, "close");
  const activity =
    "select 1 from pg_stat_activity where query = 'select pg_sleep(3600)' and state = 'active'";
  while ((await observer.query(activity)).rowCount === 0) await sleep(20);
  running.kill("SIGINT");
  await ended;
  expect(stderr).toContain("canceling statement due to user request");
});

test.skipIf(isMissing("pg_dump") || isMissing("pg_restore"))(
  "pg_restore restores what pg_dump has dumped",
  async (context) => {
    const version = majorVersionOf("pg_dump") ?? 0;
    const from = await createBranch(server, { pg_version: version });
    const { stdout: served } = await psql(from.uri, "-c", "show server_version_num");
    if (Number(served) >= (version + 1) * 10_000) {
      context.skip(`pg_dump ${version} cannot dump Postgres ${served}`);
      return;
    }
    const to = await createBranch(server, { pg_version: version });
    const sql = "create table dumped as select n, n::text as name from generate_series(1, 5000) n";
    await psql(from.uri, "-c", sql, "-c", "create index on dumped (name)");
    const file = `${testDirectory()}/dump`;
    const dumped = await runProgram("pg_dump", ["-Fc", "-f", file, from.uri]);
    expect(dumped).toEqual({ code: 0, stdout: "", stderr: "" });
    const restored = await runProgram("pg_restore", ["--exit-on-error", "-j", "2", "-d", to.uri, file]);
    expect(restored).toEqual({ code: 0, stdout: "", stderr: "" });
    const count = await psql(to.uri, "-c", "select count(*), max(n) from dumped");
    expect(count.stdout).toBe("5000|5000\n");
  },
);

test.skipIf(isMissing("pgbench"))("pgbench runs with several clients and prepared statements", async () => {
  const initialized = await runProgram("pgbench", ["-i", "-s", "1", "-q", branch.uri]);
  expect(initialized.code).toBe(0);
  const args = ["-M", "prepared", "-c", "8", "-t", "20", branch.uri];
  const { code, stdout } = await runProgram("pgbench", args);
  expect(stdout).toContain("number of transactions actually processed: 160/160");
  expect(code).toBe(0);
});
