import { beforeAll, expect, test } from "vitest";
import { createScene, pathOf } from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";

// If a newer document requires fields that are not served, the contract tests must fail. This tests that
// check itself.

type DocumentResponse = { readonly status: number; readonly body: unknown };

const document = loadPublicDocument();
const served = document.operations.filter(({ operationId }) => operationId in EXAMPLES);
/** Answered without a body, so no field can be missing. */
const withoutBody = served
  .filter(({ operationId }) => document.schemasOf(operationId).length === 0)
  .map(({ operationId }) => operationId);
const withBody = served.filter(({ operationId }) => !withoutBody.includes(operationId));
/** Schemas of optional properties, and of items of lists that are empty, that are never served, so no field can be missing. */
const NEVER_SERVED: readonly string[] = [
  "BranchRestrictedAction",
  "PaymentSourceBankCard",
  "PlanDetails",
  "PlanVersion",
];
const responses = new Map<string, DocumentResponse[]>();

beforeAll(async () => {
  for (const operation of withBody) {
    const ofOperation: DocumentResponse[] = [];
    for (const example of EXAMPLES[operation.operationId] ?? []) {
      const scene = await createScene();
      await example.before?.(scene);
      const path = pathOf(operation, { ...scene.ids, ...example.ids?.(scene) }, example.query?.(scene));
      ofOperation.push(await scene.double.api(operation.method, path, example.body?.(scene)));
    }
    responses.set(operation.operationId, ofOperation);
  }
}, 600_000);

/** Whether a document that requires more of this schema rejects an answer of the operation. */
function isCaught(operationId: string, schema: string): boolean {
  const newer = document.requiringMore(schema);
  return (responses.get(operationId) ?? []).some(
    ({ status, body }) => newer.answerFaults(operationId, status, body).length > 0,
  );
}

test.each(withBody.map(({ operationId }) => operationId))(
  "a field of %s that a newer document requires makes this check fail",
  (operationId) => {
    const [own = ""] = document.schemasOf(operationId);
    for (const { status, body } of responses.get(operationId) ?? [])
      expect(document.answerFaults(operationId, status, body)).toEqual([]);
    expect(isCaught(operationId, own)).toBe(true);
  },
);

test("a field of any answer that a newer document requires makes this check fail", () => {
  const schemas = new Set(withBody.flatMap(({ operationId }) => document.schemasOf(operationId)));
  const unnoticed = [...schemas].filter(
    (schema) =>
      !withBody.some(
        ({ operationId }) =>
          document.schemasOf(operationId).includes(schema) && isCaught(operationId, schema),
      ),
  );
  expect(unnoticed.sort()).toEqual(NEVER_SERVED);
}, 600_000);
