import { expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { Attributor } from "../../../src/whatif/questions/attribution/attribution.ts";
import { StartLatencies } from "../../../src/whatif/units/start-latency.ts";
import { HOUR, periodOf, type Row, requestsOf, SECOND } from "../../support/traffic/traces.ts";

const [HEALTH_CHECK, USERS, CRON] = [0, 1, 2];
const MINUTE = 60 * SECOND;

function attribute(rows: readonly Row[], sources = 3) {
  const attributor = new Attributor(periodOf(HOUR), 300, sources);
  attributor.begin(new StartLatencies({ kind: "fixed", ms: 0 }, randomFrom(1), 0));
  // In two parts, as traces are read.
  attributor.add(requestsOf(rows.slice(0, 1)));
  attributor.add(requestsOf(rows.slice(1)));
  attributor.end();
  return attributor.attribution();
}

test("a health check every minute keeps a compute active that its users would let suspend", () => {
  const checks = Array.from({ length: 60 }, (_, minute): Row => [minute * MINUTE, 0, HEALTH_CHECK]);
  const rows = [...checks, [30 * MINUTE, 2 * MINUTE, USERS] as Row].sort(([a], [b]) => a - b);
  const { all, shares } = attribute(rows);
  expect(all.activeMs).toBe(HOUR);
  expect(
    shares.map(({ arrivals: requests, without, alone }) => [requests, without.activeMs, alone.activeMs]),
  ).toEqual([
    [60, 7 * MINUTE, HOUR],
    [1, HOUR, 7 * MINUTE],
    [0, HOUR, 0],
  ]);
});

test("two sources that send at the same times save nothing on their own: savings do not add up", () => {
  const rows = [0, 10, 20, 30].flatMap((minute): Row[] => [
    [minute * MINUTE, 0, USERS],
    [minute * MINUTE, 0, CRON],
  ]);
  const { all, shares } = attribute(rows);
  expect(all.activeMs).toBe(4 * 5 * MINUTE);
  expect(shares.slice(1).map(({ without }) => all.activeMs - without.activeMs)).toEqual([0, 0]);
});

test("removing a source can add cold starts to the others", () => {
  const { all, shares } = attribute([
    [0, 0, USERS],
    [4 * MINUTE, 0, CRON],
    [8 * MINUTE, 0, USERS],
  ]);
  expect(all.coldStarts).toBe(0);
  expect(shares[CRON]?.without.coldStarts).toBe(1);
});

test("requests without a source belong to the first one", () => {
  const { shares } = attribute([[0], [10 * MINUTE]], 1);
  expect(shares).toMatchObject([
    { source: 0, arrivals: 2, without: { activeMs: 0 }, alone: { activeMs: 10 * MINUTE } },
  ]);
});
