import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Advice } from "../../../src/whatif/questions/advice/advice.ts";
import type { CapacityReport } from "../../../src/whatif/questions/capacity/capacity-report.ts";
import type { CurveSummary } from "../../../src/whatif/questions/curve/curve-summary.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";

/** 0.25 CU for 730 hours at $0.222 each. */
const MOST = 0.25 * 730 * 0.222;
const HOURS_12 = 12 * 3_600_000;

type Rows = readonly (readonly [minute: number, durationMs: number])[];

function traceOf(rows: Rows): string {
  const file = join(testDirectory(), "few.csv");
  const lines = rows.map(
    ([minute, ms]) => `ep-a,${new Date(Date.UTC(2026, 0, 5, 0, minute)).toISOString()},${ms}`,
  );
  writeFileSync(file, `endpoint_id,at,duration_ms\n${lines.join("\n")}\n`);
  return file;
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse((await runStandin([...args, "--json"])).stdout) as T;
}

test.each<[name: string, rows: Rows, ...options: string[]]>([
  ["one request of 12 hours", [[0, HOURS_12]]],
  [
    "a request of 12 hours at the end of an hour",
    [
      [0, 5],
      [59, HOURS_12],
    ],
  ],
  [
    "a request of 12 hours that --to cuts",
    [
      [0, 5],
      [60, HOURS_12],
    ],
    "--to",
    "2026-01-05T02:00:00Z",
  ],
  ["one request of 10 ms", [[0, 10]]],
])("a month never costs more than the size that is always active: %s", async (_, rows, ...options) => {
  const trace = traceOf(rows);
  const { decision, never, traffic } = await json<CurveSummary>("whatif", "curve", trace, ...options);
  const figures = [decision.current, ...decision.options].map((one) => one.cost_dollars_per_month);
  for (const cost of figures) expect(cost).toBeLessThanOrEqual(MOST * (1 + 1e-9));
  expect((never.cost * 730) / 24 / traffic.month_base_days).toBeLessThanOrEqual(MOST * (1 + 1e-9));
  const { bill } = await json<Advice>("advise", trace, ...options);
  expect(bill.dollars_per_month).toBe(decision.current.cost_dollars_per_month);
  const { sizes } = await json<CapacityReport>("whatif", "capacity", trace, "--size", "1", ...options);
  expect(sizes[0]?.cost_per_month).toBeLessThanOrEqual(MOST * 4 * (1 + 1e-9));
  for (const args of [["curve"], ["compare", "--policy", "never"], ["capacity", "--size", "0.25"]]) {
    const { stdout } = await runStandin(["whatif", args[0] as string, trace, ...args.slice(1), ...options]);
    const dollars = [...stdout.matchAll(/\$([\d,]+(?:\.\d+)?)(?! per)/g)].map(([, text = ""]) =>
      Number(text.replaceAll(",", "")),
    );
    expect(dollars.length).toBeGreaterThan(0);
    expect(Math.max(...dollars), stdout).toBeLessThanOrEqual(Math.ceil(MOST));
  }
});
