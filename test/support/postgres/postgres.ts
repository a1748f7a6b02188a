import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, onTestFinished } from "vitest";
import { serve, temporaryDirectory } from "../process/process.ts";
import { createProjectOn, type RunningServer, serverClient } from "../server/running-server.ts";

/** Arguments of a server on which a project may have a version that is not installed. */
export const NEAREST_VERSION = ["--engine-version", "nearest"] as const;

/** A server with a Postgres port. `end` stops it and removes its files. */
export type PostgresServer = RunningServer & {
  readonly data: string;
  readonly pgPort: number;
  readonly authority: string;
  end(): Promise<void>;
};

/** With `--engine-bin`, its version runs for projects of all versions, unless `args` has another rule. */
export async function startPostgresServer(
  args: readonly string[] = ["--operations", "immediate"],
  stoppedServersData?: string,
  pgPort = 0,
  env: Record<string, string> = {},
): Promise<PostgresServer> {
  const created = stoppedServersData === undefined ? temporaryDirectory() : undefined;
  const data = created?.path ?? stoppedServersData ?? "";
  const hasOneEngine = args.includes("--engine-bin") && !args.includes("--engine-version");
  const rule = hasOneEngine ? NEAREST_VERSION : [];
  const options = ["--pg-port", String(pgPort), "--connection-uris", "address", ...rule, ...args];
  const served = await serve(data, options, env);
  const { postgres_url: url } = served.ready as unknown as { postgres_url: string };
  return {
    ...served,
    ...serverClient(served.ready),
    data,
    pgPort: Number(new URL(url).port),
    authority: join(data, "tls", "ca.pem"),
    async end() {
      await served.kill("SIGTERM");
      created?.remove();
    },
  };
}

/** A server for all tests of a file. It ends after them. */
export async function serverForTests(args?: readonly string[]): Promise<PostgresServer> {
  const server = await startPostgresServer(args);
  afterAll(() => server.end());
  return server;
}

export type TestBranch = Awaited<ReturnType<typeof createProjectOn>> & {
  readonly uri: string;
  readonly host: string;
  readonly password: string;
};

/** A project with one compute, and the connection URI that the API returns. */
export async function createBranch(
  server: PostgresServer,
  project: Record<string, unknown> = {},
): Promise<TestBranch> {
  const ids = await createProjectOn(server, project);
  const query = `branch_id=${ids.branchId}&database_name=neondb&role_name=neondb_owner`;
  const { body } = await server.api("GET", `/projects/${ids.projectId}/connection_uri?${query}`);
  const endpoint = await server.api("GET", ids.path);
  return {
    ...ids,
    uri: body.uri,
    host: endpoint.body.endpoint.host,
    password: decodeURIComponent(new URL(body.uri).password),
  };
}

/** The state of a compute: `idle`, `init` or `active`. */
export async function stateOf(server: PostgresServer, { path }: { readonly path: string }): Promise<string> {
  return (await server.api("GET", path)).body.endpoint.current_state;
}

/** On a manual clock, lets a compute be idle for longer than its autosuspend delay. */
export async function letSuspend(server: PostgresServer, compute: { readonly path: string }): Promise<void> {
  await server.sim("POST", "/clock/advance", { by: "10m" });
  const state = await stateOf(server, compute);
  if (state !== "idle") throw new Error(`the compute is ${state} after 10 minutes without work`);
}

/** A client that is closed after the test. The certificate is checked in tests of its own. */
export function connect(uri: string, parameters: Record<string, string> = {}): Promise<pg.Client> {
  return connectTo(withoutVerification(uri, parameters).connectionString);
}

/** Like `connect`, with the URI as it is. */
export async function connectTo(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

/** The URI for `pg`, which by itself verifies the certificate with `sslmode=require`. */
export function withoutVerification(uri: string, parameters: Record<string, string> = {}) {
  const url = new URL(uri);
  url.searchParams.set("sslmode", "no-verify");
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { connectionString: url.href };
}

/** With `required`, a missing program of Postgres fails the tests that need it instead of skipping them. */
const areProgramsRequired = process.env["STANDIN_TEST_PROGRAMS"] === "required";

/** Whether a test must be skipped because a program of Postgres is not installed. */
export function isMissing(program: "psql" | "pg_dump" | "pg_restore" | "pgbench"): boolean {
  if (areProgramsRequired || majorVersionOf(program) !== undefined) return false;
  process.stderr.write(`${program} is not installed, so tests with it are skipped\n`);
  return true;
}

/** `undefined` if the program is not installed. */
export function majorVersionOf(program: string): number | undefined {
  try {
    return Number(/\d+/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[0]);
  } catch {
    return undefined;
  }
}

/** Runs a program of Postgres until it exits. */
export function runProgram(
  program: string,
  args: readonly string[],
  input = "",
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, PGCONNECT_TIMEOUT: "60" } });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

/** The process of the only Postgres server of a data directory, and the directory of its socket. */
export function runningPostgres(data: string): { readonly pid: number; readonly socketDirectory: string } {
  const volumes = join(data, "volumes");
  const [file] = readdirSync(volumes, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("postmaster.pid"),
  );
  if (file === undefined) throw new Error(`no Postgres runs in ${volumes}`);
  // Postgres writes one value per line: the first is the process id, the fifth the directory of the socket.
  const lines = readFileSync(join(volumes, file), "utf8").split("\n");
  return { pid: Number(lines[0]), socketDirectory: lines[4] ?? "" };
}

/** Copies of clusters that a log begins with, except the common one. */
export function countBases(data: string): number {
  const volumes = join(data, "volumes");
  const directories = readdirSync(volumes).filter((name) => name !== "templates");
  return directories
    .flatMap((name) => readdirSync(join(volumes, name)))
    .filter((name) => name.startsWith("base-")).length;
}
