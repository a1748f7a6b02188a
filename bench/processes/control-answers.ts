import { memoryStorage } from "../../src/app/open-worlds.ts";
import { monthStart } from "../../src/kernel/calendar.ts";
import { DAY, MINUTE } from "../../src/kernel/time.ts";
import { createProjects, openManualWorld } from "./manual-world.ts";
import { handleParentRequests } from "./parent-requests.ts";
import { TurnLengths } from "./turn-lengths.ts";

/** A world in memory with this number of projects, each with a branch and a compute that has started once. */
export type ControlAnswersOptions = { readonly projects: number; readonly apiKey: string };

/** `blockMs`: processor time of the thread in the longest turn of the event loop. */
export type AnswerMeasurement = { readonly blockMs: number; readonly cpuMs: number; readonly bytes: number };

const PROJECTS_PER_TRANSACTION = 1_000;

const { projects, apiKey } = JSON.parse(process.argv[2] ?? "") as ControlAnswersOptions;
const served = await openManualWorld(memoryStorage(), { apiKey, operations: "immediate" });
const { world } = served;
for (let count = 0; count < projects; count += PROJECTS_PER_TRANSACTION) {
  await createProjects(served, count, Math.min(PROJECTS_PER_TRANSACTION, projects - count));
  await world.advance({ by: MINUTE });
}
await world.advance({ by: 7 * DAY });

const places = await placesInPaths();
handleParentRequests({
  answer: (path: string) => measureAnswer(path.replaceAll(/\{(\w+)\}/g, (_, name) => places.get(name) ?? "")),
});
process.stdout.write("{}\n");

/** The newest objects, the oldest ones, and the current month, by their names in paths. */
async function placesInPaths(): Promise<ReadonlyMap<string, string>> {
  return world.transact((transaction) => {
    const { world: view, now } = transaction;
    const project = view.projects.toArray().at(-1)?.id ?? "";
    const [branch] = view.branches.by("project", project).values();
    const [endpoint] = view.computes.by("project", project).values();
    const [operation] = transaction.operations(project, 1);
    const first = view.projects.toArray()[0]?.id ?? "";
    const [oldestEndpoint] = view.computes.by("project", first).values();
    const oldestOperation = transaction.operations(first, Number.MAX_SAFE_INTEGER).at(-1);
    return new Map([
      ["project", project],
      ["branch", branch?.id ?? ""],
      ["endpoint", endpoint?.id ?? ""],
      ["operation", operation?.id ?? ""],
      ["oldestEndpoint", oldestEndpoint?.id ?? ""],
      ["oldestOperation", oldestOperation?.id ?? ""],
      [
        "projects",
        view.projects
          .toArray()
          .slice(-100)
          .map(({ id }) => id)
          .join(),
      ],
      ["organization", [...view.accounts.values()][0]?.organizationId ?? ""],
      ["metrics", "compute_unit_seconds,root_branch_bytes_month,public_network_transfer_bytes"],
      ["weekAgo", new Date(now - 7 * DAY).toISOString()],
      ["monthStart", new Date(monthStart(now)).toISOString()],
      ["now", new Date(now).toISOString()],
    ]);
  });
}

/** In the process itself: the answer is read as fast as it is made. */
async function measureAnswer(path: string): Promise<AnswerMeasurement> {
  const turns = new TurnLengths();
  const response = await served.get(path);
  let bytes = 0;
  // Not joined: that would be the longest block of a large answer.
  for await (const piece of response.body ?? []) bytes += piece.byteLength;
  turns.end();
  return { blockMs: turns.longestMs, cpuMs: turns.totalMs, bytes };
}
