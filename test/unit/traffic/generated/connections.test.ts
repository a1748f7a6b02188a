import { expect, test } from "vitest";
import { MINUTE, SECOND } from "../../../../src/kernel/time.ts";
import { MergedArrivals } from "../../../../src/traffic/generated/merged-arrivals.ts";
import { NEW_YEAR, openArrivals, takeArrivals } from "../../../support/traffic/arrivals.ts";

const offset = (at: number) => (at - NEW_YEAR) / SECOND;

test("a pool opens its connections one by one, then tests each at its interval", () => {
  const taken = takeArrivals(openArrivals({ pattern: "health-check", every: "30s", pool: 3 }), 7);
  expect(taken.map(({ at, kind, connection }) => [offset(at), kind, connection])).toEqual([
    [0, "connect", 0],
    [10, "connect", 1],
    [20, "connect", 2],
    [30, "query", 0],
    [40, "query", 1],
    [50, "query", 2],
    [60, "query", 0],
  ]);
  expect(taken.map(({ queries }) => queries)).toEqual([0, 0, 0, 1, 1, 1, 1]);
});

test("the next test of a dropped connection reopens it", () => {
  const pool = openArrivals({ pattern: "health-check", every: "30s", pool: 3 });
  takeArrivals(pool, 4);
  pool.onConnectionClosed(NEW_YEAR + 35 * SECOND, 1);
  pool.onConnectionClosed(NEW_YEAR + 35 * SECOND, 2);
  pool.onConnectionClosed(NEW_YEAR + 35 * SECOND, 99);
  expect(takeArrivals(pool, 4).map(({ kind, connection }) => [kind, connection])).toEqual([
    ["connect", 1],
    ["connect", 2],
    ["query", 0],
    ["query", 1],
  ]);
});

test("a pool retries a rejected connection in the next round", () => {
  const pool = openArrivals({ pattern: "health-check", every: "30s", pool: 1 });
  pool.next();
  pool.onConnectionClosed(NEW_YEAR, 0);
  expect([offset(pool.at), pool.kind]).toEqual([30, "connect"]);
});

const backoff = { first: "1s", max: "4s", jitter: 0 };

test("a subscriber connects once and stays silent while connected", () => {
  const subscriber = openArrivals({ pattern: "subscriber", backoff });
  expect([offset(subscriber.at), subscriber.kind]).toEqual([0, "connect"]);
  subscriber.next();
  expect(subscriber.at).toBe(Number.POSITIVE_INFINITY);
  subscriber.onConnectionClosed(NEW_YEAR + MINUTE, 0);
  expect([offset(subscriber.at), subscriber.kind]).toEqual([61, "connect"]);
});

test("a subscriber doubles its wait up to a limit, until a connection outlasts the limit", () => {
  const subscriber = openArrivals({ pattern: "subscriber", backoff });
  const waits: number[] = [];
  const drop = (afterMs: number) => {
    const at = subscriber.at + afterMs;
    subscriber.next();
    subscriber.onConnectionClosed(at, 0);
    waits.push(subscriber.at - at);
  };
  for (const lasted of [0, 0, 0, 0, 4_000, 4_001, 0]) drop(lasted);
  expect(waits).toEqual([1_000, 2_000, 4_000, 4_000, 4_000, 1_000, 2_000]);
});

test("a subscriber reconnects once when a drop is reported twice", () => {
  const subscriber = openArrivals({ pattern: "subscriber", backoff });
  subscriber.next();
  subscriber.onConnectionClosed(NEW_YEAR + MINUTE, 0);
  subscriber.onConnectionClosed(NEW_YEAR + MINUTE + 500, 0);
  expect(offset(subscriber.at)).toBe(61);
});

test("jitter shortens a wait by up to its fraction", () => {
  const waits = Array.from({ length: 300 }, (_, seed) => {
    const subscriber = openArrivals({ pattern: "subscriber", backoff: { first: "10s" } }, { seed });
    subscriber.next();
    subscriber.onConnectionClosed(NEW_YEAR, 0);
    return subscriber.at - NEW_YEAR;
  });
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(5_000);
  expect(Math.min(...waits)).toBeLessThan(5_500);
  expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
  expect(Math.max(...waits)).toBeGreaterThan(9_500);
});

test("a heartbeat uses the connection while it is open", () => {
  const subscriber = openArrivals({ pattern: "subscriber", heartbeat: "20s", backoff });
  expect(takeArrivals(subscriber, 3).map(({ at, kind }) => [offset(at), kind])).toEqual([
    [0, "connect"],
    [20, "query"],
    [40, "query"],
  ]);
  subscriber.onConnectionClosed(NEW_YEAR + 50 * SECOND, 0);
  expect([offset(subscriber.at), subscriber.kind]).toEqual([51, "connect"]);
});

test("no client reconnects at or after the end", () => {
  const comesBackAt = (until: number) => {
    const subscriber = openArrivals({ pattern: "subscriber", backoff }, { until });
    subscriber.next();
    subscriber.onConnectionClosed(NEW_YEAR + MINUTE, 0);
    return subscriber.at;
  };
  expect(comesBackAt(NEW_YEAR + 61 * SECOND)).toBe(Number.POSITIVE_INFINITY);
  expect(comesBackAt(NEW_YEAR + 61 * SECOND + 1)).toBe(NEW_YEAR + 61 * SECOND);
});

test("a merge keeps the order of the sources at one instant", () => {
  const of = (every: string) =>
    openArrivals({ pattern: "constant", every }, { until: NEW_YEAR + 7 * SECOND });
  const merged = new MergedArrivals([of("2s"), of("3s"), of("6s")]);
  const taken: number[][] = [];
  for (; merged.source >= 0; merged.next()) taken.push([offset(merged.at), merged.source]);
  expect(taken).toEqual([
    [0, 0],
    [0, 1],
    [0, 2],
    [2, 0],
    [3, 1],
    [4, 0],
    [6, 0],
    [6, 1],
    [6, 2],
  ]);
  expect(merged.at).toBe(Number.POSITIVE_INFINITY);
  merged.next();
  expect(merged.at).toBe(Number.POSITIVE_INFINITY);
});

test("a merge of no sources has ended", () => {
  expect(new MergedArrivals([]).at).toBe(Number.POSITIVE_INFINITY);
});

test("in a merge, a dropped subscriber reconnects between other arrivals", () => {
  const merged = new MergedArrivals([
    openArrivals({ pattern: "constant", every: "10s" }),
    openArrivals({ pattern: "subscriber", backoff }),
  ]);
  const passed: unknown[] = [];
  for (let i = 0; i < 5; i += 1, merged.next()) {
    if (i === 3) merged.onConnectionClosed(NEW_YEAR + 12 * SECOND, 0, 1);
    passed.push([offset(merged.at), merged.source, merged.kind]);
  }
  expect(passed).toEqual([
    [0, 0, "query"],
    [0, 1, "connect"],
    [10, 0, "query"],
    [13, 1, "connect"],
    [20, 0, "query"],
  ]);
});
