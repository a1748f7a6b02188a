import { CronExpressionParser } from "cron-parser";
import { expect, test } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../../src/kernel/time.ts";
import { parseCron } from "../../../../src/traffic/generated/cron.ts";
import { arrivalInstants, NEW_YEAR, openArrivals, takeArrivals } from "../../../support/traffic/arrivals.ts";

const LINES = [
  "0 * * * *",
  "*/15 9-17 * * mon-fri",
  "7,37 */6 * * *",
  "0 0 1 * *",
  "0 12 13 * fri",
  "30 4 1,15 * 5",
  "0 0 29 2 *",
  "59 23 31 12 *",
  "5 4 * jan,jul sun",
];

test.each(LINES)("%s agrees with an independent implementation over three years of UTC", (line) => {
  const until = NEW_YEAR + 1_100 * DAY;
  const library = CronExpressionParser.parse(line, {
    currentDate: new Date(NEW_YEAR - 1),
    endDate: new Date(until - 1),
    tz: "UTC",
  });
  const expected = library.take(20_000).map((date) => date.getTime());
  const taken = takeArrivals(openArrivals({ pattern: "cron", schedule: line }, { until }), 20_000).map(
    ({ at }) => at,
  );
  expect(taken.slice(0, expected.length)).toEqual(expected);
  expect(taken.length).toBeGreaterThan(0);
});

test.each([
  ["Europe/Berlin", "*/20 * * * *"],
  ["America/New_York", "*/20 * * * *"],
  ["Australia/Lord_Howe", "10 * * * *"],
  ["Asia/Kolkata", "0 9 * * mon-fri"],
  ["America/New_York", "0 9 * * *"],
])("in %s, %s is due at every matching local minute of a year", (zone, line) => {
  const { schedule } = parseCron(line);
  const minutes = new Set(schedule?.minutes);
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hour: "2-digit",
    minute: "2-digit",
    weekday: "short",
    hourCycle: "h23",
  });
  const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const expected: number[] = [];
  for (let at = NEW_YEAR; at < NEW_YEAR + 365 * DAY; at += 10 * MINUTE) {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const due = minutes.has(Number(parts["hour"]) * 60 + Number(parts["minute"]));
    if (due && (schedule?.weekdays?.has(days.indexOf(parts["weekday"] ?? "")) ?? true)) expected.push(at);
  }
  const taken = takeArrivals(
    openArrivals({ pattern: "cron", schedule: line, time_zone: zone }, { until: NEW_YEAR + 365 * DAY }),
  ).map(({ at }) => at);
  expect(taken).toEqual(expected);
});

test("a time in a skipped hour runs once, an hour later", () => {
  const input = { pattern: "cron", schedule: "30 2,3 * * *", time_zone: "Europe/Berlin" } as const;
  const from = Date.parse("2026-03-29T00:00:00+01:00");
  expect(arrivalInstants(input, { from, until: from + 23 * HOUR })).toEqual(["2026-03-29T01:30:00.000Z"]);
});

test("a time in a repeated hour runs once, and an hourly line runs both times", () => {
  const from = Date.parse("2026-10-25T02:00:00+02:00");
  const at = (schedule: string) =>
    arrivalInstants(
      { pattern: "cron", schedule, time_zone: "Europe/Berlin" },
      { from, until: from + 3 * HOUR },
    );
  expect(at("30 2 * * *")).toEqual(["2026-10-25T00:30:00.000Z"]);
  expect(at("30 * * * *")).toEqual([
    "2026-10-25T00:30:00.000Z",
    "2026-10-25T01:30:00.000Z",
    "2026-10-25T02:30:00.000Z",
  ]);
});

test("the start of a source is inclusive and its end exclusive", () => {
  const input = { pattern: "cron", schedule: "0 * * * *" } as const;
  expect(arrivalInstants(input, { until: NEW_YEAR + HOUR })).toEqual(["2026-01-01T00:00:00.000Z"]);
  expect(arrivalInstants(input, { from: NEW_YEAR + 1, until: NEW_YEAR + HOUR })).toEqual([]);
});

test.each([
  ["* * * *"],
  ["* * * * * *"],
  ["61 * * * *"],
  ["0 24 * * *"],
  ["0 0 31 2 *"],
  ["H * * * *"],
  ["0 0 L * *"],
  ["0 0 * * mon#1"],
  [""],
  ["nonsense"],
])("%j is not a valid crontab line", (line) => {
  expect(parseCron(line).problem).toMatch(/^must be a crontab line of five fields/);
});
