import type { AppServerOptions } from "../processes/app-server.ts";
import type { FixedResponse } from "../processes/bare-server.ts";
import type { ProcessMetrics } from "../processes/process-metrics.ts";
import type { Child } from "./child.ts";
import { type BenchEnvironment, COMMAND, MIGRATIONS } from "./environment.ts";

const API_KEY = "bench".padEnd(64, "0");
export const AUTHORIZATION = { Authorization: `Bearer ${API_KEY}` };

/** A server in a child process. */
export type Server = {
  readonly port: number;
  readonly child: Child;
  /** `collectGarbage` needs `--expose-gc`. */
  metrics(options?: { readonly collectGarbage?: boolean }): Promise<ProcessMetrics>;
};

type CommandOptions = {
  readonly nodeOptions?: readonly string[];
  /** Further options of `standin serve`. */
  readonly more?: readonly string[];
  readonly env?: Record<string, string>;
};

/** The bundled `standin serve`, which also reports its memory and CPU time over IPC. */
export async function startCommand(
  environment: BenchEnvironment,
  data: string,
  { nodeOptions = [], more = [], env = {} }: CommandOptions = {},
): Promise<Server> {
  const args = ["serve", "--data", data, "--port", "0", "--operations", "immediate", "--json", ...more];
  const metrics = ["--import", environment.script("process-metrics")];
  const child = await environment.start<{ api_url: string }>([...nodeOptions, ...metrics, COMMAND, ...args], {
    env: { STANDIN_API_KEY: API_KEY, ...env },
  });
  return serverOf(child, Number(new URL(child.ready.api_url).port));
}

export async function startAppServer(
  environment: BenchEnvironment,
  kind: "sqlite" | "none",
  serial = false,
): Promise<Server> {
  const journal =
    kind === "none" ? { kind } : { kind, data: environment.directory(), migrations: MIGRATIONS };
  const options: AppServerOptions = { journal, serial, apiKey: API_KEY };
  return startProcess(environment, "app-server", options);
}

/** Bare `node:http` that always sends this response. */
export async function startBare(environment: BenchEnvironment, response: FixedResponse): Promise<Server> {
  return startProcess(environment, "bare-server", response);
}

async function startProcess(environment: BenchEnvironment, name: string, input: unknown): Promise<Server> {
  const child = await environment.start<{ port: number }>([environment.script(name), JSON.stringify(input)]);
  return serverOf(child, child.ready.port);
}

function serverOf(child: Child, port: number): Server {
  return {
    port,
    child,
    metrics: ({ collectGarbage = false } = {}) =>
      child.request<ProcessMetrics>("metrics", { collectGarbage }),
  };
}
