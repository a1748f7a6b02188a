import { onTestFinished } from "vitest";
import type { ApiResponse, ControlCall, PlatformCall } from "../answers/api-response.ts";
import type { AnsweredEvent } from "../answers/control-answers.ts";
import { type ReadyLine, type ServerProcess, serve, temporaryDirectory } from "../process/process.ts";

/** A server as its clients see it through a socket. */
export type ServerClient = {
  /**
   * Calls the imitated API by the path after the base URL, with the key that the server printed or another
   * one.
   */
  readonly api: PlatformCall;
  /** Calls the control API by the path after /_sim. */
  readonly sim: ControlCall;
};

/** `standin serve` with a client. */
export type RunningServer = ServerProcess & ServerClient;

export type StartServerOptions = {
  readonly env?: Record<string, string>;
  readonly prefix?: readonly string[];
  /** The API key to use if the server neither gets nor prints one. */
  readonly key?: string;
  readonly controlToken?: string;
  /** Default: a free one. */
  readonly port?: string;
};

/** A directory that is removed after the test. */
export function testDirectory(): string {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  return path;
}

/** Starts a server that is stopped at the end of the test at the latest. */
export async function startServer(
  data: string,
  args: readonly string[] = [],
  options: StartServerOptions = {},
): Promise<RunningServer> {
  const served = await serve(data, args, options.env, options.prefix, options.port);
  onTestFinished(async () => {
    await served.kill("SIGKILL");
  });
  return { ...served, ...serverClient(served.ready, options.key, options.controlToken) };
}

export function serverClient(
  ready: ReadyLine,
  key = ready.api_key ?? "",
  controlToken?: string,
): ServerClient {
  const control: Record<string, string> =
    controlToken === undefined ? {} : { Authorization: `Bearer ${controlToken}` };
  return {
    api: (method, path, body, otherKey = key) =>
      call(ready.api_url + path, method, body, { Authorization: `Bearer ${otherKey}` }),
    sim: (method, path, body) => call(ready.control_url + path, method, body, control),
  };
}

/**
 * One request and its answer, JSON or text. Rejects if the connection is lost before the answer is complete.
 */
async function call<Body>(
  url: string,
  method: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<ApiResponse<Body>> {
  const isJsonBody = body !== undefined && !(body instanceof FormData);
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(isJsonBody ? { "Content-Type": "application/json" } : {}) },
    ...(body instanceof FormData ? { body } : {}),
    ...(isJsonBody ? { body: typeof body === "string" ? body : JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Creates a project and lets its operations finish: its ids, and the path of its first endpoint. */
export async function createProjectOn(
  client: ServerClient,
  project: Record<string, unknown> = {},
  key?: string,
) {
  const created = await client.api("POST", "/projects", { project }, key);
  if (created.status !== 201)
    throw new Error(`POST /projects: ${created.status} ${JSON.stringify(created.body)}`);
  const projectId: string = created.body.project.id;
  const endpointId: string = created.body.endpoints[0].id;
  if ((await client.sim("GET", "/clock")).body.mode === "manual")
    await client.sim("POST", "/clock/advance", { by: "10s" });
  const waitResponse = await client.sim("POST", "/wait", {
    until: { project_id: projectId },
    timeout: "60s",
  });
  if (waitResponse.status !== 200)
    throw new Error(`POST /_sim/wait: ${waitResponse.status} ${JSON.stringify(waitResponse.body)}`);
  return {
    projectId,
    endpointId,
    branchId: created.body.branch.id as string,
    path: `/projects/${projectId}/endpoints/${endpointId}` as const,
  };
}

/** The whole journal, or all events after `since`. */
export async function journalOf(client: Pick<ServerClient, "sim">, since = 0): Promise<AnsweredEvent[]> {
  const all: AnsweredEvent[] = [];
  for (let from = since; ; ) {
    const { status, body } = await client.sim("GET", `/events?since=${from}&limit=10000`);
    if (status !== 200) throw new Error(`GET /_sim/events: ${status} ${JSON.stringify(body)}`);
    if (body.events.length === 0) return all;
    all.push(...body.events);
    from = body.next_since;
  }
}
