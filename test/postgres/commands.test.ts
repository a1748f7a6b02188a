import { expect, test } from "vitest";
import {
  connect,
  createBranch,
  isMissing,
  runProgram,
  serverForTests,
} from "../support/postgres/postgres.ts";
import { runStandinProcess } from "../support/process/process.ts";

const server = await serverForTests();
const branch = await createBranch(server);

const standin = (...args: string[]) => {
  const [command = "", ...others] = args;
  return runStandinProcess([command, "--data", server.data, ...others]);
};
const HERE = "select current_user || '@' || current_database()";

test.skipIf(isMissing("psql"))(
  "standin psql runs psql on the default branch, a branch, or a compute",
  async () => {
    const sql = ["--", "--no-psqlrc", "-At", "-c", HERE];
    const expected = { code: 0, stdout: "neondb_owner@neondb\n", stderr: "" };
    expect(await standin("psql", ...sql)).toEqual(expected);
    expect(await standin("psql", "main", ...sql)).toEqual(expected);
    expect(await standin("psql", branch.branchId, "--pooled", ...sql)).toEqual(expected);
    expect(await standin("psql", branch.endpointId, ...sql)).toEqual(expected);
  },
);

test.skipIf(isMissing("psql"))("standin psql exits with the status of psql", async () => {
  const { code, stderr } = await standin("psql", "--", "--no-psqlrc", "-c", "select 1/0");
  expect({ code, stderr }).toEqual({ code: 1, stderr: "ERROR:  division by zero\n" });
});

test.each([
  [["psql", "other"], 1, 'no compute and no branch with a compute is named "other"; see: standin status'],
  [["psql", "main", "more"], 2, "expected one branch or compute; arguments of psql follow --"],
  [["psql", "--database", "none"], 1, 'has no database "none"; it has neondb'],
  [["env", "--role", "x"], 2, "--role requires --branch"],
])("standin %j is an error", async (args, code, message) => {
  const result = await standin(...(args as string[]));
  expect(result.code).toBe(code);
  expect(result.stderr).toContain(message as string);
});

test("standin explain says that Postgres clients keep a compute active", async () => {
  const client = await connect(branch.uri);
  await client.query("begin");
  const { stdout } = await standin("explain", branch.endpointId);
  expect(stdout).toMatch(
    /^- Postgres clients have worked since .*; autosuspend counts from the end of their work \[\d+\]$/m,
  );
  await client.query("commit");
});

test("a driver of Node connects with the variables of standin env, and verifies the certificate", async () => {
  const { stdout } = await standin("env", "--branch", "main");
  expect(stdout).toContain(`export DATABASE_URL='${branch.uri}'`);
  const script = `import("pg").then(async ({ default: pg }) => {
    const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
    await client.connect();
    console.log(client.connection.stream.authorized, (await client.query(process.argv[1])).rows[0].here);
    await client.end();
  })`;
  const shell = `${stdout}\nexec "$0" -e "$1" "$2"`;
  const run = await runProgram("sh", ["-c", shell, process.execPath, script, `${HERE} as here`]);
  expect(run).toMatchObject({ code: 0, stdout: "true neondb_owner@neondb\n" });
});

test.skipIf(isMissing("psql"))("psql connects with the variables of standin env alone", async () => {
  const { stdout } = await standin("env", "--branch", "main", "--pooled");
  const run = await runProgram("sh", ["-c", `${stdout}\npsql -At -c "$0"`, HERE]);
  expect(run).toEqual({ code: 0, stdout: "neondb_owner@neondb\n", stderr: "" });
});
