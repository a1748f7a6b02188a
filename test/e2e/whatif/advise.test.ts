import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Advice } from "../../../src/whatif/questions/advice/advice.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { createProjectOn, startServer, testDirectory } from "../../support/server/running-server.ts";
import { createShopTrace } from "../../support/whatif/whatif-command.ts";

async function advise(trace: string, ...options: string[]) {
  const { code, stdout } = await runStandin(["advise", trace, ...options, "--json"]);
  return { code, advice: JSON.parse(stdout) as Advice };
}

test("advise names the health check that keeps computes active, before a delay that would save little", async () => {
  const trace = await createShopTrace("shop.standin-trace", 6, ["office-hours", "health-check"]);
  const { code, stdout } = await runStandin(["advise", trace]);
  expect(code).toBe(0);
  const lines = stdout.split("\n\n")[0]?.split("\n") ?? [];
  expect(stdout).toMatch(
    /^Drop health-check \(every 4 min\), or send it elsewhere: −\$[\d.]+ ± \$[\d.]+ a month, /,
  );
  expect(lines.join(" ")).toMatch(
    /; or send it every 10 min: −\$[\d.]+ ± \$[\d.]+ a month, \+[\d.]+ cold starts a day\./,
  );
  expect(lines.length, stdout).toBeLessThanOrEqual(10);
  const { advice } = await advise(trace);
  expect(advice.decision).toMatchObject({ kind: "source", source: "health-check", is_clear: true });
  expect(advice.would_change.join()).toMatch(
    /a delay \d+ % shorter, below 4 min: [\d,]+ cold starts a day instead of \d+, because of health-check every 4 min/,
  );
});

test("a delay is proposed only if the plan allows it, and the plan that allows it is the proposal", async () => {
  const trace = await createShopTrace();
  const { advice: onScale } = await advise(trace, "--plan", "scale");
  const { advice: onLaunch } = await advise(trace, "--plan", "launch");
  const delayOf = ({ proposals }: Advice) => proposals.find(({ kind }) => kind === "delay")?.delay_s;
  expect(delayOf(onScale)).toBeGreaterThanOrEqual(60);
  expect([undefined, "never"]).toContain(delayOf(onLaunch));
  for (const { plan, delay_s } of onScale.proposals)
    if (plan === "launch") expect([300, "never"]).toContain(delay_s);
});

test("the whole bill is compared: below the minimum nothing is saved", async () => {
  const trace = await createShopTrace();
  const { advice } = await advise(trace, "--cu", "0.001", "--prices", "2025-11-03");
  expect(advice.bill.dollars_per_month).toBe(5);
  expect(advice.decision).toBeNull();
  const { advice: stored } = await advise(
    trace,
    "--cu",
    "0.001",
    "--prices",
    "2025-11-03",
    "--storage",
    "100",
  );
  expect(stored.bill.dollars_per_month).toBeGreaterThan(35);
});

test("the exit status says whether the current settings meet the budget and the limit on the wait", async () => {
  const trace = await createShopTrace();
  expect((await advise(trace, "--budget", "100000")).code).toBe(0);
  expect((await advise(trace, "--budget", "1")).code).toBe(1);
  const slow = await advise(trace, "--slo", "p99 wait < 1ms");
  expect([slow.code, slow.advice.current.meets.slo]).toEqual([1, false]);
  expect((await advise(trace, "--slo", "p99 wait < 1h")).code).toBe(0);
  const unclear = await runStandin(["advise", trace, "--slo", "fast"]);
  expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringContaining('such as "p99 wait < 2s"')]);
});

test("the limit on the wait is about any percentile, and the requests of one source", async () => {
  const trace = await createShopTrace("shop.standin-trace", 3, ["office-hours", "health-check"]);
  const limited = async (limit: string) => {
    const { code, advice } = await advise(trace, "--slo", limit);
    return { code, ...advice.current.meets };
  };
  const all = await limited("p99 wait < 1ms");
  expect(all).toMatchObject({ code: 0, slo: true, max_wait: { percentile: "p99", source: null, ms: 1 } });
  const ofSource = await limited("p99.9 wait < 1ms for office-hours");
  expect(ofSource).toMatchObject({
    max_wait: { percentile: "p99.9", source: "office-hours", ms: 1 },
    slo: (ofSource.wait_ms ?? 0) <= 1,
  });
  for (const command of [["advise"], ["whatif", "capacity"]]) {
    const { code, stderr } = await runStandin([...command, trace, "--slo", "p99 wait < 1s for shop"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('--slo: no request has the source "shop"; there are '),
    ]);
  }
});

test("too little traffic gives no recommendation, and says why", async () => {
  const file = join(testDirectory(), "short.csv");
  writeFileSync(
    file,
    "endpoint_id,at,duration_ms\nep-a,2026-01-05T00:00:00Z,5\nep-a,2026-01-05T09:00:00Z,5\n",
  );
  const { code, advice } = await advise(file);
  expect([code, advice.decision]).toEqual([0, null]);
  expect(advice.too_little.join()).toContain("7 are needed");
  const { stdout } = await runStandin(["advise", file]);
  expect(stdout).toMatch(/^No recommendation: /);
});

test("the report has the answer and one picture", async () => {
  const trace = await createShopTrace("shop.standin-trace", 6, ["office-hours", "health-check"]);
  const out = join(testDirectory(), "advice.html");
  expect((await runStandin(["advise", trace, "--out", out])).code).toBe(0);
  const html = readFileSync(out, "utf8");
  expect(html).toContain("Drop health-check");
  expect(html).toContain("What each change is worth");
});

test("while traffic grows, no delay is the decision, and the second line warns", async () => {
  const start = Date.UTC(2026, 0, 5);
  const rows = Array.from({ length: 21 }, (_, day) => {
    // 4 % more requests every day, at the same distance.
    const count = Math.round(40 * 1.04 ** day);
    return Array.from({ length: count }, (__, index) =>
      new Date(start + day * 86_400_000 + Math.floor(((index + 0.5) / count) * 86_400_000)).toISOString(),
    ).map((at) => `ep-a,${at},500`);
  });
  const file = join(testDirectory(), "growing.csv");
  writeFileSync(file, `endpoint_id,at,duration_ms\n${rows.flat().join("\n")}\n`);
  const { advice } = await advise(file, "--present", "3600", "--cu", "1");
  expect(advice.traffic_change).toMatchObject({ kind: "trend", percent_per_day: expect.closeTo(4, 0) });
  expect(advice.proposals.some(({ kind, is_clear }) => kind === "delay" && is_clear)).toBe(true);
  expect(advice.decision).toBeNull();
  const { stdout } = await runStandin(["advise", file, "--present", "3600", "--cu", "1"]);
  expect(stdout.replaceAll("\n", " ")).toMatch(
    /^Keep the delay of 1 h for now\. Warning: traffic grows by 3\.\d+ % /,
  );
});

test("a health check whose removal would break the limit on the wait is not proposed", async () => {
  const trace = await createShopTrace("shop.standin-trace", 6, ["office-hours", "health-check"]);
  const kindsWith = async (...options: string[]) =>
    (await advise(trace, ...options)).advice.proposals.map(({ kind }) => kind);
  expect(await kindsWith("--slo", "p99 wait < 1h")).toContain("source");
  expect(await kindsWith("--slo", "p99 wait < 10ms")).not.toContain("source");
});

test("waits of a health check are left out on request, and that is suggested before", async () => {
  const trace = await createShopTrace("checked.standin-trace", 6, ["office-hours", "health-check"]);
  const ignoring = ["--ignore-waits-of", "health-check"];
  const { advice: all } = await advise(trace);
  expect(all.would_change).toContain("nobody waiting for health-check (--ignore-waits-of)");
  const { advice: people } = await advise(trace, ...ignoring);
  expect(people.question.ignore_waits_of).toEqual(["health-check"]);
  expect(people.would_change.join()).not.toContain("health-check");
  // The bill is the same; a delay below the interval of the check causes no cold starts any more.
  expect(people.bill).toEqual(all.bill);
  const shortest = people.proposals.find(({ kind, delay_s }) => kind === "delay" && delay_s === 60);
  expect(shortest?.is_clear).toBe(true);
  expect(shortest?.cold_starts_per_day).toBeLessThan(360);
  const curve = await runStandin(["whatif", "curve", trace, ...ignoring]);
  expect(curve.stdout).toContain("nobody waits for health-check");
  expect(curve.stdout).toContain(`standin advise ${trace} --ignore-waits-of health-check`);
  const { stdout } = await runStandin([
    "whatif",
    "compare",
    trace,
    "--policy",
    "fixed:60",
    ...ignoring,
    "--json",
  ]);
  const compared = JSON.parse(stdout).policies.find(
    ({ policy }: { policy: string }) => policy === "fixed:60",
  );
  const minute = await runStandin(["whatif", "curve", trace, "--delay", "60", ...ignoring, "--json"]);
  expect(compared.figures.cold_starts.value).toBe(JSON.parse(minute.stdout).with_latency.cold_starts);
  const details = ["curve", "compare", "attribute"].map((name) => ["whatif", name]);
  for (const command of [["advise"], ...details]) {
    const unknown = await runStandin([...command, trace, "--ignore-waits-of", "cron"]);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(
      /--ignore-waits-of: no request has the source "cron"; there are .*health-check/,
    );
  }
});

test.each([[[]], [["--slo", "p99 wait < 1ms", "--budget", "1"]]])(
  "the answer before the tables has at most ten lines with %j",
  async (options) => {
    const trace = await createShopTrace("office.standin-trace", 6, ["office-hours"]);
    const { stdout } = await runStandin(["advise", trace, ...options]);
    const lines = stdout.split("\n\n")[0]?.split("\n") ?? [];
    expect(lines.length, stdout).toBeLessThanOrEqual(10);
    expect(stdout).toMatch(/^Not known: /m);
    expect(stdout).toMatch(/^Left out: .*Plan free: no, /m);
  },
);

test("the free plan is proposed if its limits allow it, and otherwise named with the reason", async () => {
  const trace = await createShopTrace("small.standin-trace", 2, ["office-hours"]);
  const reasonOf = async (...options: string[]) => (await advise(trace, ...options)).advice.no_free_plan;
  expect(await reasonOf()).toBe(
    "unless 0.5 GB of storage (--storage) and 5 GB of transfer a month (--transfer) are enough; its CU-hours are",
  );
  expect(await reasonOf("--storage", "0.4", "--transfer", "6")).toBe(
    "a project has at most 5 GB of transfer a month",
  );
  expect(await reasonOf("--storage", "0.6")).toBe("a project has at most 0.5 GB of storage");
  expect(await reasonOf("--cu", "1")).toBe("its computes have 0.25 CU, which do not scale");
  expect(await reasonOf("--slo", "p99 wait < 1ms")).toContain("does not meet the limit on the wait");
  const small = ["--storage", "0.4", "--transfer", "2"];
  const { advice } = await advise(trace, ...small, "--plan", "launch");
  expect(advice.no_free_plan).toBeNull();
  expect(advice.decision).toMatchObject({ kind: "plan", plan: "free", delay_s: 300, is_clear: true });
  expect(advice.decision?.saves_dollars_per_month).toBeCloseTo(advice.bill.dollars_per_month, 9);
  const busy = await createShopTrace("busy.standin-trace", 6, ["office-hours", "health-check"]);
  const { advice: ofBusy } = await advise(busy, ...small);
  expect(ofBusy.no_free_plan).toMatch(
    /^[\d,]+ CU-hours a month with 5 min .*are needed, and a project has 100$/,
  );
  expect((await runStandin(["advise", busy, ...small])).stdout).toContain("Plan free: no, ");
});

test("an advice on a server bills what its branches store, unless it is stated", async () => {
  const server = await startServer(testDirectory(), ["--clock", "manual", "--operations", "immediate"]);
  const { endpointId } = await createProjectOn(server);
  const span = { endpoint_id: endpointId };
  await server.sim("POST", "/activity", { ...span, duration_ms: 1000 });
  await server.sim("POST", "/clock/advance", { by: "1m" });
  await server.sim("POST", "/spans", { ...span, kind: "begin" });
  const data = { written_bytes: 5e9, transferred_bytes: 0, logical_size_bytes: 40e9 };
  expect((await server.sim("POST", "/spans", { ...span, kind: "end", data })).status).toBe(200);
  const { origin } = new URL(server.ready.control_url);
  const { stdout, stderr } = await runStandin(["advise", "--url", origin, "--history", "2", "--json"]);
  expect(stdout, stderr).not.toBe("");
  const { bill } = JSON.parse(stdout) as Advice;
  expect(bill.lines).toContainEqual({ line: "storage", dollars_per_month: 14 });
  expect(bill.lines).toContainEqual({ line: "history", dollars_per_month: 0.4 });
  expect(bill.unknown).toEqual(["transfer"]);
});

test.each([
  ["--wait-worth", "2", { cold_start_worth_s: null, wait_worth_dollars_per_hour: 2 }],
  ["--cold-start-worth", "0.01usd", { cold_start_worth_s: null, cold_start_worth_dollars: 0.01 }],
])(
  "a worth in dollars is the same option in an advice and in its details: %s",
  async (option, value, stated) => {
    const trace = await createShopTrace();
    const answers = ["compare", "attribute", "curve"].map((name) => ["whatif", name]);
    for (const command of [["advise"], ...answers]) {
      const { code, stdout } = await runStandin([...command, trace, option, value, "--json"]);
      expect([command, code]).toEqual([command, 0]);
      expect(JSON.parse(stdout).question).toMatchObject(stated);
    }
    const { stdout } = await runStandin(["whatif", "attribute", trace, option, value]);
    expect(stdout).toContain(`For a decision: standin advise ${trace} ${option} ${value}`);
    const { advice } = await advise(trace, option, value);
    const worths = advice.would_change.filter((one) => one.includes(" worth "));
    for (const one of worths) expect(one).toMatch(/ worth (less|more) than \$/);
    const both = await runStandin(["advise", trace, "--wait-worth", "2", "--cold-start-worth", "60"]);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("cannot be used with option")]);
  },
);

test("the first lines of a curve have the factor for another size, which is that of its costs", async () => {
  const trace = await createShopTrace();
  const costOf = async (...size: string[]) => {
    const { stdout } = await runStandin(["whatif", "curve", trace, ...size, "--json"]);
    return JSON.parse(stdout).decision.current.cost_dollars_per_month as number;
  };
  const { stdout } = await runStandin(["whatif", "curve", trace]);
  expect(stdout.replaceAll("\n", " ")).toContain("costs scale with the size: × 2 for 0.5 CU");
  expect(await costOf("--cu", "0.5")).toBeCloseTo(2 * (await costOf()), 9);
});
