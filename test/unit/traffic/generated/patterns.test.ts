import { expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../../../src/kernel/time.ts";
import type { PatternInput } from "../../../../src/traffic/generated/patterns.ts";
import { arrivalInstants, NEW_YEAR, openArrivals, takeArrivals } from "../../../support/traffic/arrivals.ts";

const iso = (text: string) => Date.parse(text);

test("a constant source starts at its start and stops before its end", () => {
  const input = { pattern: "constant", every: "20s" } as const;
  expect(
    takeArrivals(openArrivals(input, { until: NEW_YEAR + MINUTE })).map(({ at }) => at - NEW_YEAR),
  ).toEqual([0, 20_000, 40_000]);
  expect(
    takeArrivals(openArrivals(input, { until: NEW_YEAR + MINUTE + 1 })).map(({ at }) => at - NEW_YEAR),
  ).toEqual([0, 20_000, 40_000, 60_000]);
  expect(takeArrivals(openArrivals(input, { until: NEW_YEAR }))).toEqual([]);
});

test("a source that has ended stays ended", () => {
  const arrivals = openArrivals({ pattern: "constant", every: "20s" }, { until: NEW_YEAR + 1 });
  for (let i = 0; i < 200; i += 1) arrivals.next();
  arrivals.onConnectionClosed(NEW_YEAR, 0);
  expect(arrivals.at).toBe(Number.POSITIVE_INFINITY);
});

test("jitter delays arrivals by less than its value and keeps their order", () => {
  const late = takeArrivals(openArrivals({ pattern: "constant", every: "10s", jitter: "5s" }), 2_000).map(
    ({ at }, i) => at - NEW_YEAR - i * 10_000,
  );
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...late)).toBeLessThan(5_000);
  expect(Math.max(...late) - Math.min(...late)).toBeGreaterThan(4_500);
  const crowded = takeArrivals(openArrivals({ pattern: "constant", every: "1s", jitter: "1m" }), 2_000).map(
    ({ at }) => at,
  );
  expect(crowded).toEqual([...crowded].sort((one, other) => one - other));
});

test("an arrival has a duration, a number of queries and a kind", () => {
  const [plain] = takeArrivals(openArrivals({ pattern: "constant", every: "1s" }), 1);
  expect(plain).toEqual({ at: NEW_YEAR, durationMs: 0, queries: 1, kind: "query", connection: -1 });
  const drawn = takeArrivals(
    openArrivals({
      pattern: "constant",
      every: "1s",
      kind: "transaction",
      duration: "5ms..7ms",
      queries: { min: 2, max: 4 },
    }),
    500,
  );
  expect(new Set(drawn.map(({ durationMs }) => durationMs))).toEqual(new Set([5, 6, 7]));
  expect(new Set(drawn.map(({ queries }) => queries))).toEqual(new Set([2, 3, 4]));
  expect(new Set(drawn.map(({ kind }) => kind))).toEqual(new Set(["transaction"]));
});

test("office hours are from nine (inclusive) to five (exclusive) on weekdays", () => {
  const input = { pattern: "office-hours", rate: "1/s", spacing: "even" } as const;
  // The first arrival comes at 09:00:01; the last one would come at 17:00:00, when the office is closed.
  const day = arrivalInstants(input, { until: NEW_YEAR + DAY });
  expect(day[0]).toBe("2026-01-01T09:00:01.000Z");
  expect(day.at(-1)).toBe("2026-01-01T16:59:59.000Z");
  expect(day).toHaveLength(8 * 3_600 - 1);
  const week = new Set(
    arrivalInstants({ ...input, rate: "1/min" }, { until: NEW_YEAR + 7 * DAY }).map((at) => at.slice(0, 10)),
  );
  expect([...week]).toEqual(["2026-01-01", "2026-01-02", "2026-01-05", "2026-01-06", "2026-01-07"]);
});

test("offices that close before they open are open over midnight", () => {
  const input: PatternInput = {
    pattern: "office-hours",
    rate: "1/min",
    spacing: "even",
    weekdays: ["wed"],
    opens: "22:00",
    closes: "06:00",
  };
  // On Thursday at 00:00 the office that opened on Wednesday is still open.
  const night = arrivalInstants(input, { until: NEW_YEAR + DAY });
  expect([night[0], night.at(-1), night.length]).toEqual([
    "2026-01-01T00:01:00.000Z",
    "2026-01-01T05:59:00.000Z",
    359,
  ]);
});

test("outside office hours the outside rate applies", () => {
  const input = { pattern: "office-hours", rate: "60/h", rate_outside: "1/h", spacing: "even" } as const;
  const hours = new Map<number, number>();
  for (const { at } of takeArrivals(openArrivals(input, { until: NEW_YEAR + DAY }))) {
    const hour = Math.floor((at - NEW_YEAR) / HOUR);
    hours.set(hour, (hours.get(hour) ?? 0) + 1);
  }
  expect(hours.get(12)).toBe(60);
  expect(hours.get(20)).toBe(1);
});

test("office hours follow local time in winter and in summer", () => {
  const input: PatternInput = {
    pattern: "office-hours",
    rate: "1/s",
    spacing: "even",
    time_zone: "Europe/Berlin",
    weekdays: ["fri", "mon"],
  };
  const from = iso("2026-03-27T00:00:00Z");
  const first = (day: string) =>
    arrivalInstants(input, { from, until: from + 7 * DAY }).find((at) => at.startsWith(day));
  expect(first("2026-03-27")).toBe("2026-03-27T08:00:01.000Z");
  // An arrival that was pending at the Friday close comes on Monday.
  expect(first("2026-03-30")).toBe("2026-03-30T07:00:00.000Z");
});

test("a day with a clock change has fewer or more arrivals", () => {
  const input: PatternInput = {
    pattern: "office-hours",
    rate: "1/min",
    spacing: "even",
    time_zone: "Europe/Berlin",
    weekdays: ["sun"],
    opens: "00:00",
    closes: "24:00",
  };
  const on = (from: string, until: string) =>
    takeArrivals(openArrivals(input, { from: iso(from), until: iso(until) })).length;
  expect(on("2026-03-22T00:00:00+01:00", "2026-03-23T00:00:00+01:00")).toBe(24 * 60 - 1);
  expect(on("2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00")).toBe(23 * 60 - 1);
  expect(on("2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00")).toBe(25 * 60 - 1);
});

test("a linear ramp has a quarter of its arrivals in its first half", () => {
  const phases = [{ for: "100s", to: "10/s" }];
  const taken = takeArrivals(openArrivals({ pattern: "ramp", phases, spacing: "even" }));
  // The integral of the rate is 500; the 500th arrival would come at the end, which is exclusive.
  expect(taken).toHaveLength(499);
  expect(taken.filter(({ at }) => at - NEW_YEAR <= 50 * SECOND)).toHaveLength(125);
});

test("a ramp may go down, stay flat and repeat", () => {
  const down = takeArrivals(
    openArrivals({ pattern: "ramp", phases: [{ for: "100s", from: "10/s", to: 0 }], spacing: "even" }),
  );
  expect(down.filter(({ at }) => at - NEW_YEAR <= 50 * SECOND)).toHaveLength(375);
  const phases = [
    { for: "10s", from: "1/s", to: "1/s" },
    { for: "10s", from: 0, to: 0 },
  ];
  const offsets = (repeat: boolean) =>
    takeArrivals(
      openArrivals({ pattern: "ramp", phases, spacing: "even", repeat }, { until: NEW_YEAR + 40 * SECOND }),
    ).map(({ at }) => (at - NEW_YEAR) / SECOND);
  expect(offsets(false)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  // The tenth arrival is due when the first phase ends, so it comes at the start of the second.
  expect(offsets(true)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
});

test("on-off starts busy and is silent while off", () => {
  const offsets = takeArrivals(
    openArrivals(
      { pattern: "on-off", on: "3s", off: "7s", rate: "2/s", spacing: "even" },
      { until: NEW_YEAR + 20 * SECOND },
    ),
  ).map(({ at }) => at - NEW_YEAR);
  expect(offsets).toEqual([500, 1_000, 1_500, 2_000, 2_500, 10_000, 10_500, 11_000, 11_500, 12_000, 12_500]);
});

test("bursts start with a pause, then have their size with short gaps", () => {
  const input = { pattern: "bursts", size: 3, gap: "1s", pause: "1m" } as const;
  expect(takeArrivals(openArrivals(input), 7).map(({ at }) => (at - NEW_YEAR) / SECOND)).toEqual([
    60, 61, 62, 122, 123, 124, 184,
  ]);
});

test("a daily rate is highest at its peak and lowest twelve hours later", () => {
  const input = { pattern: "daily", rate: "1/s", peak: "14:00", low: 0.5, spacing: "even" } as const;
  const taken = takeArrivals(openArrivals(input, { until: NEW_YEAR + DAY })).map(({ at }) =>
    Math.floor((at - NEW_YEAR) / HOUR),
  );
  const hours = Array.from({ length: 24 }, (_, hour) => taken.filter((given) => given === hour).length);
  const [peak = 0, low = 0] = [hours[14], hours[2]];
  // The hours before and after the peak differ by the one arrival between them.
  expect(Math.max(...hours) - peak).toBeLessThanOrEqual(1);
  expect(low - Math.min(...hours)).toBeLessThanOrEqual(1);
  expect(low / peak).toBeGreaterThan(0.49);
  expect(low / peak).toBeLessThan(0.52);
  // Over a whole day the cosine integrates to 0, so the mean is the given rate.
  expect(taken.length).toBe(24 * 3_600 - 1);
});
