import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BranchData } from "../../../../src/platform/model/branch-data.ts";
import { chooseCut, LogRetention } from "../../../../src/postgres/data/log-retention.ts";
import type { Engine } from "../../../../src/postgres/engine/engine.ts";
import { firstSegment, trimLog } from "../../../../src/postgres/engine/log-files.ts";
import { SEGMENT_BYTES } from "../../../../src/postgres/engine/log-position.ts";
import { Volumes } from "../../../../src/postgres/volumes/volumes.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

/** The position at the beginning of a segment. */
function lsnOf(segment: number, offset = 0): string {
  return `0/${(segment * SEGMENT_BYTES + offset).toString(16).toUpperCase()}`;
}

/** One mark per second, and one segment between two of them. */
const MARKS = Array.from({ length: 101 }, (_, number) => ({ at: number * 1_000, lsn: lsnOf(number) }));
const ALWAYS = Number.NEGATIVE_INFINITY;

test("a log within its limit stays", () => {
  expect(chooseCut(MARKS, 0, { oldest: ALWAYS, maxBytes: 100 * SEGMENT_BYTES })).toBeUndefined();
  expect(chooseCut([], 0, { oldest: ALWAYS, maxBytes: 1 })).toBeUndefined();
});

test("of a log beyond its limit, half of the limit remains", () => {
  expect(chooseCut(MARKS, 0, { oldest: ALWAYS, maxBytes: 100 * SEGMENT_BYTES - 1 })).toEqual({
    from: MARKS[51],
    until: lsnOf(52),
  });
});

test("a log that is older than the retention is deleted once that frees enough", () => {
  const maxBytes = 1_000 * SEGMENT_BYTES;
  expect(chooseCut(MARKS, 0, { oldest: 63_999, maxBytes })).toBeUndefined();
  expect(chooseCut(MARKS, 0, { oldest: 64_999, maxBytes })).toEqual({ from: MARKS[64], until: lsnOf(65) });
});

test("a log without a mark after the cut stays until there is one", () => {
  const marks = [
    { at: 0, lsn: lsnOf(1) },
    { at: 1, lsn: lsnOf(90) },
  ];
  expect(chooseCut(marks, 0, { oldest: ALWAYS, maxBytes: 10 * SEGMENT_BYTES })).toBeUndefined();
});

/** A volume with the log of the segments 0 to 29, and bases at 0, 10 and 20. */
async function volumeWithBases() {
  const path = testDirectory();
  const volumes = new Volumes(join(path, "volumes"), path);
  const base = (segment: number) => {
    const cluster = join(path, `base-${segment}`);
    mkdirSync(join(cluster, "pg_wal"), { recursive: true });
    writeFileSync(join(cluster, "pg_wal", segmentName(segment)), "");
    return cluster;
  };
  const { volume, release } = await volumes.create("history", "br-1", async ({ logDirectory }) => {
    for (let segment = 0; segment < 30; segment += 1)
      writeFileSync(join(logDirectory, segmentName(segment)), "");
    const bases = [{ path: base(0) }, { path: base(10), lsn: lsnOf(11) }, { path: base(20), lsn: lsnOf(21) }];
    return { bases };
  });
  release();
  for (let segment = 1; segment < 30; segment += 1)
    volume.marks.append({ at: segment * 1_000, lsn: lsnOf(segment) });
  const engine = { logStart: (cluster: string) => firstSegment(cluster), trimLog } as unknown as Engine;
  return { volume, retention: new LogRetention(engine, volumes, 1), volumes };
}

function segmentName(segment: number): string {
  return `000000010000000000${segment.toString(16).toUpperCase().padStart(6, "0")}`;
}

function left(directory: string): number[] {
  return readdirSync(directory)
    .map((name) => Number.parseInt(name.slice(16), 16))
    .sort((a, b) => a - b);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

const WRITER: Omit<BranchData, "since"> = { id: "br-1", at: 29_000, lsn: lsnOf(29), writes: true };

test("the log that a branch can go back to is left", async () => {
  const { volume, retention } = await volumeWithBases();
  await retention.deleteUnneeded([{ ...WRITER, volumeId: volume.id, since: 21_000 }]);
  expect(volume.bases.map(({ lsn }) => lsn)).toEqual([lsnOf(21)]);
  expect(left(volume.logDirectory)).toEqual(range(20, 29));
  expect(volume.marks.all()[0]).toEqual({ at: 21_000, lsn: lsnOf(21) });
});

test("a branch of an earlier position keeps the base before it, and the log up to it", async () => {
  const { volume, retention } = await volumeWithBases();
  await retention.deleteUnneeded([
    { ...WRITER, volumeId: volume.id, since: 21_000 },
    { id: "br-2", volumeId: volume.id, at: 13_500, lsn: lsnOf(13, 500) },
  ]);
  expect(volume.bases.map(({ lsn }) => lsn)).toEqual([lsnOf(11), lsnOf(21)]);
  expect(left(volume.logDirectory)).toEqual([...range(10, 13), ...range(20, 29)]);
});

test("a branch of an earlier instant keeps its marks", async () => {
  const { volume, retention } = await volumeWithBases();
  await retention.deleteUnneeded([
    { ...WRITER, volumeId: volume.id, since: 21_000 },
    { id: "br-2", volumeId: volume.id, at: 12_500 },
  ]);
  expect(volume.marks.find(12_500)?.lsn).toBe(lsnOf(12));
  expect(left(volume.logDirectory)).toEqual([...range(10, 13), ...range(20, 29)]);
});

test("a copy of the world keeps what its branch can go back to", async () => {
  const { volume, retention } = await volumeWithBases();
  const past = [{ ...WRITER, volumeId: volume.id, until: 5_000 }];
  await retention.deleteUnneeded([
    { ...WRITER, volumeId: volume.id, since: 21_000 },
    { id: "br-1", volumeId: volume.id, at: 5_000, lsn: lsnOf(5), past },
  ]);
  expect(volume.bases).toHaveLength(2);
  expect(left(volume.logDirectory)).toEqual([...range(0, 6), ...range(20, 29)]);
});

test("a volume that is being copied stays as it is", async () => {
  const { volume, retention, volumes } = await volumeWithBases();
  volumes.pin(volume.id);
  await retention.deleteUnneeded([{ ...WRITER, volumeId: volume.id, since: 21_000 }]);
  expect(left(volume.logDirectory)).toEqual(range(0, 29));
});
