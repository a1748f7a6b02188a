import type { LoadRequest } from "../load/request.ts";
import type { FixedResponse } from "../processes/bare-server.ts";
import type { BenchEnvironment } from "./environment.ts";
import { AUTHORIZATION, type Server, startCommand } from "./servers.ts";

export const API = "/api/v2";
export const COMPUTES = 20;

/** A project with 20 active computes. */
export type ProjectFixture = { readonly projectId: string; readonly endpointId: string };

export async function createProjectFixture(server: Server): Promise<ProjectFixture> {
  const { projectId, branchId, endpointId } = await createProject(server);
  for (let count = 1; count < COMPUTES; count += 1) {
    await call(server, "POST", `${API}/projects/${projectId}/endpoints`, {
      endpoint: { branch_id: branchId, type: "read_only" },
    });
  }
  return { projectId, endpointId };
}

/** A project with its primary compute. */
export async function createProject(server: Server): Promise<ProjectFixture & { readonly branchId: string }> {
  const created = await call(server, "POST", `${API}/projects`, { project: { name: "bench" } });
  return { projectId: created.project.id, branchId: created.branch.id, endpointId: created.endpoints[0].id };
}

/** A data directory with the fixture, and no server running on it. */
export async function createPopulatedDirectory(environment: BenchEnvironment): Promise<string> {
  const data = environment.directory();
  const server = await startCommand(environment, data);
  await createProjectFixture(server);
  await environment.stop(server.child);
  return data;
}

export function listEndpoints({ projectId }: ProjectFixture): LoadRequest {
  return {
    method: "GET",
    path: `${API}/projects/${projectId}/endpoints`,
    headers: AUTHORIZATION,
    expected: 200,
  };
}

export const CREATE_API_KEY: LoadRequest = {
  method: "POST",
  path: `${API}/api_keys`,
  headers: AUTHORIZATION,
  body: { key_name: "bench" },
  expected: 200,
};

/** The server's response without the headers that `node:http` sets itself. */
export async function recordResponse(
  server: Server,
  { method, path, headers, body, expected }: LoadRequest,
): Promise<FixedResponse> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    ...init,
  });
  const text = await response.text();
  if (response.status !== expected) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  const repeatedHeaders = [...response.headers].filter(
    ([name]) => !["connection", "keep-alive", "content-length", "date"].includes(name),
  );
  return { status: response.status, headers: Object.fromEntries(repeatedHeaders), body: text };
}

async function call(server: Server, method: string, path: string, body: unknown): Promise<any> {
  const response = await recordResponse(server, {
    method,
    path,
    headers: AUTHORIZATION,
    body,
    expected: 201,
  });
  return JSON.parse(response.body);
}
