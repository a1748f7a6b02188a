import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createDouble } from "../../support/double/double.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnStandin } from "../../support/process/process.ts";
import { createProjectOn, startServer, testDirectory } from "../../support/server/running-server.ts";
import { createShopTrace, runWhatif, type WhatifReport } from "../../support/whatif/whatif-command.ts";

/**
 * One compute with gaps of 10, 60, 61, 300 and 301 s between requests of one second; another with one
 * request.
 */
function fewGaps(): string {
  const gaps = [0, 10, 60, 61, 300, 301];
  let at = Date.parse("2026-03-02T10:00:00Z");
  const rows = gaps.map((gap, index) => {
    at += index === 0 ? 0 : 1_000 + gap * 1_000;
    return `ep-one,${new Date(at).toISOString()},1000,web`;
  });
  const file = join(testDirectory(), "few.csv");
  writeFileSync(
    file,
    ["endpoint_id,at,duration_ms,source", ...rows, "ep-two,2026-03-02T10:00:00.000Z,0,cron", ""].join("\n"),
  );
  return file;
}

test.each([
  [60, 3],
  [61, 2],
  [299, 2],
  [300, 1],
  [301, 0],
])("a delay of %i s has %i cold starts: only gaps longer than the delay count", async (delay, cold) => {
  const figures = await runWhatif([
    "curve",
    fewGaps(),
    "--delay",
    String(delay),
    "--cu",
    "0.5",
    "--price",
    "0.2",
  ]);
  const idle = [10, 60, 61, 300, 301].reduce((sum, gap) => sum + Math.min(gap, delay), 0);
  // Six requests of 1 s. The trace ends with the last one; the request of the other compute was 738 s before.
  const active = 6 + idle + Math.min(delay, 738);
  expect(figures).toMatchObject({ delay_s: delay, cold_starts: cold, first_starts: 2, requests: 7 });
  expect(figures.active_s).toBeCloseTo(active, 6);
  expect(figures.cu_hours).toBeCloseTo((active / 3_600) * 0.5, 9);
  expect(figures.cost).toBeCloseTo((active / 3_600) * 0.5 * 0.2, 9);
});

test("the trace ends with the last busy time, or at --to", async () => {
  const file = join(testDirectory(), "two.csv");
  writeFileSync(
    file,
    "endpoint_id,at,duration_ms\na,2026-01-01T00:00:00Z,60000\na,2026-01-01T00:10:00Z,120000\n",
  );
  const activeOf = async (...more: string[]) =>
    (await runWhatif(["curve", file, "--delay", "300", ...more])).active_s;
  expect(await activeOf()).toBe(60 + 300 + 120);
  expect(await activeOf("--to", "2026-01-01T01:00:00Z")).toBe(60 + 300 + 120 + 300);
  expect(await activeOf("--to", "2026-01-01T00:13:00Z")).toBe(60 + 300 + 120 + 60);
  expect(await activeOf("--to", "2026-01-01T00:11:00Z")).toBe(60 + 300 + 120);
  const none = await runStandin(["whatif", "curve", file, "--from", "2026-01-01T00:12:00Z"]);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("exclude the whole trace")]);
});

test("a long last request is billed to its compute and does not extend the trace", async () => {
  const file = join(testDirectory(), "long.csv");
  const rows = [
    "a,2026-01-01T00:00:00Z,0",
    "b,2026-01-01T00:00:00Z,0",
    "a,2026-01-01T12:00:00Z,0",
    "b,2026-01-02T00:00:00Z,1728000000",
  ];
  writeFileSync(file, ["endpoint_id,at,duration_ms", ...rows, ""].join("\n"));
  const never = await runWhatif(["curve", file, "--delay", "never"]);
  expect(never.active_s).toBe(20 * 86_400 + 2 * 86_400 + 0.001);
  expect((await runWhatif(["curve", file, "--delay", "300"])).cold_starts_per_day).toBeCloseTo(2, 6);
  const quota = await runWhatif(["quota", file, "--quota-cu-hours", "1", "--recorded-only"]);
  expect(quota).toMatchObject({ days_recorded: 1 });
});

test("figures with the start latency are separate, and within the bounds of the curve", async () => {
  const { cold_starts, with_latency } = await runWhatif([
    "curve",
    fewGaps(),
    "--delay",
    "60",
    "--start-latency",
    "2s",
  ]);
  expect(cold_starts).toBe(3);
  expect(with_latency).toMatchObject({
    delay_s: 60,
    cold_starts_least: 2,
    cold_starts_most: 3,
    cold_starts: 3,
    wait_p99_ms: 2_000,
  });
  expect(await runWhatif(["curve", fewGaps(), "--delay", "60", "--start-latency", "0"])).toMatchObject({
    with_latency: null,
  });
});

test("the first lines of curve have the best delay, the savings and the bound", async () => {
  const { code, stdout } = await runStandin(["whatif", "curve", await createShopTrace(), "--present", "1h"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Balanced: \d+ (s|min)\. \$.* a month, /m);
  expect(stdout).toMatch(/^Current: 1 h\. \$.* a month, /m);
  expect(stdout).toMatch(/^Lower bound with perfect foresight: \$/m);
  expect(stdout).toMatch(/^★ /m);
  expect(stdout).toMatch(/^● 1 h/m);
  expect(stdout).toMatch(/^◇ perfect foresight/m);
  expect(stdout).toMatch(/^Exact: {6}/m);
  expect(stdout).toMatch(/^Left out: {3}/m);
});

test("the cheapest delay within a limit holds, and one second less does not", async () => {
  const trace = await createShopTrace();
  const { cheapest_within: within } = await runWhatif(["curve", trace, "--max-cold-per-day", "40"]);
  expect(within.cold_starts_per_day).toBeLessThanOrEqual(40);
  const shorter = await runWhatif(["curve", trace, "--delay", String(Number(within.delay_s) - 1)]);
  expect(shorter.cold_starts_per_day).toBeGreaterThan(40);
});

test("the cheapest delay within a wait limit holds, and one second less does not; with two limits it meets both", async () => {
  const trace = await createShopTrace();
  const starts = ["--start-latency", "2s"];
  const { cheapest_within: within, with_latency } = await runWhatif([
    "curve",
    trace,
    ...starts,
    "--max-wait-p99",
    "1s",
  ]);
  expect(with_latency.find(({ delay_s }) => delay_s === within.delay_s).wait_p99_ms).toBeLessThanOrEqual(
    1_000,
  );
  const shorter = await runWhatif(["curve", trace, ...starts, "--delay", String(Number(within.delay_s) - 1)]);
  expect(shorter.with_latency.wait_p99_ms).toBeGreaterThan(1_000);
  const { stdout } = await runStandin([
    "whatif",
    "curve",
    trace,
    ...starts,
    "--max-wait-p99",
    "1s",
    "--max-cold-per-day",
    "0",
  ]);
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
    /Delays from .* to never have at most 0 cold starts a day and a p99 of the added wait of at most 1 s\. /,
  );
});

test("a worth in dollars excludes a wait worth, and a wrong one names the accepted forms", async () => {
  const trace = await createShopTrace();
  const { question } = await runWhatif(["curve", trace, "--cold-start-worth", "0.01usd"]);
  expect(question).toMatchObject({ cold_start_worth_s: null, cold_start_worth_dollars: 0.01 });
  const waiting = await runWhatif(["curve", trace, "--wait-worth", "12"]);
  expect(waiting.question).toMatchObject({ cold_start_worth_s: null, wait_worth_dollars_per_hour: 12 });
  const out = join(testDirectory(), "waiting");
  await runStandin(["whatif", "curve", trace, "--wait-worth", "12", "--out", out]);
  const { repeat } = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
  expect(repeat).toContain(" --wait-worth 12");
  expect(repeat).not.toContain("--cold-start-worth");
  for (const [options, message] of [
    [["--cold-start-worth", "$1"], "or dollars like 0.01usd"],
    [["--cold-start-worth", "2m", "--wait-worth", "12"], "cannot be used with"],
    [["--wait-worth", "12", "--price", "0"], "needs a price above 0"],
    [["--max-cost", "-1"], "expected a number, at least 0"],
  ] as const) {
    const { code, stderr } = await runStandin(["whatif", "curve", trace, ...options]);
    expect([code, stderr.includes(message) || stderr]).toEqual([2, true]);
  }
});

test("delays are chosen on the training days and judged on the test days; a split without days is an error", async () => {
  const trace = await createShopTrace();
  const { held_out } = await runWhatif(["curve", trace]);
  expect(held_out.train).toMatchObject({ from: "2026-01-05T00:00:00.000Z", days: 5 });
  expect(held_out.test).toMatchObject({ to: "2026-01-13T00:00:00.000Z", days: 3 });
  expect(held_out.choices.map(({ choice }) => choice)).toEqual([
    "current",
    "fleet",
    "per_compute",
    "per_compute_shrunk",
  ]);
  const given = (await runWhatif(["curve", trace, "--train", "3d", "--test", "2026-01-10"])).held_out;
  expect(given.train).toMatchObject({ from: "2026-01-07T00:00:00.000Z", days: 3 });
  expect(given.test).toMatchObject({ from: "2026-01-10T00:00:00.000Z", days: 3 });
  for (const [options, message] of [
    [["--test", "7"], "expected a number of days such as 7d"],
    [["--test", "7d"], "too few whole days (UTC) remain for --train: 1 of 8 in the trace, and 2 are needed"],
    [["--test", "2026-02-01"], "no whole day (UTC) remains for --test, of 8 in the trace"],
    [["--test", "2d", "--delay", "300"], "cannot be used with"],
  ] as const) {
    const { code, stderr } = await runStandin(["whatif", "curve", trace, ...options]);
    expect([code, stderr.includes(message) || stderr]).toEqual([2, true]);
  }
});

test("--fast leaves out intervals and the test on other days, and changes no figure", async () => {
  const trace = await createShopTrace("shop.standin-trace", 6);
  const [whole, fast] = [await runWhatif(["curve", trace]), await runWhatif(["curve", trace, "--fast"])];
  for (const name of [
    "present",
    "best",
    "curve",
    "with_latency",
    "traffic",
    "traffic_change",
    "saving",
  ] as const)
    expect(fast[name]).toEqual(whole[name]);
  expect(whole.decision.no_margins).toBeNull();
  expect([fast.decision.no_margins, fast.held_out]).toEqual([
    "left out by --fast",
    { missing: "left out by --fast" },
  ]);
  expect((await runStandin(["whatif", "curve", trace, "--fast"])).stdout).toContain(
    "No intervals: left out by --fast.",
  );
  const { code, stderr } = await runStandin(["whatif", "curve", trace, "--fast", "--test", "2d"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("cannot be used with")]);
});

test("CSV, its columnar file and any number of workers give byte-identical results", async () => {
  const csv = await createShopTrace("shop.csv");
  const trace = join(testDirectory(), "shop.standin-trace");
  const imported = await runWhatif(["import", csv, "--out", trace]);
  expect(imported).toMatchObject({ computes: 3, bad_rows: 0 });
  const own = ({ input: _, ...response }: WhatifReport) => response;
  const curve = await runWhatif(["curve", trace, "--by-compute"]);
  expect(own(await runWhatif(["curve", csv, "--by-compute"]))).toEqual(own(curve));
  expect(await runWhatif(["curve", trace, "--by-compute", "--workers", "3"])).toEqual(curve);
  const args = [
    "compare",
    trace,
    "--policy",
    "ski-rental:randomised",
    "--policy",
    "best-fixed:compute",
    "--replications",
    "3",
  ];
  expect(await runWhatif([...args, "--workers", "2"])).toEqual(await runWhatif(args));
});

test("the same seed generates the same fleet, another seed another one", async () => {
  const make = async (seed: string) => {
    const file = join(testDirectory(), "fleet.csv");
    await runWhatif([
      "fleet",
      "--computes",
      "2",
      "--days",
      "1",
      "--seed",
      seed,
      "--pattern",
      "heavy-tailed",
      "--out",
      file,
    ]);
    return readFileSync(file, "utf8");
  };
  const first = await make("5");
  expect(await make("5")).toBe(first);
  expect(await make("6")).not.toBe(first);
});

test("a comparison lists the current setting first, differences to it, and intervals for random policies", async () => {
  const { policies } = await runWhatif([
    "compare",
    await createShopTrace(),
    "--policy",
    "fixed:60",
    "--policy",
    "ski-rental:randomised",
    "--replications",
    "4",
  ]);
  const [present, minute, random] = policies;
  expect(policies.map(({ policy }) => policy)).toEqual(["fixed:300", "fixed:60", "ski-rental:randomised"]);
  expect(present.figures.cold_starts.difference).toBe(0);
  expect(minute.figures.cold_starts.difference).toBe(
    minute.figures.cold_starts.value - present.figures.cold_starts.value,
  );
  expect(minute.figures.active_s.difference).toBeLessThan(0);
  expect(minute.figures.active_s).not.toHaveProperty("plus_minus");
  expect(random.replications).toBe(4);
  expect(random.figures.active_s.plus_minus).toBeGreaterThan(0);
});

test("attribute finds the source that keeps a compute active: without the probe it suspends", async () => {
  const trace = join(testDirectory(), "probed.standin-trace");
  await runWhatif([
    "fleet",
    "--computes",
    "1",
    "--days",
    "2",
    "--pattern",
    "steady",
    "--pattern",
    "health-check",
    "--out",
    trace,
  ]);
  const { sources } = await runWhatif(["attribute", trace]);
  expect(sources.map(({ source }) => source)).toEqual(["health-check", "steady"]);
  expect(sources[0].saves_s).toBeGreaterThan(0);
  expect(sources[1].saves_s).toBeLessThan(60);
});

test("capacity has each size and the range: a larger size is never throttled longer and never cheaper", async () => {
  const trace = join(testDirectory(), "busy.standin-trace");
  await runWhatif([
    "fleet",
    "--computes",
    "2",
    "--days",
    "1",
    "--pattern",
    "bursts",
    "--pattern",
    "on-off",
    "--out",
    trace,
  ]);
  const { sizes, cache_recovery } = await runWhatif([
    "capacity",
    trace,
    "--size",
    "0.25..2",
    "--working-set",
    "64MiB",
  ]);
  expect(sizes.map(({ min_cu, max_cu }) => [min_cu, max_cu])).toEqual([
    [0.25, 0.25],
    [0.5, 0.5],
    [1, 1],
    [2, 2],
    [0.25, 2],
  ]);
  for (const [index, larger] of sizes.slice(1, 4).entries()) {
    expect(larger.throttled_s).toBeLessThanOrEqual(sizes[index]?.throttled_s ?? Number.NaN);
    expect(larger.cu_hours).toBeGreaterThan(sizes[index]?.cu_hours ?? Number.NaN);
    expect(larger.cache_hit_ratio).toBeGreaterThanOrEqual(sizes[index]?.cache_hit_ratio ?? Number.NaN);
  }
  expect(sizes[4].scale_events).toBeGreaterThan(0);
  expect(sizes[0]).toMatchObject({ max_connections: 112, direct_limit: 105, pool_size: 100 });
  // After a start the cache is empty; the overall hit ratio lies between the initial and the best one.
  const ratios = cache_recovery.map(({ hit_ratios }) => hit_ratios[0]);
  expect(ratios[0]).toBeLessThan(sizes[0].cache_hit_ratio);
  expect(Math.max(...ratios)).toBeGreaterThan(sizes[0].cache_hit_ratio);
  const reads = cache_recovery.reduce((sum: number, { reads: own }) => sum + own, 0);
  const hits = cache_recovery.reduce(
    (sum: number, { reads: own, hit_ratios }) => sum + own * hit_ratios[0],
    0,
  );
  expect(hits / reads).toBeCloseTo(sizes[0].cache_hit_ratio, 9);
});

test.each([
  ["curve", [], ["curve.csv", "curve.svg", "delays.csv", "trade-off.svg"]],
  ["compare", ["--policy", "fixed:60"], ["policies.csv", "policies.svg", "timeline.svg", "waits.csv"]],
  ["attribute", [], ["sources.csv", "sources.svg"]],
  ["capacity", [], ["sizes.csv", "sizes.svg", "throttled.svg"]],
  ["quota", ["--quota-cu-hours", "12.5"], ["dates.svg", "months.csv", "quota.svg"]],
  ["quota", ["--quota-cu-hours", "12.5", "--recorded-only"], ["months.csv", "quota.svg"]],
  ["profiles", [], ["cost.svg", "figures.csv", "published.csv", "wait.svg"]],
  [
    "starts",
    ["--max-concurrent-starts", "1"],
    ["starts.csv", "starts-by-minute.csv", "time-of-day.svg", "under-way.svg", "waits.svg"],
  ],
])(
  "%s %j --out writes a self-contained report, charts, figures and a manifest, byte-identical when repeated",
  async (command, args, files) => {
    const trace = await createShopTrace();
    const read = async () => {
      const out = join(testDirectory(), "report");
      expect((await runStandin(["whatif", command, trace, ...args, "--out", out])).code).toBe(0);
      return Object.fromEntries(
        readdirSync(out).map((name) => [name, readFileSync(join(out, name), "utf8")]),
      );
    };
    const report = await read();
    expect(Object.keys(report)).toEqual(
      expect.arrayContaining(["report.html", "summary.json", "manifest.json", ...files]),
    );
    const html = report["report.html"] ?? "";
    expect(html).not.toMatch(/<script|<link|src=|@import|url\(/);
    expect(html.replaceAll("http://www.w3.org/", "")).not.toMatch(/https?:\/\//);
    expect(html).toMatch(/prefers-color-scheme:dark/);
    expect(html).toMatch(/@media print/);
    const manifest = JSON.parse(report["manifest.json"] ?? "");
    const question =
      command === "profiles"
        ? { profiles: ["2024", "2026"], delay_s: null }
        : { price_per_cu_hour: 0.222, present_delay_s: 300 };
    expect(manifest).toMatchObject({ command, question: { seed: 1, ...question } });
    expect(manifest.repeat.startsWith(`standin whatif ${[command, trace, ...args].join(" ")} --`)).toBe(true);
    // The price does not affect a quota.
    const settled =
      command === "quota"
        ? / --profile 2024 --cu 0.25 /
        : / --profile 2024 --plan scale --prices 2026-03-20 --price-plan scale /;
    expect(manifest.repeat).toMatch(command === "profiles" ? / --profile 2024 --profile 2026 / : settled);
    const again = await runStandin([
      ...wordsOf(manifest.repeat).slice(1),
      "--json",
      ...(command === "curve" ? ["--by-compute"] : []),
    ]);
    expect(again.stdout).toBe(report["summary.json"]);
    expect(manifest.inputs[0].sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(await read()).toEqual(report);
  },
);

test("a world is analyzed like a file, stored or served; POST /_sim/whatif returns the same numbers", async () => {
  const data = testDirectory();
  const server = await startServer(data, [
    "--clock",
    "manual",
    "--start-at",
    "2026-03-02T00:00:00Z",
    "--seed",
    "1",
  ]);
  const { endpointId } = await createProjectOn(server);
  for (const [minutes, duration] of [
    [1, 2_000],
    [4, 0],
    [9, 500],
    [40, 1_000],
  ] as const) {
    await server.sim("POST", "/clock/advance", { by: `${minutes}m` });
    await server.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: duration, source: "web" });
  }
  await server.sim("POST", "/clock/advance", { by: "1h" });
  const request = {
    policy: ["fixed:60", "ski-rental:randomised"],
    present: "5m",
    cold_start_worth: 120,
    start_latency: "1s..3s",
    replications: 3,
  };
  const { status, body } = await server.sim("POST", "/whatif", request);
  expect(status).toBe(200);
  expect(body.policies[0]).toMatchObject({ policy: "fixed:300", figures: { cold_starts: { value: 2 } } });
  const flags = [
    "--policy",
    "fixed:60",
    "--policy",
    "ski-rental:randomised",
    "--start-latency",
    "1s..3s",
    "--replications",
    "3",
  ];
  flags.push("--present", "5m", "--cold-start-worth", "2m");
  const url = server.ready.control_url.replace("/_sim", "");
  const { input: live, ...fromLive } = await runWhatif(["compare", "--url", url, ...flags]);
  const { input, ...response } = body;
  expect(fromLive).toEqual(response);
  expect(live.notes).toEqual(input.notes);
  await server.kill("SIGTERM");
  const { input: stored, ...fromStored } = await runWhatif([
    "compare",
    "--data",
    data,
    ...flags,
    "--workers",
    "2",
  ]);
  expect(fromStored).toEqual(response);
  expect(stored.files[0].requests_sha256).toBe(live.files[0].requests_sha256);
});

test("the curve has CU-hours, cost and added wait of every delay, for the fleet and each compute, and marks named delays", async () => {
  const [trace, out] = [await createShopTrace(), testDirectory()];
  const flags = ["--cu", "0.25", "--start-latency", "2s", "--cold-start-worth", "2m"];
  const response = await runWhatif(["curve", trace, ...flags, "--out", out]);
  const rowsOf = (file: string) => {
    const [head = "", ...lines] = readFileSync(join(out, file), "utf8").trimEnd().split("\n");
    return lines.map((line) =>
      Object.fromEntries(
        head.split(",").map((name, index) => [name, line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)[index]]),
      ),
    );
  };
  const curve = rowsOf("curve.csv");
  const figures = (of: object) => ({
    cold_starts_per_day_at_most_95: "",
    ...Object.fromEntries(Object.entries(of).map(([name, value]) => [name, String(value)])),
  });
  expect(curve.find(({ delay_s }) => delay_s === "300")).toEqual({
    ...figures(response.present),
    mark: "present",
  });
  expect(curve.find(({ mark }) => mark === "best")).toMatchObject(figures(response.best));
  const { margin_95: _, margin_95_other_computes: __, ...bound } = response.clairvoyant;
  expect(curve.at(-1)).toEqual({ delay_s: "clairvoyant", ...figures(bound), mark: "bound" });
  // One request waits for the whole of each start, the first one of each compute included. Others arrive
  // during a start, and wait for the rest of it.
  const starts = response.present.cold_starts + response.traffic.computes_used;
  expect(response.present.added_wait_s).toBeGreaterThan(2 * starts);
  expect(response.present.added_wait_s).toBeLessThan(2.01 * starts);
  const each = rowsOf("curve-by-compute.csv").filter(({ delay_s }) => delay_s === "300");
  for (const name of ["cold_starts", "cu_hours", "cost"] as const)
    expect(each.reduce((sum, row) => sum + Number(row[name]), 0)).toBeCloseTo(response.present[name], 9);
  const waitOfEach = each.reduce((sum, row) => sum + Number(row["added_wait_s"]), 0);
  expect(waitOfEach).toBeGreaterThan(2 * starts);
  expect(waitOfEach).toBeLessThan(2.01 * starts);
  const alone = await runWhatif([
    "curve",
    trace,
    ...flags,
    "--compute",
    each[0]?.["compute"] ?? "",
    "--workers",
    "2",
  ]);
  const { added_wait_s, added_wait_mean_ms, ...others } = alone.present;
  expect(each[0]).toMatchObject(figures(others));
  expect([added_wait_s, added_wait_mean_ms].map(Number)).not.toContain(Number.NaN);
  expect(alone.traffic).toMatchObject({ computes: 1, requests: Number(each[0]?.["requests"]) });
  const { code, stderr } = await runStandin(["whatif", "curve", trace, "--compute", "nobody"]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^standin: --compute: there is no compute "nobody" in this traffic/),
  ]);
});

test.each([
  ["curve", ["--client", "check:every=1d"]],
  ["compare", ["--start-latency", "1s..3s", "--replications", "3"]],
  ["capacity", ["--working-set", "1GiB"]],
  ["attribute", []],
  ["quota", ["--quota-cu-hours", "100", "--each-compute"]],
  ["starts", ["--max-concurrent-starts", "2"]],
  ["profiles", []],
])("the CSV tables of %s have the names and numbers of the JSON", async (command, flags) => {
  const [trace, out] = [await createShopTrace(), testDirectory()];
  await runWhatif([command, trace, ...flags, "--out", out]);
  const tables = readdirSync(out).filter((name) => name.endsWith(".csv"));
  expect(tables.length).toBeGreaterThan(0);
  for (const table of tables) {
    const text = readFileSync(join(out, table), "utf8");
    for (const name of (text.split("\n")[0] ?? "").split(","))
      expect(name, table).toMatch(/^[a-z][a-z0-9_]*$/);
    // Typography for people: minus signs, arrows, bullets, currencies, thousands separators.
    expect(text, table).not.toMatch(/[−→≠±–$%]|\d,\d{3}"/);
  }
});

test("a world is analyzed with its own settings: the current cost is what the simulator has metered", async () => {
  const data = testDirectory();
  const server = await startServer(data, [
    "--clock",
    "manual",
    "--start-at",
    "2026-03-02T00:00:00Z",
    "--seed",
    "1",
  ]);
  const [small, large] = [await createProjectOn(server), await createProjectOn(server)];
  const endpoint = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 600 };
  expect(
    (await server.api("PATCH", `/projects/${large.projectId}/endpoints/${large.endpointId}`, { endpoint }))
      .status,
  ).toBe(200);
  await server.sim("POST", "/clock/advance", { by: "1h" });
  const metered = async () => {
    const used = [];
    for (const { projectId } of [small, large])
      used.push((await server.api("GET", `/projects/${projectId}`)).body.project.compute_time_seconds);
    return (used[0] ?? 0) + (used[1] ?? 0);
  };
  const before = await metered();
  for (let hour = 0; hour < 3; hour += 1) {
    for (const { endpointId } of [small, large])
      await server.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 60_000 });
    await server.sim("POST", "/clock/advance", { by: "1h" });
  }
  // Three times one minute plus the delay: six minutes at 0.25 CU, eleven at 2 CU.
  const used = (await metered()) - before;
  expect(used).toBe(3 * (360 * 0.25 + 660 * 2));
  const { body } = await server.sim("POST", "/whatif", { policy: "fixed:60" });
  expect(body.policies[0]).toMatchObject({
    policy: "present",
    figures: { cu_hours: { value: used / 3_600 } },
  });
  // A deleted compute still counts towards the current cost and the quota of its project.
  await server.api("DELETE", `/projects/${large.projectId}/endpoints/${large.endpointId}`);
  await server.kill("SIGTERM");
  const flagsOfQuota = ["--quota-cu-hours", "3", "--recorded-only", "--start-latency", "0"];
  const { delays: quotas } = await runWhatif(["quota", "--data", data, ...flagsOfQuota]);
  expect(quotas[0].projects.map(({ project }) => project)).toEqual([large.projectId, small.projectId]);
  const { present, question, with_latency } = await runWhatif(["curve", "--data", data]);
  expect(question).toMatchObject({
    profile: "2024",
    present_delay_s: "own",
    cu: "own",
    start_latency: "3000ms",
    price_per_cu_hour: 0.222,
    price_list: "2026-03-20",
    price_plan: "scale",
  });
  expect(question.from_world).toEqual(["profile", "present", "cu", "start_latency"]);
  expect([present.delay_s, present.cu_hours]).toEqual(["own", used / 3_600]);
  expect(with_latency[0].wait_p99_ms).toBe(3_000);
  // The profile is that of the world, not of STANDIN_PROFILE; the environment only locates the world.
  const elsewhere = { STANDIN_PROFILE: "2026", STANDIN_DATA: data };
  for (const args of [["curve", "--world", "default"], ["curve"], ["capacity"]]) {
    const { code, stdout, stderr } = await runStandin(["whatif", ...args], elsewhere);
    expect({ args, code }).toEqual({ args, code: 0 });
    expect(stderr).toMatch(/^note: from the world's settings: profile 2024, /m);
    expect(stderr).toContain("each compute's own size");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "$0.222 per CU-hour (plan scale, prices of 2026-03-20) · profile 2024",
    );
  }
  expect(await runStandin(["whatif", "curve", "--world", "none"], elsewhere)).toMatchObject({ code: 1 });
  const other = await runStandin(["whatif", "curve", "--data", testDirectory()], elsewhere);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("has no world;")]);
  const { profiles } = await runWhatif(["profiles", "--data", data]);
  for (const { figures } of profiles) expect(figures.cu_hours).toBeCloseTo(used / 3_600, 9);
  const flags = ["--profile", "2026", "--present", "300", "--cu", "1", "--start-latency", "0"];
  expect((await runWhatif(["curve", "--data", data, ...flags])).question).toMatchObject({
    present_delay_s: 300,
    cu: 1,
    from_world: [],
  });
});

test("the manifest repeats the report of a world even after the world has changed", async () => {
  const server = await startServer(testDirectory(), [
    "--clock",
    "manual",
    "--start-at",
    "2026-03-02T00:00:00Z",
    "--seed",
    "1",
  ]);
  const [first, second] = [await createProjectOn(server), await createProjectOn(server)];
  const endpoint = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 600 };
  await server.api("PATCH", `/projects/${second.projectId}/endpoints/${second.endpointId}`, { endpoint });
  const use = async (endpointId: string, more = {}) => {
    await server.sim("POST", "/clock/advance", { by: "1h" });
    await server.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 60_000, ...more });
  };
  for (const { endpointId } of [first, second, first, second]) await use(endpointId);
  await use(first.endpointId, { kind: "transaction", connection_id: "open", duration_ms: undefined });
  await server.sim("POST", "/clock/advance", { by: "1h" });
  const of = ["--url", server.ready.control_url.replace("/_sim", "")];
  const commands = [
    ["curve", ...of, "--by-compute"],
    ["compare", ...of, "--policy", "fixed:60", "--compute", first.endpointId, "--workers", "2"],
    ["profiles", ...of],
    ["quota", ...of, "--quota-cu-hours", "1", "--recorded-only"],
  ];
  const reports: { readonly summary: string; readonly repeat: string }[] = [];
  for (const command of commands) {
    const out = testDirectory();
    expect(await runStandin(["whatif", ...command, "--out", out])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^(note: .*\n)*$/),
    });
    const { repeat } = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
    reports.push({ summary: readFileSync(join(out, "summary.json"), "utf8"), repeat });
  }
  // Only for the selected compute: the other one can scale.
  const notes = reports.map(({ summary }) => JSON.parse(summary).input.notes);
  expect(notes[0]).toEqual(["1 compute of this world autoscales: sizes follow the loads of the journal"]);
  expect(notes[1]).toEqual([]);
  await server.sim("POST", "/activity", {
    endpoint_id: first.endpointId,
    kind: "disconnect",
    connection_id: "open",
  });
  await use(first.endpointId);
  await use((await createProjectOn(server)).endpointId, { source: "new" });
  await server.sim("POST", "/clock/advance", { by: "2d" });
  for (const { summary, repeat } of reports)
    expect((await runStandin([...repeat.split(" ").slice(1), "--json"])).stdout).toBe(summary);
});

test.each([
  [["fleet", "--out", "x.json"], /--out x\.json: the name must end in \.csv or \.standin-trace/],
  [["curve"], /give trace files, or a world/],
  [
    ["curve", "few.csv", "--world", "mine"],
    /--world selects a world and cannot be combined with trace files/,
  ],
  [["curve", "few.csv", "--data", "mine"], /--data selects a world/],
  [["curve", "few.csv", "--control-token", "mine"], /--control-token selects a world/],
  [["curve", "--data", "mine", "--url", "http://127.0.0.1:4620"], /either --data or --url/],
  [["curve", "--data", "mine", "--time-zone", "UTC"], /--time-zone applies only to trace files/],
  [["curve", "few.csv", "--delay", "604801"], /whole seconds from 0 to 604800/],
  [["curve", "few.csv", "--delay", "60", "--out", "report"], /cannot be combined with --out/],
  [
    ["curve", "few.csv", "--delay", "60", "--by-compute"],
    /'--delay <delay>' cannot be used with option '--by-compute'/,
  ],
  [["curve", "few.csv", "--map", "at=one,at=two"], /at is mapped twice/],
  [["curve", "few.csv", "--price", "-1"], /at least 0/],
  [["curve", "few.csv", "--price", "1", "--prices", "2025-08-14"], /'--price <dollars>' cannot be used/],
  [["curve", "few.csv", "--price", "1", "--price-plan", "launch"], /'--price <dollars>' cannot be used/],
  [["curve", "few.csv", "--prices", "2024-01-01"], /expected 2025-08-14, 2025-11-03 or 2026-03-20/],
  [["curve", "few.csv", "--price-plan", "free"], /expected launch or scale/],
  [["curve", "few.csv", "--present", "60", "--present", "300"], /--present: given twice/],
  [["capacity", "few.csv", "--size", "0.25", "--size", "4"], /--size: given twice/],
  [["curve", "few.csv", "--client", "sleeper"], /expected one of: subscriber:reconnect=5s/],
  [["compare", "few.csv", "--policy", "sleepy"], /expected one of: fixed:SECONDS/],
  [["compare", "few.csv", "--start-latency", "soon"], /expected a duration like 3s/],
  [["capacity", "few.csv", "--size", "2..1"], /a range such as 0.25..2/],
  [["capacity", "few.csv", "--skew", "0.5"], /--skew requires --working-set/],
  [["capacity", "few.csv", "--blocks-per-request", "3"], /--blocks-per-request requires --working-set/],
  [["capacity", "few.csv", "--cold-start-worth", "3"], /unknown option '--cold-start-worth'/],
  [["capacity", "few.csv", "--cu", "2"], /unknown option '--cu'/],
  [["quota", "few.csv", "--price", "1"], /unknown option '--price'/],
  [["quota", "few.csv", "--prices", "2025-08-14"], /unknown option '--prices'/],
  [["quota", "few.csv", "--cold-start-worth", "3"], /unknown option '--cold-start-worth'/],
  [
    ["quota", "few.csv", "--recorded-only", "--months-ahead", "3"],
    /'--recorded-only' cannot be used with option '--months-ahead <n>'/,
  ],
  [["quota", "few.csv", "--quota-cu-hours", "0"], /a number above 0/],
  [["starts", "few.csv", "--pool", "3"], /all of --pool, --refill and --prepared-latency/],
  [["profiles", "few.csv", "--profile", "2026"], /--profile: give 2 to 8 profiles/],
  [
    ["profiles", "few.csv", "--profile", "2026", "--profile", "none.yaml"],
    /--profile: expected 2024, 2026 or a readable file, got ".*none.yaml"/,
  ],
  [["profiles", "few.csv", "--cu", "12"], /--cu: 12 CU is not a size of profile 2024/],
  [["fleet", "--pattern", "lazy", "--out", "x.csv"], /expected azure/],
  [["import", "few.csv", "--out", "few.csv"], /must end in .standin-trace/],
])("standin whatif %j is a usage error: code 2", async (args, message) => {
  const { code, stdout, stderr } = await runStandin(["whatif", ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(message);
});

test("a file that is not a trace is named: code 1, and nothing is left behind", async () => {
  const directory = testDirectory();
  const file = join(directory, "bad.csv");
  writeFileSync(file, "endpoint_id,at,duration_ms\nep-one,soon,5\n");
  const out = join(directory, "bad.standin-trace");
  const { code, stderr } = await runStandin(["whatif", "import", file, "--out", out]);
  expect({ code, isThere: existsSync(out) }).toEqual({ code: 1, isThere: false });
  expect(stderr).toMatch(/bad\.csv, line 2: at: "?soon/);
  expect((await runStandin(["whatif", "curve", join(directory, "none.csv")])).stderr).toMatch(
    /none\.csv does not exist/,
  );
});

test("a fixed size is analyzed alone; begin and end columns give a duration; the directory of --out must exist", async () => {
  const directory = testDirectory();
  const file = join(directory, "spans.csv");
  writeFileSync(file, "db,begin,stop\na,2026-01-01T00:00:00Z,2026-01-01T00:02:00Z\n");
  const map = ["--map", "endpoint=db,at=begin,end=stop"];
  expect(
    await runWhatif(["curve", file, ...map, "--delay", "300", "--to", "2026-01-01T01:00:00Z"]),
  ).toMatchObject({ active_s: 420 });
  const large = ["--size", "20", "--profile", "2026"];
  const { sizes } = await runWhatif(["capacity", file, ...map, ...large]);
  expect(sizes).toEqual([expect.objectContaining({ min_cu: 20, max_cu: 20, throttled_s: 0 })]);
  const refused = async (...words: string[]) => {
    const { code, stderr } = await runStandin(["whatif", ...words]);
    return `${code} ${stderr}`;
  };
  expect(await refused("capacity", file, ...map, "--profile", "2026", "--size", "16..20")).toContain(
    "2 standin: --size: 20 CU is available only as a fixed size and cannot bound a range",
  );
  expect(await refused("capacity", file, ...map, "--size", "20", "--profile", "2024")).toContain(
    "20 CU is not a size of this profile",
  );
  expect(await refused("capacity", file, ...map, "--size", "60")).toContain(
    "60 CU is not a size of this profile",
  );
  const out = join(directory, "none", "spans.standin-trace");
  expect(await refused("import", file, ...map, "--out", out)).toBe(
    `1 standin: --out ${out}: directory ${dirname(out)} does not exist\n`,
  );
});

test("bounds that exclude the whole history of a world are reported as such", async () => {
  const data = testDirectory();
  const server = await startServer(data);
  await server.kill("SIGTERM");
  const bounds = ["--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z"];
  const { code, stderr } = await runStandin(["whatif", "curve", "--data", data, ...bounds]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining("--from and --to exclude the whole trace"),
  });
});

test("a world without activity has no traffic to analyze: code 1", async () => {
  const data = testDirectory();
  const server = await startServer(data);
  await server.kill("SIGTERM");
  const { code, stderr } = await runStandin(["whatif", "curve", "--data", data]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'standin: the world "default" has no traffic: no compute was used\n',
  });
});

test.each([
  [{ policy: "sleepy" }, /^policy: "sleepy" is not known/],
  [{ policy: "fixed:60", start_latency: "soon" }, /^start_latency: must be a duration/],
  [{ policy: "fixed:60", from: "2100-01-01T00:00:00Z" }, /^from, to: /],
  [
    { policy: "fixed:60", present: "5x" },
    /^present: must be whole seconds from 0 to 604800, a duration like 5m or 1h, or never/,
  ],
  [{ policy: "fixed:60", present: 0.5 }, /^present: must be whole seconds/],
  [{ policy: "fixed:60", cold_start_worth: "never" }, /^cold_start_worth: must be whole seconds/],
  [{ policy: "fixed:60", replications: 10_001 }, /^replications: must be at most 10000/],
  [
    { policy: ["fixed:60", "never", "hazard"], start_latency: "1s..3s", replications: 10_000 },
    /^policy, replications: need 40000 replays/,
  ],
  [{}, /policy: must be a policy like fixed:60/],
  [{ policy: "fixed:60" }, /^no compute of this world was used yet/],
])("POST /_sim/whatif rejects %j and names the field", async (body, message) => {
  const double = await createDouble();
  onTestFinished(() => double.close());
  const { status, body: response } = await double.sim("POST", "/whatif", body);
  expect({ status, message: response.message }).toEqual({
    status: 400,
    message: expect.stringMatching(message),
  });
});

test("Ctrl-C stops the command and leaves no partial files", async () => {
  const directory = testDirectory();
  const out = join(directory, "large.csv");
  const making = spawnStandin([
    "whatif",
    "fleet",
    "--computes",
    "100000",
    "--days",
    "30",
    "--pattern",
    "bursts",
    "--out",
    out,
  ]);
  while (!readdirSync(directory).some((name) => name.endsWith(".unfinished")))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const code = await making.kill("SIGINT");
  expect({ code, stderr: making.stderr(), left: readdirSync(directory) }).toEqual({
    code: 130,
    stderr: expect.stringMatching(/^note: .*large\.csv will take about [\d,]+ MB\nstandin: interrupted\n$/),
    left: [],
  });
});

test("bad rows of a trace are listed and counted", async () => {
  const file = join(testDirectory(), "bad.csv");
  writeFileSync(
    file,
    "endpoint_id,at,duration_ms\nep-one,2026-03-02T10:00:00Z,5\nep-one,nonsense,5\nep-one,2026-03-02T11:00:00Z,-5\n",
  );
  const { code, stderr } = await runStandin(["whatif", "curve", file, "--delay", "300"]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^bad row: .*bad\.csv, line 3: at: "nonsense" must be/m);
  expect(stderr).toMatch(/^bad row: .*bad\.csv, line 4: duration: "-5" must be/m);
  expect(stderr).toMatch(/^note: skipped 2 bad rows of 3$/m);
});

test("every command reports a trace with changed blocks as corrupt", async () => {
  const file = await createShopTrace();
  const bytes = readFileSync(file);
  bytes.writeUInt8((bytes.readUInt8(140) + 1) % 256, 140);
  writeFileSync(file, bytes);
  for (const command of [["curve"], ["starts"], ["compare", "--workers", "2"]]) {
    const { code, stderr } = await runStandin(["whatif", ...command, file]);
    expect({ command, code }).toEqual({ command, code: 1 });
    expect(stderr).toMatch(/^standin: .*is damaged, or not a trace: the block at byte 128 was changed$/m);
    expect(stderr).not.toMatch(/internal error/);
  }
});

/** Of a command line, in which only words with spaces are quoted. */
function wordsOf(line: string): string[] {
  return (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ""));
}

test("curve says how computes differ under the delays that it names, as compare does", async () => {
  const trace = await createShopTrace("computes.standin-trace", 6);
  const { over_computes, present, best } = await runWhatif(["curve", trace]);
  expect(over_computes.map(({ delay_s }) => delay_s)).toEqual(
    expect.arrayContaining([present.delay_s, best.delay_s]),
  );
  const { policies } = await runWhatif(["compare", trace, "--policy", "fixed:300"]);
  const compared = policies.find(({ policy }) => policy === "fixed:300")?.over_computes;
  expect(over_computes.find(({ delay_s }) => delay_s === 300)).toEqual({ delay_s: 300, ...compared });
  expect(compared?.cold_start_percent.highest).toHaveLength(5);
  const { stdout } = await runStandin(["whatif", "curve", trace]);
  expect(stdout).toContain("How computes differ: share of requests that start them, and p99 wait");
  expect(stdout).toContain("Computes with the highest values under");
});
