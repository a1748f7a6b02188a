import { expect, test } from "vitest";
import { fuzz } from "../fuzz/fuzz.ts";
import { fuzzReaders } from "../fuzz/readers.ts";

const SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);

test("over a socket, no request gets an unexpected 5xx, and no rejected one adds an event", async () => {
  const { requests, rejected } = await fuzz({ requests: 600, seed: SEED, budgets: false });
  expect(requests).toBe(600);
  expect(rejected).toBeLessThan(requests);
});

test("every damaged file is read or rejected, or its reading ends at Ctrl-C", async () => {
  const { files, read, rejected, interrupted } = await fuzzReaders({
    files: 12,
    seed: SEED,
    patienceMs: 60_000,
  });
  expect([files, read + rejected + interrupted]).toEqual([12, 12]);
});
