import { expect, test } from "vitest";
import {
  createScene,
  expectSuccess,
  makeBusy,
  type Scene,
  UNKNOWN_IDS,
} from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import {
  expectRejected,
  type RequestDifference,
  sendExample,
} from "../../support/document/refused-request.ts";

// Public clients retry on exactly this answer.

const document = loadPublicDocument();
const BUSY = {
  status: 423,
  code: "OPERATIONS_IN_PROGRESS",
  message: "project already has running conflicting operations, scheduling of new ones is prohibited",
};

/** Operations that schedule work in an existing project. Calls that change the project itself are never locked. */
const SCHEDULING = [
  "createProjectBranch",
  "createProjectBranchAnonymized",
  "deleteProjectBranch",
  "createProjectEndpoint",
  "updateProjectEndpoint",
  "suspendProjectEndpoint",
  "restartProjectEndpoint",
  "transferProjectsFromOrgToOrg",
  "transferProjectsFromUserToOrg",
  "startProjectEndpoint",
  "restoreProjectBranch",
  "recoverProjectBranch",
  "finalizeRestoreBranch",
  "restoreSnapshot",
  "createProjectBranchRole",
  "deleteProjectBranchRole",
  "resetProjectBranchRolePassword",
  "createProjectBranchDatabase",
  "updateProjectBranchDatabase",
  "deleteProjectBranchDatabase",
];
/** A project with a running operation that locks all of it, ready for the first example of an operation. */
async function busyScene(operationId?: string): Promise<Scene> {
  const scene = await createScene({ locks: "project" });
  if (operationId !== undefined) await EXAMPLES[operationId]?.[0]?.before?.(scene);
  await makeBusy(scene);
  return scene;
}

test.each(SCHEDULING)(
  "%s answers 423 while an operation runs in the project, and succeeds when it has ended",
  async (operationId) => {
    const scene = await busyScene(operationId);
    await expectRejected(document, scene, document.operation(operationId), {}, BUSY);
    await scene.double.advance("10s");
    expect((await sendExample(scene, document.operation(operationId))).status).toBeLessThan(300);
  },
);

test("recoverProject succeeds while the project is being deleted", async () => {
  for (const locks of ["narrow", "project"] as const) {
    const scene = await createScene({ locks });
    await expectSuccess(scene.double.api("DELETE", `/projects/${scene.ids.project_id}`));
    const recover = document.operation("recoverProject");
    expect((await sendExample(scene, recover)).status).toBe(200);
    await scene.double.advance("10s");
    const { operations } = await expectSuccess(
      scene.double.api("GET", `/projects/${scene.ids.project_id}/operations`),
    );
    expect(operations.filter(({ status }: { status: string }) => /ing$/.test(status))).toEqual([]);
    expect((await sendExample(scene, document.operation("createProjectBranch"))).status).toBe(201);
  }
});

const unhindered = document.operations.filter(
  ({ operationId }) => operationId in EXAMPLES && ![...SCHEDULING, "recoverProject"].includes(operationId),
);

test.each(unhindered.map(({ operationId }) => operationId))(
  "%s succeeds while an operation runs in the project",
  async (operationId) => {
    const scene = await busyScene(operationId);
    const { status, body } = await sendExample(scene, document.operation(operationId));
    expect(status).toBeLessThan(300);
    expect(document.answerFaults(operationId, status, body)).toEqual([]);
  },
);

test("calls to another project succeed too", async () => {
  const scene = await busyScene();
  const { project_id, endpoint_id } = scene.others.ids;
  const { status } = await scene.double.api(
    "POST",
    `/projects/${project_id}/endpoints/${endpoint_id}/suspend`,
    undefined,
    scene.others.key,
  );
  expect(status).toBe(200);
});

test("on a manual clock, 423 carries a hint how to advance it", async () => {
  const scene = await busyScene();
  const { headers } = await sendExample(scene, document.operation("restartProjectEndpoint"));
  expect(headers.get("x-standin-hint")).toBe('advance {"next":true}');
  await scene.double.sim("POST", "/clock/advance", { next: true });
  expect((await sendExample(scene, document.operation("restartProjectEndpoint"))).status).toBe(200);
});

test("on a real or scaled clock, 423 carries no hint", async () => {
  const scene = await busyScene();
  // So slow that no operation ends during this test.
  await scene.double.sim("PUT", "/clock", { mode: "scaled", factor: 0.000_001 });
  const { status, headers } = await sendExample(scene, document.operation("restartProjectEndpoint"));
  expect(status).toBe(423);
  expect(headers.has("x-standin-hint")).toBe(false);
  await scene.double.close();
});

// The order of errors: 401; path; 400; resource; 409 or 422; 423.
const FIRST: readonly (readonly [string, string, (scene: Scene) => RequestDifference, number])[] = [
  ["an invalid key", "restartProjectEndpoint", () => ({ headers: { Authorization: "Bearer nobody" } }), 401],
  ["a wrong body", "updateProjectEndpoint", () => ({ body: "{" }), 400],
  [
    "an unknown endpoint",
    "restartProjectEndpoint",
    () => ({ ids: { endpoint_id: UNKNOWN_IDS.endpoint_id } }),
    404,
  ],
  [
    "a second primary",
    "createProjectEndpoint",
    ({ ids }) => ({ body: { endpoint: { branch_id: ids.branch_id, type: "read_write" } } }),
    409,
  ],
  ["a taken name", "createProjectBranch", () => ({ body: { branch: { name: "main" } } }), 409],
  [
    "a size that is none",
    "updateProjectEndpoint",
    () => ({ body: { endpoint: { autoscaling_limit_min_cu: 3.5 } } }),
    422,
  ],
  ["the deletion of a default branch", "deleteProjectBranch", ({ ids }) => ({ ids }), 422],
];

test.each(FIRST)(
  "%s gets its own error, not 423, while an operation runs",
  async (_, operationId, difference, status) => {
    const scene = await busyScene();
    await expectRejected(document, scene, document.operation(operationId), difference(scene), { status });
  },
);
