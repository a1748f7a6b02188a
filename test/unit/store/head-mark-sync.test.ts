import * as fs from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { HeadMark, readHeadMark } from "../../../src/store/file/head-mark.ts";
import { testDirectory } from "../../support/world-files.ts";

vi.mock("node:fs", async (importOriginal) => {
  const original = await importOriginal<typeof fs>();
  return { ...original, fsyncSync: vi.fn(original.fsyncSync), openSync: vi.fn(original.openSync) };
});

test("a mark is written without a sync, and a sync writes its file to disk", () => {
  const path = join(testDirectory(), "world.sqlite");
  const mark = new HeadMark(path);
  const file = vi.mocked(fs.openSync).mock.results.at(-1)?.value;
  mark.write({ historyId: "history", seq: 1, chain: 2, now: 3 });
  expect(readHeadMark(path)).toMatchObject({ seq: 1 });
  expect(fs.fsyncSync).not.toHaveBeenCalled();
  mark.sync();
  expect(vi.mocked(fs.fsyncSync).mock.calls).toEqual([[file]]);
  mark.close();
});
