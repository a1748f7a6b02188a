import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createBranch,
  isMissing,
  majorVersionOf,
  NEAREST_VERSION,
  serverForTests,
} from "../support/postgres/postgres.ts";
import {
  CASES_SCHEMA,
  countCases,
  PROGRAM_CASES,
  type ProgramCase,
} from "../support/postgres/program-cases.ts";
import { temporaryDirectory } from "../support/process/process.ts";

const COUNTS = "test/postgres/program-counts.json";
const version = majorVersionOf("psql");
const isAbsent = isMissing("psql") || isMissing("pg_dump") || isMissing("pgbench");
const hasPgcli = spawnSync("pgcli", ["--version"]).error === undefined;
const isOnLinux = existsSync("/proc/self/task");
const server = await serverForTests(["--operations", "immediate", ...NEAREST_VERSION]);
const { path: directory, remove } = temporaryDirectory();
afterAll(remove);

test("the page of clients has these numbers of cases", () => {
  if (process.env["STANDIN_UPDATE_CLIENTS"] === "1")
    writeFileSync(COUNTS, `${JSON.stringify(countCases(), null, 2)}\n`);
  expect(JSON.parse(readFileSync(COUNTS, "utf8"))).toEqual(countCases());
});

describe.skipIf(isAbsent || !isOnLinux)("a program prints the same through the server as directly", () => {
  let through: Record<string, string> = {};
  let direct: Record<string, string> = {};
  let differs: string | undefined;

  beforeAll(async () => {
    const branch = await createBranch(server, { pg_version: version });
    through = {
      PGHOST: "127.0.0.1",
      PGPORT: String(server.pgPort),
      PGUSER: "neondb_owner",
      PGPASSWORD: branch.password,
      PGDATABASE: "neondb",
      PGOPTIONS: `endpoint=${branch.endpointId}`,
    };
    const created = run({ program: "psql", args: ["-q"], input: CASES_SCHEMA }, through);
    expect(created.stderr).not.toMatch(/ERROR|FATAL|error:/);
    direct = {
      PGHOST: socketsOf(server.process.pid ?? 0),
      PGPORT: "5432",
      PGUSER: "neondb_owner",
      PGDATABASE: "neondb",
    };
    const [served] = run(
      { program: "psql", args: ["-Atc", "show server_version_num"] },
      through,
    ).stdout.split("\n");
    if (Math.floor(Number(served) / 10_000) !== version)
      differs = `the programs have version ${version}, and Postgres ${served}`;
  }, 120_000);

  for (const one of PROGRAM_CASES)
    test(nameOf(one), (context) => {
      if (differs !== undefined) return context.skip(differs);
      if (one.program === "pgcli" && !hasPgcli) return context.skip("pgcli is not installed");
      const expected = run(one, direct);
      expect(run(one, through)).toEqual(expected);
      // A case that does not reach Postgres at all would be equal, too.
      expect(expected.stderr).not.toContain("connection to server");
    });
});

function nameOf({ program, args, input }: ProgramCase): string {
  return [program, ...args, input?.trim().split("\n").join(" ").slice(0, 80) ?? ""].join(" ");
}

/** The directory of the socket of the only Postgres process of a server. */
function socketsOf(pid: number): string {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const pidFile = children
    .map((child) => `/proc/${child}/cwd/postmaster.pid`)
    .find((file) => existsSync(file));
  if (pidFile === undefined) throw new Error("no Postgres process runs");
  return readFileSync(pidFile, "utf8").split("\n")[4] ?? "";
}

function run({ program, args, input }: ProgramCase, connection: Record<string, string>) {
  const inFile = args.at(-1) === "-" && program === "pgbench";
  const file = join(directory, "script.sql");
  if (inFile) writeFileSync(file, input ?? "");
  const [command, given] =
    program === "database programs"
      ? ["sh", ["-c", args.join(" ")]]
      : [program, inFile ? [...args.slice(0, -1), file] : args];
  const more = program === "psql" ? ["--no-psqlrc", "-v", "ON_ERROR_STOP=0"] : [];
  const { status, stdout, stderr } = spawnSync(command, [...more, ...given], {
    input: inFile ? "" : (input ?? ""),
    encoding: "utf8",
    maxBuffer: 64 * 1024 ** 2,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: directory,
      LC_ALL: "C",
      TZ: "UTC",
      PAGER: "cat",
      PGCONNECT_TIMEOUT: "60",
      ...connection,
    },
  });
  const output = program === "pgcli" ? withoutPrompts(stdout) : stdout;
  return { code: status, stdout: withoutVariables(output), stderr: withoutVariables(stderr) };
}

/** What pgcli prints of statements: how often it draws its prompt depends on the time that it takes. */
function withoutPrompts(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/ *Time: \d.*$/, "").trim());
  return lines.filter((line) => line !== "" && !/^>|\[F2\]/.test(line)).join("\n");
}

/** What differs between any two runs, or names the address of the connection. */
function withoutVariables(text: string): string {
  return text
    .replace(/^\S+:5432 - |^127\.0\.0\.1:\d+ - /gm, "")
    .replace(/^(\\(?:un)?restrict) \w+$/gm, "$1")
    .replace(/^(?:latency|initial connection time|tps) .*$/gm, "")
    .replace(/server process with PID \d+/g, "server process");
}
