import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { coverage } from "../../src/api/coverage/coverage.ts";
import { PUBLIC_OPERATIONS } from "../../src/api/coverage/public-operations.ts";
import { createDouble } from "../support/double.ts";

const { operations } = coverage();
const refused = operations.filter((operation) => operation.coverage === "refused");

/** Families that a control plane without data and identities of its own does not imitate; everything else is served. */
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

test("what is refused is of a family that is outside, and nothing of those is served", () => {
  for (const { operation_id, path, coverage: what } of operations) {
    const isOutside = operation_id !== "getAuthDetails" && OUTSIDE.some((family) => family.test(path));
    expect([operation_id, what]).toEqual([operation_id, isOutside ? "refused" : "served"]);
  }
});

test("the control API and the coverage page agree", async () => {
  const double = await createDouble();
  const told = (await double.sim("GET", "/coverage")).body;
  expect(told).toEqual(JSON.parse(JSON.stringify(coverage())));
  expect(told.operations).toHaveLength(PUBLIC_OPERATIONS.length);
  const page = readFileSync(new URL("../../docs/reference/coverage.md", import.meta.url), "utf8");
  for (const { operation_id, coverage: what, test: proof } of operations) {
    const [, , shown, shownProof] = (
      page.split("\n").find((line) => line.startsWith(`| ${operation_id} |`)) ?? ""
    ).split(" | ");
    expect([operation_id, shown, shownProof]).toEqual([
      operation_id,
      what === "served" ? "served" : "not imitated (501)",
      proof ?? "",
    ]);
  }
});

test("every served operation has a contract test, and that test calls it", () => {
  for (const { operation_id, coverage: what, test: proof } of operations) {
    if (what === "refused") continue;
    expect([operation_id, proof]).toEqual([operation_id, expect.any(String)]);
    const text = readFileSync(new URL(`../../${proof}`, import.meta.url), "utf8");
    expect(text).toMatch(new RegExp(`\\.${operation_id}\\(`, "i"));
  }
});

describe("what is not imitated says so", () => {
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
