import fc from "fast-check";
import { expect, test } from "vitest";
import { PROFILES } from "../../src/platform/catalog/defaults-and-limits.ts";
import type { Command } from "../../src/platform/rules/commands.ts";
import { usageAt } from "../../src/platform/rules/usage/meter.ts";
import { emptyWorld } from "../../src/platform/world/world.ts";
import { MemoryJournal } from "../../src/simulation/memory-journal.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { Simulation } from "../../src/simulation/simulation.ts";
import { readCurve } from "../../src/whatif/gap-curve/curve-reading.ts";
import { experimentSetting, questionFrom } from "../../src/whatif/input/question.ts";
import { replayPass } from "../../src/whatif/input/replay-jobs.ts";
import { worldDefaults } from "../../src/whatif/input/world-defaults.ts";
import { fixed } from "../../src/whatif/policies/fixed.ts";
import { capacityReport } from "../../src/whatif/questions/capacity/capacity-report.ts";
import { CurveAnswer } from "../../src/whatif/questions/curve/curve-answer.ts";
import { createReplay } from "../../src/whatif/replay/experiment.ts";
import { WorldTraffic } from "../../src/whatif/trace/world-traffic.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { BEGIN, HOUR, SECOND } from "../support/traffic/traces.ts";

// What a world has metered of computes that scale is what an experiment on its journal reports.

const SIZES = [0.25, 0.5, 1, 2, 4, 8];
const range = fc
  .tuple(fc.nat(SIZES.length - 1), fc.nat(SIZES.length - 1))
  .map(([a, b]) => ({ minCu: SIZES[Math.min(a, b)] as number, maxCu: SIZES[Math.max(a, b)] as number }));

type Step = {
  readonly afterMs: number;
  readonly does: "query" | "disconnect" | "restart" | "suspend" | "resize";
  readonly durationMs: number;
  readonly load: number | undefined;
  readonly connectionId: string | undefined;
  readonly limits: { readonly minCu: number; readonly maxCu: number };
};

const steps = (...does: readonly Step["does"][]): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.record({
      afterMs: fc.oneof(fc.constantFrom(0, 1, 5 * SECOND), fc.nat(60 * SECOND), fc.nat(HOUR)),
      does: fc.constantFrom(...does),
      durationMs: fc.oneof(fc.constantFrom(0, 5 * SECOND), fc.nat(60 * SECOND), fc.nat(HOUR)),
      load: fc.constantFrom(undefined, 0, 0.5, 1, 3, 9),
      connectionId: fc.constantFrom("a", "b", undefined),
      limits: range,
    }),
    { maxLength: 25, size: "max" },
  );

/** A world with one compute, and what its API meters. */
function lived(
  taken: readonly Step[],
  limits: Step["limits"],
  operations: "immediate" | "timed",
  delayS?: number,
) {
  const simulation = new Simulation(emptyWorld(), new MemoryJournal());
  const execute = (command: Command, at: number) => simulation.execute(command, at);
  const settings = { seed: 5, profile: "2024", plan: "paid", operations, startAt: BEGIN } as const;
  execute({ type: "CreateWorld", settings }, BEGIN);
  execute({ type: "CreateAccount", name: "live" }, BEGIN);
  const { world } = simulation;
  const accountId = [...world.accounts.values()][0]?.id ?? "";
  execute(
    {
      type: "CreateProject",
      accountId,
      defaultEndpointSettings: { ...limits, suspendTimeoutSeconds: delayS },
    },
    BEGIN,
  );
  const [compute] = world.computes.values();
  if (compute === undefined) throw new Error("no compute");
  const { id: computeId, projectId } = compute;
  const on = { accountId, projectId, computeId };
  let at = BEGIN + HOUR;
  for (const { afterMs, does, durationMs, load, connectionId, limits } of taken) {
    at += afterMs;
    if (does === "restart") execute({ type: "RestartCompute", ...on }, at);
    else if (does === "suspend") execute({ type: "SuspendCompute", ...on }, at);
    else if (does === "resize") execute({ type: "UpdateCompute", ...on, options: limits }, at);
    else {
      const activity = { endpointId: computeId, kind: does, connectionId };
      const busy = does === "query" ? { durationMs, load } : {};
      execute({ type: "RecordActivity", activity: { ...activity, ...busy } }, at);
    }
  }
  const endAt = at + 10 * HOUR;
  simulation.runDueUntil(endAt);
  simulation.commit({ mode: "manual", factor: 0, simAnchor: endAt, wallAnchor: 0 }, endAt);
  const reading = new WorldTraffic();
  for (const event of simulation.journal.events(0, Number.MAX_SAFE_INTEGER)) reading.add(event);
  const { activeMs, cuMs } = usageAt(world, projectId, world.computes.values(), endAt);
  return { world, reading, endAt, computeId, metered: { activeMs, cuMs } };
}

function complete<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

test.each(["immediate", "timed"] as const)(
  "the journal gives the metered time and CU time of a compute, to the millisecond: %s operations",
  async (operations) => {
    await expectHolds(
      fc.asyncProperty(
        steps("query", "query", "query", "disconnect", "restart", "suspend", "resize"),
        range,
        async (taken, limits) => {
          const { reading, endAt, computeId, metered } = lived(taken, limits, operations);
          const usage = reading.usage([computeId], { startAt: BEGIN, endAt }, endAt);
          expect(usage).toMatchObject(metered);
          expect(usage.cuMsWithoutRequests).toBeLessThanOrEqual(usage.cuMs);
        },
      ),
      150,
    );
  },
);

test("the curve of a world whose computes scale bills the current delay as the world has metered it", async () => {
  let scaled = 0;
  await expectHolds(
    fc.asyncProperty(steps("query", "query", "disconnect"), range, async (taken, limits) => {
      // The first start is that of the creation, before any traffic: the curve does not know it.
      const { world, reading, endAt, metered } = lived([...taken], limits, "immediate");
      const traffic = reading.traffic(endAt);
      fc.pre(traffic.computes.length === 1);
      const { setting } = worldDefaults(
        world.settings,
        reading.computes(world.computes.values()),
        traffic.computes,
      );
      const question = questionFrom({}, setting);
      const { currentDelay, ownDelays, costs } = question;
      const curve = complete(
        readCurve(traffic, { currentDelay, ownDelays, costs, byCompute: false, from: 0, to: 1 }),
      );
      const { present } = new CurveAnswer(traffic, curve, question, randomFrom(1)).summary({});
      const beforeMs = 300 * SECOND;
      expect(present.active_s * SECOND + beforeMs).toBe(metered.activeMs);
      scaled += metered.cuMs > metered.activeMs * limits.minCu ? 1 : 0;
      expect(Math.abs(present.cu_hours * HOUR + beforeMs * limits.minCu - metered.cuMs)).toBeLessThan(0.001);
      const usage = reading.usage(traffic.computes, traffic.period, endAt);
      expect(usage).toEqual({ ...metered, cuMsWithoutRequests: beforeMs * limits.minCu });
    }),
    100,
  );
  expect(scaled).toBeGreaterThan(10);
});

test("capacity replays the loads of a world's journal to its own sizes", () => {
  // Two vCPUs on 2 CU are not throttled, but need 2 / 0.9 CU: it grows to 2.25 CU.
  const busy: Step = {
    afterMs: 0,
    does: "query",
    durationMs: 600 * SECOND,
    load: 2,
    connectionId: undefined,
    limits: { minCu: 2, maxCu: 4 },
  };
  const { world, reading, endAt, metered } = lived(
    [busy, { ...busy, afterMs: 2 * HOUR }],
    busy.limits,
    "immediate",
  );
  const traffic = reading.traffic(endAt);
  const { setting } = worldDefaults(
    world.settings,
    reading.computes(world.computes.values()),
    traffic.computes,
  );
  const { sizes } = complete(
    capacityReport(
      traffic,
      [busy.limits],
      PROFILES["2024"],
      questionFrom({}, setting),
      { loadPerRequest: 1, reserved: 0, poolBy: "compute" },
      randomFrom(1),
    ),
  );
  const beforeMs = 300 * SECOND * 2;
  expect(sizes[0]).toMatchObject({ throttled_s: 0, scale_events: 4, starts: 2 });
  expect(Math.round((sizes[0]?.cu_hours ?? 0) * HOUR) + beforeMs).toBe(metered.cuMs);
});

test("under another delay, a curve, a replay and the live world agree: idle time is billed at the smallest size", () => {
  // Half a minute of 3 vCPUs every ten minutes: the compute is large for a minute and small for the rest.
  const limits = { minCu: 0.25, maxCu: 8 };
  const job: Step = {
    afterMs: 600 * SECOND,
    does: "query",
    durationMs: 30 * SECOND,
    load: 6,
    connectionId: undefined,
    limits,
  };
  const jobs = Array.from({ length: 144 }, () => job);
  const costAt = (delayS: number, metered: ReturnType<typeof lived>) => {
    const { world, reading, endAt } = metered;
    const traffic = reading.traffic(endAt);
    const known = reading.computes(world.computes.values());
    const { setting } = worldDefaults(world.settings, known, traffic.computes);
    const question = questionFrom({}, setting);
    const { currentDelay, costs } = question;
    const gaps = complete(readCurve(traffic, { currentDelay, costs, byCompute: false, from: 0, to: 1 }));
    const policy = createReplay(
      fixed(delayS),
      traffic.period,
      experimentSetting(question, randomFrom(1)),
      () => {
        throw new Error("no policy with hindsight");
      },
    );
    complete(replayPass(traffic, [policy], { from: 0, to: 1 }));
    const answer = new CurveAnswer(traffic, gaps, question, randomFrom(1));
    return { curve: answer.figuresAt(delayS).cu_hours, replay: policy.outcome.cuMs / HOUR };
  };
  const [current, other] = [lived(jobs, limits, "immediate"), lived(jobs, limits, "immediate", 60)];
  const beforeCuHours = (delayS: number) => (delayS * SECOND * limits.minCu) / HOUR;
  const truth = other.metered.cuMs / HOUR - beforeCuHours(60);
  const { curve, replay } = costAt(60, current);
  const promised = 1 - curve / costAt(300, current).curve;
  const gain = 1 - truth / (current.metered.cuMs / HOUR - beforeCuHours(300));
  expect(Math.abs(replay / truth - 1)).toBeLessThan(0.03);
  expect(Math.abs(promised - gain)).toBeLessThan(0.02);
  // With the mean size of its active time, 73 % were promised: the share of the active time.
  expect(gain).toBeLessThan(0.4);
});

test.each(["immediate", "timed"] as const)(
  "capacity and a replay of the current setting give what the world has metered, and capacity throttles once: %s operations",
  async (operations) => {
    let [scaled, throttled] = [0, 0];
    const only = { load: fc.constantFrom(0, 0.5, 1, 3, 9), durationMs: fc.integer({ min: 1, max: HOUR }) };
    const loaded = steps("query").chain((taken) =>
      fc
        .tuple(...taken.map(() => fc.record(only)))
        .map((more) => taken.map((step, index) => ({ ...step, ...more[index] }))),
    );
    await expectHolds(
      fc.asyncProperty(loaded, range, async (taken, limits) => {
        const { world, reading, endAt, metered } = lived(taken, limits, operations);
        const traffic = reading.traffic(endAt);
        fc.pre(traffic.computes.length === 1);
        const { setting } = worldDefaults(
          world.settings,
          reading.computes(world.computes.values()),
          traffic.computes,
          reading.usage(traffic.computes, traffic.period, endAt),
        );
        const question = questionFrom({}, setting);
        const assumptions = { loadPerRequest: 1, reserved: 0, poolBy: "compute" } as const;
        const { current_sizes: current, sizes } = complete(
          capacityReport(traffic, [limits], PROFILES["2024"], question, assumptions, randomFrom(1)),
        );
        const beforeCuMs = current === null ? 0 : current.metered_without_requests_cu_hours * HOUR;
        const expectMetered = (cuMs: number, toleratedMs = 1) =>
          expect(Math.abs(cuMs + beforeCuMs - metered.cuMs)).toBeLessThan(toleratedMs);
        expectMetered((current?.cu_hours ?? 0) * HOUR);
        // Ends of requests are rounded up to whole milliseconds.
        expectMetered((sizes[0]?.cu_hours ?? 0) * HOUR, SECOND);
        const policy = createReplay(
          fixed(300),
          traffic.period,
          experimentSetting(question, randomFrom(1)),
          () => {
            throw new Error("no policy with hindsight");
          },
        );
        complete(replayPass(traffic, [policy], { from: 0, to: 1 }));
        const cuMs = setting.scaling === undefined ? policy.outcome.cuMs * limits.minCu : policy.outcome.cuMs;
        expectMetered(cuMs);
        scaled += metered.cuMs > metered.activeMs * limits.minCu ? 1 : 0;
        throttled += (sizes[0]?.throttled_s ?? 0) > 0 ? 1 : 0;
      }),
      80,
    );
    expect(scaled).toBeGreaterThan(10);
    expect(throttled).toBeGreaterThan(10);
  },
);
