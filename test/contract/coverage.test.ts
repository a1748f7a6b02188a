import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CLIENT_OPERATIONS } from "../../src/api/coverage/client-operations.ts";
import { coverage } from "../../src/api/coverage/coverage.ts";
import { PUBLIC_OPERATIONS } from "../../src/api/coverage/public-operations.ts";
import { createDouble } from "../support/double.ts";

const { operations } = coverage();
const refused = operations.filter(({ status }) => status === 501);
/** Rows of the page by operation: status and contract test. */
const pageRows = new Map(
  readFileSync(new URL("../../docs/reference/coverage.md", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => {
      const [operationId = "", , status, proof] = line.slice(2).split(" | ");
      return [operationId, { status, proof }] as const;
    }),
);

/** Families that are not imitated, because they need data or identities; everything else is served. */
const OUTSIDE: readonly RegExp[] = [
  /\/auth(\/|$)/,
  /\/advisors$/,
  /\/data-api\//,
  /\/buckets(\/|$)/,
  /\/storage$/,
  /\/ai_gateway$/,
  /\/credentials(\/|$)/,
  /\/functions(\/|$)/,
  /anonymize/,
  /\/masking_rules$/,
];

/** Lists of these families, which are empty. */
const EMPTY: readonly string[] = [
  "listProjectBranchBuckets",
  "listProjectBranchFunctions",
  "listCredentials",
];

test("every operation is served, except those of families that are not imitated", () => {
  for (const { operation_id, path, coverage: what } of operations) {
    const isOutside =
      operation_id !== "getAuthDetails" &&
      !EMPTY.includes(operation_id) &&
      OUTSIDE.some((family) => family.test(path));
    expect([operation_id, what]).toEqual([operation_id, isOutside ? "refused" : "served"]);
  }
});

test("the control API and the coverage page list the same operations with the same status", async () => {
  const double = await createDouble();
  const { body } = await double.sim("GET", "/coverage");
  expect(body).toEqual(JSON.parse(JSON.stringify(coverage())));
  expect(body.operations).toHaveLength(PUBLIC_OPERATIONS.length);
  expect(body.client_operations).toHaveLength(CLIENT_OPERATIONS.length);
  for (const { operation_id, status = 200 } of operations)
    expect([operation_id, pageRows.get(operation_id)?.status]).toEqual([
      operation_id,
      { 200: "served", 404: "not enabled (404)", 501: "not imitated (501)" }[status],
    ]);
});

test("the contract test that the page names for a served operation calls it", () => {
  for (const { operation_id, coverage: status } of operations) {
    if (status === "refused") continue;
    const proof = pageRows.get(operation_id)?.proof ?? "";
    expect([operation_id, proof]).toEqual([operation_id, expect.stringMatching(/^test\/contract\//)]);
    const text = readFileSync(new URL(`../../${proof}`, import.meta.url), "utf8");
    expect(text).toMatch(new RegExp(`\\.${operation_id}\\(`, "i"));
  }
});

describe("an operation that is not imitated answers 501 and names itself", () => {
  test.each(refused.map(({ operation_id, method, path }) => [operation_id, method, path]))(
    "%s",
    async (operationId, method, path) => {
      const double = await createDouble();
      const { status, body } = await double.api(method as "GET", path.replaceAll(/\{\w+\}/g, "a"));
      expect(status).toBe(501);
      expect(body).toMatchObject({ code: "NOT_IMITATED", request_id: expect.any(String) });
      expect(body.message).toContain(operationId);
    },
  );
});
