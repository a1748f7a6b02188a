import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type ServerProcess, serve, temporaryDirectory } from "../support/process/process.ts";
import { type Input, inputOf, limitsWithoutInput } from "./inputs-before-login.ts";

/** What one input may cost the server, in processor time and in memory. */
const BUDGET: Cost = { cpuMs: 20, bytes: 8 * 1024 ** 2 };
/** Inputs that are measured together, because reading the figures takes as long as an input. */
const BATCH = 10;
/** An input is measured alone as often, because compilation and garbage collection are not its fault. */
const REPEATS = 5;
/** Requests that a server has answered before it is measured. */
const WARM_UP = 300;
/** After this time without an answer, a client of Postgres hangs up: the server may wait for the rest of a packet. */
const SILENCE_MS = 30;
/** How long an answer may take, on any machine. */
const LONGEST_ANSWER_MS = 10_000;
const NS_PER_MS = 1e6;
const KIB = 1024;

export type BeforeLoginFigures = {
  inputs: number;
  /** By the row of the table of limits. */
  readonly by: Record<string, number>;
  /** Of a batch of ten within the budget, so of each of its inputs at most. */
  worstCpuMs: number;
  worstBytes: number;
  /** Inputs that were measured alone because their batch was not, and the worst of these. */
  alone: number;
  worstAloneCpuMs: number;
  worstAloneBytes: number;
};

type Options = {
  readonly inputs: number;
  readonly seed: number;
  readonly budget?: Cost;
  readonly onProgress?: (figures: BeforeLoginFigures) => void;
  readonly signal?: AbortSignal;
};

type Server = ServerProcess & { readonly pgPort: number };

/**
 * Sends inputs of clients that have not logged in, derived from the table of limits, and measures what each costs the
 * server. Linux only. Throws an error with the input and the command that repeats it.
 */
export async function fuzzBeforeLogin({
  inputs,
  seed,
  budget = BUDGET,
  onProgress,
  signal,
}: Options): Promise<BeforeLoginFigures> {
  const missing = limitsWithoutInput();
  if (missing.length > 0) throw new Error(`limits before login without an input: ${missing.join(", ")}`);
  const figures: BeforeLoginFigures = {
    inputs: 0,
    by: {},
    worstCpuMs: 0,
    worstBytes: 0,
    ...{ alone: 0, worstAloneCpuMs: 0, worstAloneBytes: 0 },
  };
  const directories = [temporaryDirectory(), temporaryDirectory()] as const;
  const servers = [
    await start(directories[0].path, []),
    await start(directories[1].path, ["--proxy-protocol"]),
  ] as const;
  try {
    const serverOf = ({ port }: Input) => servers[port === "postgres behind a proxy" ? 1 : 0] as Server;
    for (let number = 0; number < WARM_UP; number += 1) {
      const input = inputOf(seed + 1, number);
      await send(serverOf(input), input);
    }
    for (let from = 0; from < inputs && signal?.aborted !== true; from += BATCH) {
      const numbers = Array.from({ length: Math.min(BATCH, inputs - from) }, (_, index) => from + index);
      const batch = numbers.map((number) => inputOf(seed, number));
      const together = await measure(servers, () =>
        Promise.all(batch.map((input) => send(serverOf(input), input))),
      );
      if (isWithin(together, budget)) {
        figures.worstCpuMs = Math.max(figures.worstCpuMs, together.cpuMs);
        figures.worstBytes = Math.max(figures.worstBytes, together.bytes);
      } else
        for (const [index, input] of batch.entries())
          await checkAlone(servers, serverOf(input), input, { seed, number: from + index, budget, figures });
      for (const { of } of batch) figures.by[of] = (figures.by[of] ?? 0) + 1;
      figures.inputs += batch.length;
      onProgress?.(figures);
    }
    return figures;
  } finally {
    for (const server of servers) await server.kill("SIGKILL");
    for (const directory of directories) directory.remove();
  }
}

async function start(data: string, args: readonly string[]): Promise<Server> {
  const server = await serve(data, [
    ...["--pg-port", "0", "--engine", "none", "--connection-uris", "address", "--seed", "1"],
    ...["--control-token", "secret-of-the-operator", "--api-key", "key-of-the-owner", "--log-level", "error"],
    ...args,
  ]);
  const { postgres_url: url } = server.ready as unknown as { postgres_url: string };
  return { ...server, pgPort: Number(new URL(url).port) };
}

type Cost = { readonly cpuMs: number; readonly bytes: number };

function isWithin({ cpuMs, bytes }: Cost, budget: Cost): boolean {
  return cpuMs <= budget.cpuMs && bytes <= budget.bytes;
}

async function checkAlone(
  servers: readonly Server[],
  server: Server,
  input: Input,
  {
    seed,
    number,
    budget,
    figures,
  }: {
    readonly seed: number;
    readonly number: number;
    readonly budget: Cost;
    readonly figures: BeforeLoginFigures;
  },
): Promise<void> {
  let least: Cost = { cpuMs: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  for (let repeat = 0; repeat < REPEATS && !isWithin(least, budget); repeat += 1) {
    const { cpuMs, bytes } = await measure(servers, () => send(server, input));
    least = { cpuMs: Math.min(least.cpuMs, cpuMs), bytes: Math.min(least.bytes, bytes) };
  }
  figures.alone += 1;
  figures.worstAloneCpuMs = Math.max(figures.worstAloneCpuMs, least.cpuMs);
  figures.worstAloneBytes = Math.max(figures.worstAloneBytes, least.bytes);
  if (!isWithin(least, budget))
    throw new Error(
      `input ${number} costs ${least.cpuMs.toFixed(1)} ms of processor time and ${(least.bytes / KIB).toFixed(0)} KiB; ${budget.cpuMs} ms and ${budget.bytes / KIB} KiB are allowed\n${describe(input)}\nrepeat with: npm run fuzz -- --requests 0 --before-login ${number + 1} --seed ${seed}`,
    );
}

/** Processor time of all threads, and the most memory above what there was before. */
async function measure(servers: readonly Server[], work: () => Promise<unknown>): Promise<Cost> {
  const pids = servers.map(({ process }) => process.pid as number);
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const before = pids.map((pid) => ({ cpuNs: cpuNsOf(pid), rss: memoryOf(pid, "VmRSS") }));
  await work();
  let cost: Cost = { cpuMs: 0, bytes: 0 };
  for (const [index, pid] of pids.entries()) {
    const { cpuNs = 0, rss = 0 } = before[index] ?? {};
    cost = {
      cpuMs: cost.cpuMs + (cpuNsOf(pid) - cpuNs) / NS_PER_MS,
      bytes: cost.bytes + Math.max(0, memoryOf(pid, "VmHWM") - rss),
    };
  }
  return cost;
}

function cpuNsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
    try {
      return sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // The thread has ended.
      return sum;
    }
  }, 0);
}

function memoryOf(pid: number, name: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * KIB;
}

/** Resolves when the server has closed the connection. */
function send({ ready, pgPort }: Server, { port, parts, serverName }: Input): Promise<void> {
  const number = port === "http" ? Number(new URL(ready.api_url).port) : pgPort;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy();
      reject(
        new Error(
          `no end after ${LONGEST_ANSWER_MS / 1_000} s: ${describe({ of: "mutation", port, parts })}`,
        ),
      );
    }, LONGEST_ANSWER_MS);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const write = (socket: Socket) => {
      for (const part of parts) socket.write(part);
      if (port === "http") {
        socket.end();
        return;
      }
      const hangUp = () => socket.end();
      let silence = setTimeout(hangUp, SILENCE_MS);
      socket.on("data", () => {
        clearTimeout(silence);
        silence = setTimeout(hangUp, SILENCE_MS / 10);
      });
    };
    const socket = connect(number, "127.0.0.1", () => {
      if (port !== "postgres with TLS") return write(socket);
      socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
      socket.once("data", () => {
        const secure = connectTls(
          { socket, servername: serverName ?? "localhost", rejectUnauthorized: false },
          () => write(secure),
        );
        secure.on("error", () => undefined).on("data", () => undefined);
      });
    });
    socket.on("error", () => undefined).once("close", end);
    if (port !== "postgres with TLS") socket.on("data", () => undefined);
  });
}

function describe({ of, port, parts }: Input): string {
  const shown = parts.map(
    (part) => `${part.length} bytes ${JSON.stringify(part.toString("latin1", 0, 120))}`,
  );
  return `${of}, to ${port}: ${shown.join(", then ")}`;
}
