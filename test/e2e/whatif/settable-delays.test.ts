import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DelayOption } from "../../../src/whatif/choice/decision-summary.ts";
import type { Advice } from "../../../src/whatif/questions/advice/advice.ts";
import type { Backtest } from "../../../src/whatif/questions/backtest/backtest.ts";
import type { CurveSummary } from "../../../src/whatif/questions/curve/curve-summary.ts";
import type { ListedComparison } from "../../support/answers/control-answers.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";
import { createShopTrace } from "../../support/whatif/whatif-command.ts";

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runStandin([...args, "--json"]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

async function text(...args: string[]): Promise<string> {
  return (await runStandin(args)).stdout.replaceAll(/\s+/g, " ");
}

/** Three computes with a check about every 4 minutes, for nine days. */
function checkedTrace(): string {
  const rows = Array.from({ length: 3 }, (_, compute) => {
    const ofCompute: string[] = [];
    let at = Date.UTC(2026, 0, 5) + compute * 1_000;
    for (let number = 0; at < Date.UTC(2026, 0, 14); number += 1) {
      ofCompute.push(`ep-${compute},${new Date(at).toISOString()},5,health-check`);
      at += (240 + ((number * 7 + compute) % 3) - 1) * 1_000;
    }
    return ofCompute;
  });
  const file = join(testDirectory(), "checked.csv");
  writeFileSync(file, `endpoint_id,at,duration_ms,source\n${rows.flat().join("\n")}\n`);
  return file;
}

test("curve offers only the delays that the plan allows, and marks the others in its table", async () => {
  const trace = await createShopTrace();
  for (const plan of [
    ["--plan", "launch"],
    ["--price-plan", "launch"],
  ]) {
    const { decision, best, computes } = await json<CurveSummary>(
      "whatif",
      "curve",
      trace,
      "--by-compute",
      ...plan,
    );
    const offered = [
      ...decision.options.map(({ delay_s }) => delay_s),
      best.delay_s,
      decision.recommended_delay_s ?? 300,
      ...(computes ?? []).flatMap((one) => [one.best.delay_s, one.shrunk_delay_s ?? 300]),
    ];
    for (const delay of offered) expect([300, "never"]).toContain(delay);
    expect(decision.settable_delays_s).toEqual([300, "never"]);
  }
  const output = await text("whatif", "curve", trace, "--plan", "launch");
  expect(output).toContain("Plan launch allows only 5 min or never (--plan). Balanced assumes");
  expect(output).toContain("2 min (not on plan launch)");
  expect(output).not.toMatch(/ 5 min \(not on plan|never \(not on plan/);
  expect(await text("whatif", "curve", trace)).not.toContain("not on plan");
});

test("limits that no delay of the plan meets leave nothing to choose", async () => {
  const trace = await createShopTrace();
  const args = ["whatif", "curve", trace, "--plan", "launch", "--max-cost", "0.01"];
  const { decision } = await json<CurveSummary>(...args);
  expect(decision).toMatchObject({ options: [], recommended_delay_s: null });
  const [cheap, dear] = [60, 300].map(async (delay) =>
    json<CurveSummary["present"] & { readonly cost_dollars_per_month: number }>(
      "whatif",
      "curve",
      trace,
      "--plan",
      "launch",
      "--delay",
      String(delay),
    ),
  );
  const between =
    (((await cheap)?.cost_dollars_per_month ?? 0) + ((await dear)?.cost_dollars_per_month ?? 0)) / 2;
  const output = await text("whatif", "curve", trace, "--plan", "launch", "--max-cost", String(between));
  expect(output).toContain(
    "Plan launch allows only 5 min or never (--plan), and neither is within the limits.",
  );
});

test("compare and backtest recommend no fixed delay of another plan, and name those that they show", async () => {
  const trace = await createShopTrace();
  const fixed = [
    "--policy",
    "fixed:60",
    "--policy",
    "fixed:300",
    "--policy",
    "fixed:3600",
    "--policy",
    "never",
  ];
  const launch = ["--plan", "launch", "--present", "3600"];
  const { policies } = await json<ListedComparison>("whatif", "compare", trace, ...fixed, ...launch);
  expect(policies.map(({ policy, settable }) => [policy, settable])).toEqual([
    // Whatever the plan, it is set now.
    ["fixed:3600", true],
    ["fixed:60", false],
    ["fixed:300", true],
    ["never", true],
  ]);
  const output = await text("whatif", "compare", trace, ...fixed, ...launch);
  expect(output).toMatch(/^(Set a delay of 5 min|Lowest weighted cost: a delay of 5 min)/);
  expect(output).toContain("Not on plan launch (--plan), and not recommended: fixed:60.");
  expect(output).toContain("fixed:60 (not on plan launch)");
  const backtest = await json<Backtest>(
    "whatif",
    "backtest",
    checkedTrace(),
    "--fold",
    "day",
    "--policy",
    "fixed:60",
    "--plan",
    "launch",
  );
  expect(["fixed:60"]).not.toContain(backtest.best_settable);
  expect(backtest.policies.find(({ policy }) => policy === "fixed:60")).toMatchObject({ not_on_plan: true });
  for (const { trained_delay_s } of backtest.folds) expect([300, "never"]).toContain(trained_delay_s);
});

test("the nearest cliff is named with its distance and its cause, and drawn", async () => {
  const trace = checkedTrace();
  const out = join(testDirectory(), "curve.html");
  const output = await text("whatif", "curve", trace, "--out", out);
  const { decision } = await json<CurveSummary>("whatif", "curve", trace);
  expect(decision.options[0]?.delay_s).toBe(254);
  expect(decision.cliff).toMatchObject({ delay_s: 241, cause: "health-check every 4 min" });
  expect(decision.cliff?.distance_percent).toBeCloseTo((254 / 241 - 1) * 100, 9);
  expect(output).toMatch(
    /Nearest cliff: 5 % shorter, below 241 s: 1,0\d\d cold starts a day instead of 0, because of health-check every 4 min\./,
  );
  expect(readFileSync(out, "utf8")).toContain("cliff: health-check every 4 min");
});

test.each([
  ["office hours and cron", "launch", () => createShopTrace()],
  ["office hours and cron", "scale", () => createShopTrace()],
  ["office hours", "scale", () => createShopTrace("shop.standin-trace", 6, ["office-hours"])],
])("the figures of advise and curve are equal: %s on %s", async (_, plan, create) => {
  const trace = await create();
  const options = ["--plan", plan, "--present", "600"];
  const advice = await json<Advice>("advise", trace, ...options);
  const { decision, present } = await json<CurveSummary>("whatif", "curve", trace, ...options);
  const balanced = decision.options[0] as DelayOption;
  expect(advice.bill.lines[0]?.dollars_per_month).toBe(decision.current.cost_dollars_per_month);
  expect(advice.current.cold_starts_per_day).toBe(present.cold_starts_per_day);
  const proposal = advice.proposals.find(({ kind }) => kind === "delay");
  expect(proposal?.delay_s).toBe(balanced.delay_s);
  expect(proposal?.saves_dollars_per_month).toBeCloseTo(-balanced.change.cost_dollars_per_month, 9);
  expect(proposal?.cold_starts_per_day).toBeCloseTo(balanced.change.cold_starts_per_day, 9);
  expect(proposal?.margin_95).toBe(balanced.change.margin_95?.cost_dollars_per_month);
});
