import { expect, test } from "vitest";
import { CpuLoad } from "../../../../src/postgres/compute/cpu-load.ts";

/** A measurement of an engine whose processor time the test decides. */
function engine() {
  const engine: { cpuMs: number | undefined } = { cpuMs: 0 };
  return { engine, load: new CpuLoad(() => engine.cpuMs) };
}

test("the load is processor time divided by the time of work", () => {
  const { engine: process, load } = engine();
  load.workBegins(1_000);
  process.cpuMs = 500;
  load.workEnds(1_200);
  expect(load.measure(9_000)).toBe(2.5);
});

test("work under way counts up to the measurement, and later work counts from there", () => {
  const { engine: process, load } = engine();
  load.workBegins(0);
  process.cpuMs = 100;
  expect(load.measure(200)).toBe(0.5);
  process.cpuMs = 400;
  load.workEnds(500);
  expect(load.measure(500)).toBe(1);
});

test("work of less than 100 ms is measured together with later work", () => {
  const { engine: process, load } = engine();
  load.workBegins(0);
  process.cpuMs = 60;
  load.workEnds(99);
  expect(load.measure(1_000)).toBeUndefined();
  load.workBegins(2_000);
  load.workEnds(2_021);
  expect(load.measure(3_000)).toBe(0.5);
});

test("after a restart of the engine, its processor time counts from zero", () => {
  const { engine: process, load } = engine();
  load.workBegins(0);
  process.cpuMs = 1_000;
  load.measure(1_000);
  process.cpuMs = 300;
  expect(load.measure(2_000)).toBe(0.3);
});

test("without a processor time there is no load", () => {
  const { engine: process, load } = engine();
  process.cpuMs = undefined;
  load.workBegins(0);
  expect(load.measure(1_000)).toBeUndefined();
});
