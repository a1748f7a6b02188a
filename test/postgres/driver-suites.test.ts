import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect as connectSocket, createServer, type Server } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messageOf } from "../../src/kernel/message-of.ts";
import { DRIVER_SUITES, type DriverSuite, whyAbsent } from "../support/postgres/driver-suites.ts";
import {
  createBranch,
  runningPostgres,
  serverForTests,
  withoutVerification,
} from "../support/postgres/postgres.ts";
import { testDirectory } from "../support/server/running-server.ts";

// Drivers and tools for migrations that others wrote, in their own languages. What each of their cases prints through
// the server, with TLS and a password, equals what it prints directly at the socket of the same Postgres process.

const COUNTS = "test/postgres/suite-counts.json";
/** Each run begins with a new database of this name, so that names and object ids are no difference. */
const DATABASE = "suite";
/** Says whether the connection is encrypted: the proof that the three runs have different connections. */
const TLS_CASE = "uses TLS";

const server = await serverForTests();
const suites = DRIVER_SUITES.map((suite) => ({ suite, absent: whyAbsent(suite) }));
const isOnLinux = existsSync("/proc/self/task");

test("the page of clients has a row for each suite", () => {
  expect(Object.keys(storedCounts())).toEqual(DRIVER_SUITES.map(({ name }) => name));
});

describe.skipIf(!isOnLinux)("a suite prints the same through the server as directly", () => {
  let uri = "";
  let pipe: Server | undefined;

  beforeAll(async () => {
    if (suites.every(({ absent }) => absent !== undefined)) return;
    uri = (await createBranch(server)).uri;
    await onMain("select 1");
    pipe = await pipeTo(join(runningPostgres(server.data).socketDirectory, ".s.PGSQL.5432"));
  });
  afterAll(() => pipe?.close());

  async function onMain(statement: string): Promise<void> {
    const client = new pg.Client(withoutVerification(uri));
    client.on("error", () => undefined);
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }

  async function runOnNewDatabase(
    suite: DriverSuite,
    mode: "direct" | "unpooled" | "pooled",
    directory: string,
  ) {
    // Autovacuum, which the owner may not end, can be in the database for a moment.
    const drop = () => onMain(`drop database if exists ${DATABASE} with (force)`).catch(messageOf);
    await expect.poll(drop).toBeUndefined();
    await onMain(`create database ${DATABASE}`);
    const url = new URL(uri);
    url.pathname = `/${DATABASE}`;
    if (mode === "pooled") url.searchParams.set("options", `${url.searchParams.get("options")}-pooler`);
    const direct = `postgresql://neondb_owner@127.0.0.1:${portOf(pipe)}/${DATABASE}?sslmode=disable`;
    return casesOf([...suite.command(mode === "direct" ? direct : url.href, directory), mode]);
  }

  for (const { suite, absent } of suites)
    test(suite.name, { timeout: 300_000 }, async (context) => {
      if (absent !== undefined) return context.skip(absent);
      const directory = testDirectory();
      suite.prepare?.(directory);
      const { [TLS_CASE]: plain, ...direct } = await runOnNewDatabase(suite, "direct", directory);
      const { [TLS_CASE]: encrypted, ...unpooled } = await runOnNewDatabase(suite, "unpooled", directory);
      const { [TLS_CASE]: alsoEncrypted, ...pooled } = await runOnNewDatabase(suite, "pooled", directory);
      expect([plain, encrypted, alsoEncrypted]).toEqual([
        '{"result":false}',
        '{"result":true}',
        '{"result":true}',
      ]);
      expect(unpooled).toEqual(direct);
      // Cases that need a session of their own do not run through the pooler.
      expect(pooled).toEqual(Object.fromEntries(Object.entries(direct).filter(([name]) => name in pooled)));
      const counts = { cases: Object.keys(direct).length, pooled: Object.keys(pooled).length };
      if (process.env["STANDIN_UPDATE_CLIENTS"] === "1") store(suite.name, counts);
      expect(storedCounts()[suite.name]).toEqual(counts);
    });
});

/** The outcome of each case of a suite as text. */
async function casesOf([file = "", ...args]: readonly string[]): Promise<Record<string, string>> {
  const child = spawn(file, args, {
    env: {
      ...{ PATH: process.env["PATH"] ?? "", HOME: testDirectory(), LC_ALL: "C.UTF-8", TZ: "UTC" },
      PGCONNECT_TIMEOUT: "60",
    },
  });
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
    const output = { text: "" };
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output.text += chunk;
    });
    return output;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${file} ${args[0]} exited with ${code}: ${stderr?.text}`);
  const cases: Record<string, string> = {};
  for (const line of stdout?.text.trim().split("\n") ?? []) {
    // Some tools print messages of their own.
    if (!line.startsWith('{"case"')) continue;
    const { case: name, ...outcome } = JSON.parse(line) as { readonly case: string };
    if (name in cases) throw new Error(`two cases have the name ${name}`);
    cases[name] = withoutVariables(JSON.stringify(outcome));
  }
  return cases;
}

/** What differs between any two runs, or names the address of the connection. */
function withoutVariables(text: string): string {
  return text.replace(/pg_temp_\d+/g, "pg_temp").replace(/port \d+ failed/g, "failed");
}

/** A port whose connections lead to a socket of Postgres, for drivers that connect to no socket. */
async function pipeTo(path: string): Promise<Server> {
  const pipe = createServer((client) => {
    const postgres = connectSocket(path);
    const end = () => {
      client.destroy();
      postgres.destroy();
    };
    client.on("error", end).on("close", end).pipe(postgres);
    postgres.on("error", end).on("close", end).pipe(client);
  });
  pipe.listen(0, "127.0.0.1");
  await once(pipe, "listening");
  return pipe;
}

function portOf(pipe: Server | undefined): number {
  if (pipe === undefined) throw new Error("the pipe to Postgres is not open");
  return (pipe.address() as AddressInfo).port;
}

type Counts = { readonly cases: number; readonly pooled: number };

function storedCounts(): Record<string, Counts> {
  return JSON.parse(readFileSync(COUNTS, "utf8"));
}

function store(name: string, counts: Counts): void {
  const stored = { ...storedCounts(), [name]: counts };
  const inOrder = DRIVER_SUITES.flatMap((suite) => {
    const of = stored[suite.name];
    return of === undefined ? [] : [[suite.name, of] as const];
  });
  writeFileSync(COUNTS, `${JSON.stringify(Object.fromEntries(inOrder), null, 2)}\n`);
}
