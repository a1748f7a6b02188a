import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testDirectory } from "../../support/server/running-server.ts";
import { runWhatif } from "../../support/whatif/whatif-command.ts";

const PAGE = "docs/explanation/keep-alive-comparison.md";

type Row = { readonly policy: string; readonly percents: readonly number[]; readonly waste: number };

function documented(): Row[] {
  return [
    ...readFileSync(PAGE, "utf8").matchAll(
      /^\| `([^`]+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$/gm,
    ),
  ].map(([, policy = "", ...values]) => ({
    policy,
    percents: values.slice(0, 3).map(Number),
    waste: Number(values[3]),
  }));
}

test("the comparison of keep-alive times has the figures of its page, and the order that the paper found", async () => {
  const trace = join(testDirectory(), "apps.standin-trace");
  await runWhatif(["fleet", "--computes", "100", "--days", "7", "--seed", "3", "--out", trace]);
  const policies = ["fixed:300", "fixed:1200", "fixed:1800", "fixed:3600", "fixed:7200", "hybrid"];
  const setting = [trace, "--start-latency", "0"];
  const compared = await runWhatif([
    "compare",
    ...setting,
    "--present",
    "10m",
    ...policies.flatMap((policy) => ["--policy", policy]),
  ]);
  const { busy_s: busyS } = await runWhatif(["curve", ...setting]);
  const rows = compared.policies.map(({ policy, figures, over_computes: { cold_start_percent: cold } }) => ({
    policy,
    percents: [cold.p25, cold.p50, cold.p75],
    idleS: figures.active_s.value - busyS,
  }));
  const wasteAt10Min = rows.find(({ policy }) => policy === "fixed:600")?.idleS;
  const printed = rows.map(({ policy, percents, idleS }) => ({
    policy,
    percents: percents.map((percent) => Number(percent.toFixed(1))),
    waste: Number((idleS / wasteAt10Min).toFixed(2)),
  }));
  const page = documented();
  expect(page.map(({ policy }) => policy)).toEqual(["fixed:300", "fixed:600", ...policies.slice(1)]);
  for (const row of page) expect(printed).toContainEqual(row);
  const fixedTimes = page.filter(({ policy }) => policy !== "hybrid");
  for (const [index, { percents, waste }] of fixedTimes.entries()) {
    const shorter = fixedTimes[index - 1];
    if (shorter === undefined) continue;
    for (const [quartile, percent] of percents.entries())
      expect(percent).toBeLessThanOrEqual(shorter.percents[quartile] as number);
    expect(waste).toBeGreaterThan(shorter.waste);
  }
  const medians = fixedTimes.map(({ percents }) => percents[1] as number);
  expect(page.at(-1)?.percents[1]).toBeLessThan(Math.min(...medians));
});
