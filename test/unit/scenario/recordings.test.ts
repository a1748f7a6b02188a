import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readRecordings } from "../../../src/cli/run/traffic-files.ts";
import { parseScenario } from "../../../src/scenario/parse-scenario.ts";

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

const CSV = "endpoint,at,run_ms,wait_s\na,2026-01-01T00:00:00Z,20,3\nb,2026-01-01T00:00:01Z,40,5\n";
const source = (name: string, rest: string) =>
  `  - { name: ${name}, to: shop/main, pattern: replay, ${rest} }`;

/** Reads the recordings of these sources from a directory with two files. */
async function reading(...sources: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), "standin-recordings-"));
  directories.push(directory);
  writeFileSync(join(directory, "good.csv"), CSV);
  writeFileSync(join(directory, "bad.csv"), "endpoint,at\na,2026-01-01T00:00:00Z\na,yesterday\n");
  const text = ["version: 1", "length: 1m", "world: { projects: { shop: {} } }", "traffic:", ...sources].join(
    "\n",
  );
  const result = await readRecordings(parseScenario(text, join(directory, "mine.yaml"))).catch(
    (error: Error) => error,
  );
  return result instanceof Error ? result.message.replaceAll(`${directory}/`, "").split("\n") : result;
}

test("a missing file, a bad row and an unknown endpoint are reported at their places in the scenario", async () => {
  expect(
    await reading(
      source("one", "file: nowhere.csv"),
      source("two", "file: bad.csv"),
      source("three", "file: good.csv"),
      source("four", "file: good.csv, computes: { a: shop/main, c: shop/main }"),
      source("five", "file: good.csv, columns: { duration: walk_ms }"),
    ),
  ).toEqual([
    "mine.yaml:5:56: traffic.one.file: file nowhere.csv does not exist",
    'mine.yaml:6:56: traffic.two.file: bad.csv: line 3: at: "yesterday" must be an ISO 8601 instant, or a number since 1970',
    'mine.yaml:8:96: traffic.four.computes.c: good.csv has no endpoint "c"; its endpoints are a, b',
    'mine.yaml:9:57: traffic.five.file: good.csv: line 1: duration: there is no column "walk_ms"; there are endpoint, at, run_ms, wait_s',
  ]);
});

test("two sources may read one file with different columns", async () => {
  const [recordings] = (await reading(
    source("runs", "file: good.csv, columns: { duration: run_ms }"),
    source("waits", "file: good.csv, columns: { duration: wait_s }"),
  )) as Awaited<ReturnType<typeof readRecordings>>;
  const durations = ["runs", "waits"].map((name) => recordings?.get(name)?.endpoints.get("a")?.durationMs[0]);
  expect(durations).toEqual([20, 3_000]);
});
