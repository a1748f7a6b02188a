import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, onTestFinished, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnStandin, waitForExit } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";
import { csvOf, gapRowsOf, type Request, tableOf } from "../../support/traffic/gap-requests.ts";
import { BEGIN, SECOND } from "../../support/traffic/traces.ts";
import { runWhatif } from "../../support/whatif/whatif-command.ts";

const MAP = ["--table", "calls", "--map", "endpoint=db,at=at,duration=ms"];
const FLAGS = ["--present", "300", "--cu", "0.25"];

const draw = randomFrom(3).stream("test", 1);
const REQUESTS: readonly Request[] = Array.from({ length: 300 }, (_, number) => ({
  compute: number % 3 === 0 ? "orders" : "shop",
  at: BEGIN + number * 400 * SECOND + (draw() % (300 * SECOND)),
  durationMs: draw() % 9_000,
}));

async function createDatabase(): Promise<string> {
  const file = join(testDirectory(), "calls.duckdb");
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  const rows = REQUESTS.map(
    ({ compute, at, durationMs }) => `('${compute}', epoch_ms(${at}), ${durationMs})`,
  );
  await connection.run('create table calls (db varchar, "at" timestamp, ms bigint)');
  await connection.run(`insert into calls values ${rows.join(", ")}`);
  connection.closeSync();
  instance.closeSync();
  return file;
}

test("a DuckDB file gives the answer of its requests, and stays as it is", async () => {
  const file = await createDatabase();
  const { input, ...answer } = await runWhatif([
    ...["curve", "--from", `duckdb:${file}`, ...MAP, "--memory", "256MiB", "--by-compute"],
    ...FLAGS,
  ]);
  expect(input.files).toEqual([{ database: `duckdb:${file}`, table: "calls", gap_rows: expect.any(Number) }]);
  const gaps = join(testDirectory(), "gaps.csv");
  writeFileSync(gaps, csvOf(tableOf(gapRowsOf(REQUESTS))));
  const { input: _, ...expected } = await runWhatif(["curve", "--gaps", gaps, "--by-compute", ...FLAGS]);
  expect(answer).toEqual(expected);

  const period = ["--from", "2026-01-05T06:00:00Z", "--to", "2026-01-05T18:00:00Z", "--compute", "shop"];
  const part = await runWhatif(["curve", "--from", `duckdb:${file}`, ...MAP, ...period, ...FLAGS]);
  const within = REQUESTS.filter(
    ({ compute, at }) => compute === "shop" && at >= BEGIN + 6 * 3_600_000 && at < BEGIN + 18 * 3_600_000,
  );
  expect(part.traffic).toMatchObject({
    ...{ computes: 1, requests: within.length },
    ...{ from: "2026-01-05T06:00:00.000Z", to: "2026-01-05T18:00:00.000Z" },
  });
});

test("Ctrl-C interrupts a query of DuckDB", async () => {
  const table = "(select 'a' as db, epoch_ms(range) as \"at\", 1 as ms from range(2000000000))";
  const running = spawnStandin(["whatif", "curve", "--from", "duckdb:", "--table", table, ...MAP.slice(2)]);
  const maps = `/proc/${running.process.pid}/maps`;
  // DuckDB is loaded right before the query.
  if (existsSync(maps)) while (!readFileSync(maps, "utf8").includes("duckdb")) await setTimeout(20);
  await setTimeout(2_000);
  running.process.kill("SIGINT");
  expect(await waitForExit(running)).toMatchObject({ code: 130, stdout: "" });
});

test("ClickHouse is asked by HTTP, for reading only, and its errors are shown", async () => {
  const asked: { url: URL; user: unknown; query: string }[] = [];
  let isBroken = false;
  const server = createServer(async (request, response) => {
    let query = "";
    for await (const chunk of request) query += chunk;
    asked.push({
      url: new URL(request.url ?? "", "http://x"),
      user: request.headers["x-clickhouse-user"],
      query,
    });
    response.statusCode = isBroken ? 500 : 200;
    response.end(
      isBroken ? "Code: 241. DB::Exception: Memory limit exceeded" : csvOf(tableOf(gapRowsOf(REQUESTS))),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const from = `clickhouse://ann:secret@127.0.0.1:${port}/logs`;
  const { input, traffic } = await runWhatif(["curve", "--from", from, ...MAP, "--memory", "1GiB", ...FLAGS]);
  expect(traffic.requests).toBe(REQUESTS.length);
  expect(JSON.stringify(input)).not.toContain("secret");
  const [{ url, user, query } = expect.fail("not asked")] = asked;
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    ...{
      database: "logs",
      readonly: "2",
      max_memory_usage: String(1024 ** 3),
      default_format: "CSVWithNames",
    },
  });
  expect([user, query]).toEqual(["ann", expect.stringContaining("intDiv(at_ms, 86400000) as day")]);
  isBroken = true;
  const { code, stderr } = await runStandin(["whatif", "curve", "--from", from, ...MAP, ...FLAGS]);
  expect([code, stderr]).toEqual([
    1,
    `standin: --from clickhouse://ann@127.0.0.1:${port}/logs: status 500: Code: 241. DB::Exception: Memory limit exceeded\n`,
  ]);
});

test.each([
  [["--from", "duckdb:none.duckdb", ...MAP], 1, "none.duckdb does not exist"],
  [["--from", "duckdb:"], 2, "--from: name the table and its columns, such as --table calls --map"],
  [["--from", "duckdb:", "--from", "duckdb:other", ...MAP], 2, "expected one database, got a second one"],
  [
    ["--from", "duckdb:", ...MAP, "--start-latency", "1s"],
    2,
    "--start-latency cannot be combined with --from",
  ],
  [["--from", "duckdb:", ...MAP, "--gaps", "gaps.csv"], 2, "--gaps and a database of --from are two sources"],
  [["--from", "duckdb:", ...MAP, "calls.csv"], 2, "leave out the traces"],
  [["--from", "duckdb:", "--table", "(select 1)", "--map", "at=x,endpoint=y"], 1, "Binder Error"],
  [["--gaps", "gaps.csv", "--map", "at=x"], 2, "--map has no effect with --gaps"],
  [["calls.csv", "--table", "calls"], 2, "--table has no effect without --from and a database"],
  [["--from", "yesterday", "calls.csv"], 2, "--from: expected an ISO 8601 instant"],
])("%j is an error", async (args, code, message) => {
  const ended = await runStandin(["whatif", "curve", ...args]);
  expect({ ...ended, stderr: ended.stderr.replaceAll("\n", " ") }).toEqual({
    ...{ code, stdout: "" },
    stderr: expect.stringContaining(message),
  });
});
