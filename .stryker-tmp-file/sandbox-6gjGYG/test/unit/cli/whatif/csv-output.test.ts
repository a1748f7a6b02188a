// @ts-nocheck
import { expect, test } from "vitest";
import { recordsCsv, toCsv } from "../../../../src/cli/whatif/csv-output.ts";

test("CSV tables have the names and values of the JSON: nothing is rounded, and no heading is empty", () => {
  const rows = [
    {
      delay_s: 60,
      cold_starts: 1036,
      cost: 5.049999999,
      figures: { wait_ms: -0.5, best: { is: true } },
      list: [1],
    },
    { delay_s: "never", cold_starts: 0, cost: null },
  ];
  expect(recordsCsv(rows)).toBe(
    "delay_s,cold_starts,cost,figures_wait_ms,figures_best_is\n60,1036,5.049999999,-0.5,true\nnever,0,,,\n",
  );
});

test.each(["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])(
  "the name %j is not a formula in a spreadsheet",
  (name) => {
    const [, row] = toCsv(["source", "n"], [[name, -1]]).split("\n");
    expect(row?.replace(/^"/, "").startsWith("'")).toBe(true);
    expect(toCsv(["source", "n"], [[name, -1]])).toMatch(/,-1\n$/);
  },
);

test("commas, quotes and line ends stay within their cell", () => {
  expect(toCsv(["a"], [['x,"y"\nz']])).toBe('a\n"x,""y""\nz"\n');
});
