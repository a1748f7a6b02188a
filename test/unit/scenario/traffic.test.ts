import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { failuresOf, runScenarioText } from "../../support/scenario/scenario-run.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const project = (delay: number) =>
  `{ branches: { main: { computes: { primary: { suspend_timeout_seconds: ${delay} } } } } }`;
const world = (delay: number) => `world: { start_delay: 2s, projects: { shop: ${project(delay)} } }`;
const SUBSCRIBER =
  "{ name: sub, to: shop/main, pattern: subscriber, backoff: { first: 1s, max: 8s, jitter: 0 } }";
const POOL = "{ name: pool, to: shop/main, pattern: health-check, every: 5m, pool: 1, duration: 2m }";
const RESTART = 'request: { method: POST, path: "/projects/{shop}/endpoints/{shop/main/primary}/restart" }';
const patch = (disabled: boolean) =>
  `request: { method: PATCH, path: "/projects/{shop}/endpoints/{shop/main/primary}", body: { endpoint: { disabled: ${disabled} } } }`;

const wrongs = async (...lines: string[]) =>
  failuresOf(await runScenarioText(["version: 1", ...lines].join("\n")));

describe("a client that holds connections", () => {
  test("reconnects after every suspend of its compute", async () => {
    // Reconnects at 61 s, is served at 63 s, suspended at 123 s, and so on every 63 s.
    const expected = "expect: [{ activities: 10 }, { cold_starts: 9 }, { refused: 0 }]";
    expect(await wrongs(world(60), `traffic: [${SUBSCRIBER}]`, "length: 10m", expected)).toEqual([]);
  });

  test("reconnects before its heartbeat is due", async () => {
    const source = SUBSCRIBER.replace("backoff", "heartbeat: 5m, backoff");
    const steps =
      "steps: [{ at: 60999ms, expect: [{ activities: 1 }] }, { at: 61s, expect: [{ activities: 2 }, { connections: 1 }] }]";
    expect(await wrongs(world(60), `traffic: [${source}]`, steps)).toEqual([]);
  });

  test("reconnects after the start that it waited for failed", async () => {
    const steps = [
      "steps:",
      "  - fault: { name: broken, on: { action: start_compute }, when: { first: 2 }, effect: start_fails }",
      "  - { at: 606999ms, expect: [{ refused: 2 }, { connections: 0 }] }",
      "  - { at: 609s, expect: [{ refused: 2 }, { connections: 1 }, { state: active, of: shop/main }] }",
    ];
    expect(
      await wrongs(world(60), `traffic: [${SUBSCRIBER.replace("pattern", "from: 10m, pattern")}]`, ...steps),
    ).toEqual([]);
  });

  test("of a pool reopens a dropped connection without a query", async () => {
    // A query would run for two minutes; a connected compute is suspended after one.
    const expected = "expect: [{ active_time: 4m }, { activities: 4 }]";
    expect(await wrongs(world(60), `traffic: [${POOL}]`, "length: 19m", expected)).toEqual([]);
  });

  test("that reconnects during the suspend is not dropped at its end", async () => {
    const source = SUBSCRIBER.replace("1s", "100ms");
    const steps = `steps: [{ at: 1m, ${RESTART} }, { at: 2m, expect: [{ connections: 1 }, { activities: 2 }, { refused: 0 }] }]`;
    expect(await wrongs(world(-1), `traffic: [${source}]`, steps)).toEqual([]);
  });

  test("notices a deleted compute, a closed connection and a reset world", async () => {
    const remove = 'request: { method: DELETE, path: "/projects/{shop}/endpoints/{shop/main/primary}" }';
    const goes = (step: string, expected: string) =>
      wrongs(
        world(-1),
        `traffic: [${SUBSCRIBER}]`,
        `steps: [{ at: 1m, ${step} }, { at: 1m 1s, expect: [${expected}] }]`,
      );
    expect(await goes(remove, "{ refused: 1 }")).toEqual([]);
    expect(await goes("control: { method: POST, path: /reset, body: {} }", "{ refused: 1 }")).toEqual([]);
    const disconnect = "activity: { to: shop/main, kind: disconnect, connection: sub-0 }";
    expect(await goes(disconnect, "{ connections: 1 }, { activities: 3 }")).toEqual([]);
  });
});

describe("when the process is killed, clients", () => {
  test("keep their connections", async () => {
    const steps = `steps: [{ at: 2m, restart: true }, { at: 10m, ${RESTART} }, { at: 11m, expect: [{ connections: 1 }, { activities: 2 }] }]`;
    expect(await wrongs(world(-1), `traffic: [${SUBSCRIBER}]`, steps)).toEqual([]);
  });

  test("reconnect at the same time", async () => {
    const lines = (step: string) => [
      ...[world(60), `traffic: [${SUBSCRIBER}, ${POOL}]`, `steps: [{ at: 60500ms, ${step} }]`, "length: 20m"],
      "expect: [{ activities: 0 }, { active_time: 0 }, { wait_max: 0 }]",
    ];
    expect(await wrongs(...lines("restart: true"))).toEqual(
      await wrongs(...lines("expect: [{ errors: 0 }]")),
    );
  });
});

describe("after a restore, clients", () => {
  const restored = (lines: string[], sources = SUBSCRIBER, delay = -1) =>
    wrongs(world(delay), `traffic: [${sources}]`, "steps:", ...lines.map((line) => `  - { ${line} }`));

  test("have their earlier connections and notice drops", async () => {
    const lines = [
      "at: 2m, snapshot: s",
      `at: 5m, ${RESTART}`,
      "at: 300500ms, expect: [{ connections: 0 }]",
      "restore: s",
      "expect: [{ connections: 1 }, { activities: 1 }]",
      `at: 10m, ${RESTART}`,
      "at: 11m, expect: [{ connections: 1 }, { activities: 2 }, { refused: 0 }]",
    ];
    expect(await restored(lines)).toEqual([]);
  });

  test("reconnect if they had none", async () => {
    const lines = [
      `at: 2m, ${patch(true)}`,
      "at: 3m, snapshot: s",
      `at: 5m, ${patch(false)}`,
      "at: 6m, expect: [{ connections: 1 }]",
      "at: 7m, restore: s",
      `at: 5m, ${patch(false)}`,
      "at: 6m, expect: [{ connections: 1 }]",
    ];
    expect(await restored(lines)).toEqual([]);
  });

  test("reopen the lost connections of a pool", async () => {
    const lines = [
      "at: 4m, snapshot: s",
      "restore: s",
      "at: 19m, expect: [{ active_time: 4m }, { activities: 4 }]",
    ];
    expect(await restored(lines, POOL, 60)).toEqual([]);
  });
});

describe("an arrival at the first instant", () => {
  const CLICKS = "{ name: clicks, to: shop/main, pattern: constant, every: 5m }";
  const once = (steps: string) =>
    wrongs(world(60), `traffic: [${CLICKS}]`, steps, "length: 1m", "expect: [{ activities: 1 }]");

  test("comes once, although the process is killed then", async () => {
    expect(await once("steps: [{ restart: true }]")).toEqual([]);
  });

  test("comes once, although the world is restored to its instant", async () => {
    expect(await once("steps: [{ snapshot: s }, { restore: s }, { at: 30s, restore: s }]")).toEqual([]);
  });
});

test("a compute that a source names twice gets its traffic once", async () => {
  const lines = (to: string) => [
    "world: { projects: { shop: { count: 2 } } }",
    `traffic: [{ name: clicks, to: ${to}, pattern: poisson, rate: 1/min }]`,
    "length: 1h",
    "expect: [{ activities: 0, of: shop-1 }, { activities: 0, of: shop-2 }]",
  ];
  const once = await wrongs(...lines("shop-*/main"));
  expect(once).toHaveLength(2);
  expect(await wrongs(...lines("[shop-1/main, shop-*/main, shop-1/main/primary]"))).toEqual(once);
});

test("two recorded endpoints that map to one compute keep separate connections", async () => {
  const directory = testDirectory();
  const rows = [
    "endpoint_id,at,kind,connection_id",
    "ep-a,2026-01-01T00:00:00Z,connect,x",
    "ep-b,2026-01-01T00:00:01Z,connect,y",
  ];
  writeFileSync(join(directory, "rec.csv"), rows.join("\n"));
  const text = [
    "version: 1",
    world(-1),
    "traffic: [{ name: r, to: shop/main, pattern: replay, file: rec.csv }]",
    "length: 1m",
    "expect: [{ connections: 2 }, { refused: 0 }]",
  ].join("\n");
  expect(failuresOf(await runScenarioText(text, join(directory, "mine.yaml")))).toEqual([]);
});

describe("the load of traffic", () => {
  const scaled =
    "world: { projects: { shop: { branches: { main: { computes: { primary: { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 4 } } } } } } }";
  const source = (load: string) =>
    `traffic: [{ name: steady, to: shop/main, from: 10s, pattern: constant, every: 1m, duration: 1m${load} }]`;

  test("scales its compute step by step: a load of 1.8 needs eight steps of 0.25 CU", async () => {
    const expected = "expect: [{ resizes: 7 }, { activities: 10 }]";
    expect(await wrongs(scaled, source(", load: 1.8"), "length: 10m", expected)).toEqual([]);
  });

  test("without a load nothing is resized", async () => {
    expect(await wrongs(scaled, source(""), "length: 10m", "expect: [{ resizes: 0 }]")).toEqual([]);
  });

  test("a negative load is an error that names the field", async () => {
    await expect(wrongs(scaled, source(", load: -1"), "length: 10m")).rejects.toThrow(/load/);
  });
});
