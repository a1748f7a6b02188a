import { expect, test } from "vitest";
import { recordedRequests } from "../../../../src/cli/recorded-past/recorded-requests.ts";
import { SECOND } from "../../../../src/kernel/time.ts";
import { computePast, type OperationRow, T0 } from "../../../support/account/compute-past.ts";

/** The requests, each with its arrival and its end in seconds since T0. */
function requests(rows: readonly OperationRow[]): readonly (readonly [number, number])[] {
  return [...recordedRequests(computePast(rows), 300)].map(({ at, duration_ms }) => {
    const atS = (Date.parse(at) - T0) / SECOND;
    return [atS, atS + duration_ms / SECOND];
  });
}

test("a period has a request at its start, and one that ends one delay before its suspend", () => {
  const rows: OperationRow[] = [
    ["start_compute", 10, 500],
    ["suspend_compute", 1_000],
    ["start_compute", 2_000, 500],
    ["suspend_compute", 2_900],
  ];
  expect(requests(rows)).toEqual([
    [10, 10],
    [40, 700],
    [2_000, 2_000],
    [2_030, 2_600],
  ]);
});

test("the second request comes at once if the use ends within 30 s", () => {
  expect(
    requests([
      ["start_compute", 10, 500],
      ["suspend_compute", 339],
    ]),
  ).toEqual([
    [10, 10],
    [39, 39],
  ]);
});

test("a period without use after its start has one request", () => {
  expect(
    requests([
      ["start_compute", 0, 500],
      ["suspend_compute", 300],
    ]),
  ).toEqual([[0, 0]]);
});

test("neither a failed start nor the start of a restart has a request", () => {
  expect(requests([["start_compute", 0, 500, "failed"]])).toEqual([]);
  const restart: OperationRow[] = [
    ["start_compute", 0],
    ["suspend_compute", 100, 200],
    ["start_compute", 100, 700],
    ["suspend_compute", 400],
  ];
  expect(requests(restart)).toEqual([[0, 0]]);
});
