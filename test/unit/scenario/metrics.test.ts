import { expect, test } from "vitest";
import { openInProcessTarget } from "../../../src/app/targets/in-process-target.ts";
import { usageAt } from "../../../src/platform/rules/usage/meter.ts";
import { parseScenario } from "../../../src/scenario/parse-scenario.ts";
import { runScenario } from "../../../src/scenario/run/run-scenario.ts";
import { failuresOf, runScenarioText } from "../../support/scenario/scenario-run.ts";

/** The verdict of a scenario with these lines, and its failures. */
async function played(...lines: string[]) {
  const [verdict] = await runScenarioText(["version: 1", ...lines].join("\n"));
  if (verdict === undefined) throw new Error("nothing was played");
  return { ...verdict, unmet: failuresOf([verdict]) };
}

const FAILING =
  "  - fault: { name: f, on: { action: start_compute }, when: { first: 1 }, effect: start_fails }";
const SHOP = "world: { start_delay: 3s, projects: { shop: {} } }";

test("after a failed start the compute is idle and waiting arrivals are rejected", async () => {
  const { unmet } = await played(
    SHOP,
    "steps:",
    FAILING,
    "  - { at: 1h, activity: { to: shop/main, duration: 1s } }",
    "  - { at: 1h 1s, activity: { to: shop/main, duration: 1s } }",
    "  - expect: [{ state: starting, of: shop/main }, { activities: 2 }, { refused: 0 }, { wait_max: 3s }]",
    "  - at: 1h 3s",
    "  - expect:",
    "      - { state: idle, of: shop/main }",
    "      - { activities: 0, of: shop }",
    "      - { refused: 2, of: shop/main }",
    "      - { errors: 2 }",
    "      - { wait_max: 0 }",
    "      - { wait_p99: 0 }",
    "      - { cold_starts: 1 }",
    "      - { starts: 0 }",
    "  - { activity: { to: shop/main } }",
    "  - { after: 3s, expect: [{ state: active, of: shop/main }, { activities: 1 }, { refused: 2 }, { wait_mean: 3s }] }",
  );
  expect(unmet).toEqual([]);
});

test("deleting a starting compute rejects waiting arrivals and cancels the start", async () => {
  const { unmet } = await played(
    SHOP,
    "steps:",
    "  - { at: 1h, activity: { to: shop/main } }",
    '  - { after: 1s, request: { method: DELETE, path: "/projects/{shop}/endpoints/{shop/main/primary}" } }',
    "  - expect:",
    "      - { state: gone, of: shop/main/primary }",
    "      - { activities: 0 }",
    "      - { refused: 1 }",
    "      - { operations: 1, with: { action: start_compute, status: cancelled } }",
    "      - { operations: 0, with: { status: running } }",
  );
  expect(unmet).toEqual([]);
});

test("rejected activity of the control API counts like any other arrival", async () => {
  const { unmet } = await played(
    "world: { projects: { shop: { branches: { main: { computes: { primary: {}, replica: { type: read_only, disabled: true } } } } } } }",
    "traffic: [{ name: pool, to: shop/main, pattern: health-check, every: 1m }]",
    "steps:",
    '  - { at: 1h, control: { method: POST, path: /activity, body: { endpoint_id: "{shop/main/replica}" } } }',
    "  - { expect: [{ refused: 1 }, { refused: 1, of: shop/main/replica }, { errors: 1 }] }",
    '  - { control: { method: POST, path: /activity, body: [{ endpoint_id: "{shop/main/primary}" }, { endpoint_id: "{shop/main/replica}" }] } }',
    "  - { expect: [{ refused: 2 }, { refused: 0, of: shop/main/primary }] }",
    '  - { control: { method: POST, path: /activity, body: { endpoint_id: "{shop/main/replica}", at: "2026-01-01T01:30:00Z" } } }',
    "  - { advance: 1h, name: later }",
    "  - { expect: [{ refused: 3 }, { errors: 3 }] }",
  );
  expect(unmet).toEqual([]);
});

const DELETE = '{ request: { method: DELETE, path: "/projects/{shop}/endpoints/{shop/main/primary}" } }';

test("a restore brings back the arrivals that waited at the snapshot, and no others", async () => {
  const { unmet } = await played(
    SHOP.replace("3s", "30s"),
    "steps:",
    "  - { at: 10m, activity: { to: shop/main } }",
    "  - { at: 10m 5s, snapshot: one }",
    "  - { at: 10m 10s, activity: { to: shop/main } }",
    "  - { at: 12m, restore: one }",
    `  - ${DELETE}`,
    "  - { expect: [{ state: gone, of: shop/main }, { refused: 1 }, { activities: 1 }] }",
    // A rejected arrival counts once, even after another restore.
    "  - { restore: one }",
    `  - ${DELETE}`,
    "  - { expect: [{ refused: 1 }, { activities: 1 }] }",
  );
  expect(unmet).toEqual([]);
});

test("arrivals that wait during a restart are rejected with the others", async () => {
  const { unmet } = await played(
    SHOP.replace("3s", "30s"),
    "steps:",
    "  - { at: 10m, activity: { to: shop/main } }",
    "  - { after: 5s, restart: true }",
    "  - { activity: { to: shop/main } }",
    `  - ${DELETE}`,
    "  - { expect: [{ refused: 2 }, { activities: 0 }] }",
  );
  expect(unmet).toEqual([]);
});

test("operations are counted by current status: scheduling, running, finished, failed", async () => {
  const { unmet } = await played(
    SHOP,
    "steps:",
    FAILING,
    "  - { at: 1h, activity: { to: shop/main } }",
    "  - expect: [{ operations: 1, with: { action: start_compute, status: running } }, { operations: 1, with: { action: start_compute } }]",
    "  - { advance: { until: settled } }",
    "  - expect:",
    "      - { operations: 1, with: { action: start_compute, status: failed } }",
    "      - { operations: 1, with: { action: start_compute } }",
    "      - { operations: 0, with: { status: running } }",
    "  - { activity: { to: shop/main } }",
    "  - { advance: { until: settled } }",
    "  - expect: [{ operations: 1, with: { action: start_compute, status: finished } }, { operations: 2, with: { action: start_compute } }]",
    '  - { request: { method: POST, path: "/projects/{shop}/endpoints/{shop/main/primary}/restart" } }',
    "  - expect: [{ operations: 1, with: { status: scheduling } }, { operations: 1, with: { status: running } }]",
    "  - { advance: { until: settled } }",
    "  - expect: [{ operations: 0, with: { status: scheduling } }, { operations: 2, with: { action: start_compute, status: finished } }]",
  );
  expect(unmet).toEqual([]);
});

test("after a restore only the operations of the restored world are running", async () => {
  const { unmet } = await played(
    SHOP,
    "steps:",
    "  - { at: 1h, activity: { to: shop/main } }",
    "  - snapshot: starting",
    "  - { at: 2h, activity: { to: shop/main } }",
    "  - restore: starting",
    "  - expect: [{ operations: 1, with: { status: running } }, { state: starting, of: shop/main }]",
    "  - { at: 3h, expect: [{ operations: 0, with: { status: running } }, { starts: 2 }] }",
  );
  expect(unmet).toEqual([]);
});

test("active time of a new compute starts at its creation", async () => {
  const { unmet, timelines } = await played(
    "world: { operations: immediate, projects: { shop: {} } }",
    "steps:",
    "  - at: 1h",
    '    request: { method: POST, path: "/projects/{shop}/branches", body: { branch: { name: x }, endpoints: [{ type: read_write }] } }',
    "  - { after: 2h, expect: [{ active_time: 10m }, { compute_time: 150s }, { starts: 1 }, { suspends: 2 }] }",
  );
  expect(unmet).toEqual([]);
  const made = timelines[1]?.active ?? [];
  expect(made.slice(0, 80).some((share) => share > 0)).toBe(false);
  expect(made[80]).toBe(1);
});

test("compute time is counted per compute and survives its deletion", async () => {
  const always = "suspend_timeout_seconds: -1";
  const large = "type: read_only, autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4";
  const { unmet } = await played(
    "world:",
    "  projects:",
    `    a: { branches: { main: { computes: { p: { ${always} }, r: { ${large}, ${always} } } } } }`,
    `    b: { branches: { main: { computes: { p: { ${always} } } } } }`,
    "steps:",
    "  - at: 1h",
    "  - expect:",
    "      - { compute_time: 15m, of: a/main/p }",
    "      - { compute_time: 4h, of: a/main/r }",
    "      - { compute_time: 4h 15m, of: a }",
    "      - { compute_time: 4h 30m }",
    '  - request: { method: DELETE, path: "/projects/{b}" }',
    "  - { advance: 1h }",
    "  - expect: [{ compute_time: { min: 8h 45m } }, { compute_time: { min: 15m, max: 16m }, of: b }]",
  );
  expect(unmet).toEqual([]);
});

test("active time and compute time are retained across a restore", async () => {
  const { unmet, timelines } = await played(
    "world: { projects: { a: { branches: { main: { computes: { p: { suspend_timeout_seconds: -1 } } } } } } }",
    "steps:",
    "  - { at: 1h, snapshot: s }",
    "  - { at: 2h, restore: s }",
    "  - expect: [{ active_time: 2h }, { compute_time: 30m }]",
    "  - { after: 1h, expect: [{ active_time: 3h }, { compute_time: 45m }] }",
  );
  expect(unmet).toEqual([]);
  expect(new Set(timelines[0]?.active)).toEqual(new Set([1]));
});

test("counts of a moved compute stay with its previous branch", async () => {
  const { unmet } = await played(
    "world: { projects: { a: { branches: { main: { computes: { p: { suspend_timeout_seconds: -1 } } }, dev: {} } } } }",
    "steps:",
    "  - { at: 1h, activity: { to: a/main/p } }",
    '  - request: { method: PATCH, path: "/projects/{a}/endpoints/{a/main/p}", body: { endpoint: { branch_id: "{a/dev}" } } }',
    "  - advance: { until: settled }",
    "  - { activity: { to: a/main/p } }",
    "  - { activity: { to: a/main/p } }",
    "  - expect:",
    "      - { active_computes: 0, of: a/main }",
    "      - { active_computes: 1, of: a/dev }",
    "      - { activities: 1, of: a/main }",
    "      - { activities: 2, of: a/dev }",
    "      - { activities: 3, of: a/main/p }",
    "      - { active_time: 1h, of: a/main }",
    "      - { compute_time: 15m, of: a/main }",
    "      - { active_computes: 1, of: a }",
    "      - { starts: 1, of: a/dev }",
  );
  expect(unmet).toEqual([]);
});

test("a transferred project counts under its new account from then on", async () => {
  const { unmet } = await played(
    "world:",
    "  accounts:",
    "    one: { projects: { a: { branches: { main: { computes: { p: { suspend_timeout_seconds: -1 } } } } } } }",
    "    other: {}",
    "steps:",
    '  - { at: 1h, request: { method: POST, path: "/projects/{a}/transfer_requests", status: 201, capture: { transfer: id } } }',
    '  - { request: { method: PUT, path: "/projects/{a}/transfer_requests/{transfer}", as: other, status: 204 } }',
    "  - { at: 3h, activity: { to: a/main } }",
    "  - expect:",
    "      - { active_time: 1h, of: one }",
    "      - { active_time: 2h, of: other }",
    "      - { compute_time: 30m, of: other }",
    "      - { active_computes: 0, of: one }",
    "      - { activities: 1, of: other }",
    "      - { active_time: 3h, of: a }",
  );
  expect(unmet).toEqual([]);
});

test("compute time equals the consumption of the world, with autoscaling and failed suspends", async () => {
  const scaled = "autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 8";
  const text = [
    "version: 1",
    "world:",
    "  projects:",
    `    a: { branches: { main: { computes: { p: { ${scaled} } } }, dev: { computes: { q: { ${scaled} } } } } }`,
    "steps:",
    "  - fault: { name: f, on: { action: suspend_compute }, when: { every: 2 }, effect: { operation_fails: { times: 1, ends: failed } } }",
    "  - repeat:",
    "      times: 40",
    "      every: 4m",
    "      steps:",
    "        - { activity: { to: a/main, load: 3, duration: 20s } }",
    "        - { after: 90s, activity: { to: a/main, load: 5.5, duration: 1m } }",
    "        - { activity: { to: a/dev, load: 1, duration: 5m } }",
    "        - { advance: { until: settled } }",
    '        - { request: { method: POST, path: "/projects/{a}/endpoints/{a/main/p}/restart" } }',
    "        - { after: 1s, activity: { to: a/main, load: 1.5, duration: 1s } }",
    "length: 1d",
  ].join("\n");
  const [variant] = parseScenario(text, "mine.yaml").variants;
  if (variant === undefined) throw new Error("nothing to play");
  const stage = await openInProcessTarget(variant.scenario);
  const options = { name: "mine", file: "mine.yaml", values: {}, repeat: "", recordings: new Map() };
  const verdict = await runScenario(variant.scenario, stage, options);
  const { computes } = stage.world();
  const booked = usageAt(stage.world(), "a", computes.by("project", "a").values(), stage.now());
  await stage.close();
  expect(failuresOf([verdict])).toEqual([]);
  expect(verdict.measures["compute_time"]).toBe(booked.cuMs);
  expect(verdict.measures["active_time"]).toBe(booked.activeMs);
  expect(booked.cuMs).toBeGreaterThan(2 * 0.25 * booked.activeMs);
});
