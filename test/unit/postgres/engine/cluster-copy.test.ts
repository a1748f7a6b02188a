import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyWithLog } from "../../../../src/postgres/engine/cluster-copy.ts";
import { SEGMENT_BYTES } from "../../../../src/postgres/engine/log-position.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

function segmentName(segment: number): string {
  return `000000010000000000${segment.toString(16).toUpperCase().padStart(6, "0")}`;
}

function writeSegments(directory: string, ...segments: readonly number[]): void {
  mkdirSync(directory, { recursive: true });
  for (const segment of segments)
    writeFileSync(join(directory, segmentName(segment)), Buffer.alloc(SEGMENT_BYTES, segment));
}

/** A base with the segment 1, and a cluster that has written the segments 1 to 4 since. */
function clusterWithLog() {
  const directory = testDirectory();
  const [base, dataDirectory, archive] = ["base", "current", "wal"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeSegments(join(base, "pg_wal"), 1);
  writeFileSync(join(base, "PG_VERSION"), "18\n");
  writeSegments(archive, 1, 2);
  writeSegments(join(dataDirectory, "pg_wal"), 3, 4);
  const to = join(directory, "copy");
  return { base, to, log: { archive, dataDirectory }, segment: (number: number) => read(to, number) };
}

function read(cluster: string, segment: number): Buffer {
  return readFileSync(join(cluster, "pg_wal", segmentName(segment)));
}

test("a copy has the log up to its position, and nothing that was written later", async () => {
  const { base, to, log, segment } = clusterWithLog();
  const position = 1_024;
  await copyWithLog({ base, to, log: { ...log, until: `0/${(3 * SEGMENT_BYTES + position).toString(16)}` } });
  expect(readdirSync(join(to, "pg_wal")).sort()).toEqual([1, 2, 3].map(segmentName));
  expect(segment(2).equals(Buffer.alloc(SEGMENT_BYTES, 2))).toBe(true);
  const cut = Buffer.alloc(SEGMENT_BYTES).fill(3, 0, position);
  expect(segment(3).equals(cut)).toBe(true);
  expect(existsSync(join(to, "recovery.signal"))).toBe(true);
  // The cluster that still writes it has all of it.
  expect(read(log.dataDirectory, 3).equals(Buffer.alloc(SEGMENT_BYTES, 3))).toBe(true);
});

test("a copy of an earlier position than that of the current segment has a segment of its own", async () => {
  const { base, to, log, segment } = clusterWithLog();
  await copyWithLog({ base, to, log: { ...log, until: `0/${(2 * SEGMENT_BYTES).toString(16)}` } });
  expect(readdirSync(join(to, "pg_wal")).sort()).toEqual([1, 2].map(segmentName));
  expect(segment(2).equals(Buffer.alloc(SEGMENT_BYTES))).toBe(true);
  const archived = readFileSync(join(log.archive, segmentName(2)));
  expect(archived.equals(Buffer.alloc(SEGMENT_BYTES, 2))).toBe(true);
});

test.each([3, 4])("a link in the place of segment %i is not followed", async (number) => {
  const { base, to, log } = clusterWithLog();
  const secret = join(testDirectory(), "secret");
  writeFileSync(secret, "not of this cluster");
  const path = join(log.dataDirectory, "pg_wal", segmentName(number));
  rmSync(path);
  symlinkSync(secret, path);
  const until = `0/${(4 * SEGMENT_BYTES + 1_024).toString(16).toUpperCase()}`;
  await expect(copyWithLog({ base, to, log: { ...log, until } })).rejects.toThrow();
});
