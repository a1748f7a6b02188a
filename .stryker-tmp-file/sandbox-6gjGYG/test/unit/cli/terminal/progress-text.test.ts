// @ts-nocheck
import { expect, test } from "vitest";
import { progressText } from "../../../../src/cli/terminal/progress-text.ts";

test("progress over files shows the rows, the rate, the share of the bytes and the remaining time", () => {
  const step = {
    done: 113_246_208,
    of: 460_557_481,
    elapsedMs: 2_800,
    reading: { rows: 3_406_000, rowsPerSecond: 1_216_428.6 },
  };
  expect(progressText("reading", step)).toBe(
    "reading: 3,406,000 rows, 1,216,429 rows/s, 24 % of 461 MB, 9 s left",
  );
});

test.each([
  [{ done: 1_200, of: 5_000, elapsedMs: 3_000 }, "replaying computes: 1,200 of 5,000, 10 s left"],
  [{ done: 1, of: 1_000, elapsedMs: 3_000 }, "replaying computes: 1 of 1,000, 50 min left"],
  [{ done: 5_000, of: 5_000, elapsedMs: 3_000 }, "replaying computes: 5,000 of 5,000"],
  [{ done: 0, of: 8, elapsedMs: 3_000 }, "replaying computes: 0 of 8"],
])("other progress shows how many items are done: %j", (step, text) => {
  expect(progressText("replaying computes", step)).toBe(text);
});

test("small sizes are in kB, and there is no rate before any time has passed", () => {
  expect(
    progressText("reading", {
      done: 0,
      of: 4_200,
      elapsedMs: 0,
      reading: { rows: 0, rowsPerSecond: undefined },
    }),
  ).toBe("reading: 0 rows, 0 % of 5 kB");
});
