import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import fc from "fast-check";
import { API_KEY } from "../support/double.ts";
import type { ResourceNames } from "../support/requests/fuzzed-world.ts";
import { type RandomRequest, randomRequest } from "../support/requests/random-requests.ts";
import { controlRequest } from "./control-requests.ts";
import type { FuzzCommand, FuzzReport } from "./fuzz-server.ts";
import {
  CHANGED_HEADER,
  CPU_HEADER,
  type RawAnswer,
  type RawRequest,
  type ServerAddress,
  send,
  sendBytes,
} from "./send.ts";

/** Budgets of one request. */
const MAX_CPU_MS = 20;
const MAX_DEPTH = 64;
const MAX_KEPT_BYTES = 64 * 1024;
/** How much the memory of the server may grow after its first worlds. */
const MAX_GROWTH_BYTES = 96 * 1024 ** 2;
const WARM_UP_WORLDS = 10;
/** Requests to one world; then a new one begins, so that each request meets a small world. */
const REQUESTS_PER_WORLD = 500;
/** How long a server may take to stop. */
const STOP_MS = 10_000;
/** A slow request is repeated, because compilation and garbage collection are not its fault. */
const REPEATS = 4;

/** Calls whose work depends on what the operator asks for, such as an advance by a year. */
const UNBUDGETED =
  /\/_sim\/(clock|wait|state|events|compact|whatif|worlds|snapshots|invariants|explain|reset|requests|coverage)/;

type FuzzOptions = {
  readonly requests: number;
  readonly seed: number;
  /** Without it, only answers and changes are checked. */
  readonly budgets: boolean;
  readonly onProgress?: (figures: FuzzFigures) => void;
};
type FuzzFigures = {
  requests: number;
  skipped: number;
  rejected: number;
  maxCpuMs: number;
  maxKeptBytes: number;
  maxDepth: number;
  rssMb: number[];
};

/** Throws an error with the request and the command that repeats it. */
export async function fuzz({ requests, seed, budgets, onProgress }: FuzzOptions): Promise<FuzzFigures> {
  const server = fork(join(import.meta.dirname, "fuzz-server.ts"), {
    execArgv: ["--import", "tsx", "--expose-gc"],
  });
  const figures: FuzzFigures = {
    ...{ requests: 0, skipped: 0, rejected: 0, maxCpuMs: 0, maxKeptBytes: 0, maxDepth: 0 },
    rssMb: [],
  };
  const exited = once(server, "exit");
  try {
    await once(server, "message");
    for (let worldNumber = 0; figures.requests < requests; worldNumber += 1) {
      const report = await nextWorld(server);
      checkMemory(figures, report);
      const count = Math.min(REQUESTS_PER_WORLD, requests - figures.requests);
      try {
        await fuzzWorld(report, {
          seed: seed + worldNumber,
          count,
          budgets,
          figures,
          pid: server.pid as number,
        });
        requireRunning(server);
      } catch (error) {
        const options = `--requests ${count} --seed ${seed + worldNumber}`;
        throw new Error(`repeat with: npm run fuzz -- ${options}\n${(error as Error).message}`, {
          cause: error,
        });
      }
      onProgress?.(figures);
    }
    return figures;
  } finally {
    // A server that hangs does not read the command.
    setTimeout(() => server.kill("SIGKILL"), STOP_MS).unref();
    if (server.connected) server.send("stop" satisfies FuzzCommand);
    await exited;
  }
}

async function nextWorld(server: ChildProcess): Promise<FuzzReport> {
  requireRunning(server);
  const exit = new AbortController();
  const onExit = () => exit.abort();
  server.once("exit", onExit);
  server.send("next-world" satisfies FuzzCommand);
  const [report] = await once(server, "message", { signal: exit.signal });
  server.off("exit", onExit);
  return report as FuzzReport;
}

/** A server that has exited answers nothing, which must not look like requests that cannot be written. */
function requireRunning({ exitCode, signalCode }: ChildProcess): void {
  if (exitCode !== null || signalCode !== null)
    throw new Error(`the server has exited with ${exitCode ?? signalCode}`);
}

type WorldRun = { pid: number; seed: number; count: number; budgets: boolean; figures: FuzzFigures };

async function fuzzWorld(
  { port, names, controlRoutes }: FuzzReport,
  { seed, count, budgets, figures, pid }: WorldRun,
): Promise<void> {
  const server = { port, pid };
  const generated = fc.sample(
    fc.oneof(
      { weight: 8, arbitrary: randomRequest },
      { weight: 2, arbitrary: controlRequest(controlRoutes) },
    ),
    { seed, numRuns: count },
  );
  const bytes = fc.sample(fc.uint8Array({ maxLength: 300 }), { seed, numRuns: Math.ceil(count / 50) });
  for (const [index, template] of generated.entries()) {
    figures.requests += 1;
    const request = fill(template, names);
    if (index % 50 === 0) await sendGarbage(port, request, Buffer.from(bytes[index / 50] ?? []));
    const answer = await send(server, request).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${describe(request)}`);
    });
    if (answer === undefined) {
      figures.skipped += 1;
      continue;
    }
    checkAnswer(request, answer);
    if (answer.status >= 400) figures.rejected += 1;
    if (budgets) await checkCpu(server, request, answer, figures);
  }
  await checkKept(server, figures);
}

/** Parts of real requests and any bytes, after which the client hangs up. */
async function sendGarbage(port: number, request: RawRequest, bytes: Buffer): Promise<void> {
  const head = `${request.method} /api/v2/projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: application/json\r\n`;
  await sendBytes(port, Buffer.concat([Buffer.from(head), bytes]));
  await sendBytes(
    port,
    Buffer.concat([Buffer.from(`${head}Content-Length: 5000\r\n\r\n{"project":`), bytes]),
  );
  await sendBytes(port, bytes);
}

function checkAnswer(request: RawRequest, { status, headers, text }: RawAnswer): void {
  const bug = headers["x-fuzz-bug"];
  const isExpected = status < 500 || status === 501;
  if (!isExpected || bug !== undefined)
    throw new Error(`${status} ${text.slice(0, 500)} ${bug ?? ""}\n${describe(request)}`);
  const changed = Number(headers[CHANGED_HEADER] ?? 0);
  if (status >= 400 && changed !== 0)
    throw new Error(`status ${status}, but ${changed} events were added\n${describe(request)}`);
}

async function checkCpu(
  server: ServerAddress,
  request: RawRequest,
  first: RawAnswer,
  figures: FuzzFigures,
): Promise<void> {
  if (UNBUDGETED.test(request.path)) return;
  let cpuMs = Number(first.headers[CPU_HEADER] ?? 0) / 1_000;
  for (let repeats = 0; cpuMs > MAX_CPU_MS && repeats < REPEATS; repeats += 1) {
    const again = await send(server, request);
    if (again !== undefined) cpuMs = Math.min(cpuMs, Number(again.headers[CPU_HEADER] ?? 0) / 1_000);
  }
  figures.maxCpuMs = Math.max(figures.maxCpuMs, cpuMs);
  if (cpuMs > MAX_CPU_MS)
    throw new Error(`took ${cpuMs} ms of CPU, at most ${MAX_CPU_MS} allowed\n${describe(request)}`);
}

/** The newest requests of the log: their size, and how deeply they are nested. */
async function checkKept(server: ServerAddress, figures: FuzzFigures): Promise<void> {
  for (let since = 0; ; ) {
    const path = `/_sim/requests?limit=1000&since=${since}`;
    const answer = await send(server, { method: "GET", path, headers: {}, body: undefined });
    const { requests = [] } = JSON.parse(answer?.text ?? "{}") as { requests?: { number: number }[] };
    for (const entry of requests) {
      const keptBytes = Buffer.byteLength(JSON.stringify(entry));
      const depth = depthOf(entry);
      figures.maxKeptBytes = Math.max(figures.maxKeptBytes, keptBytes);
      figures.maxDepth = Math.max(figures.maxDepth, depth);
      // The entry itself is one level, and its body begins below it.
      if (keptBytes > MAX_KEPT_BYTES || depth > MAX_DEPTH + 1)
        throw new Error(
          `the log keeps ${keptBytes} bytes, ${depth} levels: ${JSON.stringify(entry).slice(0, 500)}`,
        );
    }
    const last = requests.at(-1);
    if (last === undefined) return;
    since = last.number;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function checkMemory({ rssMb }: FuzzFigures, { rssBytes }: FuzzReport): void {
  rssMb.push(Math.round(rssBytes / 1024 ** 2));
  if (rssMb.length <= 2 * WARM_UP_WORLDS) return;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const growth = mean(rssMb.slice(-WARM_UP_WORLDS)) - mean(rssMb.slice(WARM_UP_WORLDS, 2 * WARM_UP_WORLDS));
  if (growth * 1024 ** 2 > MAX_GROWTH_BYTES)
    throw new Error(`memory grew by ${growth} MB: ${rssMb.join(" ")}`);
}

function fill({ method, path, query, headers, body }: RandomRequest, names: ResourceNames): RawRequest {
  const filled = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (whole, name) => names[name as keyof ResourceNames] ?? whole);
  const hasBody = method !== "GET" && method !== "HEAD" && body !== undefined;
  return {
    method,
    path: filled(path) + (query === "" ? "" : `?${filled(query)}`),
    headers: { Connection: "keep-alive", ...headers },
    body: hasBody ? filled(body) : undefined,
  };
}

function describe(request: RawRequest): string {
  return JSON.stringify(request, (_, value) =>
    typeof value === "string" && value.length > 999
      ? `${value.length} characters: ${value.slice(0, 99)}`
      : value,
  );
}
