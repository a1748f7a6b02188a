import { HOUR, MINUTE, SECOND } from "../../src/kernel/time.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import { createProjects, openManualWorld } from "./manual-world.ts";
import { handleParentRequests } from "./parent-requests.ts";
import { report } from "./report.ts";
import { TurnLengths } from "./turn-lengths.ts";

/** A world in a file with this number of computes, each in a project of its own. */
export type AdvanceTurnsOptions = {
  readonly data: string;
  readonly migrations: string;
  readonly computes: number;
  /** Reads of the world in a second. */
  readonly readsPerSecond: number;
  readonly apiKey: string;
};

export type AdvanceTurnsMeasurement = {
  readonly longestMs: number;
  readonly waitP50Ms: number;
  readonly waitP99Ms: number;
  readonly cpuMs: number;
};

const COMPUTES_PER_TRANSACTION = 500;
/** Each compute is started once in each hour, and suspended five minutes later. */
const HOURS = 12;

const options = JSON.parse(process.argv[2] ?? "") as AdvanceTurnsOptions;
const served = await openManualWorld(new DataDirectory(options.data, options.migrations), {
  apiKey: options.apiKey,
});
const { world } = served;
const { computes, path } = await createComputes();

handleParentRequests({ advance });
process.stdout.write("{}\n");

async function createComputes() {
  for (let count = 0; count < options.computes; count += COMPUTES_PER_TRANSACTION)
    await createProjects(served, count, Math.min(COMPUTES_PER_TRANSACTION, options.computes - count));
  await world.advance({ by: MINUTE });
  return world.transact(({ world: view }) => {
    const all = view.computes.toArray();
    return { computes: all, path: `/api/v2/projects/${all[0]?.projectId}/endpoints` };
  });
}

async function advance(): Promise<AdvanceTurnsMeasurement> {
  const now = world.now();
  for (let hour = 1; hour <= HOURS; hour += 1)
    await world.transact(({ execute }) => {
      for (const [index, { id }] of computes.entries())
        execute({
          type: "ScheduleActivity",
          at: now + hour * HOUR + index * SECOND,
          activity: { endpointId: id, kind: "query", durationMs: 500 },
        });
    });
  const turns = new TurnLengths();
  const reads = setInterval(() => void read().catch(report), SECOND / options.readsPerSecond);
  await world.advance({ by: (HOURS + 2) * HOUR });
  clearInterval(reads);
  turns.end();
  return {
    longestMs: turns.longestMs,
    waitP50Ms: turns.waitMs(0.5),
    waitP99Ms: turns.waitMs(0.99),
    cpuMs: turns.totalMs,
  };
}

async function read(): Promise<void> {
  await (await served.get(path)).text();
}
