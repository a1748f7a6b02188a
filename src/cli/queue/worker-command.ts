import { statSync } from "node:fs";
import { Command, Option } from "commander";
import { loadSatellite } from "../satellites.ts";
import { CliError } from "../terminal/cli-error.ts";
import { integerParser, parseDurationOption } from "../terminal/option-parsers.ts";
import { enginesDataOption, envOption } from "../terminal/options.ts";
import { print, printError } from "../terminal/print.ts";
import { queueHost } from "./queue-host.ts";
import { addQueueKeyOptions, type QueueKeyOptions, queueOption, queueSecretFrom } from "./queue-options.ts";

const MAX_CONCURRENCY = 64;
const MIN_LOCK_MS = 1_000;
const MAX_LOCK_MS = 600_000;

type WorkerOptions = QueueKeyOptions & {
  readonly queue?: string;
  readonly concurrency: number;
  readonly lock: number;
  readonly traces?: string;
  readonly data: string;
  readonly exitWhenIdle?: number;
  readonly json?: boolean;
};

export function workerCommand(): Command {
  const command = new Command("worker").addOption(queueOption("URL of the Redis server with the queue"));
  return addQueueKeyOptions(command)
    .addOption(
      envOption(
        "--traces <dir>",
        "directory with the trace files that parts of whatif may read (default: such parts are rejected)",
      ),
    )
    .addOption(enginesDataOption())
    .addOption(
      envOption("--concurrency <n>", "number of parallel runs")
        .argParser(integerParser(1, MAX_CONCURRENCY))
        .default(1),
    )
    .addOption(
      new Option(
        "--lock <duration>",
        "if a worker has not reported for this long, other workers run its jobs again",
      )
        .argParser(parseLock)
        .default(15_000, "15s"),
    )
    .addOption(
      new Option(
        "--exit-when-idle <duration>",
        "exit after this time without a job (default: never)",
      ).argParser(parseDurationOption),
    )
    .addOption(new Option("--json", "print one JSON object per line: ready, run, stopped"))
    .addHelpText(
      "after",
      `
Runs the jobs of standin run --queue, whatif compare --queue and whatif backtest
--queue. Only workers of the same version of standin run them. If a worker is
killed, another worker runs its jobs. Jobs and results are signed with the key of
the queue; others are rejected. A job reads no file of the worker, except trace files
below --traces, and writes none. On Ctrl-C or SIGTERM the worker completes
its current runs; a second signal ends it at once.

Exit status: 0 stopped or idle, 1 failed, 2 usage error.

Examples:
  $ openssl rand -hex 32 > queue.key
  $ standin worker --queue redis://localhost:6379 --queue-key-file queue.key --concurrency 4
  $ standin worker --queue redis://localhost:6379 --queue-key-file queue.key --traces /shared/traces
  $ STANDIN_QUEUE=rediss://user:password@redis.internal:6380 standin worker --exit-when-idle 1m`,
    )
    .action(runWorker);
}

async function runWorker(options: WorkerOptions): Promise<void> {
  const { queue, traces, data, concurrency, lock, exitWhenIdle, json } = options;
  if (queue === undefined)
    throw new CliError(
      "--queue is required: the URL of a Redis server, such as redis://localhost:6379",
      true,
    );
  if (traces !== undefined && statSync(traces, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CliError(`--traces: ${traces} is not a directory`, true);
  const place = { url: queue, secret: queueSecretFrom(options) };
  const { work } = await loadSatellite("queue", "standin worker");
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const line = (event: string, fields: Record<string, unknown>) =>
    print(`${JSON.stringify({ event, ...fields })}\n`);
  let runs = 0;
  try {
    await work(
      queueHost(data),
      {
        ...{ place, traces, concurrency, lockMs: lock, idleMs: exitWhenIdle },
        onReady: ({ name, code, address }) =>
          json === true
            ? line("ready", { worker: name, version: code, concurrency })
            : print(
                `worker ${name} is ready: version ${code}, ${concurrency} parallel, queue at ${address}\n`,
              ),
        onRun: ({ title, verdict, ms }) => {
          runs += 1;
          if (json === true) line("run", { title, verdict, ms: Math.round(ms) });
          else print(`${verdict.replaceAll("_", " ")} ${title}\n`);
        },
        message: (text) => printError(`standin: ${text}\n`),
      },
      stop.signal,
    );
  } finally {
    process.removeListener("SIGINT", onSignal).removeListener("SIGTERM", onSignal);
  }
  if (json === true) line("stopped", { runs });
  else print(`stopped after ${runs} runs\n`);
}

function parseLock(text: string): number {
  const ms = parseDurationOption(text);
  if (ms >= MIN_LOCK_MS && ms <= MAX_LOCK_MS) return ms;
  throw new CliError(`--lock: expected a duration from 1s to 10m, got "${text}"`, true);
}
