import type { Double } from "./double.ts";

/** The path of a compute, below the base URL. */
export type EndpointPath = `/projects/${string}/endpoints/${string}` | "";
type Fields = Readonly<Record<string, unknown>>;

/** Records one activity of a compute; returns its outcome. */
export async function recordActivity(double: Double, endpointId: string, fields: Fields = {}) {
  const { status, body } = await double.sim("POST", "/activity", { endpoint_id: endpointId, ...fields });
  if (status !== 200) throw new Error(`POST /_sim/activity: ${status} ${JSON.stringify(body)}`);
  return body.activities[0];
}

export async function endpointAt(double: Double, path: EndpointPath) {
  return (await double.api("GET", path)).body.endpoint;
}

export async function computeState(double: Double, path: EndpointPath): Promise<string> {
  return (await endpointAt(double, path)).current_state;
}

export async function computeStats(double: Double, endpointId: string) {
  return (await double.sim("GET", `/endpoints/${endpointId}/stats`)).body;
}

/** Changes a compute and lets its operations finish. */
export async function updateCompute(double: Double, path: EndpointPath, endpoint: Fields) {
  const response = await double.api("PATCH", path, { endpoint });
  if (response.status !== 200)
    throw new Error(`PATCH ${path}: ${response.status} ${JSON.stringify(response.body)}`);
  await double.advance("10s");
  return response.body;
}

/** Suspends an active compute and lets the operation finish. */
export async function suspendCompute(double: Double, path: EndpointPath): Promise<void> {
  const response = await double.api("POST", `${path}/suspend`);
  if (response.status !== 200)
    throw new Error(`POST ${path}/suspend: ${response.status} ${JSON.stringify(response.body)}`);
  await double.advance("10s");
}

/** Creates another branch of a project with these computes and lets the operations finish. */
export async function createBranch(
  double: Double,
  projectId: string,
  computes: readonly Fields[] = [],
  branch: Fields = {},
) {
  const created = await double.api("POST", `/projects/${projectId}/branches`, {
    branch,
    endpoints: computes,
  });
  if (created.status !== 201)
    throw new Error(`POST branches: ${created.status} ${JSON.stringify(created.body)}`);
  await double.advance("10s");
  const branchId: string = created.body.branch.id;
  const endpointIds: string[] = created.body.endpoints.map((endpoint: { id: string }) => endpoint.id);
  return {
    branchId,
    endpointIds,
    paths: endpointIds.map((id): EndpointPath => `/projects/${projectId}/endpoints/${id}`),
  };
}

/** `action status` of each operation in an answer. */
export function describeOperations(body: {
  readonly operations: readonly { readonly action: string; readonly status: string }[];
}): string[] {
  return body.operations.map(({ action, status }) => `${action} ${status}`);
}

/** The project's operations, newest first, as `action status`. */
export async function operationsOf(double: Double, projectId: string): Promise<string[]> {
  return describeOperations((await double.api("GET", `/projects/${projectId}/operations`)).body);
}

/** A second account and its key. */
export async function createAccount(
  double: Double,
  fields: Fields = {},
): Promise<{ accountId: string; key: string; keyId: number }> {
  const { status, body } = await double.sim("POST", "/accounts", { name: "another", ...fields });
  if (status !== 201) throw new Error(`POST /_sim/accounts: ${status} ${JSON.stringify(body)}`);
  return { accountId: body.account.id, key: body.api_key.key, keyId: body.api_key.id };
}

/** The whole durable world as text, to check that a request changed nothing. */
export async function worldState(double: Double): Promise<string> {
  return JSON.stringify((await double.sim("GET", "/state")).body);
}
