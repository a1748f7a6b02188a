import { expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { parseClient } from "../../../src/whatif/coupled/client-forms.ts";
import { curveOf, pointAt } from "../../../src/whatif/gap-curve/curve.ts";
import type { DelayChoice, SuspendDelay } from "../../../src/whatif/gap-curve/delay.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { simulateDelays } from "../../../src/whatif/questions/curve/curve-simulation.ts";
import { GapReader } from "../../../src/whatif/trace/gaps.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import type { StartLatency } from "../../../src/whatif/units/start-latency.ts";
import { DAY, HOUR, SECOND, traceOf } from "../../support/traffic/traces.ts";

test("a client is a kind with options; omitted options have defaults", () => {
  expect(parseClient("subscriber:reconnect=5s").create(3)).toEqual({
    kind: "subscriber",
    compute: 3,
    reconnectMs: 5_000,
  });
  expect(parseClient("loop:think=10s").create(0)).toEqual({
    kind: "loop",
    compute: 0,
    thinkMs: 10_000,
    serviceMs: 0,
    retryMs: 1_000,
  });
  expect(parseClient(" check:every=1d ")).toMatchObject({ name: "check:every=1d" });
});

test.each([
  ["sleeper", /^client: "sleeper" is not known; expected one of: subscriber:/],
  ["loop:think=1s:retry=2s", /is not known/],
  ["subscriber", /^client: "subscriber" needs reconnect/],
  ["subscriber:after=5s", /^client: unknown option "after" in "subscriber:after=5s"; expected reconnect$/],
  ["check:every=0s", /^client: every in "check:every=0s": expected a duration such as 5s or 10m, got "0s"$/],
  ["check:every=often", /^client: every in /],
])("%s is an error that names the field", (text, message) => {
  expect(() => parseClient(text)).toThrow(message);
});

/** Two computes with a request per hour each, and one without any. */
const TRACE = traceOf(
  DAY,
  ...[0, 5].map((minute) =>
    Array.from({ length: 24 }, (_, hour) => [hour * HOUR + minute * 60 * SECOND, SECOND] as const),
  ),
  [],
);

function simulated(
  delays: readonly SuspendDelay[],
  clients: readonly string[],
  startLatency: StartLatency = { kind: "fixed", ms: 0 },
) {
  const traffic = trafficOf(TRACE);
  const reader = new GapReader(TRACE.period);
  for (const { arrivals: requests } of TRACE.computes) {
    reader.add(requests);
    reader.end();
  }
  const curve = curveOf(reader.gaps);
  const exact = {
    arrivals: curve.arrivals,
    pointAt: (delay: DelayChoice) => pointAt(curve, delay as SuspendDelay),
  };
  const input = { delays, clients: clients.map(parseClient) };
  const work = simulateDelays(traffic, questionFrom({ startLatency }), exact, input, randomFrom(1));
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

test("without clients and start latency the simulation equals the curve at every delay", () => {
  for (const { difference } of simulated([0, 60, 3_599, 3_600, 86_400, "never"], []))
    expect(difference).toEqual({ cold_starts: 0, active_s: 0, requests: 0 });
});

test("a subscriber that reconnects at once restarts a compute that is suspended on the curve", () => {
  const [minute] = simulated([60], ["subscriber:reconnect=1s"]);
  // Active except for 1 s in 61: 1,416 starts per day and compute. The compute without requests has none.
  expect(minute?.difference.cold_starts).toBeGreaterThan(2 * 1_300);
  expect(minute?.active_s).toBeGreaterThan(2 * 86_400 * 0.98);
  const [never] = simulated(["never"], ["subscriber:reconnect=1s"]);
  expect(never).toMatchObject({ cold_starts: 0, requests: 48 + 2 });
});
