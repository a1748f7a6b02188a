import fc from "fast-check";
import { expect, test } from "vitest";
import { createDouble, createProject, type Double } from "../support/double/double.ts";
import { expectHolds } from "../support/properties/properties.ts";

const HOUR_MINUTES = 60;

const steps = fc.array(
  fc.record({
    what: fc.constantFrom("create", "create", "delete", "recover", "restore", "wait"),
    which: fc.nat(),
    minutes: fc.integer({ min: 1, max: 400 }),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Ids of the branches that are there, of those that have a parent, and of those that can be recovered. */
async function branchesOf(double: Double, path: string) {
  const live = (await double.api("GET", path)).body.branches;
  const all = (await double.api("GET", `${path}?include_deleted=true`)).body.branches;
  const liveIds = live.map(({ id }) => id);
  return {
    live: liveIds,
    children: live.filter(({ parent_id }) => parent_id !== undefined).map(({ id }) => id),
    deleted: all.map(({ id }) => id).filter((id) => !liveIds.includes(id)),
  };
}

test("the branch-hours of a project are those of its lists of branches, whatever happened in between", async () => {
  await expectHolds(
    fc.asyncProperty(steps, async (steps) => {
      const double = await createDouble({ operations: "immediate" });
      try {
        const { projectId } = await createProject(double);
        const path = `/projects/${projectId}/branches`;
        const minutesByHour: number[] = [0];
        // The creation of the project has taken some seconds.
        await double.sim("POST", "/clock/advance", { to: "2026-01-01T00:01:00Z" });
        let now = 1;
        for (const { what, which, minutes } of steps) {
          const { live, children, deleted } = await branchesOf(double, path);
          const pick = (ids: readonly string[]) => ids[which % ids.length];
          // Some are rejected, as of a branch that has children. Then nothing changes.
          if (what === "create") await double.api("POST", path, { branch: { parent_id: pick(live) } });
          if (what === "delete") await double.api("DELETE", `${path}/${pick(children)}`);
          if (what === "recover") await double.api("POST", `${path}/${pick(deleted)}/recover`);
          if (what === "restore")
            await double.api("POST", `${path}/${pick(live)}/restore`, {
              source_branch_id: pick([...live].reverse()),
              preserve_under_name: `before-${now}`,
            });
          const { length } = (await branchesOf(double, path)).children;
          for (let minute = 0; minute < minutes; minute += 1, now += 1) {
            const hour = Math.floor(now / HOUR_MINUTES);
            minutesByHour[hour] = (minutesByHour[hour] ?? 0) + length;
          }
          await double.advance(`${minutes}m`);
        }
        const expected = minutesByHour.map((minutes) => Math.round(minutes / HOUR_MINUTES));
        expect(await branchHours(double, "hourly")).toEqual(expected);
        const total = minutesByHour.reduce((sum, minutes) => sum + minutes, 0);
        expect(await branchHours(double, "monthly")).toEqual([Math.round(total / HOUR_MINUTES)]);
      } finally {
        await double.close();
      }
    }),
    40,
  );
});

async function branchHours(double: Double, granularity: string): Promise<number[]> {
  const { body: of } = await double.api("GET", "/users/me/organizations");
  const window = `from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z&granularity=${granularity}`;
  const { body } = await double.api(
    "GET",
    `/consumption_history/v2/projects?org_id=${of.organizations[0].id}&${window}&metrics=extra_branches_month`,
  );
  return body.projects[0].periods
    .flatMap(({ consumption }) => consumption)
    .map(({ metrics }) => metrics[0].value);
}
