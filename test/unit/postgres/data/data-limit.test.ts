import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { DataLimit, type MaxData } from "../../../../src/postgres/data/data-limit.ts";
import { UsageMeter } from "../../../../src/postgres/data/usage-meter.ts";
import { Volumes } from "../../../../src/postgres/volumes/volumes.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

const KIB = 1_024;

/** Volumes with files of these sizes in KiB, which processes use. */
async function volumesOf(...sizes: readonly number[]) {
  const path = testDirectory();
  const volumes = new Volumes(join(path, "volumes"), path);
  const ids: string[] = [];
  const fill = (id: string, size: number) =>
    writeFileSync(join(volumes.root, id, "rows"), Buffer.alloc(size * KIB, 1));
  for (const size of sizes) {
    const { volume, release } = await volumes.create("history", "br", async () => ({ bases: [] }));
    fill(volume.id, size);
    volumes.usage.begin(volume.id);
    ids.push(volume.id);
    release();
  }
  await volumes.usage.measure(volumes.stored());
  return { volumes, ids, fill };
}

test("data may be added up to the limit", async () => {
  const { volumes } = await volumesOf(400, 400);
  const { bytes } = volumes.usage;
  const problem = (maxData: MaxData) => new DataLimit(volumes, maxData).problem;
  expect(problem(bytes + 1)).toBe(undefined);
  expect(problem(bytes)).toMatch(
    /^data limit exceeded: the data of branches takes [\d.]+ KiB, .* allows .* KiB/,
  );
  expect(problem("none")).toBe(undefined);
  expect(problem({ share: 0.000_000_1 })).toMatch(/^data limit exceeded/);
  expect(new DataLimit(volumes, "none").bytes).toBe(undefined);
});

test("running computes may exceed the limit by a tenth", async () => {
  const { volumes } = await volumesOf(1_000);
  const { bytes } = volumes.usage;
  expect(new DataLimit(volumes, Math.ceil(bytes / 1.1) + 1).isFarExceeded).toBe(false);
  expect(new DataLimit(volumes, Math.floor(bytes / 1.1)).isFarExceeded).toBe(true);
});

test("a server without data has not reached any limit", () => {
  const path = testDirectory();
  const limit = new DataLimit(new Volumes(join(path, "volumes"), path), 1);
  expect([limit.problem, limit.isFarExceeded]).toEqual([undefined, false]);
});

test("a share of the disk is one of what is free, and of what volumes take", async () => {
  const { volumes } = await volumesOf(400);
  const half = new DataLimit(volumes, { share: 0.5 }).bytes ?? 0;
  const whole = new DataLimit(volumes, { share: 1 }).bytes ?? 0;
  // Other programs write meanwhile.
  expect(half / whole).toBeCloseTo(0.5, 1);
  mkdirSync(join(volumes.root, "other"));
  expect(whole).toBeGreaterThan(volumes.usage.bytes);
});

test("of the computes that run, the one that has grown most since the limit was reached is stopped", async () => {
  const { volumes, ids, fill } = await volumesOf(4_000, 100, 100);
  const stopEngineOn = vi.fn(async () => undefined);
  const meter = new UsageMeter({
    volumes,
    limit: new DataLimit(volumes, 5_000 * KIB),
    stopEngineOn,
    onError: (error) => {
      throw error;
    },
  });
  onTestFinished(() => meter.close());
  // The first measurement began with the meter.
  await expect.poll(() => meter.isMeasuring).toBe(false);
  fill(ids[1] ?? "", 300);
  fill(ids[2] ?? "", 900);
  await meter.measure();
  expect(stopEngineOn).not.toHaveBeenCalled();
  fill(ids[2] ?? "", 1_500);
  await meter.measure();
  expect(stopEngineOn.mock.calls).toEqual([[ids[2]]]);
});
