import { readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import type { RecordedScenario } from "../../control-api/http/scenario-fields.ts";
import type { PointSelector } from "../../simulation/replay.ts";
import { recordWorld } from "../history/record-world.ts";
import { CliError } from "../terminal/cli-error.ts";

/** A job, which the thread receives. */
export type RecordJob = {
  readonly data: string;
  readonly world: string;
  readonly from?: PointSelector | undefined;
  readonly to?: PointSelector | undefined;
};
/** What the thread sends for each job. An error loses its class between threads. */
export type RecordOutcome = { readonly recorded: RecordedScenario } | { readonly problem: string };

/** Runs the recording jobs that the thread receives, until it is terminated. */
export async function recordJobs(): Promise<void> {
  parentPort?.on("message", async (job: RecordJob) => parentPort?.postMessage(await record(job)));
}

async function record({ data, world, from, to }: RecordJob): Promise<RecordOutcome> {
  const directory = await mkdtemp(join(tmpdir(), "standin-scenario-"));
  const out = join(directory, "scenario.yaml");
  try {
    const { steps, state, omitted } = await recordWorld({
      ...{ data, world, out, embedsWorld: true },
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    });
    return { recorded: { scenario: readFileSync(out, "utf8"), steps, state, omitted } };
  } catch (error) {
    if (error instanceof CliError) return { problem: error.message };
    throw error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
