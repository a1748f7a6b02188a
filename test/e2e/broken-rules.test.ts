import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type BrokenRule, breakRule, bundleWith } from "../support/broken-rule.ts";
import { spawnCommand, waitForExit } from "../support/process.ts";
import { testDirectory } from "../support/running-server.ts";
import { SHIPPED, YEAR } from "../support/shipped-scenarios.ts";

// Mutation test of the shipped scenarios: if a rule of the platform is broken, one of them must fail.

const BROKEN: Readonly<Record<string, BrokenRule>> = {
  "a branch may have two primaries": {
    file: "src/platform/compute/compute.ts",
    right: "if (primary === undefined || primary.id === except) return accept(true);",
    wrong: "if (primary === undefined || primary.id !== undefined) return accept(true);",
  },
  "a compute suspends one millisecond late": {
    file: "src/platform/compute/autosuspend.ts",
    right: "since + delayS * SECOND",
    wrong: "since + delayS * SECOND + 1",
  },
  "a compute suspends one millisecond early": {
    file: "src/platform/compute/autosuspend.ts",
    right: "since + delayS * SECOND",
    wrong: "since + delayS * SECOND - 1",
  },
  "a suspend precedes arrivals at the same instant": {
    file: "src/simulation/timer-queue.ts",
    right: "autosuspend: 3,",
    wrong: "autosuspend: 0.5,",
  },
  "an open transaction does not keep a compute active": {
    file: "src/platform/compute/autosuspend.ts",
    right: "if (phase.openTransactions > 0) return undefined;",
    wrong: "",
  },
  "activity ends as soon as it begins": {
    file: "src/platform/compute/evolve-compute.ts",
    right: "const until = at + activity.longestMs;",
    wrong: "const until = at;",
  },
  "concurrent operations never conflict with 423": {
    file: "src/platform/operation/operation.ts",
    right: 'world.operations.by("project", projectId).size === 0 ? undefined : refuseConflicts()',
    wrong: "undefined",
  },
  "the wait for a start is one millisecond too long": {
    file: "src/platform/compute/activity.ts",
    right: "readyAt(world, compute, start, now) - now",
    wrong: "readyAt(world, compute, start, now) - now + 1",
  },
  "branches never expire": {
    file: "src/platform/branch/branch-expiration.ts",
    right: "deletedAt === undefined ? branch.expiresAt : undefined",
    wrong: "deletedAt === undefined ? undefined : undefined",
  },
  "branches expire one millisecond early": {
    file: "src/platform/branch/branch-expiration.ts",
    right: "deletedAt === undefined ? branch.expiresAt : undefined",
    wrong: "deletedAt === undefined && branch.expiresAt !== undefined ? branch.expiresAt - 1 : undefined",
  },
  "the branch limit allows one branch too many": {
    file: "src/platform/branch/branch.ts",
    right: "branchesOf(world, projectId).length < limit",
    wrong: "branchesOf(world, projectId).length <= limit",
  },
  "a restart keeps connections open": {
    file: "src/platform/compute/connection.ts",
    right: "if (!waiting) world.connections.delete(endpointId, id);",
    wrong: "",
  },
  "the free plan has read replicas": {
    file: "src/platform/compute/compute.ts",
    right: 'asked.computeType === "read_only" && !plan.readReplicas',
    wrong: "false",
  },
  "the free plan can set the autosuspend delay": {
    file: "src/platform/compute/autosuspend.ts",
    right: "!plan.autosuspendSetting && !isDefault",
    wrong: "false",
  },
  "a revoked key keeps working": {
    file: "src/api/http/authenticate.ts",
    right: "!sameHash(apiKey.hash, hash) || apiKey.revokedAt !== undefined",
    wrong: "!sameHash(apiKey.hash, hash)",
  },
};

/** Enough for all scenarios on a busy machine. */
const LONGEST_RUN_MS = 90_000;
const SCENARIOS = SHIPPED.filter((file) => file !== YEAR);

async function play(rule: BrokenRule | undefined) {
  const directory = testDirectory();
  const command = await bundleWith(rule, directory);
  const report = join(directory, "report.json");
  const { code, stderr } = await waitForExit(
    spawnCommand([process.execPath, command, "run", ...SCENARIOS, "--bail", "--reporter", `json=${report}`]),
    LONGEST_RUN_MS,
  );
  const runs: any[] = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")).runs : [];
  return { code, stderr, runs };
}

test("with all rules intact, every shipped scenario passes", async () => {
  const { code, stderr, runs } = await play(undefined);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(new Set(runs.map(({ file }) => file))).toEqual(new Set(SCENARIOS));
});

test.each(Object.entries(BROKEN))('with the broken rule "%s", a shipped scenario fails', async (_, rule) => {
  const { code, stderr, runs } = await play(rule);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  const failures = runs.filter(({ verdict }) => verdict === "failed").flatMap((run) => run.failures);
  expect(failures.map(({ what }) => what)).toContainEqual(
    expect.stringMatching(/^(step [\d.]+|expect|always|never|invariant)/),
  );
});

test("a broken rule whose source text is not found is an error", () => {
  const { file } = BROKEN["branches never expire"] as BrokenRule;
  expect(() => breakRule({ file, right: "no such text", wrong: "" })).toThrow("0 times");
  expect(() => breakRule({ file, right: "branch", wrong: "" })).toThrow("it must be there once");
});
