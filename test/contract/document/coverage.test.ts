import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CLIENT_OPERATIONS } from "../../../src/platform-api/coverage/client-operations.ts";
import { PUBLIC_OPERATIONS } from "../../../src/platform-api/coverage/public-operations.ts";
import { coverage } from "../../../src/platform-api/coverage.ts";
import { createDouble } from "../../support/double/double.ts";

const { operations } = coverage();
const refused = operations.filter(({ coverage: what }) => what === "refused");
/** Rows of the page by operation: status and contract test. */
const pageRows = new Map(
  readFileSync(new URL("../../../docs/reference/coverage.md", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => {
      const [operationId = "", , status, proof] = line.slice(2).split(" | ");
      return [operationId, { status, proof }] as const;
    }),
);

/** Families that are not imitated, because they need data or identities. */
const SERVICES: readonly RegExp[] = [
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
/** Their operations that are recorded: of a branch, and without data of their own. */
const RECORDED: readonly RegExp[] = [
  /\{branch_id\}\/auth(\/|$)(?!users|send_test_email)/,
  /\/data-api\//,
  /\/buckets(\/\{bucket_name\})?$/,
  /\/storage$/,
  /\/credentials(\/|$)/,
  /anonymize/,
  /\/masking_rules$/,
];
/** Imitated, although the rest of their families is not. */
const IMITATED: readonly string[] = ["getAuthDetails", "listProjectBranchFunctions"];

test("every operation is imitated, except those of families that are recorded or refused", () => {
  for (const { operation_id, path, coverage: what } of operations) {
    const isIn = (families: readonly RegExp[]) => families.some((family) => family.test(path));
    const isImitated = IMITATED.includes(operation_id) || !isIn(SERVICES);
    const expected = isImitated ? "imitated" : isIn(RECORDED) ? "recorded" : "refused";
    expect([operation_id, what]).toEqual([operation_id, expected]);
  }
});

test("40 operations are recorded, and 31 are refused", () => {
  const { imitated, recorded, refused: count } = coverage();
  expect({ imitated, recorded, refused: count }).toEqual({ imitated: 92, recorded: 40, refused: 31 });
});

test("the control API and the coverage page list the same operations with the same status", async () => {
  const double = await createDouble();
  const { body } = await double.sim("GET", "/coverage");
  expect(body).toEqual(JSON.parse(JSON.stringify(coverage())));
  expect(body.operations).toHaveLength(PUBLIC_OPERATIONS.length);
  expect(body.client_operations).toHaveLength(CLIENT_OPERATIONS.length);
  for (const { operation_id, coverage: what } of operations)
    expect([operation_id, pageRows.get(operation_id)?.status]).toEqual([operation_id, what]);
});

test("the contract test that the page names for a served operation calls it", () => {
  for (const { operation_id, coverage: status } of operations) {
    if (status === "refused") continue;
    const proof = pageRows.get(operation_id)?.proof ?? "";
    expect([operation_id, proof]).toEqual([operation_id, expect.stringMatching(/^test\/contract\//)]);
    const text = readFileSync(new URL(`../../../${proof}`, import.meta.url), "utf8");
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
