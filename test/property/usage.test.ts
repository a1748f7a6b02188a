import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnsweredEvent } from "../support/answers/control-answers.ts";
import { journalOf } from "../support/double/call-log.ts";
import { createDouble } from "../support/double/double.ts";
import { commandSequences, runCommands } from "../support/model/commands.ts";
import { expectHolds } from "../support/properties/properties.ts";

/** The branch of each compute, and since when it has been active, from the journal. */
type Compute = { readonly project: string; branch: string; since: number | undefined };

/** The active milliseconds of each project and branch until `now`: a ledger derived from events alone. */
function activeTimes(journal: readonly AnsweredEvent[], now: number): Map<string, number> {
  const computes = new Map<string, Compute>();
  const times = new Map<string, number>();
  const book = (compute: Compute | undefined, at: number, goesOn: boolean) => {
    if (compute?.since === undefined) return;
    for (const id of [compute.project, compute.branch])
      times.set(id, (times.get(id) ?? 0) + at - compute.since);
    compute.since = goesOn ? at : undefined;
  };
  for (const event of journal) {
    const at = Date.parse(event.at);
    const compute = computes.get(event.endpoint_id);
    if (event.type === "WorldReset") {
      computes.clear();
      times.clear();
    } else if (event.type === "ComputeCreated") {
      const { id, project_id: project, branch_id: branch } = event.compute;
      computes.set(id, { project, branch, since: undefined });
    } else if (event.type === "ComputeActivated" && compute !== undefined) {
      compute.since = at;
    } else if (event.type === "ComputeUpdated" && compute !== undefined) {
      book(compute, at, true);
      compute.branch = event.changes.branch_id ?? compute.branch;
    } else if (event.type === "ComputeSuspended" || event.type === "ComputeDeleted") {
      book(compute, at, false);
    }
  }
  for (const compute of computes.values()) book(compute, now, true);
  return times;
}

test("a project and a branch are billed for exactly the time in which their computes were active", async () => {
  await expectHolds(
    fc.asyncProperty(commandSequences({ keys: false }), async (commands) => {
      const double = await createDouble();
      const model = await runCommands(commands, { double: () => double });
      const times = activeTimes(await journalOf(double), model.now);
      const seconds = (id: string) => Math.floor((times.get(id) ?? 0) / 1_000);
      for (const project of model.projects.filter(({ gone }) => !gone)) {
        const path = `/projects/${project.id}`;
        // Totals since the creation. For those of a billing period see consumption.test.ts.
        const { body: all } = await double.api("GET", "/projects?limit=400", undefined, project.account.key);
        expect(all.projects.find(({ id }: { id: string }) => id === project.id).active_time).toBe(
          seconds(project.id),
        );
        const { body: listed } = await double.api("GET", `${path}/branches`, undefined, project.account.key);
        for (const branch of listed.branches)
          expect(branch.active_time_seconds, branch.name).toBe(seconds(branch.id));
      }
      await double.close();
    }),
    80,
  );
});
