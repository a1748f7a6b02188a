import { expect, test } from "vitest";
import { partsFor } from "../../../../src/cli/whatif/databases/duckdb-runner.ts";

const GIB = 1024 ** 3;

test.each([
  [0, 4 * GIB, 1],
  [48_000_000, 4 * GIB, 1],
  [48_000_001, 4 * GIB, 2],
  [1_000_000_000, 4 * GIB, 21],
  [1_000_000_000, 64 * GIB, 2],
  [3_000_000, GIB / 4, 1],
])("%d requests in %d bytes of memory are sorted in %d parts", (rows, memory, parts) => {
  expect(partsFor(rows, memory)).toBe(parts);
});
