import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../../src/whatif/policies/parse-policy.ts";
import { DAY, HOUR, type Row, replaySetting, SECOND, traceOf } from "../../support/traffic/traces.ts";
import { replayTrace } from "../../support/whatif/replay-trace.ts";

const MINUTE = 60 * SECOND;
const MORNING = 9 * HOUR;

/** A request every ten minutes from 9 to 10, on these days. */
function mornings(days: readonly number[]): Row[] {
  return days.flatMap((day) =>
    [0, 1, 2, 3, 4, 5].map((step): Row => [day * DAY + MORNING + step * 10 * MINUTE]),
  );
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
const workdays = (from: number, to: number) => range(from, to).filter((day) => day % 7 < 5);

/** With a delay of 1 min, the hour has 6 cold starts and is suspended for 54 min. */
function run(
  rows: readonly Row[],
  worthS: number,
  policy = "schedule:trained,until=14d,delay=1m",
  days = 21,
) {
  return replayTrace(traceOf(days * DAY, rows), parsePolicy(policy), replaySetting(worthS));
}

describe("schedule:trained", () => {
  test("after the training days it is active in the hours whose cold starts are worth more than the time", () => {
    const rows = mornings(workdays(0, 21));
    const plain = run(rows, 600, "fixed:60");
    const trained = run(rows, 600);
    expect(plain.coldStarts).toBe(15 * 6 - 1);
    // Ten workdays of training, then none of the five has a cold start.
    expect(trained.coldStarts).toBe(10 * 6 - 1);
    expect(trained.resumesUsed).toBe(5);
    // The first request of the last day is within the window, and the last one 10 min before its end.
    expect(trained.activeMs - plain.activeMs).toBe(5 * (60 - 6) * MINUTE);
  });

  test("and in no hour whose cold starts are worth less", () => {
    const rows = mornings(workdays(0, 21));
    expect(run(rows, 300).coldStarts).toBe(run(rows, 300, "fixed:60").coldStarts);
  });

  test("workdays teach nothing about weekends", () => {
    const rows = mornings(range(0, 21).filter((day) => (day < 14 ? day % 7 < 5 : true)));
    expect(run(rows, 600).coldStarts).toBe(10 * 6 - 1 + 2 * 6);
  });

  test("days after the training change nothing", () => {
    const rows = mornings([...workdays(0, 7), ...workdays(14, 42)]);
    const until = (days: string) => run(rows, 600, `schedule:trained,until=${days},delay=1m`, 42);
    expect(until("7d").coldStarts).toBe(5 * 6 - 1);
    // All of these are workdays before the date, which is a Monday.
    expect(until("2026-01-12")).toEqual(until("7d"));
    // No training day had a request in the hour.
    const late = [[0] as Row, ...mornings(workdays(14, 42))];
    expect(run(late, 600, "schedule:trained,until=2026-01-12,delay=1m", 42).coldStarts).toBe(20 * 6);
  });

  test("each compute learns its own schedule", () => {
    const trace = traceOf(21 * DAY, mornings(workdays(0, 21)), [[0], [20 * DAY]]);
    const outcome = replayTrace(trace, parsePolicy("schedule:trained,delay=1m"), replaySetting(600));
    expect(outcome.coldStarts).toBe(10 * 6 - 1 + 1);
    expect(outcome.resumesUsed + outcome.resumesWasted).toBe(5);
  });
});

test.each([
  ["schedule:", /expected days and local times/],
  ["schedule:mon-fry@08:00-18:00", /expected days and local times/],
  ["schedule:mon@08:00-08:00", /expected days and local times/],
  ["schedule:mon@24:00-08:00", /expected days and local times/],
  ["schedule:mon@08:60-09:00", /expected days and local times/],
  ["schedule:mon@08:00-18:00,zone=Mars", /zone in .*expected the name of a time zone/],
  ["schedule:mon@08:00-18:00,until=7d", /unknown option "until".*expected zone, delay/],
  ["schedule:trained,until=0d", /until in .*expected a number of days/],
  ["schedule:trained,until=2026-02-30", /until in .*expected a number of days/],
])("policy %s is refused", (text, message) => {
  expect(() => parsePolicy(text)).toThrow(message);
});
