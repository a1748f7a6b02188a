import { expect, test } from "vitest";
import type { ApiResponse } from "../../support/answers/api-response.ts";
import { PROVIDER_FLOW, type ProviderIds, type ProviderStep } from "../../support/clients/provider-flow.ts";
import { operationFinder } from "../../support/document/public-client.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { wrongFields } from "../../support/document/published-fields.ts";
import { createDouble, type Double, type DoubleOptions } from "../../support/double/double.ts";

// C: the provider tries again after 423, every second and at most 120 times, and polls the operations of
// every response until they are neither scheduling nor running.

const document = loadPublicDocument();
const operationOf = operationFinder(document);
const ATTEMPTS = 120;
const POLLS = 600;

/** Executes a step as the provider does; returns what is wrong with the response. */
async function execute(double: Double, step: ProviderStep, ids: ProviderIds): Promise<readonly string[]> {
  const [method, pathOf] = step.request;
  const path = pathOf(ids);
  const response = await callWithRetries(double, method, path, step.body?.(ids));
  const place = `${step.action} ${step.resource}: ${method} ${path}`;
  if (response.status > 299) return [`${place}: ${response.status} ${JSON.stringify(response.body)}`];
  const operationId = operationOf(method, path.split("?")[0] ?? "") ?? "unknown";
  const faults = [
    ...document.answerFaults(operationId, response.status, response.body),
    ...Object.entries(step.reads).flatMap(([name, types]) =>
      objectsAt(response.body, name).flatMap((object) => wrongFields(name, object, types)),
    ),
  ];
  if (step.keeps !== undefined) ids[step.keeps[0]] = step.keeps[1](response.body);
  for (const { id } of response.body.operations ?? []) await waitForOperation(double, ids.project, id);
  return faults.map((fault) => `${place}: ${fault}`);
}

async function callWithRetries(
  double: Double,
  method: string,
  path: string,
  body: unknown,
): Promise<ApiResponse> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await double.api(method, path, body);
    if (response.status !== 423 || attempt === ATTEMPTS) return response;
    await double.advance("1s");
  }
}

async function waitForOperation(double: Double, projectId: string, id: string): Promise<void> {
  for (let poll = 0; poll < POLLS; poll += 1) {
    const { status, body } = await double.api("GET", `/projects/${projectId}/operations/${id}`);
    expect(status).toBe(200);
    if (!["scheduling", "running"].includes(body.operation.status)) return;
    await double.advance("100ms");
  }
  throw new Error(`operation ${id} does not end`);
}

/** The object under a name, or the items of a list under `name[]`. `undefined` is an object that is absent. */
function objectsAt(body: object, name: string): readonly unknown[] {
  if (name === "") return [body];
  if (!name.endsWith("[]")) return [(body as Record<string, unknown>)[name]];
  const items = (body as Record<string, unknown>)[name.slice(0, -2)];
  return Array.isArray(items) && items.length > 0 ? items : [undefined];
}

const newIds = (): ProviderIds => ({ project: "", mainBranch: "", branch: "", endpoint: "" });

const WORLDS: readonly DoubleOptions[] = [
  { profile: "2024", locks: "narrow" },
  { profile: "2024", locks: "project" },
  { profile: "2026", locks: "narrow" },
  { profile: "2026", operations: "immediate" },
];

test.each(WORLDS)(
  "in a world with %o, the Terraform provider finds every field that it reads",
  async (options) => {
    const double = await createDouble(options);
    const ids = newIds();
    const faults: string[] = [];
    for (const step of PROVIDER_FLOW) faults.push(...(await execute(double, step, ids)));
    expect(faults).toEqual([]);
    expect((await double.api("GET", "/projects")).body.projects).toEqual([]);
  },
);

test("without waiting, what the provider sends next succeeds after its retries", async () => {
  const double = await createDouble();
  const ids = newIds();
  for (const step of PROVIDER_FLOW) {
    const [method, pathOf] = step.request;
    const response = await callWithRetries(double, method, pathOf(ids), step.body?.(ids));
    expect([method, pathOf(ids), response.status]).toEqual([
      method,
      pathOf(ids),
      method === "POST" ? 201 : 200,
    ]);
    if (step.keeps !== undefined) ids[step.keeps[0]] = step.keeps[1](response.body);
  }
});

test("every resource is created, read, imported, updated and deleted, except that roles have no update", () => {
  const actions = new Map<string, Set<string>>();
  for (const { resource, action } of PROVIDER_FLOW)
    actions.set(resource, (actions.get(resource) ?? new Set()).add(action));
  const all = ["create", "delete", "import", "read", "update"];
  expect(Object.fromEntries([...actions].map(([resource, set]) => [resource, [...set].sort()]))).toEqual({
    project: all,
    branch: all,
    endpoint: all,
    role: all.filter((action) => action !== "update"),
    database: all,
  });
});
