import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../support/in-process-command.ts";
import { createProjectOn, startServer, testDirectory } from "../support/running-server.ts";
import { createShopTrace, runWhatif } from "../support/whatif-command.ts";

test("the first lines of quota tell the date, its interval and who is refused; a longer delay reaches it sooner", async () => {
  const trace = await createShopTrace();
  const asked = [
    "quota",
    trace,
    "--quota-cu-hours",
    "300",
    "--delay",
    "60",
    "--delay",
    "1h",
    "--months-ahead",
    "0",
  ];
  const { code, stdout } = await runStandin(["whatif", ...asked]);
  expect(code).toBe(0);
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
    /With a delay of 1 h: the quota of 300 CU-hours is used up on 2026-01-\d\d \d\d:\d\d \(95 % interval: .* to .*\)\. After that, .* of .* requests in 2026-01 are rejected\./,
  );
  const { delays, month } = await runWhatif(asked);
  expect(month).toBeNull();
  const [minute, hour] = delays.map(({ projects }: any) => projects[0].months[0]);
  expect(hour.reached_at.median > hour.reached_at.low && hour.reached_at.median < hour.reached_at.high).toBe(
    true,
  );
  expect(minute.used_cu_hours.mean).toBeLessThan(hour.used_cu_hours.mean);
  expect(minute.refused.mean).toBeLessThan(hour.refused.mean);
});

test("a trace tells no quota, and less than a day nothing of the days behind it", async () => {
  const trace = await createShopTrace();
  const without = await runStandin(["whatif", "quota", trace]);
  expect([without.code, without.stderr]).toEqual([
    2,
    expect.stringMatching(/^standin: --quota-cu-hours: a trace tells no quota/),
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
    expect.stringMatching(/^standin: the trace contains no whole day/),
  ]);
});

test("a world's projects have the quotas that they have, and reach them when the world did", async () => {
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
  // Until here it has used less than half an hour at 0.25 CU, by being made.
  const settings = { quota: { compute_time_seconds: 1_800 } };
  expect((await server.api("PATCH", path, { project: { settings } })).status).toBe(200);
  for (const id of [endpointId, unlimited])
    await server.sim("POST", "/activity", { endpoint_id: id, duration_ms: 6 * 3_600_000 });
  await server.sim("POST", "/clock/advance", { by: "10h" });
  const { events } = (await server.sim("GET", "/events?since=0&limit=10000")).body;
  const stopped = events.find((event: any) => event.type === "ComputeSuspended" && event.cause === "quota");
  await server.kill("SIGTERM");
  const asked = ["quota", "--data", data, "--cu", "0.25", "--start-latency", "3s", "--recorded-only"];
  const { delays, projects_without_quota } = await runWhatif(asked);
  expect(projects_without_quota).toBe(1);
  const [project] = delays[0].projects;
  expect(project).toMatchObject({ project: projectId, computes: 1, quota_cu_hours: 0.5 });
  // The world's compute was active when it was made, before any traffic: by that much it was stopped sooner.
  const told = Date.parse(project.months[0].reached_at.median) - Date.parse(stopped.at);
  expect(told).toBeGreaterThan(0);
  expect(told).toBeLessThanOrEqual(310_000);
  const lower = (await runWhatif([...asked, "--quota-cu-hours", "0.25"])).delays[0].projects;
  expect(lower.map(({ quota_cu_hours }: any) => quota_cu_hours)).toEqual([0.25, 0.25]);
});

test("starts tells the most at once; a limit makes requests wait, and a pool makes them wait less", async () => {
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
  expect(pooled[1].figures.wait_mean_ms).toBeLessThan(alone.figures.wait_mean_ms);
});

test("one instant that is far off is no reason to fall over: questions that go by minutes and months say how much they look at", async () => {
  const far = join(testDirectory(), "far.csv");
  writeFileSync(
    far,
    "endpoint_id,at,duration_ms\nep-one,2026-03-01T00:00:00Z,0\nep-one,9999-12-31T23:59:59Z,0\n",
  );
  for (const asked of [["starts"], ["quota", "--quota-cu-hours", "1"]]) {
    const { code, stderr } = await runStandin(["whatif", ...asked, far]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/the trace lasts [\d,]+ days, and 3,660 are looked at at most/),
    });
  }
});

test("profiles are told apart by what they say and what the traffic comes to; one's own is a file", async () => {
  const trace = await createShopTrace();
  const mine = join(testDirectory(), "mine.yaml");
  writeFileSync(
    mine,
    'price_per_cu_hour: 0.111\nmax_connections: {"1": 8}\nsuspend_timeout_s: {default: 600, minimum: 600}\n',
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
  ]);
  const [first, own, old] = profiles;
  expect(profiles.map(({ profile }: any) => profile)).toEqual(["2026", "mine", "2024"]);
  // The same replay at half the price; seven connections are the platform's, so one is left and two at once are one too many.
  expect(own.figures).toEqual({ ...first.figures, cost: first.figures.cost / 2 });
  expect(own.difference).toMatchObject({ cold_starts: 0, cu_hours: 0, cost: -first.figures.cost / 2 });
  expect(own).toMatchObject({
    max_connections: 8,
    default_delay_s: 600,
    largest_cu: 1,
    file_cache_gb: first.file_cache_gb,
  });
  expect(own.direct_refused).toBeGreaterThan(0);
  expect(own.best_delay_s === "never" || own.best_delay_s >= 600).toBe(true);
  expect(first.best_delay_s).toBeLessThan(600);
  expect(old).toMatchObject({
    price_per_cu_hour: null,
    max_connections: 450,
    figures: { cost: null, wait_p99_ms: 3_000 },
    difference: { cost: null },
  });
  const { stdout } = await runStandin(["whatif", "profiles", trace, "--profile", "2026", "--profile", mine]);
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
    /^mine compared with 2026: \$[\d.]+ instead of \$[\d.]+ \([−+].* %\), [−+±]\d+ cold starts/,
  );
});

test.each([
  ["like: '2025'", /mine\.yaml: like: .*"2024"\|"2026"/],
  ["start_latency: soon", /mine\.yaml: start_latency: "soon" must be/],
  ["price: 3", /mine\.yaml: .*price/],
  ["max_connections: {large: 3}", /mine\.yaml: max_connections: its keys must be sizes in CU/],
  [
    "suspend_timeout_s: {minimum: 400}",
    /mine\.yaml: suspend_timeout_s: minimum 400, default 300 and maximum 604800 must ascend/,
  ],
])("a profile of one's own with %s is refused by the field: code 2", async (text, message) => {
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

test("the journal of a world goes out as NDJSON, without a key's hash; experiments and scenarios read it", async () => {
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
  const hashes = (event: any) =>
    event.type === "ApiKeyCreated"
      ? { ...event, api_key: { ...event.api_key, hash: expect.stringMatching(/^emptied-/) } }
      : event;
  expect(lines.map((line) => JSON.parse(line))).toEqual(events.map(hashes));
  const own = ["--delay", "60", "--start-latency", "0"];
  const figures = ({ cold_starts, first_starts, requests }: any) => ({ cold_starts, first_starts, requests });
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
  // Both begin with the first event; where a journal ends, a world goes on.
  const upTo = ["--to", "2026-03-02T02:00:00Z", "--start-latency", "0"];
  const { traffic, present } = await runWhatif(["curve", out, ...upTo]);
  const ofWorld = await runWhatif(["curve", "--data", data, ...upTo, "--cu", "1", "--profile", "2026"]);
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
  // Gaps of nine and of forty minutes are longer than the preset delay, that of four is not.
  const world = { projects: { shop: {} } };
  writeFileSync(
    scenario,
    JSON.stringify({ version: 1, world, traffic: [source], length: "2h", expect: [{ cold_starts: 2 }] }),
  );
  const played = await runStandin(["run", scenario]);
  expect({ code: played.code, stderr: played.stderr }).toEqual({ code: 0, stderr: "" });
  const again = await runStandin(["export", data, "--events", "--out", out]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/is there already/)]);
});

test("clients that answer to what happens are simulated beside the curve, at the delays that it names", async () => {
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
  expect(with_clients.delays.map(({ delay_s }: any) => delay_s)).toEqual([best.delay_s, present.delay_s]);
  for (const [index, point] of [best, present].entries()) {
    const figures = with_clients.delays[index];
    expect(figures.difference.cold_starts).toBe(figures.cold_starts - point.cold_starts);
    expect(figures.difference.cold_starts).toBeGreaterThan(100);
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
    /Simulated with subscriber:reconnect=5s, check:every=6h at each compute: .* has .* cold starts \(\+/,
  );
});
