import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import fc from "fast-check";
import { API_KEY } from "../support/double/double.ts";
import type { ResourceNames } from "../support/requests/fuzzed-world.ts";
import { type RandomRequest, randomRequest } from "../support/requests/random-requests.ts";
import { Connection, describe, WINDOW } from "./connection.ts";
import { controlRequest } from "./control-requests.ts";
import type { FuzzCommand, FuzzReport } from "./fuzz-server.ts";
import {
  BUG_HEADER,
  CHANGED_HEADER,
  CPU_HEADER,
  type RawAnswer,
  type RawRequest,
  sendBytes,
} from "./send.ts";

/** Budgets of one request. */
const MAX_CPU_MS = 20;
const MAX_DEPTH = 64;
const MAX_KEPT_BYTES = 64 * 1024;
/** How much the memory of the server may grow after its first samples. */
const MAX_GROWTH_BYTES = 96 * 1024 ** 2;
const WARM_UP_SAMPLES = 10;
/** Requests to one world at most; then a new one begins, so that each request meets a small world. */
const REQUESTS_PER_WORLD = 500;
/** Memory is sampled after this many worlds. */
const WORLDS_PER_SAMPLE = 10;
/** After such a request most others find nothing, or are unauthorized. */
const ENDS_WORLD = /^(POST \/_sim\/reset|DELETE \/_sim\/api_keys\/1)$/;
/** Windows that the world continues for after it. */
const LAST_WINDOWS = 2;
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
  /** Ends the run after the world that it is at. */
  readonly signal?: AbortSignal;
};
type FuzzFigures = {
  requests: number;
  worlds: number;
  skipped: number;
  rejected: number;
  unauthorized: number;
  /** The most CPU time of a few requests in a row, which is never less than that of one. */
  maxCpuMs: number;
  maxKeptBytes: number;
  maxDepth: number;
  /** The memory of the server at most, and in the last sample. */
  maxRssMb: number;
  rssMb: number;
};

/** Throws an error with the request and the command that repeats it. */
export async function fuzz({
  requests,
  seed,
  budgets,
  onProgress,
  signal,
}: FuzzOptions): Promise<FuzzFigures> {
  const server = fork(join(import.meta.dirname, "fuzz-server.ts"), {
    execArgv: ["--import", "tsx", "--expose-gc"],
  });
  const figures: FuzzFigures = {
    ...{ requests: 0, worlds: 0, skipped: 0, rejected: 0, unauthorized: 0 },
    ...{ maxCpuMs: 0, maxKeptBytes: 0, maxDepth: 0, maxRssMb: 0, rssMb: 0 },
  };
  const samples: number[] = [];
  const exited = once(server, "exit");
  let connection: Connection | undefined;
  try {
    await once(server, "message");
    for (; figures.requests < requests && !signal?.aborted; figures.worlds += 1) {
      const isSampled = figures.worlds % WORLDS_PER_SAMPLE === 0;
      const report = await nextWorld(server, isSampled ? "collect-garbage" : "next-world");
      if (isSampled) checkMemory(samples, figures, report);
      connection ??= new Connection({ port: report.port, pid: server.pid as number });
      const count = Math.min(REQUESTS_PER_WORLD, requests - figures.requests);
      const worldSeed = seed + figures.worlds;
      const before = figures.requests;
      try {
        await fuzzWorld(connection, report, { seed: worldSeed, count, budgets, figures });
        requireRunning(server);
      } catch (error) {
        const options = `--requests ${figures.requests - before} --seed ${worldSeed}`;
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
    await connection?.close();
    if (server.connected) server.send("stop" satisfies FuzzCommand);
    await exited;
  }
}

async function nextWorld(server: ChildProcess, command: FuzzCommand): Promise<FuzzReport> {
  requireRunning(server);
  const exit = new AbortController();
  const onExit = () => exit.abort();
  server.once("exit", onExit);
  server.send(command);
  const [report] = await once(server, "message", { signal: exit.signal });
  server.off("exit", onExit);
  return report as FuzzReport;
}

/** A server that has exited answers nothing, which must not look like requests that cannot be written. */
function requireRunning({ exitCode, signalCode }: ChildProcess): void {
  if (exitCode !== null || signalCode !== null)
    throw new Error(`the server has exited with ${exitCode ?? signalCode}`);
}

type WorldRun = { seed: number; count: number; budgets: boolean; figures: FuzzFigures };

async function fuzzWorld(
  connection: Connection,
  { port, names, controlRoutes }: FuzzReport,
  { seed, count, budgets, figures }: WorldRun,
): Promise<void> {
  // The first requests of a seed are the same for every count, so a finding is repeated by its prefix.
  const generated = fc.sample(
    fc.oneof(
      { weight: 8, arbitrary: randomRequest },
      { weight: 2, arbitrary: controlRequest(controlRoutes) },
    ),
    { seed, numRuns: count },
  );
  const bytes = fc.sample(fc.uint8Array({ maxLength: 300 }), { seed, numRuns: Math.ceil(count / 50) });
  let windowsLeft = Number.POSITIVE_INFINITY;
  for (let start = 0; start < count && windowsLeft > 0; start += WINDOW) {
    const requests = generated.slice(start, start + WINDOW).map((template) => fill(template, names));
    const garbage = bytes[start / WINDOW / 3];
    if (garbage !== undefined) await sendGarbage(port, requests[0] as RawRequest, Buffer.from(garbage));
    const answers = await connection.sendAll(requests);
    for (const [index, answer] of answers.entries()) {
      const request = requests[index] as RawRequest;
      figures.requests += 1;
      if (answer === undefined) {
        figures.skipped += 1;
        continue;
      }
      checkAnswer(request, answer);
      if (answer.status >= 400) figures.rejected += 1;
      if (answer.status === 401) figures.unauthorized += 1;
      if (budgets) await checkCpu(connection, request, answer, figures);
      const isEnd = answer.status < 300 && ENDS_WORLD.test(`${request.method} ${request.path}`);
      if (isEnd) windowsLeft = Math.min(windowsLeft, LAST_WINDOWS + 1);
    }
    windowsLeft -= 1;
  }
  await checkKept(connection, figures);
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
  const bug = headers[BUG_HEADER];
  const isExpected = status < 500 || status === 501;
  if (!isExpected || bug !== undefined)
    throw new Error(`${status} ${text.slice(0, 500)} ${bug ?? ""}\n${describe(request)}`);
  const changed = Number(headers[CHANGED_HEADER] ?? 0);
  if (status >= 400 && changed !== 0)
    throw new Error(`status ${status}, but ${changed} events were added\n${describe(request)}`);
}

async function checkCpu(
  connection: Connection,
  request: RawRequest,
  first: RawAnswer,
  figures: FuzzFigures,
): Promise<void> {
  if (UNBUDGETED.test(request.path)) return;
  const cpuMsOf = ({ headers }: RawAnswer) => Number(headers[CPU_HEADER] ?? 0) / 1_000;
  let cpuMs = cpuMsOf(first);
  for (let repeats = 0; cpuMs > MAX_CPU_MS && repeats < REPEATS; repeats += 1) {
    const [again] = await connection.sendAll([request]);
    if (again !== undefined) cpuMs = Math.min(cpuMs, cpuMsOf(again));
  }
  figures.maxCpuMs = Math.max(figures.maxCpuMs, cpuMs);
  if (cpuMs > MAX_CPU_MS)
    throw new Error(`took ${cpuMs} ms of CPU, at most ${MAX_CPU_MS} allowed\n${describe(request)}`);
}

/** The newest requests of the log: their size, and how deeply they are nested. */
async function checkKept(connection: Connection, figures: FuzzFigures): Promise<void> {
  for (let since = 0; ; ) {
    const path = `/_sim/requests?limit=1000&since=${since}`;
    const [answer] = await connection.sendAll([{ method: "GET", path, headers: {}, body: undefined }]);
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

function checkMemory(samples: number[], figures: FuzzFigures, { rssBytes }: FuzzReport): void {
  samples.push(rssBytes / 1024 ** 2);
  figures.rssMb = Math.round(samples.at(-1) as number);
  figures.maxRssMb = Math.max(figures.maxRssMb, figures.rssMb);
  if (samples.length <= 2 * WARM_UP_SAMPLES) return;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const growth =
    mean(samples.slice(-WARM_UP_SAMPLES)) - mean(samples.slice(WARM_UP_SAMPLES, 2 * WARM_UP_SAMPLES));
  if (growth * 1024 ** 2 > MAX_GROWTH_BYTES)
    throw new Error(`memory grew by ${growth} MB: ${samples.map(Math.round).join(" ")}`);
}

function fill({ method, path, query, headers, body }: RandomRequest, names: ResourceNames): RawRequest {
  const filled = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (whole, name) => names[name as keyof ResourceNames] ?? whole);
  const hasBody = method !== "GET" && method !== "HEAD" && body !== undefined;
  return {
    method,
    path: filled(path) + (query === "" ? "" : `?${filled(query)}`),
    headers,
    body: hasBody ? filled(body) : undefined,
  };
}
