import { describe, expect, test } from "vitest";
import { PUBLIC_OPERATIONS } from "../../../src/platform-api/coverage/public-operations.ts";
import { createScene, pathOf, send, UNKNOWN_IDS } from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { API_KEY, createDouble } from "../../support/double/double.ts";

const document = loadPublicDocument();
/** S: status codes of creations. The document answers the creation of a key with 200. */
const CREATING: readonly string[] = [
  "createProject",
  "createProjectBranch",
  "createProjectBranchRole",
  "createProjectBranchDatabase",
  "createProjectEndpoint",
  "addProjectJWKS",
  "createProjectTransferRequest",
  "createProjectBranchAnonymized",
  "createNeonAuth",
  "createProjectBranchDataAPI",
  // S: an update that the document answers like a creation.
  "updateProjectBranchDataAPI",
  "createProjectBranchBucket",
  "createCredential",
  "createNeonAuthIntegration",
  "createNeonAuthProviderSDKKeys",
  "createNeonAuthNewUser",
  "createBranchNeonAuthNewUser",
  "createProjectBranchFunctionDeployment",
];
/** S: answered while its operations may still run. */
const ACCEPTING: readonly string[] = ["deleteSnapshot"];
/** S: answered without a body. */
const WITHOUT_BODY: Readonly<Record<string, number>> = {
  acceptProjectTransferRequest: 204,
  assignProjectVPCEndpoint: 200,
  deleteProjectVPCEndpoint: 200,
  assignOrganizationVPCEndpoint: 200,
  deleteOrganizationVPCEndpoint: 200,
  disableNeonAuth: 200,
  addBranchNeonAuthTrustedDomain: 201,
  deleteBranchNeonAuthTrustedDomain: 200,
  deleteBranchNeonAuthOauthProvider: 200,
  deleteProjectBranchBucket: 204,
  revokeCredential: 204,
  deleteBranchNeonAuthUser: 204,
  deleteNeonAuthUser: 204,
  deleteNeonAuthIntegration: 200,
  addNeonAuthDomainToRedirectURIWhitelist: 201,
  deleteNeonAuthDomainFromRedirectURIWhitelist: 200,
  deleteNeonAuthOauthProvider: 200,
  deleteProjectBranchFunction: 204,
  deleteProjectBranchBucketObject: 204,
};
/** S: answered with bytes instead of JSON. */
const WITH_BYTES: readonly string[] = ["getProjectBranchBucketObject"];
const mediaTypeOf = (operationId: string) =>
  WITH_BYTES.includes(operationId) ? "application/octet-stream" : "application/json";
const AUTHORIZED = { Authorization: `Bearer ${API_KEY}` };

function statusOf(operationId: string): number {
  if (CREATING.includes(operationId)) return 201;
  return WITHOUT_BODY[operationId] ?? (ACCEPTING.includes(operationId) ? 202 : 200);
}

const served = document.operations.filter(({ operationId }) => operationId in EXAMPLES);
const notServed = document.operations.filter(({ operationId }) => !(operationId in EXAMPLES));

test("the list of operations equals that of the public document", () => {
  const inOrder = (operations: readonly { readonly operationId: string }[]) =>
    [...operations].sort((a, b) => (a.operationId < b.operationId ? -1 : 1));
  expect(inOrder(PUBLIC_OPERATIONS)).toEqual(inOrder(document.operations));
});

test("every served operation has an example, and every example a served operation", async () => {
  const double = await createDouble();
  const responding = [];
  for (const operation of document.operations) {
    const { status } = await send(double, operation.method, pathOf(operation, UNKNOWN_IDS), {
      headers: AUTHORIZED,
    });
    if (status !== 501) responding.push(operation.operationId);
  }
  expect(responding.sort()).toEqual(Object.keys(EXAMPLES).sort());
});

describe.each(["timed", "immediate"] as const)(
  "with %s operations, the document agrees with",
  (operations) => {
    for (const operation of served) {
      const { operationId, method } = operation;
      for (const example of EXAMPLES[operationId] ?? []) {
        test(`${operationId}${example.title === undefined ? "" : `, ${example.title}`}`, async () => {
          const scene = await createScene({ operations });
          await example.before?.(scene);
          const path = pathOf(operation, { ...scene.ids, ...example.ids?.(scene) }, example.query?.(scene));
          const body = example.body?.(scene);
          const response = await scene.double.api(method, path, body);
          expect({
            status: response.status,
            faults: document.answerFaults(operationId, response.status, response.body),
          }).toEqual({
            status: statusOf(operationId),
            faults: [],
          });
          expect(response.headers.get("content-type")).toBe(
            operationId in WITHOUT_BODY ? null : mediaTypeOf(operationId),
          );
          expect(response.headers.get("x-request-id")).toMatch(/^\S+$/);
          if (body !== undefined && !(body instanceof FormData))
            expect(document.requestFaults(operationId, body)).toEqual([]);
          expect((await scene.double.sim("GET", "/invariants")).body).toMatchObject({
            ok: true,
            violations: [],
          });
        });
      }
    }
  },
);

test("an operation that is not served answers 501, with its name and what there is instead", async () => {
  const { double, ids } = await createScene();
  expect(notServed.map(({ operationId }) => operationId)).toEqual([
    "getProjectAdvisorSecurityIssues",
    "transferNeonAuthProviderProject",
    "getProjectBranchAiGateway",
  ]);
  for (const operation of notServed) {
    const { operationId, method } = operation;
    const { status, body } = await send(double, method, pathOf(operation, ids), { headers: AUTHORIZED });
    expect({ operationId, status, faults: document.answerFaults(operationId, status, body) }).toEqual({
      operationId,
      status: 501,
      faults: [],
    });
    expect(body).toMatchObject({
      code: "NOT_IMITATED",
      message: expect.stringMatching(new RegExp(`^${operationId} \\(.* is not imitated`)),
    });
    expect(body.message).toContain("GET /_sim/coverage");
    expect(body.message.length).toBeLessThan(240);
  }
});

test("a caller without a valid key gets 401 for an operation that is not served", async () => {
  const { double, ids, revokedKey } = await createScene();
  for (const operation of notServed) {
    for (const headers of [
      {},
      { Authorization: "Bearer nobody" },
      { Authorization: `Bearer ${revokedKey}` },
    ]) {
      const { status, body } = await send(double, operation.method, pathOf(operation, ids), { headers });
      expect({ status, faults: document.answerFaults(operation.operationId, status, body) }).toEqual({
        status: 401,
        faults: [],
      });
      expect(body.message).not.toContain(operation.operationId);
    }
  }
});
