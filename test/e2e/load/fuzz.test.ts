import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fuzzBeforeLogin } from "../../fuzz/before-login.ts";
import { fuzz } from "../../fuzz/fuzz.ts";
import { fuzzReaders } from "../../fuzz/readers.ts";
import { formatOf, sampleFiles } from "../../fuzz/sample-files.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";

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

const INPUTS = Number(process.env["STANDIN_TEST_INPUTS"] ?? 20_000);
const onLinux = process.platform === "linux";

test.runIf(onLinux)(
  "no input before a login costs more than 20 ms of processor time and 8 MiB, at each limit of the table",
  { timeout: Math.max(300_000, INPUTS * 20) },
  async () => {
    const { inputs, by, worstCpuMs, worstBytes } = await fuzzBeforeLogin({ inputs: INPUTS, seed: SEED });
    expect(inputs).toBe(INPUTS);
    expect(Math.min(...Object.values(by))).toBeGreaterThan(0);
    expect([worstCpuMs > 0, worstBytes > 0]).toEqual([true, true]);
  },
);

test.runIf(onLinux)("an input over the budget is reported with the command that repeats it", async () => {
  const budget = { cpuMs: 0.001, bytes: 8 * 1024 ** 2 };
  await expect(fuzzBeforeLogin({ inputs: 10, seed: SEED, budget })).rejects.toThrow(
    /costs [\d.]+ ms .*\n.*\nrepeat with: npm run fuzz -- --requests 0 --before-login 1 --seed \d+$/s,
  );
});
