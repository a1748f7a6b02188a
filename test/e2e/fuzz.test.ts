import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fuzz } from "../fuzz/fuzz.ts";
import { fuzzReaders } from "../fuzz/readers.ts";
import { formatOf, sampleFiles } from "../fuzz/sample-files.ts";
import { runStandin } from "../support/in-process-command.ts";
import { testDirectory } from "../support/running-server.ts";

const SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);

test("over a socket, no request gets an unexpected 5xx, and no rejected one adds an event", async () => {
  const stop = new AbortController();
  const { requests, rejected } = await fuzz({
    requests: 1_000_000,
    seed: SEED,
    budgets: false,
    onProgress: (figures) => figures.requests >= 600 && stop.abort(),
    signal: stop.signal,
  });
  expect(requests).toBeGreaterThanOrEqual(600);
  expect(requests).toBeLessThan(1_600);
  expect(rejected).toBeLessThan(requests);
});

test("work that a request makes due at once is not a change by the next request", async () => {
  // A compute that never suspended gets a delay that has already passed; the next request is rejected.
  const { rejected } = await fuzz({ requests: 130, seed: 20000009532, budgets: false });
  expect(rejected).toBeGreaterThan(0);
});

test("the files that are damaged can be read before", async () => {
  const directory = testDirectory();
  for (const [name, bytes] of await sampleFiles(directory)) {
    const path = join(directory, name);
    writeFileSync(path, bytes);
    const out = `${path}.out.standin-trace`;
    const { code } = await runStandin([
      "whatif",
      "import",
      path,
      ...formatOf(path),
      "--strict",
      "--out",
      out,
    ]);
    expect([name, code]).toEqual([name, 0]);
  }
});

test("every damaged file is read or rejected, or its reading ends at Ctrl-C", async () => {
  const { files, read, rejected, interrupted } = await fuzzReaders({
    files: 20,
    seed: SEED,
    patienceMs: 60_000,
  });
  expect([files, read + rejected + interrupted]).toEqual([20, 20]);
});
