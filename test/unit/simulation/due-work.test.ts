import { describe, expect, test } from "vitest";
import type { Event } from "../../../src/platform/model/events.ts";
import { backupDueAt } from "../../../src/platform/rules/branch/decide-snapshot.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { overdueWork } from "../../../src/simulation/due.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import {
  DEV,
  MAIN,
  MAIN_COMPUTE,
  restartMain,
  SHOP,
  worldWithBranch,
  worldWithIdleCompute,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { type CommandOf, DAY, HOUR, MINUTE, NOW, SECOND, type Step } from "../../support/rules/rules.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

const overdue = (...parameters: Parameters<typeof overdueWork>) =>
  [...overdueWork(...parameters)].filter((work) => work !== undefined);
const createKey: CommandOf<"CreateApiKey"> = {
  type: "CreateApiKey",
  accountId: "owner",
  name: "spare",
  hash: "hash-of-spare",
} as CommandOf<"CreateApiKey">;
const setQuota = (seconds: number): Step => ({
  type: "UpdateProject",
  ...SHOP,
  settings: { quota: { active_time_seconds: seconds } },
});
const activity = (
  fields: Partial<CommandOf<"RecordActivity">["activity"]> = {},
): CommandOf<"RecordActivity"> => ({
  type: "RecordActivity",
  activity: { endpointId: "ep-main", kind: "query", ...fields },
});
const backups = (...items: CommandOf<"SetBackupSchedule">["items"]): Step => ({
  type: "SetBackupSchedule",
  ...MAIN,
  items,
});
const scaling: Step = worldWithProject({ compute: { minCu: 0.25, maxCu: 1 } }, { loadAverage: true });

// The compute is active since six seconds before NOW, and its delay is five minutes.
describe.each([
  ["in a running world", (simulated: SimulatedWorld) => simulated],
  ["after the world was opened again", (simulated: SimulatedWorld) => simulated.reopen()],
])("%s", (_, prepare) => {
  test.each<[string, readonly Step[], Event["type"], at: number]>([
    ["an idle compute is suspended", [worldWithProject()], "ComputeSuspended", NOW + 294 * SECOND],
    [
      "an operation finishes",
      [worldWithIdleCompute(), { type: "StartCompute", ...MAIN_COMPUTE }],
      "OperationFinished",
      NOW + 3 * SECOND,
    ],
    [
      "an operation that waits starts after the one before it",
      [worldWithProject(), restartMain],
      "OperationStarted",
      NOW + SECOND,
    ],
    [
      "scheduled activity arrives",
      [worldWithProject(), { ...activity(), type: "ScheduleActivity", at: NOW + HOUR }],
      "ActivityRecorded",
      NOW + HOUR,
    ],
    // One reading is in each five seconds since NOW - 6 s, at a random instant of them. The sixth one resizes.
    [
      "a compute follows its load",
      [scaling, activity({ load: 1, durationMs: HOUR })],
      "ComputeResized",
      NOW + 23_062,
    ],
    ["a quota is reached", [worldWithProject(), setQuota(60)], "ComputeSuspended", NOW + 54 * SECOND],
    [
      "a backup is taken",
      [worldWithProject(), backups({ frequency: "hourly" })],
      "SnapshotCreated",
      NOW + HOUR,
    ],
    [
      "a snapshot expires",
      [worldWithProject(), { type: "CreateSnapshot", ...MAIN, expiresAt: NOW + MINUTE }],
      "SnapshotDeleted",
      NOW + MINUTE,
    ],
    ["a branch expires", [worldWithBranch({ expiresAt: NOW + MINUTE })], "BranchDeleted", NOW + MINUTE],
    [
      "a changed expiration counts",
      [worldWithBranch(), { type: "UpdateBranch", ...DEV, expiresAt: NOW + HOUR }],
      "BranchDeleted",
      NOW + HOUR,
    ],
    [
      "a deleted branch is removed",
      [worldWithBranch(), { type: "DeleteBranch", ...DEV }],
      "BranchRemoved",
      NOW + 7 * DAY,
    ],
    [
      "a deleted project is removed",
      [worldWithBranch(), { type: "DeleteProject", ...SHOP }],
      "ProjectRemoved",
      NOW + 7 * DAY,
    ],
  ])("%s", (__, steps, type, at) => {
    const simulated = prepare(new SimulatedWorld(...steps));
    const before = simulated.events.length;
    simulated.wait(at - simulated.now - 1);
    const happened = () => simulated.events.slice(before).filter((event) => event.type === type);
    expect(happened()).toEqual([]);
    simulated.wait(1);
    expect(happened().map((event) => event.at)).toEqual([at]);
    simulated.wait(MINUTE);
    expect(overdue(simulated.world, simulated.now)).toEqual([]);
  });

  test("a revoked key is removed after seven days", () => {
    const simulated = new SimulatedWorld(worldWithProject(), createKey);
    const keyId = simulated.world.apiKeys.toArray().at(-1)?.id ?? 0;
    prepare(simulated.run({ type: "RevokeApiKey", accountId: "owner", keyId }));
    simulated.wait(7 * DAY - 1);
    expect(simulated.world.apiKeys.get(String(keyId))?.revokedAt).toBe(NOW);
    simulated.wait(1);
    expect(simulated.world.apiKeys.get(String(keyId))).toBeUndefined();
  });

  test("an open transaction holds off the suspend until its end", () => {
    const begin = activity({ kind: "transaction", connectionId: "c1" });
    const simulated = prepare(new SimulatedWorld(worldWithProject(), begin)).wait(HOUR);
    expect(simulated.instants("ComputeSuspended")).toEqual([]);
    simulated.run(activity({ kind: "disconnect", connectionId: "c1" })).wait(HOUR);
    expect(simulated.instants("ComputeSuspended")).toEqual([["ComputeSuspended", NOW + HOUR + 5 * MINUTE]]);
  });

  test("later activity moves the suspend, and the timer follows", () => {
    const simulated = prepare(new SimulatedWorld(worldWithProject()).wait(MINUTE).run(activity()));
    expect(simulated.nextDue).toBe(NOW + 6 * MINUTE);
    simulated.wait(6 * MINUTE);
    expect(simulated.instants("ComputeSuspended")).toEqual([["ComputeSuspended", NOW + 6 * MINUTE]]);
  });

  test("a deleted branch of a deleted project is removed with it, not before", () => {
    const simulated = prepare(
      new SimulatedWorld(
        worldWithBranch(),
        { type: "DeleteBranch", ...DEV },
        { ms: DAY },
        {
          type: "DeleteProject",
          ...SHOP,
        },
      ),
    );
    simulated.wait(7 * DAY - 1);
    expect(simulated.instants("BranchRemoved", "ProjectRemoved")).toEqual([]);
    simulated.wait(1);
    expect(simulated.last("ProjectRemoved")?.at).toBe(NOW + 8 * DAY);
    expect(new Set(simulated.instants("BranchRemoved").map(([, at]) => at))).toEqual(
      new Set([NOW + 8 * DAY]),
    );
  });

  test("after its project is recovered, a branch expires and its backups continue", () => {
    const simulated = new SimulatedWorld(worldWithBranch({ expiresAt: NOW + 2 * DAY }))
      .run(backups({ frequency: "daily" }), { type: "DeleteProject", ...SHOP })
      .wait(DAY);
    prepare(simulated.run({ type: "RecoverProject", ...SHOP })).wait(2 * DAY);
    expect(simulated.last("SnapshotCreated")?.at).toBe(Date.UTC(2026, 0, 18));
    expect(simulated.last("BranchDeleted")).toMatchObject({ branchId: "br-dev", at: NOW + 2 * DAY });
    expect(simulated.last("ProjectRemoved")).toBeUndefined();
  });

  test("a world without running computes has nothing due", () => {
    expect(prepare(new SimulatedWorld(worldWithIdleCompute())).nextDue).toBeUndefined();
  });
});

test("at one instant what ends comes before what suspends, and backups before expirations", () => {
  const dueAt = Date.UTC(2026, 0, 16);
  const simulated = new SimulatedWorld(
    worldWithBranch({ expiresAt: dueAt }),
    backups({ frequency: "daily" }),
    { type: "CreateSnapshot", ...MAIN, expiresAt: dueAt },
  );
  const before = simulated.events.length;
  simulated.wait(DAY / 2);
  expect(
    simulated.events
      .slice(before)
      .filter(({ at }) => at === dueAt)
      .map(({ type }) => type),
  ).toEqual(["SnapshotCreated", "SnapshotDeleted", "BranchDeleted", "OperationScheduled"]);
});

test("a shorter delay suspends a compute at once if its time has passed", () => {
  const simulated = new SimulatedWorld(worldWithProject()).wait(4 * MINUTE);
  simulated.run({ type: "UpdateCompute", ...MAIN_COMPUTE, options: { suspendTimeoutSeconds: 60 } }).wait(0);
  expect(simulated.instants("ComputeSuspended")).toEqual([["ComputeSuspended", NOW + 4 * MINUTE]]);
});

test("the timers of a world that is reset are gone, but for the removal of its keys", () => {
  const simulated = new SimulatedWorld(worldWithProject(), createKey);
  const keyId = simulated.world.apiKeys.toArray().at(-1)?.id ?? 0;
  simulated.run({ type: "RevokeApiKey", accountId: "owner", keyId }, { type: "ResetWorld" });
  expect(simulated.nextDue).toBe(NOW + 7 * DAY);
});

test("work before an instant is overdue, except for the removal of keys", () => {
  const { world } = new SimulatedWorld(worldWithBranch({ expiresAt: NOW + MINUTE }), createKey);
  const key = world.apiKeys.toArray().at(-1);
  if (key !== undefined) world.apiKeys.set({ ...key, revokedAt: NOW - 30 * DAY });
  expect(overdue(world, NOW + MINUTE)).toEqual([]);
  expect(overdue(world, NOW + MINUTE + 1)).toEqual([{ kind: "expiration", id: "br-dev" }]);
});

test("of several backups the next one is due first; a deleted or unknown branch, or one of a deleted project, has none", () => {
  const scheduled = (...steps: readonly Step[]) =>
    new SimulatedWorld(
      worldWithBranch(),
      { type: "SetBackupSchedule", ...DEV, items: [{ frequency: "daily" }, { frequency: "hourly" }] },
      ...steps,
    ).world;
  expect(backupDueAt(scheduled(), "br-dev")).toBe(NOW + HOUR);
  expect(backupDueAt(scheduled({ type: "SetBackupSchedule", ...DEV, items: [] }), "br-dev")).toBeUndefined();
  expect(backupDueAt(scheduled({ type: "DeleteBranch", ...DEV }), "br-dev")).toBeUndefined();
  expect(backupDueAt(scheduled({ type: "DeleteProject", ...SHOP }), "br-dev")).toBeUndefined();
  expect(backupDueAt(scheduled(), "br-unknown")).toBeUndefined();
  expect(backupDueAt(scheduled(), "br-main")).toBeUndefined();
});

test("a commit stores an instant up to which all due work has run: that of its clock, or of the next work", () => {
  const journal = new MemoryJournal();
  const simulation = new Simulation(emptyWorld(), journal);
  const clock = { mode: "real", factor: 1, simAnchor: NOW, wallAnchor: 0 } as const;
  const storedAfter = (now: number) => {
    simulation.commit(clock, now);
    return journal.clock?.now;
  };
  new SimulatedWorld().use(simulation).run(worldWithProject());
  const { at } = simulation.world;
  expect(storedAfter(at + 5)).toBe(at + 5);
  simulation.execute({ type: "ScheduleActivity", activity: activity().activity, at: at + 20 }, at + 10);
  expect(storedAfter(at + 19)).toBe(at + 19);
  expect(storedAfter(at + 25)).toBe(at + 20);
  expect(overdue(simulation.world, at + 20)).toEqual([]);
  simulation.runDueUntil(at + 25);
  expect(storedAfter(at + 25)).toBe(at + 25);
});
