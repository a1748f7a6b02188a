import { createApp } from "../../../src/app/create-app.ts";
import { memoryStorage, openWorlds, type ServerOptions } from "../../../src/app/open-worlds.ts";
import type { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import type { HostedWorld } from "../../../src/worlds/hosted-world.ts";
import type { WorldRegistry } from "../../../src/worlds/world-registry.ts";
import type { WorldStorage } from "../../../src/worlds/world-storage.ts";
import type { ApiResponse, BodyOf, ControlCall, PlatformCall } from "../answers/api-response.ts";
import type { ControlAnswerAt } from "../answers/control-answers.ts";
import { withReason } from "../answers/with-reason.ts";
import { currentRecording } from "../scenario/scenario-recording.ts";

export const API_KEY = "k".repeat(64);
export const START = Date.parse("2026-01-01T00:00:00Z");

/** The double in this process: everything except the listening socket. */
export type Double = {
  /** The default world. */
  readonly world: HostedWorld;
  readonly worlds: WorldRegistry;
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Calls the imitated API by the path after the base URL, with the first account's key or another one. */
  readonly api: PlatformCall;
  /** Calls the control API by the path after /_sim. */
  readonly sim: ControlCall;
  /** Advances the clock by a duration such as "5m". */
  advance(by: string): Promise<ApiResponse<BodyOf<ControlAnswerAt<"POST", "/clock/advance">>>>;
  close(): Promise<void>;
};

export type DoubleOptions = ServerOptions & {
  readonly rateLimit?: boolean;
  readonly storage?: WorldStorage;
  readonly journal?: MemoryJournal;
  /** Called with each failure of the storage, and what failed because of it. */
  readonly onFailure?: (error: unknown, failure: string) => void;
};

/** A new world in memory, at 2026-01-01, on a manual clock and seed 1 unless the options say otherwise. */
export async function createDouble(options: DoubleOptions = {}): Promise<Double> {
  const bugs: unknown[] = [];
  const { journal } = options;
  const recording = currentRecording();
  recording?.doubleOpened(options as { seed?: number });
  const { world, worlds } = await openWorlds(
    options.storage ?? memoryStorage(journal && (() => journal)),
    {
      seed: 1,
      startAt: START,
      clock: { mode: "manual", factor: 0 },
      durations: "constant",
      apiKey: API_KEY,
      ...options,
    },
    options.onFailure ?? (() => undefined),
  );
  const app = createApp({
    worlds,
    version: "test",
    rateLimit: options.rateLimit ?? false,
    hosts: [],
    controlToken: undefined,
    onBug: (error) => bugs.push(error),
  });
  const call = async <Body>(
    url: string,
    method: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<ApiResponse<Body>> => {
    const isJsonBody = body !== undefined && !(body instanceof FormData);
    const init: RequestInit = {
      method,
      headers: { ...headers, ...(isJsonBody ? { "Content-Type": "application/json" } : {}) },
    };
    if (body instanceof FormData) init.body = body;
    else if (isJsonBody) init.body = typeof body === "string" ? body : JSON.stringify(body);
    const response = await app.fetch(new Request(url, init));
    const text = await response.text();
    // A fault may cause this.
    if (response.status === 500 && bugs.length > 0) throw bugs.at(-1);
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    const { status } = response;
    const parsed = isJson && text !== "" ? JSON.parse(text) : text;
    const header = (name: string) => response.headers.get(name);
    return { status, headers: response.headers, body: withReason(status, header, parsed) };
  };
  const double: Double = {
    world,
    worlds,
    fetch: (request) => app.fetch(request),
    async api(method, path, body, key = API_KEY) {
      const response = await call<never>(`http://localhost/api/v2${path}`, method, body, {
        Authorization: `Bearer ${key}`,
      });
      recording?.api({ method, path, body }, key === API_KEY ? undefined : key, response);
      return response;
    },
    async sim(method, path, body) {
      const response = await call<never>(`http://localhost/_sim${path}`, method, body, {});
      recording?.sim({ method, path, body }, response);
      return response;
    },
    advance: (by) => double.sim("POST", "/clock/advance", { by }),
    close: () => worlds.close(),
  };
  return double;
}

/** Creates a project and lets its operations finish: its ids, and the path of its first endpoint. */
export async function createProject(
  double: Pick<Double, "api" | "advance">,
  project: Record<string, unknown> = {},
  key = API_KEY,
) {
  const created = await double.api("POST", "/projects", { project }, key);
  if (created.status !== 201)
    throw new Error(`POST /projects: ${created.status} ${JSON.stringify(created.body)}`);
  await double.advance("10s");
  const projectId: string = created.body.project.id;
  const branchId: string = created.body.branch.id;
  const endpointId: string = created.body.endpoints[0].id;
  return {
    projectId,
    branchId,
    endpointId,
    path: `/projects/${projectId}/endpoints/${endpointId}` as const,
    created: created.body,
  };
}
