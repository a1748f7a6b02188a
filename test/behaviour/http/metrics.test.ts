import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderMetrics } from "../../../src/control-api/metrics/render-metrics.ts";
import { figuresOf } from "../../../src/control-api/metrics/world-metrics.ts";
import { MAX_WORLDS_IN_METRICS } from "../../../src/control-api/routes/metrics.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import type { HostedWorld } from "../../../src/worlds/hosted-world.ts";
import { createDouble, type Double, START } from "../../support/double/double.ts";
import { createStorageDouble } from "../../support/double/storage-double.ts";
import { TestHost } from "../../support/double/test-host.ts";

/** The value of each metric, by its name and its labels other than the world. */
async function metricsOf(double: Double): Promise<Record<string, number>> {
  const { status, body } = await double.sim("GET", "/metrics");
  expect(status).toBe(200);
  const lines = String(body).trim().split("\n");
  const samples = lines.filter((line) => !line.startsWith("#")).map((line) => line.split(" "));
  return Object.fromEntries(
    samples.map(([name = "", value]) => [
      name.replace(/world="[^"]*",?/, "").replace("{}", ""),
      Number(value),
    ]),
  );
}

test("metrics count failed commits and the reopens after them", async () => {
  const journal = new MemoryJournal();
  const double = await createDouble({ journal });
  expect(await metricsOf(double)).toMatchObject({
    standin_commit_failures_total: 0,
    standin_reopens_total: 0,
  });
  const { write } = journal;
  for (const failures of [1, 2]) {
    journal.write = () => {
      throw new Error("no space");
    };
    expect((await double.api("POST", "/api_keys", { key_name: "k" })).status).toBe(503);
    journal.write = write;
    expect(await metricsOf(double)).toMatchObject({
      standin_commit_failures_total: failures,
      standin_reopens_total: failures,
    });
  }
});

test("metrics count the steps of the host's clock and the open worlds", async () => {
  const host = new TestHost(START);
  const double = await createDouble({ hostClock: host.clock, clock: { mode: "real", factor: 1 } });
  expect(await metricsOf(double)).toMatchObject({ standin_clock_steps_total: 0, standin_worlds_open: 1 });
  host.setsBy(86_400_000);
  await double.sim("POST", "/worlds", { name: "side" });
  expect(await metricsOf(double)).toMatchObject({ standin_clock_steps_total: 1, standin_worlds_open: 1 });
  await double.fetch(new Request("http://localhost/w/side/_sim/clock"));
  expect(await metricsOf(double)).toMatchObject({ standin_clock_steps_total: 1, standin_worlds_open: 2 });
});

test("metrics have the size of the write-ahead log, and the delay of the event loop since the last read", async () => {
  const stored = await createStorageDouble("in files");
  try {
    await stored.double().api("POST", "/projects", { project: {} });
    const first = await metricsOf(stored.double());
    expect(first["standin_wal_size_bytes"]).toBeGreaterThan(0);
    for (const quantile of ["0.5", "0.99", "1"])
      expect(first[`standin_event_loop_delay_seconds{quantile="${quantile}"}`]).toBe(0);
    const second = await metricsOf(stored.double());
    expect(second['standin_event_loop_delay_seconds{quantile="1"}']).toBeGreaterThanOrEqual(0);
  } finally {
    await stored.end();
  }
});

const POSTGRES = {
  connections: 3,
  errors: new Map([["53300", 2]]),
  engines: 1,
  engineStarts: 2,
  engineStartMs: 500,
};
const COUNTS = { open: 1, idleClosings: 0, expired: 0, scrubbed: 0, scrubbedWithDifferences: 0 };
const DELAY = { p50: 0, p99: 0, max: 0 };

test.each([undefined, "eu-1"])(
  "each metric has one HELP and TYPE, in cell %s; the dashboard uses only such metrics",
  async (cell) => {
    const double = await createDouble();
    const own = figuresOf(double.world);
    const text = renderMetrics([own, { ...own, name: "side" }], {
      cell,
      worlds: COUNTS,
      omittedWorlds: 0,
      clockSteps: 0,
      delay: DELAY,
      postgres: POSTGRES,
      data: { volumes: 2, bytes: 24_000_000, waitingBytes: 0, limitBytes: 1_000_000_000 },
    });
    const names = new Set<string>();
    let current = "";
    for (const line of text.trimEnd().split("\n")) {
      const [, keyword, name = ""] = /^# (HELP|TYPE) (standin_[a-z_]+) ./.exec(line) ?? [];
      if (keyword === "HELP") {
        expect(names.has(name)).toBe(false);
        names.add(name);
        current = name;
      } else if (keyword === "TYPE")
        expect([name, line]).toEqual([current, expect.stringMatching(/ (gauge|counter|summary)$/)]);
      else {
        expect(/^(standin_[a-z_]+)(\{(\w+="[^"]*",?)+\})? -?[\d.e+]+$/.exec(line)?.[1]).toBe(current);
        expect(line.includes('cell="eu-1"')).toBe(cell !== undefined);
      }
    }
    const dashboard = JSON.parse(readFileSync("docs/grafana/standin.json", "utf8"));
    const used = new Set<string>();
    for (const { targets } of dashboard.panels)
      for (const { expr } of targets) for (const [name] of expr.matchAll(/standin_[a-z_]+/g)) used.add(name);
    expect([...used].sort()).toEqual([...names].sort());
  },
);

test("the panels of the dashboard have ids of their own, fit the grid and do not overlap", () => {
  const { panels, schemaVersion, uid } = JSON.parse(readFileSync("docs/grafana/standin.json", "utf8"));
  expect([schemaVersion, uid]).toEqual([39, "standin"]);
  expect(new Set(panels.map((panel: { id: number }) => panel.id)).size).toBe(panels.length);
  const cells = new Set<string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(cells.has(`${x} ${y}`), title).toBe(false);
        cells.add(`${x} ${y}`);
      }
  }
});

test("metrics have at most 100 worlds by name, always that of the request, and count the others", async () => {
  const double = await createDouble();
  const { world } = double;
  const names = Array.from(
    { length: MAX_WORLDS_IN_METRICS + 2 },
    (_, index) => `side-${String(index).padStart(3, "0")}`,
  );
  // The figures of one world under many names: opening that many worlds takes seconds.
  const others = names.map((name) => ({
    name,
    peek: () => world.peek(),
    sizeBytes: () => world.sizeBytes(),
    newestRequest: () => world.newestRequest(),
    diagnostics: () => world.diagnostics(),
  }));
  double.worlds.openWorlds = () => [world, ...(others as unknown as HostedWorld[])];
  const text = String((await double.sim("GET", "/metrics")).body);
  const shown = [...text.matchAll(/^standin_events_total\{world="([^"]+)"\}/gm)].map(([, name]) => name);
  expect(shown).toEqual(["default", ...names.slice(0, MAX_WORLDS_IN_METRICS - 1)]);
  expect(text).toMatch(/^standin_worlds_omitted 3$/m);
});

test("metrics do not wait for an advance that is being committed", async () => {
  const double = await createDouble();
  await double.api("POST", "/projects", { project: {} });
  let endCommit = () => {};
  const unsubscribe = double.world.subscribe(() => new Promise((resolve) => (endCommit = resolve)));
  let isDone = false;
  const advance = double.sim("POST", "/clock/advance", { by: "1h" }).then(() => {
    isDone = true;
  });
  await double.sim("GET", "/metrics");
  expect(isDone).toBe(false);
  unsubscribe();
  endCommit();
  await advance;
});
