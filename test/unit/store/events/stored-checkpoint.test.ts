import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Checkpoint } from "../../../../src/simulation/checkpoint.ts";
import {
  packCheckpoint,
  unpackCheckpoint,
  unpackCheckpointInSteps,
} from "../../../../src/store/journal/stored-checkpoint.ts";
import { CorruptFile } from "../../../../src/store/tables/journal-checksum.ts";

const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `row-${index}`, text: 'é\n"],\n}}', list: [index] }));

/** Only what a checkpoint of a world has in every release. */
const checkpointWith = (tables: Record<string, Iterable<unknown>>) =>
  ({ seq: 7, at: 9, settings: { seed: 1 }, numbers: { account: 2 }, tables }) as unknown as Checkpoint;

const plain = (checkpoint: Checkpoint): unknown => JSON.parse(JSON.stringify(checkpoint));

describe("a stored checkpoint", () => {
  test.each([[[]], [[0]], [[1, 0, 2]], [[500, 501, 0]], [[0, 1_234]]])(
    "has the rows of its tables: %j",
    async (counts) => {
      const tables = Object.fromEntries(counts.map((count, index) => [`table${index}`, rows(count)]));
      const packed = await packCheckpoint(checkpointWith(tables));
      const expected = plain(checkpointWith(tables));
      expect(JSON.parse(gunzipSync(packed).toString())).toEqual(expected);
      for (const unpacked of [unpackCheckpoint(7, packed), await unpackCheckpointInSteps(7, packed)]) {
        expect(plain(unpacked)).toEqual(expected);
        for (const [name, table] of Object.entries(unpacked.tables)) expect([...table]).toEqual(tables[name]);
      }
    },
  );

  test("of an older release is one line", async () => {
    const checkpoint = checkpointWith({ computes: rows(3) });
    const packed = gzipSync(JSON.stringify(checkpoint));
    expect(plain(unpackCheckpoint(7, packed))).toEqual(plain(checkpoint));
    expect(plain(await unpackCheckpointInSteps(7, packed))).toEqual(plain(checkpoint));
  });

  test("is written in steps, so that others can run", async () => {
    let turns = 0;
    let isWritten = false;
    const count = () => {
      turns += 1;
      if (!isWritten) setImmediate(count);
    };
    setImmediate(count);
    await packCheckpoint(checkpointWith({ computes: rows(50_000) }));
    isWritten = true;
    expect(turns).toBeGreaterThan(20);
  });

  test("that is damaged is refused, at the latest when its rows are read", async () => {
    const packed = await packCheckpoint(checkpointWith({ computes: rows(1_000) }));
    const readAll = (bytes: Buffer) => () => plain(unpackCheckpoint(7, bytes));
    expect(readAll(packed.subarray(0, packed.length / 2))).toThrow(CorruptFile);
    await expect(unpackCheckpointInSteps(7, packed.subarray(0, 40))).rejects.toThrow(
      "checkpoint 7 is damaged",
    );
    const text = gunzipSync(packed).toString();
    for (const [from, to] of [
      ['"computes":[', '"computes":'],
      ['{"id":"row-700"', '{"id":"row-700'],
      ["{", "["],
    ] as const)
      expect(readAll(gzipSync(text.replace(from, to)))).toThrow("checkpoint 7 is damaged");
  });
});
