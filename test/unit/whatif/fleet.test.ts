import { expect, test } from "vitest";
import { type ComputeArrivals, collectParts } from "../../../src/traffic/recorded/trace/trace.ts";
import { directConnections } from "../../../src/whatif/questions/capacity/pool-connections.ts";
import { FLEET_PATTERNS, type FleetPattern, fleetTraffic } from "../../../src/whatif/trace/fleet-traffic.ts";
import { BEGIN, DAY, periodOf, SECOND } from "../../support/traffic/traces.ts";

const DAYS = 28;

function fleetOf(pattern: FleetPattern, computes = 40): readonly ComputeArrivals[] {
  const traffic = fleetTraffic({ computes, seed: 3, patterns: [pattern], period: periodOf(DAYS * DAY) });
  return traffic.computes.map((_, number) => collectParts(traffic.arrivals(number)));
}

function gapsOf({ at, durationMs }: ComputeArrivals): number[] {
  return [...at.slice(1)].map((arrival, i) => arrival - (at[i] as number) - (durationMs[i] as number));
}

test.each(Object.keys(FLEET_PATTERNS) as FleetPattern[])(
  "a fleet of pattern %s has ordered requests within its period",
  (pattern) => {
    const fleet = fleetOf(pattern, 4);
    expect(fleet.some(({ at }) => at.length > 0)).toBe(true);
    for (const { at } of fleet) {
      expect(at.findIndex((arrival, i) => arrival < (at[i - 1] ?? BEGIN))).toBe(-1);
      expect(at.every((arrival) => arrival < BEGIN + DAYS * DAY)).toBe(true);
    }
  },
);

test("each preview branch exists for a part of the period and has bursts of many requests", () => {
  const used = fleetOf("preview-branch").filter(({ at }) => at.length > 0);
  expect(used.length).toBeGreaterThan(20);
  const days = used.map(({ at }) => ((at.at(-1) as number) - (at[0] as number)) / DAY);
  const mean = days.reduce((sum, value) => sum + value, 0) / days.length;
  expect(mean).toBeGreaterThan(0.5);
  expect(mean).toBeLessThan(5);
  // Created at any time: some early in the period, some late.
  const begins = used.map(({ at }) => ((at[0] as number) - BEGIN) / DAY);
  expect([Math.min(...begins) < 7, Math.max(...begins) > 21]).toEqual([true, true]);
  expect(Math.max(...used.map((requests) => directConnections(requests).peak))).toBeGreaterThan(5);
});

test("a larger fleet of preview branches begins with the computes of a smaller one", () => {
  expect(fleetOf("preview-branch", 12).slice(0, 5)).toEqual(fleetOf("preview-branch", 5));
});

test("a subscriber reconnects after each 5 min of silence, so the delay under which it was recorded suspends it each time", () => {
  for (const requests of fleetOf("subscriber", 3)) {
    const gaps = gapsOf(requests);
    expect(Math.min(...gaps)).toBeGreaterThan(300 * SECOND);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(360 * SECOND);
  }
});

test("a burst is 20 requests of 1 s, 2 s apart", () => {
  for (const requests of fleetOf("bursts", 2)) {
    expect(directConnections(requests).peak).toBe(1);
    expect(gapsOf(requests).filter((gap) => gap === SECOND).length / requests.at.length).toBeGreaterThan(0.9);
  }
});
