import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CLIENT_OPERATIONS } from "../../../src/platform-api/coverage/client-operations.ts";
import { PUBLIC_OPERATIONS } from "../../../src/platform-api/coverage/public-operations.ts";
import { REASONS } from "../../../src/platform-api/coverage/refusal-reasons.ts";
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

/** Families of services, which are recorded: nothing acts on what is stored. */
const SERVICES: readonly RegExp[] = [
  /\/auth(\/|$)/,
  /\/data-api\//,
  /\/buckets(\/|$)/,
  /\/storage$/,
  /\/credentials(\/|$)/,
  /\/functions(\/|$)/,
  /anonymize/,
  /\/masking_rules$/,
];
/** Imitated, although the rest of their families is not: objects are stored and returned. */
const IMITATED: readonly RegExp[] = [/^\/auth$/, /\/objects(-by-prefix)?(\/|$)/];

test("every operation is imitated, except those of services, and those that are refused for a reason", () => {
  for (const { operation_id, path, coverage: what } of operations) {
    const isIn = (families: readonly RegExp[]) => families.some((family) => family.test(path));
    const served = isIn(IMITATED) || !isIn(SERVICES) ? "imitated" : "recorded";
    expect([operation_id, what]).toEqual([operation_id, operation_id in REASONS ? "refused" : served]);
  }
});

test("every refused operation has a reason, and no other one", () => {
  const all = [...operations, ...coverage().client_operations];
  const names = all
    .filter(({ coverage: what }) => what === "refused")
    .map(({ operation_id }) => operation_id);
  expect(Object.keys(REASONS).sort()).toEqual(names.sort());
});

test("at most 12 operations are refused, those of newer clients included", () => {
  const { imitated, recorded, refused: count } = coverage();
  expect({ imitated, recorded, refused: count }).toEqual({ imitated: 96, recorded: 64, refused: 3 });
  expect(Object.keys(REASONS).length).toBeLessThanOrEqual(12);
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
