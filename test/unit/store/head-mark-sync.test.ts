import { join } from "node:path";
import { expect, test } from "vitest";
import { HeadMark, readHeadMark } from "../../../src/store/file/head-mark.ts";
import { countSyncs } from "../../support/store/count-syncs.ts";
import { testDirectory } from "../../support/store/world-files.ts";

test("a mark is written without a sync, and a sync writes its file to disk", () => {
  const path = join(testDirectory(), "world.sqlite");
  const mark = new HeadMark(path);
  const synced = countSyncs();
  mark.write({ historyId: "history", seq: 1, chain: 2, now: 3 });
  expect(readHeadMark(path)).toMatchObject({ seq: 1 });
  expect(synced).toEqual([]);
  mark.sync();
  expect(synced).toHaveLength(1);
  mark.close();
});
