import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { LoadRequest } from "../load/request.ts";
import { COMMAND } from "./environment.ts";
import { API, COMPUTES } from "./project-fixture.ts";
import { residentBytes } from "./resident-set.ts";
import { AUTHORIZATION } from "./servers.ts";

const START_TIMEOUT_MS = 60_000;
const POLL_EVERY_MS = 5;

const require = createRequire(import.meta.url);

/** A local server that stands in for an API. */
export type Peer = {
  readonly name: string;
  /** The arguments of `node`. */
  readonly args: (port: number, data: string) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answered with 200 as soon as the server is ready. */
  readonly probe: LoadRequest;
  /** Prepares 20 objects, and returns the request that lists them. */
  readonly fill: (port: number) => Promise<LoadRequest>;
};

/** A running server, and what its start has cost. */
export type RunningPeer = {
  readonly port: number;
  readonly list: LoadRequest;
  readonly firstResponseMs: number;
  /** After the first response. */
  readonly residentBytes: number;
  readonly stop: () => Promise<void>;
};

export const STANDIN: Peer = {
  name: "standin",
  args: (port, data) => [
    ...[COMMAND, "serve", "--data", data, "--port", String(port), "--pg-port", "none"],
    ...["--operations", "immediate", "--json"],
  ],
  env: { STANDIN_API_KEY: AUTHORIZATION.Authorization.slice("Bearer ".length) },
  probe: get(`${API}/projects`, AUTHORIZATION),
  async fill(port) {
    const { project, branch } = await post(port, `${API}/projects`, AUTHORIZATION, { project: {} });
    for (let count = 1; count < COMPUTES; count += 1)
      await post(port, `${API}/projects/${project.id}/endpoints`, AUTHORIZATION, {
        endpoint: { branch_id: branch.id, type: "read_only" },
      });
    return get(`${API}/projects/${project.id}/endpoints`, AUTHORIZATION);
  },
};

const EMULATE_TOKEN = { Authorization: "Bearer test_token_admin" };

/** The other servers that are installed. None of them imitates this platform's behavior. */
export function installedPeers(missing: (hint: string) => void): Peer[] {
  const peers: Peer[] = [];
  const emulate = fileOf("emulate", "dist/index.js");
  const prism = fileOf("@stoplight/prism-cli", "dist/index.js");
  const document = fileOf("@neondatabase/api-client", "public-v2-for-users.gen.yaml");
  if (emulate === undefined || prism === undefined)
    missing("npm install --no-save emulate@0.11.2 @stoplight/prism-cli@5.14.2");
  if (emulate !== undefined)
    peers.push({
      name: "emulate",
      args: (port) => [emulate, "--service", "vercel", "--port", String(port)],
      probe: get("/v10/projects", EMULATE_TOKEN),
      async fill(port) {
        for (let count = 0; count < COMPUTES; count += 1)
          await post(port, "/v11/projects", EMULATE_TOKEN, { name: `bench-${count}` });
        return get("/v10/projects", EMULATE_TOKEN);
      },
    });
  if (prism !== undefined && document !== undefined)
    peers.push({
      name: "Prism",
      args: (port) => [prism, "mock", "--port", String(port), document],
      probe: get("/projects", AUTHORIZATION),
      // It repeats the example of the document.
      fill: async () => get("/projects/bench/endpoints", AUTHORIZATION),
    });
  return peers;
}

export async function startPeer(peer: Peer, data: string): Promise<RunningPeer> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, peer.args(port, data), {
    stdio: "ignore",
    env: { ...process.env, ...peer.env },
  });
  const stop = () => stopProcess(child);
  try {
    while (!(await isReady(port, peer.probe))) {
      if (child.exitCode !== null || performance.now() - startedAt > START_TIMEOUT_MS)
        throw new Error(`${peer.name} did not start`);
      await delay(POLL_EVERY_MS);
    }
    const firstResponseMs = performance.now() - startedAt;
    const resident = residentBytes(child.pid ?? 0);
    return { port, list: await peer.fill(port), firstResponseMs, residentBytes: resident, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function isReady(port: number, { path, headers = {} }: LoadRequest): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

function get(path: string, headers: Readonly<Record<string, string>>): LoadRequest {
  return { method: "GET", path, headers, expected: 200 };
}

async function post(port: number, path: string, headers: Readonly<Record<string, string>>, body: object) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { readonly project: { id: string }; readonly branch: { id: string } };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

/** The path of a file of an installed package, which need not be one of its exports. */
function fileOf(packageName: string, file: string): string | undefined {
  const directories = require.resolve.paths(packageName) ?? [];
  return directories.map((directory) => join(directory, packageName, file)).find((path) => existsSync(path));
}
