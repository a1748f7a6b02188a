import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { noteLargeOutput } from "../../../../src/cli/terminal/large-output.ts";
import { writeTraffic } from "../../../../src/cli/whatif/trace-files.ts";
import { trafficOf } from "../../../../src/whatif/trace/traffic.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

const START = Date.UTC(2026, 0, 5);
const REQUESTS = 50_000;
const COMPUTES = 100;

let written = "";
beforeEach(() => {
  written = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

test("a file of 100 MB or more is announced, and a smaller one is not", () => {
  noteLargeOutput("small.csv", 99_999_999);
  expect(written).toBe("");
  noteLargeOutput("large.csv", 100_000_000);
  expect(written).toBe("note: large.csv will take about 100 MB\n");
});

test.each([
  ["fleet.csv", "about 185 MB"],
  ["fleet.standin-trace", undefined],
])("the size of %s is estimated before it is written", async (name, size) => {
  const traffic = fleet();
  const path = `${testDirectory()}/${name}`;
  await expect(writeTraffic(traffic, path, "test", AbortSignal.abort())).rejects.toThrow("interrupted");
  const note = size === undefined ? "" : `note: ${path} will take ${size}\n`;
  expect(written).toBe(note);
});

/** Every row of its CSV has 37 characters. */
function fleet() {
  const at = Float64Array.from({ length: REQUESTS }, (_, index) => START + index);
  const durationMs = new Float64Array(REQUESTS).fill(250);
  const names = Array.from({ length: COMPUTES }, (_, index) => `ep-${String(index).padStart(3, "0")}`);
  return trafficOf({
    period: { startAt: START, endAt: START + REQUESTS },
    computes: names.map((id) => ({ id, arrivals: { at, durationMs } })),
  });
}
