import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY } from "../../src/kernel/time.ts";
import type { Command } from "../../src/platform/rules/commands.ts";
import { usageAt } from "../../src/platform/rules/usage/meter.ts";
import { emptyWorld } from "../../src/platform/world/world.ts";
import { MemoryJournal } from "../../src/simulation/memory-journal.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { Simulation } from "../../src/simulation/simulation.ts";
import { collectParts } from "../../src/traffic/recorded/trace/trace.ts";
import { simulateCoupled } from "../../src/whatif/coupled/coupled-simulation.ts";
import { curveOf, pointAt } from "../../src/whatif/gap-curve/curve.ts";
import type { SuspendDelay } from "../../src/whatif/gap-curve/delay.ts";
import { fixed } from "../../src/whatif/policies/fixed.ts";
import { FixedReplay } from "../../src/whatif/replay/fixed-replay.ts";
import { PolicyReplay } from "../../src/whatif/replay/policy-replay.ts";
import { emptyOutcome, meteredMs } from "../../src/whatif/replay/replay-outcome.ts";
import { gapsOf } from "../../src/whatif/trace/gaps.ts";
import { WorldTraffic } from "../../src/whatif/trace/world-traffic.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { BEGIN, SECOND } from "../support/traffic/traces.ts";
import { policyContext } from "../support/whatif/replay-trace.ts";

// The traffic in the journal of a world, replayed under the world's own delay, is what the world
// has metered: also if connections are closed by the world or resources are deleted.

type Step = {
  readonly afterMs: number;
  readonly compute: 0 | 1;
  readonly does:
    | "query"
    | "transaction"
    | "disconnect"
    | "suspend"
    | "restart"
    | "delete branch"
    | "delete compute";
  readonly connectionId: string | undefined;
  readonly durationMs: number;
};

const activity = ["query", "query", "transaction", "transaction", "disconnect"] as const;
const steps = (delayS: number, calls: readonly Step["does"][]): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.record({
      afterMs: fc.oneof(
        fc.constantFrom(0, 1, delayS * SECOND),
        fc.nat(4 * delayS * SECOND),
        fc.nat(60 * SECOND),
      ),
      compute: fc.constantFrom<0 | 1>(0, 1),
      does: fc.constantFrom<Step["does"]>(...activity, ...calls),
      connectionId: fc.constantFrom("a", "b", undefined),
      durationMs: fc.oneof(fc.constantFrom(0, 1), fc.nat(60 * SECOND), fc.nat(DAY)),
    }),
    { maxLength: 25, size: "max" },
  );

const DELAYS = fc.constantFrom<SuspendDelay[]>(60, 300, 3_600, "never");
const inSeconds = (delay: SuspendDelay) => (delay === "never" ? 3_600 : delay);
const given = (...calls: readonly Step["does"][]) =>
  DELAYS.chain((delay) => steps(inSeconds(delay), calls).map((taken) => ({ delay, taken })));

const AT_ONCE = { operations: "immediate", startMs: 0 } as const;

test("requests that connections, restarts or deletions ended have their actual duration", async () => {
  await expectHolds(
    fc.asyncProperty(given("restart", "delete branch", "delete compute"), async ({ delay, taken }) => {
      const world = lived(taken, delay, AT_ONCE);
      for (const [kernel, ms] of Object.entries(replayed(world, delay, 0)))
        expect(ms, kernel).toBe(world.meteredMs);
    }),
    80,
  );
});

test("after a requested suspend, a replay knows that running requests ended, and then waits for the delay", async () => {
  await expectHolds(
    fc.asyncProperty(given("suspend", "suspend", "restart", "delete branch"), async ({ delay, taken }) => {
      fc.pre(delay !== "never");
      const world = lived(taken, delay, AT_ONCE);
      for (const [kernel, ms] of Object.entries(replayed(world, delay, 0))) {
        expect(ms, kernel).toBeGreaterThanOrEqual(world.meteredMs);
        expect(ms, kernel).toBeLessThanOrEqual(world.meteredMs + world.suspends * inSeconds(delay) * SECOND);
      }
    }),
    80,
  );
});

test("with timed operations, a replay is off by at most one operation and one delay each", async () => {
  await expectHolds(
    fc.asyncProperty(
      given("suspend", "restart", "delete branch", "delete compute"),
      async ({ delay, taken }) => {
        fc.pre(delay !== "never");
        const world = lived(taken, delay, { operations: "timed", startMs: 3_000 });
        const { curve: _, ...kernels } = replayed(world, delay, 3_000);
        const off = (world.calls + world.suspends) * (inSeconds(delay) + 60) * SECOND;
        for (const [kernel, ms] of Object.entries(kernels))
          expect(Math.abs(ms - world.meteredMs), kernel).toBeLessThanOrEqual(off);
      },
    ),
    60,
  );
});

type Lived = ReturnType<typeof lived>;

function lived(
  taken: readonly Step[],
  delay: SuspendDelay,
  { operations, startMs }: { operations: "immediate" | "timed"; startMs: number },
) {
  const before = BEGIN - 40 * DAY;
  const simulation = new Simulation(emptyWorld(), new MemoryJournal());
  const startDelay = { kind: "fixed", ms: startMs } as const;
  const give = (command: Command, at: number): boolean => {
    simulation.runDueUntil(at);
    return simulation.execute(command, at).ok;
  };
  const suspendTimeoutSeconds = delay === "never" ? -1 : delay;
  give(
    {
      type: "CreateWorld",
      settings: { seed: 5, profile: "2024", plan: "paid", operations, startDelay, startAt: before },
    },
    before,
  );
  give({ type: "CreateAccount", name: "live" }, before);
  const accountId = [...simulation.world.accounts.values()][0]?.id ?? "";
  give({ type: "CreateProject", accountId, defaultEndpointSettings: { suspendTimeoutSeconds } }, before);
  const projectId = [...simulation.world.projects.values()][0]?.id ?? "";
  const computes = [{ computeType: "read_write", options: { suspendTimeoutSeconds } }] as const;
  give({ type: "CreateBranch", accountId, projectId, queue: true, computes }, before);
  const made = [...simulation.world.computes.values()].map(({ id: endpointId, branchId }) => ({
    endpointId,
    branchId,
  }));
  expect(made.length).toBe(2);
  for (const [index, { endpointId }] of made.entries()) {
    give({ type: "SuspendCompute", accountId, projectId, computeId: endpointId }, BEGIN - (2 - index) * DAY);
  }
  simulation.runDueUntil(BEGIN - 1);
  const usedAt = (now: number) => {
    const { world } = simulation;
    return usageAt(world, projectId, world.computes.by("project", projectId).values(), now).activeMs;
  };
  const usedBefore = usedAt(BEGIN - 1);
  let [at, suspends, calls] = [BEGIN, 0, 0];
  for (const { afterMs, compute, does, connectionId, durationMs } of taken) {
    at += afterMs;
    simulation.runDueUntil(at);
    const { endpointId, branchId } = made[compute] as (typeof made)[number];
    const row = simulation.world.computes.get(endpointId);
    const isBusy =
      row?.phase.state === "active" && (row.phase.openTransactions > 0 || (row.lastActiveAt ?? 0) > at);
    const on = { accountId, projectId, computeId: endpointId };
    if (does === "delete branch")
      calls += give({ type: "DeleteBranch", accountId, projectId, branchId }, at) ? 1 : 0;
    else if (does === "delete compute") calls += give({ type: "DeleteCompute", ...on }, at) ? 1 : 0;
    // Only while busy: a trace of requests does not show a suspend or restart of an idle compute.
    else if (does === "suspend") suspends += isBusy && give({ type: "SuspendCompute", ...on }, at) ? 1 : 0;
    else if (does === "restart") calls += isBusy && give({ type: "RestartCompute", ...on }, at) ? 1 : 0;
    else {
      const more = does === "query" ? { durationMs } : {};
      const named = connectionId === undefined ? {} : { connectionId };
      give({ type: "RecordActivity", activity: { endpointId, kind: does, ...more, ...named } }, at);
    }
  }
  const endAt = at + 3 * DAY;
  simulation.runDueUntil(endAt);
  const metered = usedAt(endAt) - usedBefore;
  simulation.commit({ mode: "manual", factor: 0, simAnchor: endAt, wallAnchor: 0 }, endAt);
  const reading = new WorldTraffic();
  for (const event of simulation.journal.events(0, Number.MAX_SAFE_INTEGER)) reading.add(event);
  const traffic = reading.traffic(endAt);
  const known = new Map(reading.computes(simulation.world.computes.values()).map((own) => [own.id, own]));
  return {
    meteredMs: metered,
    suspends,
    calls,
    period: traffic.period,
    computes: traffic.computes.map((id, number) => ({
      goneAt: known.get(id)?.deletedAt,
      requests: collectParts(traffic.arrivals(number)),
    })),
  };
}

/** For each kernel. */
function replayed(
  { period, computes }: Lived,
  delay: SuspendDelay,
  latencyMs: number,
): Readonly<Record<string, number>> {
  const latencies = { at: () => latencyMs };
  const replays = {
    fixed: new FixedReplay(period, delay, emptyOutcome(period)),
    any: new PolicyReplay(period, emptyOutcome(period)),
  };
  let curve = 0;
  for (const { requests, goneAt } of computes) {
    const own = () => gapsOf(requests, period, goneAt);
    curve += pointAt(curveOf(own()), delay).activeMs;
    replays.fixed.begin(latencies, { deletedAt: goneAt });
    replays.any.begin(
      fixed(delay).createState(policyContext({ latencies, computeGaps: own, fleetGaps: own })),
      latencies,
      { deletedAt: goneAt },
    );
    for (const replay of Object.values(replays)) {
      replay.add(requests);
      replay.end();
    }
  }
  const coupled = simulateCoupled({
    period,
    arrivals: computes.map(({ requests }) => requests),
    delayMs: Float64Array.from(computes, () =>
      delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND,
    ),
    cu: Float64Array.from(computes, () => 1),
    deletedAt: Float64Array.from(computes, ({ goneAt }) => goneAt ?? Number.POSITIVE_INFINITY),
    clients: [],
    latency: { kind: "fixed", ms: latencyMs },
    starts: {},
    random: randomFrom(1),
  });
  return {
    fixed: meteredMs(replays.fixed.outcome),
    any: meteredMs(replays.any.outcome),
    coupled: meteredMs(coupled),
    curve,
  };
}
