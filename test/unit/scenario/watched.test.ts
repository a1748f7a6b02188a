import { expect, test } from "vitest";
import type { Verdict } from "../../../src/scenario/run/verdict.ts";
import { runScenarioText } from "../../support/scenario/scenario-run.ts";

/** Runs these lines in a world with one project. */
async function played(...lines: string[]): Promise<Verdict> {
  const [verdict] = await runScenarioText(
    ["version: 1", "world: { start_delay: 2s, projects: { shop: {} } }", ...lines].join("\n"),
  );
  if (verdict === undefined) throw new Error("nothing was played");
  return verdict;
}
const brokenIn = ({ failures }: Verdict) =>
  failures.map(({ what, at, actual }) => `${what} ${at.slice(11, 23)} ${actual}`);

test("a condition that is violated at the start is reported at the start, without any event", async () => {
  const verdict = await played(
    "length: 1m",
    "always: [{ projects: 5 }, { activities: { min: 1 } }]",
    "never: [{ state: active, of: shop/main }]",
  );
  expect(brokenIn(verdict)).toEqual([
    "always.1 00:00:00.000 1",
    "always.2 00:00:00.000 0",
    "never.1 00:00:00.000 active",
  ]);
});

test("a condition that is violated when its window opens is reported at that instant", async () => {
  const always = "always: [{ state: active, of: shop/main, from: 2h }]";
  const never = "never: [{ state: idle, of: shop/main, from: 5h, until: 20h }]";
  const broken = ["always.1 02:00:00.000 idle", "never.1 05:00:00.000 idle"];
  expect(brokenIn(await played(always, never, "length: 1d"))).toEqual(broken);
  expect(brokenIn(await played(always, never, "steps: [{ at: 90m }, { advance: 4h }]"))).toEqual(broken);
  // All events of the instant come before the check.
  const wakes = "steps: [{ at: 1h, activity: { to: shop/main } }]";
  expect(
    brokenIn(await played("always: [{ state: starting, of: shop/main, from: 1h, until: 1h 1s }]", wakes)),
  ).toEqual([]);
});

test("a window opens after all steps of its instant, in every parallel sequence", async () => {
  const project = (name: string) =>
    `{ at: 1h, request: { method: POST, path: /projects, body: { project: { name: ${name} } } } }`;
  const steps = `steps: [{ parallel: [[${project("x")}, { activity: { to: shop/main } }], [${project("y")}]] }]`;
  const always =
    "always: [{ projects: 3, from: 1h }, { state: starting, of: shop/main, from: 1h, until: 3600001ms }]";
  const never = "never: [{ projects: { max: 2 }, from: 1h }]";
  expect(brokenIn(await played(always, never, steps))).toEqual([]);
  expect(brokenIn(await played(always, never, steps, "length: 2h"))).toEqual([]);
  expect(brokenIn(await played("always: [{ projects: 2, from: 1h }]", steps, "length: 2h"))).toEqual([
    "always.1 01:00:00.000 3",
  ]);
});

test("a window that starts before the run starts with it; one that ends before never opens", async () => {
  const before = (from: string, until: string) =>
    `{ active_time: { min: 1ms }, from: "${from}", until: "${until}" }`;
  const always = `always: [${before("2025-06-01T00:00:00Z", "2025-07-01T00:00:00Z")}, ${before("2025-12-31T00:00:00Z", "2026-01-02T00:00:00Z")}]`;
  expect(brokenIn(await played(always, "length: 1m"))).toEqual(["always.2 00:00:00.000 0s"]);
});

test("measures that grow with time are reported at the exact instant, including the end of the run and of a window", async () => {
  const always =
    'world: { projects: { a: { branches: { main: { computes: { p: { suspend_timeout_seconds: "-1" } } } } } } }'.replaceAll(
      '"',
      "",
    );
  const inAlwaysOn = async (...lines: string[]) =>
    brokenIn((await runScenarioText(["version: 1", always, ...lines].join("\n")))[0] as Verdict);
  const never = "never: [{ active_time: { min: 1h } }, { compute_time: { min: 1h }, of: a/main }]";
  expect(await inAlwaysOn("length: 1d", never)).toEqual([
    "never.1 01:00:00.000 1h",
    "never.2 04:00:00.000 1h",
  ]);
  expect(await inAlwaysOn("length: 1h", never)).toEqual(["never.1 01:00:00.000 1h"]);
  expect(await inAlwaysOn("length: 3599999ms", never)).toEqual([]);
  // Even the smallest excess counts.
  expect(await inAlwaysOn("length: 1d", "always: [{ compute_time: { max: 1h }, of: a/main }]")).toEqual([
    "always.1 04:00:00.001 1h 0.00025s",
  ]);
  const until = (end: string) =>
    inAlwaysOn("length: 1d", `never: [{ active_time: { min: 1h }, until: ${end} }]`);
  expect(await until("1h")).toEqual([]);
  expect(await until("3600001ms")).toEqual(["never.1 01:00:00.000 1h"]);
});

test("a connection that closes by itself is counted as closed", async () => {
  const steps = "steps: [{ activity: { to: shop/main, duration: 90s } }]";
  const always = "always: [{ connections: { min: 1 }, from: 1ms }]";
  expect(brokenIn(await played(always, steps, "length: 4m"))).toEqual(["always.1 00:01:30.000 0"]);
  expect(brokenIn(await played(always, steps, "length: 1m"))).toEqual([]);
});

test("a restarting compute is not idle in between", async () => {
  const never = "never: [{ state: idle, of: shop/main }]";
  const restart =
    'steps: [{ request: { method: PATCH, path: "/projects/{shop}/endpoints/{shop/main/primary}", body: { endpoint: { pooler_enabled: true } } } }]';
  const verdict = await played(never, restart, "length: 1m");
  expect(verdict.timelines[0]?.starting.some((share) => share > 0)).toBe(true);
  expect(brokenIn(verdict)).toEqual([]);
});

test("waiting arrivals count as refused and as errors at the instant of the failed start", async () => {
  const fault = "{ fault: { name: f, on: { action: start_compute }, effect: start_fails } }";
  const verdict = await played(
    `steps: [${fault}, { at: 1h, activity: { to: shop/main } }]`,
    "length: 2h",
    "always: [{ refused: 0 }, { errors: 0 }]",
  );
  expect(brokenIn(verdict)).toEqual(["always.1 01:00:02.000 1", "always.2 01:00:02.000 1"]);
});

test("a failure names the event that broke it, and what caused that event", async () => {
  const fault = "{ fault: { name: f, on: { action: start_compute }, effect: start_fails } }";
  const steps = `steps: [${fault}, { at: 1h, activity: { to: shop/main } }]`;
  const explained = async (condition: string) =>
    (await played(steps, "length: 2h", `never: [${condition}]`)).failures.map(({ broken_by, caused_by }) => [
      broken_by,
      ...caused_by,
    ]);
  const hit = "2026-01-01T01:00:00.000Z FaultHit f operation_fails start_compute shop/main/primary";
  const scheduled = "2026-01-01T01:00:00.000Z OperationScheduled start_compute shop/main/primary by activity";
  const arrived =
    "2026-01-01T01:00:00.000Z ActivityRecorded shop/main/primary query from step waited 2000 ms";
  const failed = expect.stringMatching(/^2026-01-01T01:00:02.000Z OperationFailed /);
  const step = "step 2: activity";
  expect(await explained("{ state: starting, of: shop/main }")).toEqual([[scheduled, hit, arrived, step]]);
  expect(await explained("{ operations: 1, of: shop, with: { status: failed } }")).toEqual([
    [failed, hit, scheduled, arrived, step],
  ]);
  expect(await explained("{ refused: { min: 1 } }")).toEqual([
    ["2026-01-01T01:00:02.000Z ComputeStartFailed shop/main/primary", failed, hit, scheduled, arrived, step],
  ]);
});

test("an autosuspend names the last activity before it", async () => {
  const steps = "steps: [{ at: 1h, activity: { to: shop/main } }]";
  const { failures } = await played(
    steps,
    "length: 2h",
    "always: [{ suspends: { max: 1 } }, { state: active, of: shop/main, from: 1h 1m }]",
  );
  const suspended = {
    broken_by: "2026-01-01T01:05:02.000Z ComputeSuspended shop/main/primary by autosuspend",
    caused_by: [
      "last activity before: 2026-01-01T01:00:00.000Z ActivityRecorded shop/main/primary query from step waited 2000 ms",
    ],
  };
  expect(failures).toMatchObject([suspended, suspended]);
});

test("the call of a step is a cause of its events, also after a wait for a retry in parallel", async () => {
  const create = (name: string, rest = "") =>
    `{ request: { method: POST, path: "/projects/{shop}/branches", body: { branch: { name: ${name} } }${rest} } }`;
  const retried = create("dev", ", retry: { on: [503], every: 10s, times: 1 }");
  const { failures } = await played(
    "steps:",
    "  - { fault: { name: once, on: { operation: createProjectBranch }, when: { first: 1 }, effect: { answer: { status: 503 } } } }",
    `  - { parallel: [[${retried}], [{ after: 5s, ${create("other").slice(2, -2)} }, { after: 2s }, { after: 2s }]] }`,
    "never: [{ branches: { min: 2 } }, { branches: { min: 3 } }]",
  );
  expect(failures.map(({ caused_by }) => caused_by.at(-1))).toEqual([
    "step 2.2.1: POST /projects/shop/branches",
    "step 2.1.1: POST /projects/shop/branches",
  ]);
});

test("the activity of a step is a cause of its events, and of its rejection", async () => {
  const { failures } = await played(
    "steps:",
    "  - { at: 1h, activity: { to: shop/main } }",
    "  - { at: 2h, activity: { to: shop/main } }",
    "never: [{ cold_starts: { min: 2 } }]",
  );
  expect(failures.map(({ caused_by }) => caused_by.at(-1))).toEqual(["step 2: activity"]);
  const quota = await played(
    "steps:",
    "  - { at: 1h, activity: { to: shop/main } }",
    "  - { after: 10s, request: { method: PATCH, path: '/projects/{shop}/endpoints/{shop/main/primary}', body: { endpoint: { disabled: true } } } }",
    "  - { at: 2h, activity: { to: shop/main, outcome: refused } }",
    "always: [{ refused: 0 }]",
  );
  expect(quota.failures.map(({ caused_by }) => caused_by)).toEqual([["step 3: activity"]]);
});

test("a percentile and a mean name the arrival that crossed the bound", async () => {
  const brokenBy = async (condition: string) => {
    const { failures } = await played(
      "steps:",
      ...[0, 1, 2, 3].map((minute) => `  - { at: ${60 + minute}m, activity: { to: shop/main } }`),
      ...[2, 3].map((hour) => `  - { at: ${hour}h, activity: { to: shop/main } }`),
      `always: [${condition}]`,
    );
    return failures.map(({ broken_by }) => broken_by?.slice(11, 23));
  };
  // Waits of 2 s at 1:00, 2:00 and 3:00, and of 0 s at 1:01, 1:02 and 1:03.
  expect(await brokenBy("{ wait_p50: { max: 1s }, from: 90m }")).toEqual([]);
  expect(await brokenBy("{ wait_p90: { max: 1s }, from: 90m }")).toEqual(["01:00:00.000"]);
  expect(await brokenBy("{ wait_mean: { max: 750ms }, from: 90m }")).toEqual(["02:00:00.000"]);
  expect(await brokenBy("{ wait_mean: { max: 900ms }, from: 90m }")).toEqual(["03:00:00.000"]);
});

test("a failed request names the fault that hit it; a failed count of errors the response and its step", async () => {
  const { failures } = await played(
    "steps:",
    "  - { fault: { name: gone, on: { operation: getProject }, effect: { answer: { status: 503 } } } }",
    '  - { request: { path: "/projects/{shop}" } }',
    "expect: [{ errors: 0 }, { starts: { min: 9 } }]",
  );
  expect(failures).toMatchObject([
    { what: "step 2", caused_by: ["2026-01-01T00:00:00.000Z FaultHit gone answer getProject shop"] },
    {
      expectation: "expect.1",
      broken_by: "2026-01-01T00:00:00.000Z response 503 SERVICE_UNAVAILABLE",
      caused_by: expect.arrayContaining(["step 2: GET /projects/shop"]),
    },
    { expectation: "expect.2", caused_by: [] },
  ]);
});

test("each expectation is listed with the value closest to its bound, and where it is", async () => {
  const { expectations } = await played(
    "length: 2h",
    "steps: [{ at: 1h, activity: { to: shop/main } }]",
    "always:",
    "  - { active_computes: { max: 3 } }",
    '  - { projects: 1, from: "2025-06-01T00:00:00Z", until: "2025-07-01T00:00:00Z" }',
    "never: [{ active_time: { min: 1h } }]",
    "expect: [{ wait_max: { max: 5s } }, { state: idle, of: shop/main }, { starts: { min: 5 } }]",
  );
  const shown = expectations.map(({ what, result, value, margin, line }) => [
    what,
    result,
    value,
    margin,
    line,
  ]);
  expect(shown).toEqual([
    ["always.1", "passed", 1, 2, 6],
    ["always.2", "not_checked", undefined, undefined, 7],
    ["never.1", "passed", 600_000, 3_000_000, 8],
    ["expect.1", "passed", 2_000, 3_000, 9],
    ["expect.2", "passed", "idle", undefined, 9],
    ["expect.3", "failed", 1, -4, 9],
  ]);
});

test.each([
  [
    "a fault that delays a request",
    "fault: { name: f, on: { operation: getProject }, effect: { latency: 2h } }",
    'request: { path: "/projects/{shop}" }',
  ],
  [
    "a call that advances the clock",
    "after: 0",
    "control: { method: POST, path: /clock/advance, body: { by: 2h } }",
  ],
])("traffic arrives at its own instants during %s", async (_, before, call) => {
  const traffic = "traffic: [{ name: clicks, to: shop/main, pattern: constant, every: 30m, from: 15m }]";
  const broken = async (step: string) =>
    brokenIn(
      await played(
        traffic,
        `steps: [{ ${before} }, { at: 10m, ${step} }, { after: 1h }]`,
        "always: [{ activities: 0, until: 15m }, { activities: { max: 1 } }, { state: idle, of: shop/main, from: 21m, until: 45m }]",
        "never: [{ wait_mean: { min: 2001ms } }, { activities: 6 }]",
      ),
    );
  const expected = ["always.2 00:45:00.000 2", "never.2 02:45:00.000 6"];
  expect(await broken("advance: 2h")).toEqual(expected);
  expect(await broken(call)).toEqual(expected);
});

test("when a call moves the clock, windows open on the way and every decision is checked", async () => {
  const advance = "steps: [{ control: { method: POST, path: /clock/advance, body: { by: 1h } } }]";
  const window = (key: string, state: string, from: string, until: string) =>
    `${key}: [{ state: ${state}, of: shop/main, from: ${from}, until: ${until} }]`;
  expect(brokenIn(await played(advance, window("always", "idle", "2m", "3m")))).toEqual([
    "always.1 00:02:00.000 active",
  ]);
  expect(brokenIn(await played(advance, window("never", "idle", "4m", "6m")))).toEqual([
    "never.1 00:05:00.000 idle",
  ]);
  expect(
    brokenIn(await played(advance, "never: [{ active_time: { min: 4m } }, { active_time: { min: 301s } }]")),
  ).toEqual(["never.1 00:04:00.000 4m"]);
});
