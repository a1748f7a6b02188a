import { memoryStorage, openWorlds } from "../../src/app/open-worlds.ts";
import { DAY, HOUR } from "../../src/kernel/time.ts";
import { DiscardingJournal } from "../../src/simulation/discarding-journal.ts";
import { FleetArrivals, type FleetResult, type FleetShape } from "../simulated/fleet.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const BRANCHES_PER_PROJECT = 10;

const shape = JSON.parse(process.argv[2] ?? "") as FleetShape;
const { world, worlds } = await openWorlds(
  // No history, as in a scenario that does not query it.
  memoryStorage(() => new DiscardingJournal()),
  { seed: 7, startAt: START, clock: { mode: "manual", factor: 0 }, operations: "immediate" },
  (error) => {
    throw error;
  },
);
const computes = await world.transact(({ world: { accounts, computes }, execute }) => {
  const accountId = [...accounts.values()][0]?.id ?? "";
  for (let count = 0; count < shape.computes; count += BRANCHES_PER_PROJECT) {
    const created = execute({ type: "CreateProject", accountId });
    if (!created.ok) throw new Error(created.refusal.message);
    const projectId = created.value.find((event) => event.type === "ProjectCreated")?.project.id ?? "";
    for (let branch = 1; branch < Math.min(BRANCHES_PER_PROJECT, shape.computes - count); branch += 1) {
      execute({
        type: "CreateBranch",
        accountId,
        projectId,
        computes: [{ computeType: "read_write", options: {} }],
      });
    }
  }
  execute({ type: "ConfigureWorld", settings: { operations: "timed" } });
  return [...computes.values()].map(({ id }) => id);
});
// Afterwards all computes are suspended, and a new day begins.
await world.advance({ by: 24 * HOUR });

const from = world.now();
const arrivals = new FleetArrivals(shape, computes, from);
const since = world.history().seq;
const startedAt = performance.now();
await world.advanceWithArrivals(arrivals, from + shape.days * DAY);
const elapsedMs = performance.now() - startedAt;
const events = world.history().seq - since;
const peakBytes = process.resourceUsage().maxRSS * 1_024;
await worlds.close();
const result: FleetResult = { events, starts: arrivals.starts, elapsedMs, peakBytes };
process.stdout.write(`${JSON.stringify(result)}\n`);
