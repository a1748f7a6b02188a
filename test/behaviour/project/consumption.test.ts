import { describe, expect, test } from "vitest";
import type { Listed } from "../../support/answers/answered.ts";
import type { ApiResponse } from "../../support/answers/api-response.ts";
import { createAccount } from "../../support/double/compute.ts";
import { API_KEY, createDouble, createProject, type Double } from "../../support/double/double.ts";

const HOUR = 3_600_000;

function organizationOf(double: Double, key = API_KEY): Promise<string> {
  return double
    .api("GET", "/users/me/organizations", undefined, key)
    .then(({ body }) => body.organizations[0].id);
}

async function v1(double: Double, query: Record<string, string>) {
  return double.api("GET", `/consumption_history/projects?${new URLSearchParams(query)}`);
}

async function v2<const Of extends "projects" | "branches">(
  double: Double,
  of: Of,
  query: Record<string, string>,
) {
  const org_id = await organizationOf(double);
  const input = new URLSearchParams({ org_id, metrics: "compute_unit_seconds", ...query });
  return double.api("GET", `/consumption_history/v2/${of}?${input}`);
}

function at(double: Double, offMs = 0): string {
  return new Date(double.world.now() + offMs).toISOString();
}

async function advanceTo(double: Double, to: string): Promise<void> {
  expect((await double.sim("POST", "/clock/advance", { to })).status).toBe(200);
}

/** An always-active compute of 2 CU, active from exactly this instant. */
async function activeSince(instant: string) {
  const double = await createDouble();
  const { path, ...ids } = await createProject(double, {
    autoscaling_limit_min_cu: 2,
    autoscaling_limit_max_cu: 2,
    default_endpoint_settings: { suspend_timeout_seconds: -1 },
  });
  const settings = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: -1 };
  await double.api("PATCH", path, { endpoint: settings });
  await double.advance("30s");
  await double.api("POST", `${path}/suspend`);
  await double.advance("30s");
  await advanceTo(double, new Date(Date.parse(instant) - 3_000).toISOString());
  expect((await double.api("POST", `${path}/start`)).status).toBe(200);
  await double.advance("3s");
  expect((await double.api("GET", path)).body.endpoint.current_state).toBe("active");
  return { double, path, ...ids };
}

type Response = Awaited<ReturnType<typeof v1>>;
type UsedV2 = Awaited<ReturnType<typeof v2<"projects">>>["body"]["projects"][0];
type Pages = {
  readonly [of in "projects" | "branches"]?: readonly { readonly project_id: string }[];
} & {
  readonly pagination: { readonly cursor: string };
};
type Frame = Response["body"]["projects"][0]["periods"][0]["consumption"][0];

const frames = ({ body }: Response): Listed<Frame> => framesIn(body.projects[0].periods);

function framesIn(periods: Response["body"]["projects"][0]["periods"]): Listed<Frame> {
  return periods.flatMap((period) => period.consumption) as Listed<Frame>;
}

describe("hourly usage", () => {
  test("is split at each full hour, to the second", async () => {
    const { double, path } = await activeSince("2026-01-05T10:20:30.000Z");
    await advanceTo(double, "2026-01-05T12:00:10.000Z");
    await double.api("POST", `${path}/suspend`);
    await double.advance("1h");
    const reported = frames(
      await v1(double, { from: "2026-01-05T10:59:59Z", to: "2026-01-05T13:00:00Z", granularity: "hourly" }),
    );
    expect(
      reported.map((frame) => [frame.timeframe_start, frame.active_time_seconds, frame.compute_time_seconds]),
    ).toEqual([
      ["2026-01-05T10:00:00Z", 39 * 60 + 30, 2 * (39 * 60 + 30)],
      ["2026-01-05T11:00:00Z", 3_600, 7_200],
      // The suspend takes one second, in which the compute is active.
      ["2026-01-05T12:00:00Z", 11, 22],
    ]);
  });

  test("counts a compute that was active until the last millisecond of an hour for that hour only", async () => {
    const { double, path } = await activeSince("2026-01-05T10:00:00.000Z");
    await advanceTo(double, "2026-01-05T10:59:59.000Z");
    await double.api("POST", `${path}/suspend`);
    await advanceTo(double, "2026-01-05T12:00:00Z");
    const reported = frames(
      await v1(double, { from: "2026-01-05T10:00:00Z", to: "2026-01-05T12:00:00Z", granularity: "hourly" }),
    );
    expect(reported.map((frame) => frame.active_time_seconds)).toEqual([3_600, 0]);
  });

  test("includes a running compute before its usage is recorded", async () => {
    const { double } = await activeSince("2026-01-05T10:30:00.000Z");
    await advanceTo(double, "2026-01-06T00:30:00Z");
    const daily = frames(
      await v1(double, { from: "2026-01-05T10:00:00Z", to: "2026-01-07T00:00:00Z", granularity: "daily" }),
    );
    const before = 13 * 3_600 + 1_800;
    expect(daily.at(-2).active_time_seconds).toBeGreaterThanOrEqual(before);
    expect(daily.at(-1)).toMatchObject({
      timeframe_start: "2026-01-06T00:00:00Z",
      active_time_seconds: 1_800,
      compute_time_seconds: 3_600,
    });
    const state = await double.sim("GET", "/state");
    expect(
      state.body.hourly_usage.every(({ hour }) => hour * HOUR < Date.parse("2026-01-05T10:00:00Z")),
    ).toBe(true);
  });

  test("adds up from hours to days to months, including fractions of a second", async () => {
    const { double, path } = await activeSince("2026-01-30T22:10:00.123Z");
    for (const ms of [3_333, 7_200_001, 999, 3_599_999, 90_000_777]) {
      await double.sim("POST", "/clock/advance", { by: `${ms}ms` });
      await double.api("PATCH", path, { endpoint: { name: `n${ms}` } });
    }
    const sum = (list: readonly Frame[], name: "active_time_seconds" | "compute_time_seconds") =>
      list.reduce((total, frame) => total + frame[name], 0);
    const monthly = frames(
      await v1(double, { from: "2026-01-01T00:00:00Z", to: "2026-03-01T00:00:00Z", granularity: "monthly" }),
    );
    const daily = frames(
      await v1(double, { from: "2026-01-01T00:00:00Z", to: "2026-03-01T00:00:00Z", granularity: "daily" }),
    );
    const hourly = frames(
      await v1(double, { from: "2026-01-30T00:00:00Z", to: "2026-02-02T00:00:00Z", granularity: "hourly" }),
    );
    expect(monthly).toHaveLength(2);
    for (const name of ["active_time_seconds", "compute_time_seconds"] as const) {
      for (const month of ["2026-01", "2026-02"]) {
        const of = (list: readonly Frame[]) =>
          list.filter((frame) => frame.timeframe_start.startsWith(month));
        expect(sum(of(daily), name)).toBe(sum(of(monthly), name));
      }
      for (const day of ["2026-01-30", "2026-01-31", "2026-02-01"]) {
        const of = (list: readonly Frame[]) => list.filter((frame) => frame.timeframe_start.startsWith(day));
        expect(sum(of(hourly), name)).toBe(sum(of(daily), name));
      }
    }
  });

  test("is discarded when it is too old to be requested, but stays in its day and month", async () => {
    const { double, path, projectId } = await activeSince("2026-01-05T10:20:00.000Z");
    await double.advance("7h");
    await double.api("POST", `${path}/suspend`);
    await double.advance("10s");
    for (let day = 0; day < 120; day += 1) {
      await double.api("POST", `${path}/start`);
      await double.advance("1h");
      await double.api("POST", `${path}/suspend`);
      await double.advance("23h");
    }
    const rows = (await double.sim("GET", "/state")).body.hourly_usage.filter(({ of }) =>
      of.startsWith(projectId),
    );
    const count = (of: string) => rows.filter((row) => row.of === of).length;
    expect(count(projectId)).toBeLessThanOrEqual(2 * 9);
    expect(count(`${projectId}#day`)).toBeLessThanOrEqual(93);
    const monthly = frames(
      await v1(double, { from: "2026-01-01T00:00:00Z", to: "2026-06-01T00:00:00Z", granularity: "monthly" }),
    );
    const total = monthly.reduce((sum: number, frame) => sum + frame.compute_time_seconds, 0);
    const { project } = (await double.api("GET", `/projects/${projectId}`)).body;
    expect(Math.abs(total - project.cpu_used_sec)).toBeLessThanOrEqual(monthly.length);
    expect(monthly).toHaveLength(5);
  });

  test("is discarded with its branch and its project", async () => {
    const { double, projectId } = await activeSince("2026-01-05T10:20:00.000Z");
    const { body } = await double.api("POST", `/projects/${projectId}/branches`, {
      branch: {},
      endpoints: [{ type: "read_write" }],
    });
    await double.advance("3h");
    await double.api("POST", `/projects/${projectId}/endpoints/${body.endpoints[0].id}/suspend`);
    await double.advance("1h");
    const of = async () =>
      (await double.sim("GET", "/state")).body.hourly_usage.map((row) => row.of.split("#")[0]);
    expect(await of()).toContain(body.branch.id);
    await double.api("DELETE", `/projects/${projectId}/branches/${body.branch.id}?hard_delete=true`);
    await double.advance("30d");
    expect(await of()).not.toContain(body.branch.id);
    await double.api("DELETE", `/projects/${projectId}`);
    await double.advance("60d");
    expect(await of()).toEqual([]);
  });
});

describe("the window", () => {
  test.each([
    ["hourly", "2026-03-20T10:30:00Z", "2026-03-13T10:00:00Z"],
    ["daily", "2026-03-20T10:30:00Z", "2026-01-19T00:00:00Z"],
    ["monthly", "2026-03-20T10:30:00Z", "2025-03-01T00:00:00Z"],
  ])("of %s metrics reaches back exactly as far as the document says", async (granularity, now, oldest) => {
    const double = await createDouble();
    await createProject(double);
    await advanceTo(double, now);
    expect((await v1(double, { from: oldest, to: now, granularity })).status).toBe(200);
    const before = new Date(Date.parse(oldest) - 1).toISOString();
    expect(await v1(double, { from: before, to: now, granularity })).toMatchObject({
      status: 406,
      body: { code: "CONSUMPTION_WINDOW" },
    });
  });

  test("must not begin before March 2024 nor end before its start", async () => {
    const double = await createDouble({ startAt: Date.parse("2024-03-05T00:00:00Z") });
    const now = at(double);
    expect((await v1(double, { from: "2024-03-01T00:00:00Z", to: now, granularity: "daily" })).status).toBe(
      200,
    );
    expect((await v1(double, { from: "2024-02-29T23:59:59Z", to: now, granularity: "daily" })).status).toBe(
      406,
    );
    expect((await v1(double, { from: now, to: at(double, -1), granularity: "hourly" })).status).toBe(406);
  });

  test("is rounded down at both ends, and the future has no timeframes", async () => {
    const double = await createDouble();
    await createProject(double);
    await advanceTo(double, "2026-01-03T12:30:00Z");
    const reported = frames(
      await v1(double, { from: "2026-01-02T15:30:00Z", to: "2026-01-20T15:30:00Z", granularity: "daily" }),
    );
    expect(reported.map((frame) => frame.timeframe_start)).toEqual([
      "2026-01-02T00:00:00Z",
      "2026-01-03T00:00:00Z",
    ]);
    const shorter = frames(
      await v1(double, { from: "2026-01-02T15:30:00Z", to: "2026-01-03T15:30:00Z", granularity: "daily" }),
    );
    expect(shorter.map((frame) => frame.timeframe_end)).toEqual(["2026-01-03T00:00:00Z"]);
  });
});

describe("the history of consumption", () => {
  const january = { from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", granularity: "monthly" };

  test("is grouped by billing period; each has its plan, an id and, when it is over, an end", async () => {
    const double = await createDouble();
    await createProject(double);
    await advanceTo(double, "2026-02-10T00:00:00Z");
    const { body } = await v1(double, { ...january, to: "2026-03-01T00:00:00Z" });
    const [{ periods }] = body.projects;
    expect(periods).toMatchObject([
      { period_plan: "launch", period_start: "2026-01-01T00:00:00Z", period_end: "2026-02-01T00:00:00Z" },
      { period_plan: "launch", period_start: "2026-02-01T00:00:00Z" },
    ]);
    expect(periods[1]).not.toHaveProperty("period_end");
    expect(periods[0].period_id).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(periods[0].period_id).not.toBe(periods[1].period_id);
    expect((await v1(double, january)).body.projects[0].periods[0].period_id).toBe(periods[0].period_id);
  });

  test("is not available on the free plan, nor for other organizations", async () => {
    const free = await createDouble({ plan: "free" });
    expect(await v1(free, january)).toMatchObject({
      status: 403,
      body: { code: "PLAN_WITHOUT_CONSUMPTION_HISTORY" },
    });
    const double = await createDouble();
    expect(await v1(double, { ...january, org_id: "org-of-others" })).toMatchObject({
      status: 404,
      body: { code: "ORGANIZATION_NOT_FOUND" },
    });
  });

  test("begins with the change to a plan that has it, in every granularity", async () => {
    const double = await createDouble({ plan: "free" });
    const { endpointId } = await createProject(double);
    const { id } = (await double.api("GET", "/users/me")).body;
    const changeTo = async (plan: string) =>
      expect((await double.sim("PATCH", `/accounts/${id}`, { plan })).status).toBe(200);
    const use = async () => {
      await double.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: HOUR });
      await double.advance("1d");
    };
    await use();
    await advanceTo(double, "2026-02-03T10:20:00Z");
    await changeTo("paid");
    await use();
    const window = { from: "2026-01-01T00:00:00Z", to: "2026-03-01T00:00:00Z" };
    const firstOf = async (granularity: string, from = window.from) =>
      frames(await v1(double, { ...window, from, granularity }))[0];
    expect(await firstOf("monthly")).toMatchObject({
      timeframe_start: "2026-02-01T00:00:00Z",
      active_time_seconds: 3_900,
    });
    expect(await firstOf("daily")).toMatchObject({
      timeframe_start: "2026-02-03T00:00:00Z",
      active_time_seconds: 3_900,
    });
    expect(await firstOf("hourly", "2026-02-01T00:00:00Z")).toMatchObject({
      timeframe_start: "2026-02-03T10:00:00Z",
    });
    for (const of of ["projects", "branches"] as const) {
      const project_ids = (await v1(double, { ...window, granularity: "monthly" })).body.projects[0]
        .project_id;
      const { body } = await v2(double, of, { ...window, project_ids, granularity: "monthly" });
      expect(body[of][0].periods.map(({ period_start }) => period_start)).toEqual(["2026-02-01T00:00:00Z"]);
    }
    await advanceTo(double, "2026-03-02T00:00:00Z");
    await changeTo("free");
    await changeTo("paid");
    const again = frames(await v1(double, { ...window, to: "2026-04-01T00:00:00Z", granularity: "monthly" }));
    expect(again.map((frame) => frame.timeframe_start)).toEqual(["2026-03-01T00:00:00Z"]);
  });

  test("is complete if the plan change is no longer in the history", async () => {
    const double = await createDouble({ plan: "free" });
    await createProject(double);
    const { id } = (await double.api("GET", "/users/me")).body;
    await advanceTo(double, "2026-01-10T10:00:00Z");
    await double.sim("PATCH", `/accounts/${id}`, { plan: "paid" });
    const days = { from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", granularity: "daily" };
    expect(frames(await v1(double, days))[0].timeframe_start).toBe("2026-01-10T00:00:00Z");
    await double.advance("2d");
    await double.world.compact(0);
    expect(frames(await v1(double, days))[0].timeframe_start).toBe("2026-01-01T00:00:00Z");
  });

  test("can be limited to projects, listed with commas, by repetition, or as the public client does", async () => {
    const double = await createDouble();
    const [one, another] = [(await createProject(double)).projectId, (await createProject(double)).projectId];
    await createProject(double);
    const query = `from=${january.from}&to=${january.to}&granularity=monthly`;
    for (const named of [
      `project_ids=${one},${another}`,
      `project_ids=${one}&project_ids=${another}`,
      `project_ids[]=${one}&project_ids[]=${another}`,
    ]) {
      const { body } = await double.api("GET", `/consumption_history/projects?${query}&${named}`);
      expect(body.projects.map(({ project_id }) => project_id)).toEqual([one, another]);
    }
    expect(
      (await double.api("GET", `/consumption_history/projects?${query}&project_ids=nobody-knows-1`)).body
        .projects,
    ).toEqual([]);
    expect((await double.api("GET", `/consumption_history/projects?${query}&granularity=daily`)).status).toBe(
      400,
    );
  });

  test("comes in pages: projects oldest first, in version 2 newest first, branches by id", async () => {
    const double = await createDouble();
    const projects: string[] = [];
    for (let count = 0; count < 3; count += 1) projects.push((await createProject(double)).projectId);
    const pagesOf = async (
      ask: (query: Record<string, string>) => Promise<ApiResponse<Pages>>,
      of: "projects" | "branches",
    ) => {
      const seen: string[] = [];
      for (let cursor: Record<string, string> = {}; ; ) {
        const { body, status } = await ask({ ...january, limit: "2", ...cursor });
        expect(status).toBe(200);
        const page = body[of] ?? [];
        if (page.length === 0) return seen;
        seen.push(...page.map(({ project_id }) => project_id));
        cursor = { cursor: body.pagination.cursor };
      }
    };
    expect(await pagesOf((query) => v1(double, query), "projects")).toEqual(projects);
    expect(await pagesOf((query) => v2(double, "projects", query), "projects")).toEqual(
      [...projects].reverse(),
    );
    const branches = await pagesOf(
      (query) => v2(double, "branches", { ...query, project_ids: projects.join() }),
      "branches",
    );
    expect(branches).toEqual([...projects].sort());
  });

  test("contains the requested metrics, and unknown ones are rejected", async () => {
    const double = await createDouble();
    const { projectId, branchId } = await createProject(double);
    const value = (response: Awaited<ReturnType<typeof v2<"branches">>>) =>
      response.body.branches[0].periods[0].consumption[0].metrics;
    const both = {
      ...january,
      project_ids: projectId,
      metrics: "private_network_transfer_bytes,compute_unit_seconds",
    };
    expect(value(await v2(double, "branches", both)).map(({ metric_name }) => metric_name)).toEqual([
      "compute_unit_seconds",
      "private_network_transfer_bytes",
    ]);
    expect((await v2(double, "branches", { ...both, branch_ids: branchId })).body.branches).toHaveLength(1);
    expect((await v2(double, "branches", { ...both, branch_ids: "br-of-nobody-1" })).body.branches).toEqual(
      [],
    );
    expect((await v2(double, "branches", { ...both, metrics: "extra_branches_month" })).status).toBe(400);
    expect((await v2(double, "branches", { ...both, project_ids: "" })).status).toBe(400);
    expect((await v2(double, "projects", { ...january, metrics: "extra_branches_month" })).status).toBe(200);
    expect((await v2(double, "projects", { ...january, metrics: "" })).status).toBe(400);
    const [frame] = frames(await v1(double, { ...january, metrics: "logical_size_bytes" }));
    expect(frame).toMatchObject({ logical_size_bytes: 0, written_data_bytes: 0 });
    expect(frame).not.toHaveProperty("data_storage_bytes_hour");
    expect(frames(await v1(double, { ...january, include_v1_metrics: "true" }))[0]).toHaveProperty(
      "data_storage_bytes_hour",
      0,
    );
  });
});

describe("consumption of deleted resources", () => {
  const day = { from: "2026-01-05T00:00:00Z", to: "2026-01-06T00:00:00Z", granularity: "daily" };
  const usedBy = (one: UsedV2) => one.periods[0].consumption[0].metrics[0].value;

  test("is included while they can be recovered: branches add up to their project, and projects to their account", async () => {
    const { double, projectId } = await activeSince("2026-01-05T10:00:00.000Z");
    const { projectId: otherId } = await createProject(double);
    const made = await double.api("POST", `/projects/${projectId}/branches`, {
      branch: {},
      endpoints: [{ type: "read_write" }],
    });
    const branchId = made.body.branch.id;
    await double.advance("1h");
    expect((await double.api("DELETE", `/projects/${projectId}/branches/${branchId}`)).status).toBe(200);
    await advanceTo(double, day.to);
    const projects = async () => (await v2(double, "projects", day)).body.projects;
    const branches = async () =>
      (await v2(double, "branches", { ...day, project_ids: projectId })).body.branches;
    const before = await projects();
    const used = usedBy(before.find(({ project_id }) => project_id === projectId));
    const ofBranches = await branches();
    expect(usedBy(ofBranches.find(({ branch_id }) => branch_id === branchId))).toBeGreaterThan(0);
    // Each value is rounded down to whole seconds.
    expect(ofBranches.reduce((sum: number, branch) => sum + usedBy(branch), 0)).toBeCloseTo(used, -1);

    expect((await double.api("DELETE", `/projects/${projectId}`)).status).toBe(200);
    await double.advance("1h");
    expect(await projects()).toEqual(before);
    expect(await branches()).toEqual(ofBranches);
    expect((await v1(double, day)).body.projects.map(({ project_id }) => project_id)).toEqual([
      projectId,
      otherId,
    ]);

    await double.advance("7d");
    const left = (await projects()).map(({ project_id }) => project_id);
    expect([left, await branches()]).toEqual([[otherId], []]);
  });

  test("is visible only to their account", async () => {
    const { double, projectId } = await activeSince("2026-01-05T10:00:00.000Z");
    const { key } = await createAccount(double);
    await double.api("DELETE", `/projects/${projectId}`);
    expect(
      (await double.api("GET", `/consumption_history/projects?${new URLSearchParams(day)}`, undefined, key))
        .body.projects,
    ).toEqual([]);
  });
});

test("the consumption of an account is the sum of its projects", async () => {
  const { double, projectId } = await activeSince("2026-01-05T10:20:30.000Z");
  const second = await createProject(double);
  await advanceTo(double, "2026-01-05T13:00:00.000Z");
  const query = { from: "2026-01-05T10:00:00Z", to: "2026-01-05T13:00:00Z", granularity: "hourly" };
  const of = async (id: string) => frames(await v1(double, { ...query, project_ids: id }));
  const [one, two] = [await of(projectId), await of(second.projectId)];
  const account = await double.api("GET", `/consumption_history/account?${new URLSearchParams(query)}`);
  expect(account.status).toBe(200);
  const { periods } = account.body as unknown as Response["body"]["projects"][0];
  const total = framesIn(periods);
  expect(total.map((frame) => frame.timeframe_start)).toEqual(one.map((frame) => frame.timeframe_start));
  expect(Object.keys(total[0])).toEqual(Object.keys(one[0]));
  for (const metric of ["active_time_seconds", "compute_time_seconds"] as const) {
    const sumOf = (list: readonly Frame[]) => list.reduce((sum, frame) => sum + frame[metric], 0);
    expect([metric, sumOf(total)]).toEqual([metric, sumOf(one) + sumOf(two)]);
    expect(sumOf(two)).toBeGreaterThan(0);
  }
  const none = await double.api(
    "GET",
    `/consumption_history/account?${new URLSearchParams({ ...query, org_id: "org-none" })}`,
  );
  expect(none.status).toBe(404);
});

test("a project shows its usage in this billing period and its total usage", async () => {
  const { double, path, projectId } = await activeSince("2026-01-31T23:00:00.000Z");
  const { project: before } = (await double.api("GET", `/projects/${projectId}`)).body;
  await advanceTo(double, "2026-02-01T00:00:10Z");
  const { project } = (await double.api("GET", `/projects/${projectId}`)).body;
  expect(project).toMatchObject({
    active_time_seconds: 10,
    compute_time_seconds: 20,
    cpu_used_sec: before.cpu_used_sec + 7_220,
    consumption_period_start: "2026-02-01T00:00:00Z",
    consumption_period_end: "2026-03-01T00:00:00Z",
  });
  await double.api("POST", `${path}/suspend`);
});
