import { expect, onTestFinished, test } from "vitest";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

/** A compute of 2 CU that suspends after 10 min, with three requests of 1 min, an hour apart; and one with defaults. */
async function used() {
  const double = await createDouble();
  onTestFinished(() => double.close());
  const [mine, other] = [await createProject(double), await createProject(double)];
  const endpoint = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 600 };
  await double.api("PATCH", mine.path, { endpoint });
  for (let hour = 0; hour < 3; hour += 1) {
    await double.advance("1h");
    for (const { endpointId } of [mine, other])
      await double.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 60_000 });
  }
  await double.advance("1h");
  return { double, mine, other };
}

async function whatIf(double: Double, question = {}) {
  const { status, body } = await double.sim("POST", "/whatif", { policy: "fixed:60", ...question });
  expect(status).toBe(200);
  return body;
}

test("a deleted compute counts with its last settings, so its cost does not change", async () => {
  const { double, mine } = await used();
  const { input, ...before } = await whatIf(double);
  expect(input).toEqual({ notes: [] });
  expect(before.policies[0]).toMatchObject({
    policy: "present",
    figures: { cu_hours: { value: (3 * (660 * 2 + 360 * 0.25)) / 3_600 } },
  });
  expect((await double.api("DELETE", mine.path)).status).toBe(200);
  expect(await whatIf(double)).toEqual({ ...before, input });
});

test("notes what truncated history does not contain", async () => {
  const { double, mine } = await used();
  await double.sim("POST", "/compact", { keep: "0s" });
  await double.sim("POST", "/activity", { endpoint_id: mine.endpointId, duration_ms: 60_000 });
  await double.advance("1h");
  const forgotten = "the beginning of this world's history has been removed: earlier traffic is not included";
  expect((await whatIf(double)).input.notes).toEqual([forgotten]);
  await double.api("DELETE", mine.path);
  const gone =
    /^1 compute of the traffic is in neither this world nor its remaining history: counted as 0\.25 CU with a delay of 300 s$/;
  expect((await whatIf(double)).input.notes).toEqual([forgotten, expect.stringMatching(gone)]);
});

test.each([
  [{ from: "2026-01-01" }, 6],
  [{ from: "2026-01-01T01:30Z", to: "2026-01-01T03:30+01:00" }, 2],
  [{ from: "2026-01-01T02:30:00.000+01:00" }, 4],
  [{ profile: 2026 }, 6],
])("a question accepts what the flags accept: %j", async (question, requests) => {
  const { double } = await used();
  const { traffic, question: echoedQuestion } = await whatIf(double, question);
  expect(traffic.requests).toBe(requests);
  expect(echoedQuestion.profile).toBe("profile" in question ? "2026" : "2024");
});

test("a world has a price under every profile, from the list and plan that the question names", async () => {
  const { double } = await used();
  const prices = async (question: object) => {
    const { question: told, policies } = await whatIf(double, question);
    const { cost, cu_hours } = policies[0].figures;
    expect(cost.value).toBeCloseTo(cu_hours.value * told.price_per_cu_hour, 9);
    return [told.profile, told.price_per_cu_hour, told.price_list, told.price_plan];
  };
  expect(await prices({})).toEqual(["2024", 0.222, "2026-03-20", "scale"]);
  expect(await prices({ profile: 2026, price_plan: "launch" })).toEqual([
    "2026",
    0.106,
    "2026-03-20",
    "launch",
  ]);
  expect(await prices({ prices: "2025-08-14" })).toEqual(["2024", 0.26, "2025-08-14", "scale"]);
  expect(await prices({ price: 0.5 })).toEqual(["2024", 0.5, null, null]);
});

test.each([
  [{ from: "yesterday" }, "from: must be an ISO 8601 instant like 2026-01-31T12:00:00Z"],
  [{ to: "2026-02-30" }, "to: must be an ISO 8601 instant like 2026-01-31T12:00:00Z"],
  [{ to: "2026-01-01T12:00" }, "to: must be an ISO 8601 instant like 2026-01-31T12:00:00Z"],
  [{ profile: 2025 }, expect.stringMatching(/^profile: /)],
  [{ prices: "2024-01-01" }, expect.stringMatching(/^prices: /)],
  [{ price: 1, price_plan: "launch" }, "price: cannot be combined with prices or price_plan"],
  [
    { to: "2026-01-01T00:30:00Z" },
    "no compute of this world was used before 2026-01-01T00:30:00.000Z, so there is no traffic to replay",
  ],
])("a question rejects what the flags reject: %j", async (question, message) => {
  const { double } = await used();
  const { status, body } = await double.sim("POST", "/whatif", { policy: "fixed:60", ...question });
  expect({ status, message: body.message }).toEqual({ status: 400, message });
});

test("by_compute lists the computes whose cost changes most, and their figures add up to the total", async () => {
  const { double, mine, other } = await used();
  const [present, shorter] = (await whatIf(double, { by_compute: 2 })).policies;
  const ids = (policy: { by_compute: { endpoint_id: string }[] }) =>
    policy.by_compute.map(({ endpoint_id }) => endpoint_id);
  expect(ids(shorter)).toEqual([mine.endpointId, other.endpointId]);
  for (const { by_compute, figures } of [present, shorter])
    for (const part of ["value", "difference"] as const) {
      const sum = by_compute.reduce((total: number, one) => total + one.figures.cost[part], 0);
      expect(sum).toBeCloseTo(figures.cost[part], 9);
    }
  const [largest] = shorter.by_compute;
  expect(largest.requests).toBe(3);
  expect(largest.figures.cost.difference).toBeLessThan(0);
  const limited = (await whatIf(double, { by_compute: 1 })).policies;
  expect(ids(limited[1])).toEqual([mine.endpointId]);
});

test("by_compute changes no other figure", async () => {
  const { double } = await used();
  const question = {
    policy: ["fixed:60", "best-fixed:fleet", "clairvoyant"],
    start_latency: "300ms..2s",
    seed: 3,
  };
  const without = await whatIf(double, question);
  const { policies, ...rest } = await whatIf(double, { ...question, by_compute: 1 });
  expect({ ...rest, policies: policies.map(({ by_compute: _, ...one }) => one) }).toEqual(without);
});

test.each([0, 101, 1.5, "2"])("by_compute is a whole number from 1 to 100, not %j", async (by_compute) => {
  const { double } = await used();
  const { status, body } = await double.sim("POST", "/whatif", { policy: "fixed:60", by_compute });
  expect(status).toBe(400);
  expect(body.message).toContain("by_compute");
});

test("an advice is that of standin advise: the whole bill, what to change, and what is not known", async () => {
  const { double } = await used();
  const { status, body } = await double.sim("POST", "/whatif/advice", {
    plan: "launch",
    budget: 1,
    slo: "p99 wait < 1h",
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    plan: "launch",
    decision: null,
    traffic: { computes: 2, requests: 6 },
    current: { meets: { budget: false, slo: true } },
    text: {
      decision: expect.stringMatching(/^No recommendation: 0\.2 days of traffic, and 7 are needed/),
      not_known: expect.arrayContaining([expect.stringContaining("whether a smaller size is enough")]),
      requirements: [
        expect.stringContaining("exceed the budget"),
        expect.stringContaining("meet a p99 wait of at most 3,600 s"),
      ],
    },
    input: { notes: [] },
  });
});

test("an advice bills the storage of its world, once Postgres has reported it", async () => {
  const { double, mine } = await used();
  const bill = async () => {
    const { body } = await double.sim("POST", "/whatif/advice", {});
    return body["bill"] as { lines: readonly unknown[]; unknown: readonly string[] };
  };
  const billed = async () => (await double.sim("GET", "/data")).body["billed"];
  expect((await bill()).unknown).toEqual(["storage", "history", "transfer"]);
  expect(await billed()).toBeNull();
  const span = { endpoint_id: mine.endpointId };
  await double.sim("POST", "/activity", { ...span, duration_ms: 0 });
  await double.advance("1m");
  await double.sim("POST", "/spans", { ...span, kind: "begin" });
  const data = { written_bytes: 5e9, transferred_bytes: 0, logical_size_bytes: 40e9 };
  expect((await double.sim("POST", "/spans", { ...span, kind: "end", data })).status).toBe(200);
  const { lines, unknown } = await bill();
  expect(unknown).toEqual(["transfer"]);
  expect(lines).toContainEqual({ line: "storage", dollars_per_month: 14 });
  expect(lines).toContainEqual({ line: "history", dollars_per_month: 1 });
  expect(await billed()).toEqual({ storage_bytes: 40e9, history_bytes: 5e9 });
});

test("an advice bills the snapshots of its world, and not before their size is known", async () => {
  const { double, mine } = await used();
  const bill = async (prices?: string) => {
    const { body } = await double.sim("POST", "/whatif/advice", { prices });
    return body["bill"] as { lines: readonly unknown[]; unknown: readonly string[] };
  };
  expect((await bill()).lines).toContainEqual({ line: "snapshots", dollars_per_month: 0 });
  const path = `/projects/${mine.projectId}/branches/${mine.branchId}/snapshot`;
  expect((await double.api("POST", path)).status).toBe(200);
  expect((await bill()).unknown).toContain("snapshots");
  const span = { endpoint_id: mine.endpointId };
  await double.sim("POST", "/activity", { ...span, duration_ms: 0 });
  await double.advance("1m");
  await double.sim("POST", "/spans", { ...span, kind: "begin" });
  const data = { written_bytes: 0, transferred_bytes: 0, logical_size_bytes: 40e9 };
  expect((await double.sim("POST", "/spans", { ...span, kind: "end", data })).status).toBe(200);
  expect((await bill()).lines).toContainEqual({ line: "snapshots", dollars_per_month: expect.closeTo(3.6) });
  expect((await double.sim("GET", "/data")).body).toMatchObject({ snapshot_bytes: 40e9 });
  expect((await bill("2025-11-03")).lines).not.toContainEqual(expect.objectContaining({ line: "snapshots" }));
});

test("an advice bills the branches of its world beyond those of the plan, on each plan", async () => {
  const { double, mine } = await used();
  const branches = `/projects/${mine.projectId}/branches`;
  const extra = async (plan: string) => {
    const { body } = await double.sim("POST", "/whatif/advice", { plan });
    const { lines } = body["bill"] as { lines: readonly { line: string; dollars_per_month: number }[] };
    return lines.find(({ line }) => line === "extra branches")?.dollars_per_month;
  };
  const create = async (count: number) => {
    for (let created = 0; created < count; created += 1) {
      expect((await double.api("POST", branches, {})).status).toBe(201);
      await double.advance("1m");
    }
  };
  await create(9);
  expect([await extra("launch"), await extra("scale")]).toEqual([0, 0]);
  await create(1);
  expect([await extra("launch"), await extra("scale")]).toEqual([1.5, 0]);
  await create(15);
  expect([await extra("launch"), await extra("scale")]).toEqual([24, 1.5]);
  const { body } = await double.sim("GET", "/data");
  expect(body["extra_branches"]).toEqual({ free: 16, launch: 16, scale: 1 });
});

test("nobody waits for ignored sources: their starts are billed, but are no cold starts", async () => {
  const { double, mine } = await used();
  const question = { policy: ["fixed:60", "ski-rental", "clairvoyant", "best-fixed:fleet"] };
  for (let hour = 0; hour < 3; hour += 1) {
    await double.sim("POST", "/activity", { endpoint_id: mine.endpointId, duration_ms: 10, source: "bot" });
    await double.advance("1h");
  }
  const figuresOf = ({ policies }: Awaited<ReturnType<typeof whatIf>>, name: string) =>
    policies.find(({ policy }: { policy: string }) => policy === name).figures;
  const [all, people] = [
    await whatIf(double, question),
    await whatIf(double, { ...question, ignore_waits_of: "bot" }),
  ];
  expect(figuresOf(people, "fixed:60").cost.value).toBe(figuresOf(all, "fixed:60").cost.value);
  expect(figuresOf(people, "fixed:60").cold_starts.value).toBe(
    figuresOf(all, "fixed:60").cold_starts.value - 3,
  );
  for (const name of ["ski-rental", "best-fixed:fleet"])
    expect(figuresOf(people, name).burden_s.value, name).toBeGreaterThanOrEqual(
      figuresOf(people, "clairvoyant").burden_s.value,
    );
  const { body } = await double.sim("POST", "/whatif/advice", { ignore_waits_of: ["bot"] });
  expect(body).toMatchObject({ question: { ignore_waits_of: ["bot"] } });
  for (const path of ["/whatif", "/whatif/advice"]) {
    const asked = { ...(path === "/whatif" ? question : {}), ignore_waits_of: "cron" };
    const refused = await double.sim("POST", path, asked);
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/^ignore_waits_of: no request has the source "cron"/),
    ]);
  }
});

test.each([
  [{ slo: "fast" }, 'slo: must be a limit on a percentile of the wait, such as "p99 wait < 2s"'],
  [{ slo: "p99 wait < 2s for batch" }, 'slo: no request names a source, so none is from "batch"'],
  [{ from: "yesterday" }, "from: "],
  [{ plan: "huge" }, "plan"],
  [{ budget: -1 }, "budget"],
  [{ policy: "fixed:60" }, "policy"],
])("an advice rejects %j", async (question, message) => {
  const { double } = await used();
  const { status, body } = await double.sim("POST", "/whatif/advice", question);
  expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
});

test("a world without traffic has no advice", async () => {
  const double = await createDouble();
  onTestFinished(() => double.close());
  const { status, body } = await double.sim("POST", "/whatif/advice", {});
  expect([status, body.message]).toEqual([
    400,
    expect.stringContaining("no compute of this world was used yet"),
  ]);
});
