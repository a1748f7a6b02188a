import { expect, test } from "vitest";
import { type BranchData, hasDataAt } from "../../../../../src/platform/model/branch-data.ts";
import {
  checkDataAvailable,
  checkPastData,
} from "../../../../../src/platform/rules/branch-data/available-data.ts";
import { emptyWorld } from "../../../../../src/platform/world/world.ts";

/** The log before 100 was deleted. */
const SHORTENED: BranchData = {
  id: "br-1",
  volumeId: "h/v1",
  at: 200,
  lsn: "0/200",
  writes: true,
  since: 100,
};

function worldWith(row: BranchData) {
  const world = emptyWorld();
  world.branchData.set(row);
  return world;
}

test("data is available from the instant on that its log begins with", () => {
  expect(hasDataAt(SHORTENED, 99)).toBe(false);
  expect(hasDataAt(SHORTENED, 100)).toBe(true);
  expect(hasDataAt({ ...SHORTENED, since: undefined } as unknown as BranchData, 0)).toBe(true);
  expect(hasDataAt(undefined, 0)).toBe(true);
});

test("a restored branch has its previous data as far as the log of that is left", () => {
  const past = [{ volumeId: "h/v0", at: 10, lsn: "0/10", writes: true, since: 20, until: 50 }];
  const restored: BranchData = { id: "br-1", volumeId: "h/v1", at: 50, lsn: "0/5", past };
  expect(hasDataAt(restored, 19)).toBe(false);
  expect(hasDataAt(restored, 20)).toBe(true);
  expect(hasDataAt(restored, 50)).toBe(true);
});

test("a refusal names the field and the limit", () => {
  const check = (isLsn: boolean) =>
    checkDataAvailable(worldWith(SHORTENED), "br-1", { prefix: "parent_", isLsn, at: 99 });
  expect(check(false)).toMatchObject({
    ok: false,
    refusal: {
      code: "PARENT_TIMESTAMP_NOT_ALLOWED",
      message: expect.stringMatching(/^parent_timestamp .*--max-branch-history/),
    },
  });
  expect(check(true)).toMatchObject({
    ok: false,
    refusal: { code: "PARENT_LSN_NOT_ALLOWED", message: expect.stringMatching(/^parent_lsn /) },
  });
});

test("the data of a branch that did not exist at the instant is not missing", () => {
  expect(checkPastData([SHORTENED], emptyWorld(), 99)).toMatchObject({ ok: true });
});

test("a world cannot go back to an instant whose data was deleted", () => {
  const past = emptyWorld();
  past.branches.set({ id: "br-1", projectId: "shop", name: "main", default: true } as never);
  expect(checkPastData([SHORTENED], past, 100)).toMatchObject({ ok: true });
  expect(checkPastData([SHORTENED], past, 99)).toMatchObject({
    ok: false,
    refusal: { code: "DATA_DELETED", message: expect.stringMatching(/^the point .*--max-branch-history/) },
  });
});
