import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { API_KEY } from "../support/double/double.ts";
import { environment, temporaryDirectory } from "../support/process/process.ts";
import { serverClient } from "../support/server/running-server.ts";
import { sizeOf } from "./file-sizes.ts";
import type { SoakSample } from "./growth.ts";
import { SoakLoad } from "./soak-load.ts";

const COMMAND = join(import.meta.dirname, "../../dist/standin.js");
const MINUTE_MS = 60_000;
/** A soak of less than this number of minutes takes shorter steps. */
const MIN_SAMPLES = 10;
/** Short limits, so that every rule of retention is at work within minutes. */
const SERVE = [
  ...[
    "serve",
    "--port",
    "0",
    "--pg-port",
    "none",
    "--json",
    "--clock",
    "5000x",
    "--operations",
    "immediate",
    "--log-level",
    "warn",
  ],
  ...["--keep-history", "12h", "--keep-events", "1000", "--keep-operations", "12h", "--keep-automatic", "3"],
  ...["--requests-limit", "1000", "--close-idle", "5s", "--expire-worlds", "20s"],
];

export type SoakOptions = {
  readonly minutes: number;
  readonly onSample?: (sample: SoakSample, requests: number) => void;
};

/** Runs a server under mixed load, and samples it each minute. Throws on an unexpected answer. Linux only. */
export async function soak({ minutes, onSample }: SoakOptions): Promise<readonly SoakSample[]> {
  const data = temporaryDirectory();
  const server = spawn(
    process.execPath,
    [
      "--expose-gc",
      "--require",
      join(import.meta.dirname, "report-memory.cjs"),
      COMMAND,
      ...SERVE,
      "--data",
      data.path,
    ],
    { stdio: ["ignore", "pipe", "inherit", "ipc"], env: { ...environment(), STANDIN_API_KEY: API_KEY } },
  );
  const ended = once(server, "close");
  try {
    const [line] = (await once(server.stdout as NonNullable<typeof server.stdout>, "data")) as [Buffer];
    const ready = JSON.parse(line.toString());
    const load = new SoakLoad({ ready, ...serverClient(ready, API_KEY) });
    await load.prepare();
    const stepMs = Math.min(MINUTE_MS, (minutes * MINUTE_MS) / MIN_SAMPLES);
    const samples: SoakSample[] = [];
    const startedAt = performance.now();
    for (let step = 0; step * stepMs < minutes * MINUTE_MS; step += 1) {
      await load.runFor(stepMs);
      const minute = (performance.now() - startedAt) / MINUTE_MS;
      const sample = { minute, ...(await measure(server, data.path)) };
      samples.push(sample);
      onSample?.(sample, load.requests);
    }
    return samples;
  } finally {
    server.kill("SIGKILL");
    await ended;
    data.remove();
  }
}

async function measure(server: ChildProcess, data: string): Promise<Omit<SoakSample, "minute">> {
  server.send("measure");
  const [{ rss, heapUsed }] = (await once(server, "message")) as [NodeJS.MemoryUsage];
  return {
    rssBytes: rss,
    heapBytes: heapUsed,
    descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
    fileBytes: sizeOf(data),
  };
}
