import { describe, expect, test } from "vitest";
import { HOUR } from "../../../../../src/kernel/time.ts";
import { meter } from "../../../../../src/platform/rules/usage/meter.ts";
import { USAGE_PERIODS, usageInPeriod } from "../../../../../src/platform/rules/usage/usage-periods.ts";
import { active, at, minutesIn, recorded, worldWith } from "./usage-scene.ts";

describe("the hours of a booking", () => {
  test("the latest hour is open: it has no row until a later one begins", () => {
    const world = worldWith([
      ["05 10:20", "05 10:30"],
      ["05 10:30", "05 10:50"],
    ]);
    expect(recorded(world, "hourly")).toEqual({});
    expect(minutesIn(world, "hourly", "05 10:00")).toBe(30);
    meter(world, active("05 11:05"), at("05 11:10"));
    expect(recorded(world, "hourly")).toEqual({ "01-05 10:00": 30 });
    expect(minutesIn(world, "hourly", "05 10:00")).toBe(30);
    expect(minutesIn(world, "hourly", "05 11:00")).toBe(5);
  });

  test("a booking is split at each full hour, with its size", () => {
    const world = worldWith([["05 10:20:30", "05 13:00:30", 2]]);
    expect(recorded(world, "hourly")).toEqual({
      "01-05 10:00": 39.5,
      "01-05 11:00": 60,
      "01-05 12:00": 60,
    });
    expect(minutesIn(world, "hourly", "05 13:00")).toBe(0.5);
    expect(world.hourlyUsage.get("br-main", "hourly", at("05 11:00") / HOUR)).toMatchObject({
      activeMs: 3_600_000,
      cuMs: 7_200_000,
    });
    expect(world.usage.get("br-main")?.hour).toEqual({
      hour: at("05 13:00") / HOUR,
      beforeHour: { activeMs: 159.5 * 60_000, cuMs: 319 * 60_000 },
      beforeDay: { activeMs: 0, cuMs: 0 },
      beforeMonth: { activeMs: 0, cuMs: 0 },
    });
  });

  test("a booking that ends with an hour does not open the next one", () => {
    const world = worldWith([["05 10:30", "05 11:00"]]);
    expect(world.usage.get("br-main")?.hour?.hour).toBe(at("05 10:00") / HOUR);
    meter(world, active("05 10:30"), at("05 11:00"));
    expect(world.usage.get("br-main")?.hour?.hour).toBe(at("05 10:00") / HOUR);
    expect(minutesIn(world, "hourly", "05 10:00")).toBe(60);
  });

  test("a booking that begins with an hour belongs to that hour only", () => {
    const world = worldWith([
      ["05 10:30", "05 11:00"],
      ["05 11:00", "05 11:30"],
    ]);
    expect(recorded(world, "hourly")).toEqual({ "01-05 10:00": 30 });
    expect(minutesIn(world, "hourly", "05 11:00")).toBe(30);
  });

  test("a compute that is metered later adds to hours that are already recorded", () => {
    const world = worldWith([
      ["05 10:00", "05 12:30"],
      ["05 09:30", "05 12:40"],
    ]);
    expect(recorded(world, "hourly")).toEqual({
      "01-05 09:00": 30,
      "01-05 10:00": 120,
      "01-05 11:00": 120,
    });
    expect(minutesIn(world, "hourly", "05 12:00")).toBe(70);
  });

  test("usage from before hourly recording belongs to no hour", () => {
    const world = worldWith([["05 09:00", "05 09:50"]], false);
    world.settings = { ...world.settings, hourlyUsage: true };
    meter(world, active("05 09:55"), at("05 10:10"));
    expect(recorded(world, "hourly")).toEqual({ "01-05 09:00": 5 });
    expect(minutesIn(world, "hourly", "05 10:00")).toBe(10);
    expect(minutesIn(world, "monthly", "2026-01-01T00:00")).toBe(15);
  });
});

test("days and months are recorded like hours", () => {
  const world = worldWith([["30 22:00", "2026-02-02T01:00"]]);
  expect(recorded(world, "daily")).toEqual({
    "01-30 00:00": 2 * 60,
    "01-31 00:00": 24 * 60,
    "02-01 00:00": 24 * 60,
  });
  expect(minutesIn(world, "daily", "2026-02-02T00:00")).toBe(60);
  expect(recorded(world, "monthly")).toEqual({ "01-01 00:00": 26 * 60 });
  expect(minutesIn(world, "monthly", "2026-02-01T00:00")).toBe(25 * 60);
  meter(world, active("2026-02-05T00:00"), at("2026-03-01T06:00"));
  expect(recorded(world, "monthly")).toEqual({
    "01-01 00:00": 26 * 60,
    "02-01 00:00": (25 + 24 * 24) * 60,
  });
});

describe("retention", () => {
  const cases = [
    { granularity: "hourly", lastWith: "13 23:59", firstWithout: "14 00:01", oldest: "01-05 10:00" },
    {
      granularity: "daily",
      lastWith: "2026-04-07T23:59",
      firstWithout: "2026-04-08T00:01",
      oldest: "01-05 00:00",
    },
    {
      granularity: "monthly",
      lastWith: "2027-02-28T23:59",
      firstWithout: "2027-03-01T00:01",
      oldest: "01-01 00:00",
    },
  ] as const;
  const minutesBefore = (text: string) => new Date(at(text) - 60_000).toISOString().slice(0, 16);

  test.each(cases)("$granularity usage is deleted by the first booking after its time", (one) => {
    const { granularity, lastWith, firstWithout, oldest } = one;
    const past = [
      ["05 10:00", "05 10:30"],
      ["06 10:00", "06 10:30"],
      ["2026-02-06T10:00", "2026-02-06T10:30"],
    ] as const;
    // Usage of hours is recorded only before its time is over.
    const world = worldWith(granularity === "hourly" ? past.slice(0, 2) : past);
    meter(world, active(minutesBefore(lastWith)), at(lastWith));
    expect(recorded(world, granularity)).toHaveProperty(oldest, 30 * (granularity === "monthly" ? 2 : 1));
    meter(world, active(firstWithout.replace("01", "00")), at(firstWithout));
    expect(recorded(world, granularity)).not.toHaveProperty(oldest);
  });

  test("usage that is booked after its time is not recorded", () => {
    const world = worldWith([["05 10:00", "05 10:30"]]);
    meter(world, active("2026-02-01T00:00"), at("2026-03-01T12:30"));
    const hours = Object.keys(recorded(world, "hourly"));
    expect([hours[0], hours.at(-1), hours.length]).toEqual(["02-21 00:00", "03-01 11:00", 8 * 24 + 12]);
    expect(recorded(world, "daily")).toHaveProperty("01-05 00:00", 30);
    expect(recorded(world, "monthly")).toEqual({ "01-01 00:00": 30, "02-01 00:00": 28 * 24 * 60 });
  });

  test("the first booking of a compute that was active for long records no expired hours", () => {
    const world = worldWith([["2026-02-01T00:00", "2026-03-01T00:30"]]);
    expect(Object.keys(recorded(world, "hourly"))[0]).toBe("02-21 00:00");
  });

  test("an open hour whose time begins with the oldest day is recorded", () => {
    const world = worldWith([["05 00:00", "05 00:30"]]);
    meter(world, active("13 12:00"), at("13 12:10"));
    expect(recorded(world, "hourly")).toEqual({ "01-05 00:00": 30 });
  });
});

test("usage in a period includes computes that are not booked yet, as far as they overlap it", () => {
  const world = worldWith([["05 10:00", "05 10:10", 2]]);
  const span = (from: string, to: string, sizeCu: number) => ({ from: at(from), to: at(to), sizeCu });
  const unmetered = [
    span("05 09:50", "05 10:05", 4),
    span("05 10:55", "05 11:20", 1),
    span("05 08:00", "05 09:00", 8),
    span("05 11:00", "05 12:00", 8),
  ];
  expect(usageInPeriod(world, "br-main", USAGE_PERIODS.hourly, at("05 10:00"), unmetered)).toEqual({
    activeMs: (10 + 5 + 5) * 60_000,
    cuMs: (10 * 2 + 5 * 4 + 5 * 1) * 60_000,
  });
  expect(usageInPeriod(world, "br-new", USAGE_PERIODS.hourly, at("05 10:00"), [])).toEqual({
    activeMs: 0,
    cuMs: 0,
  });
});
