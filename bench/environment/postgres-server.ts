import { chmodSync, existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchEnvironment, COMMAND } from "./environment.ts";
import { createPopulatedDirectory } from "./project-fixture.ts";
import { AUTHORIZATION } from "./servers.ts";

const SUSPEND_TIMEOUT_MS = 30_000;

export type PostgresServer = {
  readonly pid: number;
  readonly apiUrl: string;
  call(method: string, path: string, body?: unknown): Promise<any>;
};
export type Compute = { readonly path: string; readonly uri: string };
/** A Postgres process of the server, which trusts its own user. */
export type RunningEngine = { readonly pid: number; readonly sockets: string };

/** `standin serve` with a port for Postgres clients, as a user starts it. Without `startDelay`, no operation takes time. */
export async function startPostgresServer(
  environment: BenchEnvironment,
  startDelay?: string,
): Promise<PostgresServer> {
  const data = await createPopulatedDirectory(environment);
  // If started by root, Postgres runs as another user, which must be able to reach its files.
  chmodSync(dirname(data), 0o711);
  const args = [
    "--port",
    "0",
    "--pg-port",
    "0",
    "--connection-uris",
    "address",
    "--json",
    // The populated world has immediate operations, which take no time whatever the delay is.
    ...(startDelay === undefined
      ? []
      : ["--operations", "timed", "--durations", "constant", "--start-delay", startDelay]),
  ];
  const child = await environment.start<{ api_url: string }>([COMMAND, "serve", "--data", data, ...args], {
    hasChannel: false,
  });
  const { api_url: apiUrl } = child.ready;
  return {
    pid: child.process.pid ?? 0,
    apiUrl,
    async call(method, path, body) {
      const response = await fetch(apiUrl + path, {
        method,
        headers: { ...AUTHORIZATION, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = await response.json();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
      return answer;
    },
  };
}

/** A project with one compute of a fixed size. */
export async function createCompute(server: PostgresServer, sizeCu: number): Promise<Compute> {
  const { project, endpoints, connection_uris } = await server.call("POST", "/projects", {
    project: {
      name: "bench",
      default_endpoint_settings: { autoscaling_limit_min_cu: sizeCu, autoscaling_limit_max_cu: sizeCu },
    },
  });
  const uri = connection_uris[0].connection_uri.replace("sslmode=require", "sslmode=disable");
  return {
    path: `/projects/${project.id}/endpoints/${endpoints[0].id}`,
    uri: uri.replace(/&channel_binding=\w+/, ""),
  };
}

/** Resolves when a suspend of the compute has ended. */
export async function awaitIdle(server: PostgresServer, path: string): Promise<void> {
  const deadline = performance.now() + SUSPEND_TIMEOUT_MS;
  while ((await server.call("GET", path)).endpoint.current_state !== "idle") {
    if (performance.now() > deadline) throw new Error(`${path}: not idle after ${SUSPEND_TIMEOUT_MS} ms`);
    await sleep(50);
  }
}

/** The only Postgres process of the server. */
export function runningEngine(serverPid: number): RunningEngine {
  const [pid] = enginePids(serverPid);
  if (pid === undefined) throw new Error("no Postgres process runs");
  const [, , , , sockets = ""] = readFileSync(`/proc/${pid}/cwd/postmaster.pid`, "utf8").split("\n");
  return { pid, sockets };
}

/** All Postgres processes of the server. */
export function enginePids(serverPid: number): number[] {
  const children = readFileSync(`/proc/${serverPid}/task/${serverPid}/children`, "utf8").trim();
  // Another child watches that none of them outlives the server.
  return children
    .split(" ")
    .filter((pid) => pid !== "" && existsSync(`/proc/${pid}/cwd/postmaster.pid`))
    .map(Number);
}

/** The share of the process in the memory that it uses, with its child processes. */
export function proportionalBytes(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return [String(pid), ...children]
    .filter((id) => id !== "")
    .reduce((sum, id) => {
      const kilobytes = /^Pss:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))?.[1];
      return sum + Number(kilobytes) * 1024;
    }, 0);
}
