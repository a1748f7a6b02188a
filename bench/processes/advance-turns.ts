import { createApp } from "../../src/app/create-app.ts";
import { openWorlds } from "../../src/app/open-worlds.ts";
import { HOUR, MINUTE, SECOND } from "../../src/kernel/time.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import { handleParentRequests } from "./parent-requests.ts";
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
const { worlds, world } = await openWorlds(
  new DataDirectory(options.data, options.migrations),
  { apiKey: options.apiKey, clock: { mode: "manual", factor: 0 } },
  report,
);
const app = createApp({
  worlds,
  version: "bench",
  rateLimit: false,
  readsFirst: true,
  hosts: [],
  controlToken: undefined,
  onBug: report,
});
const { computes, url } = await createComputes();

handleParentRequests({ advance });
process.stdout.write("{}\n");

async function createComputes() {
  for (let count = 0; count < options.computes; count += COMPUTES_PER_TRANSACTION)
    await world.transact(({ world: view, execute }) => {
      const [account] = view.accounts.values();
      if (account === undefined) throw new Error("the world has no account");
      for (let one = count; one < Math.min(options.computes, count + COMPUTES_PER_TRANSACTION); one += 1)
        execute({ type: "CreateProject", accountId: account.id, name: `p${one}` });
    });
  await world.advance({ by: MINUTE });
  return world.transact(({ world: view }) => {
    const all = view.computes.toArray();
    return { computes: all, url: `http://127.0.0.1/api/v2/projects/${all[0]?.projectId}/endpoints` };
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
  const response = await app.fetch(
    new Request(url, { headers: { Authorization: `Bearer ${options.apiKey}` } }),
  );
  if (!response.ok) throw new Error(`GET ${url}: ${response.status}`);
  await response.text();
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
}
