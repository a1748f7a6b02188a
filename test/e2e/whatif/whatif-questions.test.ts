import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AnsweredEvent } from "../../support/answers/control-answers.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { createProjectOn, startServer, testDirectory } from "../../support/server/running-server.ts";
import { createShopTrace, runWhatif } from "../../support/whatif/whatif-command.ts";

test("the first lines of quota have the date, its interval and the rejected share; a longer delay reaches the quota sooner", async () => {
  const trace = await createShopTrace();
  const args = [
    "quota",
    trace,
    "--cu",
    "1",
    "--quota-cu-hours",
    "900",
    "--delay",
    "60",
    "--delay",
    "1h",
    "--months-ahead",
    "0",
  ];
  const { code, stdout } = await runStandin(["whatif", ...args]);
  expect(code).toBe(0);
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
    /With a delay of 1 h: the quota of 900 CU-hours is used up on 2026-01-\d\d \d\d:\d\d UTC \(95 % interval: .* to .*\)\. After that, .* of .* requests in 2026-01 are rejected\./,
  );
  const { delays, month } = await runWhatif(args);
  expect(month).toBeNull();
  // Reached after the recorded days, so it has an interval.
  const [minute, hour] = delays.map(({ projects }) => projects[0].months[0]);
  expect(hour.reached_at.median >= hour.reached_at.low && hour.reached_at.median < hour.reached_at.high).toBe(
    true,
  );
  expect(minute.used_cu_hours.mean).toBeLessThan(hour.used_cu_hours.mean);
  expect(minute.refused.mean).toBeLessThan(hour.refused.mean);
});

test("a trace has no quota, and less than one day cannot be extrapolated", async () => {
  const trace = await createShopTrace();
  const without = await runStandin(["whatif", "quota", trace]);
  expect([without.code, without.stderr]).toEqual([
    2,
    expect.stringMatching(/^standin: --quota-cu-hours: required, because a trace has no quota/),
  ]);
  const short = await runStandin([
    "whatif",
    "quota",
    trace,
    "--quota-cu-hours",
    "1",
    "--to",
    "2026-01-05T12:00:00Z",
  ]);
  expect([short.code, short.stderr]).toEqual([
    1,
    expect.stringMatching(/^standin: the trace contains 0 whole days/),
  ]);
});

test("the projects of a world have their own quotas, and reach them when the world did", async () => {
  const data = testDirectory();
  const server = await startServer(data, [
    "--clock",
    "manual",
    "--start-at",
    "2026-03-02T00:00:00Z",
    "--start-delay",
    "3s",
  ]);
  const { projectId, endpointId } = await createProjectOn(server);
  const { endpointId: unlimited } = await createProjectOn(server);
  await server.sim("POST", "/clock/advance", { by: "1h" });
  const path = `/projects/${projectId}`;
  // So far, creating it has used less than half an hour at 0.25 CU.
  const settings = { quota: { compute_time_seconds: 1_800 } };
  expect((await server.api("PATCH", path, { project: { settings } })).status).toBe(200);
  for (const id of [endpointId, unlimited])
    await server.sim("POST", "/activity", { endpoint_id: id, duration_ms: 6 * 3_600_000 });
  await server.sim("POST", "/clock/advance", { by: "10h" });
  const { events } = (await server.sim("GET", "/events?since=0&limit=10000")).body;
  const stopped = events.find((event) => event.type === "ComputeSuspended" && event.cause === "quota");
  await server.kill("SIGTERM");
  const args = ["quota", "--data", data, "--cu", "0.25", "--start-latency", "3s", "--recorded-only"];
  const { delays, projects_without_quota } = await runWhatif(args);
  expect(projects_without_quota).toBe(1);
  const [project] = delays[0].projects;
  expect(project).toMatchObject({ project: projectId, computes: 1, quota_cu_hours: 0.5 });
  // The compute was also active at its creation, before any traffic, so the world stopped it earlier by that
  // time.
  const difference = Date.parse(project.months[0].reached_at.median) - Date.parse(stopped.at);
  expect(difference).toBeGreaterThan(0);
  expect(difference).toBeLessThanOrEqual(310_000);
  const lower = (await runWhatif([...args, "--quota-cu-hours", "0.25"])).delays[0].projects;
  expect(lower.map(({ quota_cu_hours }) => quota_cu_hours)).toEqual([0.25, 0.25]);
});

test("starts reports the peak; a limit makes requests wait, and a pool shortens the wait", async () => {
  const trace = await createShopTrace("jobs.standin-trace", 40, ["cron"]);
  const limit = ["--max-concurrent-starts", "1", "--max-concurrent-starts", "40"];
  const pool = ["--pool", "5", "--refill", "10s", "--prepared-latency", "100ms"];
  const { rows } = await runWhatif(["starts", trace, "--start-latency", "5s", ...limit]);
  const [alone, one, forty] = rows;
  expect(alone.most_under_way).toBeGreaterThan(1);
  expect([one.most_under_way, forty.most_under_way]).toEqual([1, alone.most_under_way]);
  expect(one.figures.wait_p99_ms).toBeGreaterThan(alone.figures.wait_p99_ms);
  expect(forty.difference).toEqual({
    cold_starts: 0,
    cu_hours: 0,
    wait_mean_ms: 0,
    wait_p99_ms: 0,
    wait_max_ms: 0,
  });
  const { rows: pooled } = await runWhatif(["starts", trace, "--start-latency", "5s", ...pool]);
  expect(pooled[1].pool_hits).toBeGreaterThan(0);
  const target = ["--target-miss", "1%", "--refill", "10s", "--prepared-latency", "100ms"];
  const { rows: found } = await runWhatif(["starts", trace, "--start-latency", "5s", ...target]);
  const { pool: foundPool, pool_hits: hits, pool_misses: misses } = found[1];
  expect(foundPool.target_miss_percent).toBe(1);
  expect(misses / (hits + misses)).toBeLessThanOrEqual(0.01);
  expect(pooled[1].figures.wait_mean_ms).toBeLessThan(alone.figures.wait_mean_ms);
});

test("a single distant instant is rejected by questions that iterate over minutes or months, with the limit", async () => {
  const far = join(testDirectory(), "far.csv");
  writeFileSync(
    far,
    "endpoint_id,at,duration_ms\nep-one,2026-03-01T00:00:00Z,0\nep-one,9999-12-31T23:59:59Z,0\n",
  );
  for (const args of [["starts"], ["quota", "--quota-cu-hours", "1"]]) {
    const { code, stderr } = await runStandin(["whatif", ...args, far]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/the trace lasts [\d,]+ days; at most 3,660 are supported/),
    });
  }
});

test("profiles are compared by their values and by the cost of the traffic; a profile can be a file", async () => {
  const trace = await createShopTrace();
  const mine = join(testDirectory(), "mine.yaml");
  writeFileSync(
    mine,
    'like: "2026"\nprice_per_cu_hour: 0.111\nmax_connections: {"1": 8}\nsuspend_timeout_s: {default: 600, minimum: 600}\n',
  );
  const { profiles } = await runWhatif([
    "profiles",
    trace,
    "--profile",
    "2026",
    "--profile",
    mine,
    "--profile",
    "2024",
    "--delay",
    "300",
    "--cu",
    "1",
  ]);
  const [first, own, old] = profiles;
  expect(profiles.map(({ profile }) => profile)).toEqual(["2026", "mine", "2024"]);
  // The same replay at half the price. Seven of eight connections are reserved, so two at once are one too
  // many.
  expect(own.figures).toEqual({ ...first.figures, cost: first.figures.cost / 2 });
  expect(own.difference).toMatchObject({ cold_starts: 0, cu_hours: 0, cost: -first.figures.cost / 2 });
  expect(own).toMatchObject({
    max_connections: 8,
    default_delay_s: 600,
    largest_cu: 1,
    price_per_cu_hour: 0.111,
    price_list: null,
    file_cache_gb: first.file_cache_gb,
  });
  expect(own.direct_refused).toBeGreaterThan(0);
  expect(own.best_delay_s === "never" || own.best_delay_s >= 600).toBe(true);
  expect(first.best_delay_s).toBeLessThan(600);
  expect(old).toMatchObject({
    price_per_cu_hour: 0.222,
    price_list: "2026-03-20",
    max_connections: 450,
    figures: { wait_p99_ms: 3_000 },
  });
  const { stdout } = await runStandin([
    "whatif",
    "profiles",
    trace,
    "--profile",
    "2026",
    "--profile",
    mine,
    "--cu",
    "1",
  ]);
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
    /^mine compared with 2026: \$[\d.]+ ± \$[\d.]+ a month instead of \$[\d.]+ ± \$[\d.]+ \([−+].* ± .* %\), [−+][\d.]+ ± [\d.]+ cold starts a day/,
  );
});

test.each([
  ["like: '2025'", /mine\.yaml:1:7: like: must be one of 2024, 2026, got "2025"/],
  ["start_latency: soon", /mine\.yaml:1:16: start_latency: must be .*, got "soon"/],
  ["price: 3", /mine\.yaml:1:1: price: unknown key; .*price_per_cu_hour/],
  ["max_connections: {large: 3}", /mine\.yaml:1:18: max_connections: keys must be sizes in CU/],
  [
    "suspend_timeout_s: {minimum: 400}",
    /mine\.yaml: suspend_timeout_s: the default 300 must lie between the minimum 400 and the maximum 604800/,
  ],
])("a profile file with %s is rejected with the field: code 2", async (text, message) => {
  const mine = join(testDirectory(), "mine.yaml");
  writeFileSync(mine, text);
  const { code, stderr } = await runStandin([
    "whatif",
    "profiles",
    "few.csv",
    "--profile",
    "2026",
    "--profile",
    mine,
  ]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});

test("the journal of a world is exported as NDJSON without key hashes; what-if and scenarios read it", async () => {
  const directory = testDirectory();
  const data = join(directory, "data");
  const server = await startServer(data, ["--clock", "manual", "--start-at", "2026-03-02T00:00:00Z"]);
  const { endpointId } = await createProjectOn(server);
  for (const minutes of [1, 4, 9, 40]) {
    await server.sim("POST", "/clock/advance", { by: `${minutes}m` });
    await server.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 500, source: "web" });
  }
  await server.sim("POST", "/clock/advance", { by: "1s" });
  const { events } = (await server.sim("GET", "/events?since=0&limit=10000")).body;
  await server.kill("SIGTERM");
  const out = join(directory, "journal.ndjson");
  const written = await runStandin(["export", data, "--events", "--out", out, "--json"]);
  expect({ code: written.code, ...JSON.parse(written.stdout) }).toMatchObject({
    code: 0,
    file: out,
    events: events.length,
  });
  const lines = readFileSync(out, "utf8").trimEnd().split("\n");
  const hashes = (event: AnsweredEvent) =>
    event.type === "ApiKeyCreated"
      ? { ...event, api_key: { ...event.api_key, hash: expect.stringMatching(/^emptied-/) } }
      : event;
  expect(lines.map((line) => JSON.parse(line))).toEqual(events.map(hashes));
  const own = ["--delay", "60", "--start-latency", "0"];
  const figures = ({ cold_starts, first_starts, requests }: Record<string, unknown>) => ({
    cold_starts,
    first_starts,
    requests,
  });
  expect(figures(await runWhatif(["curve", out, ...own]))).toEqual({
    cold_starts: 3,
    first_starts: 1,
    requests: 4,
  });
  expect(figures(await runWhatif(["curve", "--data", data, ...own]))).toEqual({
    cold_starts: 3,
    first_starts: 1,
    requests: 4,
  });
  // Both begin with the first event; a journal file ends with its last event, a world continues.
  const upTo = ["--to", "2026-03-02T02:00:00Z", "--start-latency", "0"];
  const { traffic, present } = await runWhatif(["curve", out, ...upTo]);
  const ofWorld = await runWhatif(["curve", "--data", data, ...upTo, "--cu", "0.25"]);
  expect(traffic).toMatchObject({ from: "2026-03-02T00:00:00.000Z", to: "2026-03-02T02:00:00.000Z" });
  expect([ofWorld.traffic, ofWorld.present]).toEqual([traffic, present]);
  const scenario = join(directory, "again.yaml");
  const source = {
    name: "again",
    to: "shop/main",
    pattern: "replay",
    file: "journal.ndjson",
    format: "journal",
  };
  // Gaps of 9 and 40 minutes are longer than the default delay; the gap of 4 minutes is not.
  const world = { projects: { shop: {} } };
  writeFileSync(
    scenario,
    JSON.stringify({ version: 1, world, traffic: [source], length: "2h", expect: [{ cold_starts: 2 }] }),
  );
  const played = await runStandin(["run", scenario]);
  expect({ code: played.code, stderr: played.stderr }).toEqual({ code: 0, stderr: "" });
  const again = await runStandin(["export", data, "--events", "--out", out]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/already exists/)]);
});

test("clients that react to responses are simulated at the delays that the curve names", async () => {
  const trace = await createShopTrace();
  const clients = ["--client", "subscriber:reconnect=5s", "--client", "check:every=6h"];
  const { with_clients, present, best } = await runWhatif([
    "curve",
    trace,
    ...clients,
    "--start-latency",
    "0",
  ]);
  expect(with_clients.clients).toEqual(["subscriber:reconnect=5s", "check:every=6h"]);
  expect(with_clients.delays.map(({ delay_s }) => delay_s)).toEqual([best.delay_s, present.delay_s]);
  for (const [index, point] of [best, present].entries()) {
    const figures = with_clients.delays[index];
    expect(figures?.difference.cold_starts).toBe((figures?.cold_starts ?? 0) - point.cold_starts);
    expect(figures?.difference.cold_starts).toBeGreaterThan(100);
  }
  const one = await runWhatif([
    "curve",
    trace,
    ...clients,
    "--start-latency",
    "0",
    "--delay",
    String(present.delay_s),
  ]);
  expect(one.with_clients).toEqual(with_clients.delays[1]);
  const { stdout } = await runStandin(["whatif", "curve", trace, ...clients]);
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
    /Simulated with subscriber:reconnect=5s, check:every=6h at each compute: .* has .* cold starts a day \(\+/,
  );
});

test("clients are simulated for traces that have to be imported first", async () => {
  const directory = testDirectory();
  const [csv, imported] = [join(directory, "few.csv"), join(directory, "few.standin-trace")];
  await runWhatif(["fleet", "--computes", "2", "--days", "1", "--pattern", "on-off", "--out", csv]);
  await runWhatif(["import", csv, "--out", imported]);
  const [fromCsv, fromTrace] = await Promise.all(
    [csv, imported].map((trace) => runWhatif(["curve", trace, "--client", "check:every=6h"])),
  );
  expect(fromCsv?.with_clients).toEqual(fromTrace?.with_clients);
});

test("backtest reports promised and delivered by fold and in sum, the same with any number of threads", async () => {
  const directory = testDirectory();
  const trace = join(directory, "weeks.standin-trace");
  await runWhatif(["fleet", "--computes", "3", "--days", "22", "--pattern", "on-off", "--out", trace]);
  const args = ["backtest", trace, "--policy", "clairvoyant"];
  const backtest = await runWhatif(args);
  expect(backtest.policies.map(({ policy }) => policy)).toEqual([
    "fixed:300",
    "best-fixed:fleet",
    "shrunk",
    "hybrid",
    "schedule:trained",
    "clairvoyant",
  ]);
  expect(backtest.folds.map(({ train, test: judged }) => [train.to, judged.from, judged.days])).toEqual([
    ["2026-01-13T00:00:00.000Z", "2026-01-13T00:00:00.000Z", 7],
    ["2026-01-20T00:00:00.000Z", "2026-01-20T00:00:00.000Z", 7],
  ]);
  expect(await runWhatif([...args, "--workers", "2"])).toEqual(backtest);

  const out = join(directory, "report");
  const { code, stdout } = await runStandin(["whatif", ...args, "--out", out]);
  expect(code).toBe(0);
  expect(stdout).toContain("Weighted cost by week: promised → delivered, compared with the current setting");
  expect(readFileSync(join(out, "report.html"), "utf8")).toContain("Weighted cost: promised and delivered");
  expect(readFileSync(join(out, "folds.csv"), "utf8").split("\n")).toHaveLength(1 + 2 * 6 + 1);

  const short = await runStandin(["whatif", ...args, "--to", "2026-01-20T00:00:00Z"]);
  expect([short.code, short.stderr]).toEqual([
    1,
    expect.stringMatching(/^standin: the traffic has 15 whole days/),
  ]);
  const trained = await runStandin(["whatif", "backtest", trace, "--policy", "schedule:trained,until=7d"]);
  expect([trained.code, trained.stderr]).toEqual([2, expect.stringMatching(/omit until/)]);
});
