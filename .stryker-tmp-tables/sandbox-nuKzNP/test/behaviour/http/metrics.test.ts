// @ts-nocheck
import { expect, test } from "vitest";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { createDouble, type Double, START } from "../../support/double.ts";
import { createStorageDouble } from "../../support/storage-double.ts";
import { TestHost } from "../../support/test-host.ts";

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
