import { expect, test } from "vitest";
import { createScene, pathOf, type Scene } from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import type { DoubleOptions } from "../../support/double/double.ts";

const document = loadPublicDocument();
/** Operations that read what every scene has. */
const readings = document.operations.filter(
  ({ operationId, method }) =>
    method === "GET" && operationId in EXAMPLES && EXAMPLES[operationId]?.[0]?.before === undefined,
);

/** What the free plan does not allow, and the error codes for it. */
const PAID_ONLY: Readonly<Record<string, number>> = {
  getConsumptionHistoryPerProject: 403,
  getConsumptionHistoryPerProjectV2: 403,
  getConsumptionHistoryPerBranchV2: 403,
  getOrganizationSpendingLimit: 422,
};

/** Calls every operation that reads; returns the violations of the document. */
async function faultsOf(scene: Scene, plan: DoubleOptions["plan"]): Promise<string[]> {
  const faults: string[] = [];
  for (const operation of readings) {
    const [example] = EXAMPLES[operation.operationId] ?? [];
    const path = pathOf(operation, { ...scene.ids, ...example?.ids?.(scene) }, example?.query?.(scene));
    const { status, body } = await scene.double.api("GET", path);
    const expected = (plan === "free" ? PAID_ONLY[operation.operationId] : undefined) ?? 200;
    if (status !== expected) faults.push(`${operation.operationId} ${status}`);
    faults.push(
      ...document
        .answerFaults(operation.operationId, status, body)
        .map((fault) => `${operation.operationId} ${fault}`),
    );
  }
  return faults;
}

/** Calls that change the state of a compute. */
const STAGES: readonly (readonly [string, (scene: Scene) => readonly [string, string, unknown?]])[] = [
  [
    "at work",
    ({ ids }) => ["sim", "/activity", { endpoint_id: ids.endpoint_id, duration_ms: 1500, load: 0.2 }],
  ],
  ["renamed", (scene) => ["PATCH", endpointPath(scene), { endpoint: { name: "main" } }]],
  ["reconfigured", (scene) => ["PATCH", endpointPath(scene), { endpoint: { pooler_enabled: true } }]],
  ["restarted", (scene) => ["POST", `${endpointPath(scene)}/restart`]],
  ["disabled", (scene) => ["PATCH", endpointPath(scene), { endpoint: { disabled: true } }]],
  ["enabled", (scene) => ["PATCH", endpointPath(scene), { endpoint: { disabled: false } }]],
  ["woken", ({ ids }) => ["sim", "/activity", { endpoint_id: ids.endpoint_id }]],
  ["suspended", (scene) => ["POST", `${endpointPath(scene)}/suspend`]],
  ["started", (scene) => ["POST", `${endpointPath(scene)}/start`]],
  [
    "branched from",
    ({ ids }) => ["POST", `/projects/${ids.project_id}/branches`, { annotation_value: { a: "b" } }],
  ],
];

function endpointPath({ ids }: Scene): string {
  return `/projects/${ids.project_id}/endpoints/${ids.endpoint_id}`;
}

const WORLDS: readonly DoubleOptions[] = [
  { profile: "2024", plan: "paid" },
  { profile: "2024", plan: "free" },
  { profile: "2026", plan: "paid" },
  { profile: "2026", plan: "free" },
];

test.each(WORLDS)(
  "in a world of $profile on the $plan plan, the document agrees at each instant of a compute's life",
  async (options) => {
    const scene = await createScene(options);
    for (const [stage, step] of STAGES) {
      const [method, path, body] = step(scene);
      const response =
        method === "sim"
          ? await scene.double.sim("POST", path, body)
          : await scene.double.api(method, path, body);
      expect({ stage, status: response.status < 300, body: response.body }).toMatchObject({ status: true });
      for (let instant = 0; instant < 8; instant += 1) {
        expect({ stage, instant, faults: await faultsOf(scene, options.plan) }).toEqual({
          stage,
          instant,
          faults: [],
        });
        await scene.double.advance("700ms");
      }
    }
    await scene.double.advance("40d");
    const endpoint = (await scene.double.api("GET", endpointPath(scene))).body;
    expect(document.answerFaults("getProjectEndpoint", 200, endpoint)).toEqual([]);
    expect(endpoint.endpoint.current_state).toBe("idle");
  },
);
