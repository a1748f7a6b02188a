import { describe, expect, test } from "vitest";
import { lsnAt } from "../../../../../src/platform/rules/branch/point-in-time.ts";
import type { Command } from "../../../../../src/platform/rules/commands.ts";
import { createDev, DEV, MAIN, SHOP, worldWithBranch } from "../../../../support/rules/rule-worlds.ts";
import {
  type CommandOf,
  HOUR,
  MINUTE,
  NOW,
  SECOND,
  START,
  type Step,
} from "../../../../support/rules/rules.ts";
import { SimulatedWorld } from "../../../../support/rules/simulated-world.ts";

// The project exists since START, its history reaches back one day, and it is NOW + 1 h.

const lsn = (at: number) => lsnAt({ createdAt: START }, at);
const world = (...steps: readonly Step[]) => new SimulatedWorld(worldWithBranch(), { ms: HOUR }, ...steps);
const restore: CommandOf<"RestoreBranch"> = { type: "RestoreBranch", ...DEV, sourceBranchId: "br-main" };
const createTest = { ...createDev, id: "br-test", name: "test" } as const;

type Point = { readonly timestamp?: number; readonly lsn?: string };
const commands: readonly [string, (point: Point) => Command][] = [
  ["parent_", ({ timestamp, lsn: at }) => ({ ...createTest, parentTimestamp: timestamp, parentLsn: at })],
  ["source_", ({ timestamp, lsn: at }) => ({ ...restore, sourceTimestamp: timestamp, sourceLsn: at })],
  ["", (point) => ({ type: "CreateSnapshot", ...MAIN, ...point })],
];

describe.each(commands)("a point in time, given as %stimestamp or %slsn", (prefix, commandAt) => {
  const attempt = (point: Point, prepare: (simulated: SimulatedWorld) => void = () => undefined) => {
    const simulated = world();
    prepare(simulated);
    return () => simulated.execute(commandAt(point));
  };

  test("is refused with the field and its range where the branch has no history", () => {
    const range = String.raw`must lie between the creation of the branch and now, and within the project's history_retention_seconds \(86400\)`;
    expect(attempt({ timestamp: NOW + HOUR + 1 })).toThrow(
      new RegExp(`: ${prefix}timestamp ${range}; branch "br-main" has no history there`),
    );
    expect(attempt({ timestamp: START - SECOND })).toThrow(new RegExp(`: ${prefix}timestamp must`));
    expect(attempt({ lsn: "0/1" })).toThrow(
      new RegExp(`: ${prefix}lsn ${range}, from ${lsn(START)} to ${lsn(NOW + HOUR)}; branch "br-main"`),
    );
  });

  test("is refused where the data was deleted", () => {
    const shortened = ({ world: { branchData } }: SimulatedWorld) =>
      branchData.set({ id: "br-main", volumeId: "v", at: NOW, lsn: "0/10", writes: true, since: NOW });
    expect(attempt({ timestamp: NOW - 1 }, shortened)).toThrow(
      new RegExp(`: ${prefix}timestamp .*--max-branch-history`),
    );
    expect(attempt({ lsn: lsn(NOW - 1) }, shortened)).toThrow(
      new RegExp(`: ${prefix}lsn .*--max-branch-history`),
    );
    expect(attempt({ timestamp: NOW }, shortened)).not.toThrow();
  });

  test("is the head without either", () => {
    expect(attempt({})).not.toThrow();
  });
});

test.each([
  ["the creation, in whole seconds", 500, START, START + 500],
  ["the creation, exactly", 500, START + 500, START + 500],
  ["later in the same second", 500, START + 600, START + 600],
])("a branch can be created from %s", (_, createdMs, parentTimestamp, expected) => {
  const simulated = new SimulatedWorld(
    {
      type: "CreateWorld",
      settings: { seed: 1, profile: "2024", plan: "paid", operations: "timed", startAt: START },
    },
    { type: "CreateAccount", id: "owner", name: "Owner", email: "owner@example.com" },
    { ms: createdMs },
    {
      type: "CreateProject",
      accountId: "owner",
      id: "shop",
      branch: { id: "br-main" },
      compute: { id: "ep-main" },
    },
    { ms: HOUR },
    { ...createDev, parentTimestamp },
  );
  expect(simulated.world.branches.get("br-dev")?.parentTimestamp).toBe(expected);
});

test("a branch at a position of the log has it, and the instant that it stands for", () => {
  const { world: created } = world({ ...createTest, parentLsn: lsn(NOW + MINUTE) });
  expect(created.branches.get("br-test")).toMatchObject({
    parentLsn: lsn(NOW + MINUTE),
    parentTimestamp: NOW + MINUTE,
  });
  const { world: schemaOnly } = world({ ...createTest, parentLsn: lsn(NOW), initSource: "schema-only" });
  expect(schemaOnly.branches.get("br-test")).not.toHaveProperty("parentLsn");
});

test("a snapshot at a position of the log has it", () => {
  const { world: taken } = world({ type: "CreateSnapshot", ...MAIN, lsn: lsn(NOW) });
  expect(taken.branchSnapshots.toArray()).toMatchObject([{ lsn: lsn(NOW), timestamp: NOW }]);
});

test("a snapshot belongs to its project", () => {
  const simulated = world(
    { type: "CreateProject", accountId: "owner", id: "blog", branch: {}, compute: {} },
    { type: "CreateSnapshot", ...MAIN },
  );
  const snapshotId = simulated.world.branchSnapshots.toArray()[0]?.id ?? "";
  expect(() =>
    simulated.execute({ type: "DeleteSnapshot", accountId: "owner", projectId: "blog", snapshotId }),
  ).toThrow(/snapshot ".*" not found/);
  expect(() => simulated.execute({ type: "DeleteSnapshot", ...SHOP, snapshotId })).not.toThrow();
});

test("a replaced branch gets the first free name that ends in _old", () => {
  const rename = (name: string): Step => ({ type: "UpdateBranch", ...DEV, name });
  const replacedName = (...steps: readonly Step[]) => {
    const simulated = world(...steps, { type: "CreateSnapshot", ...MAIN });
    const snapshotId = simulated.world.branchSnapshots.toArray()[0]?.id ?? "";
    simulated.run({ type: "RestoreSnapshot", ...SHOP, snapshotId, finalize: true });
    return simulated.world.branches.get("br-main")?.name;
  };
  const main = world().world.branches.get("br-main")?.name;
  expect(replacedName()).toBe(`${main}_old`);
  expect(replacedName(rename(`${main}_old`))).toBe(`${main}_old_2`);
  expect(replacedName(rename(`${main}_old`), { ...createTest, name: `${main}_old_2` }, { ms: MINUTE })).toBe(
    `${main}_old_3`,
  );
});
