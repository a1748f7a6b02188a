import fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/whatif/policies/parse-policy.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { BEGIN, DAY, HOUR, replaySetting, SECOND, traceOf } from "../support/traffic/traces.ts";
import { replayTrace } from "../support/whatif/replay-trace.ts";

const MINUTE = 60 * SECOND;
const NAMES = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/** Contains both changes of the clocks in spring: 8 March in New York, 29 March in Berlin. */
const DAYS = 90;

type Span = readonly [from: number, to: number];

/** All windows of the period, by another library than the policy uses. */
function windowsOf(first: number, last: number, from: number, to: number, zone: string): Span[] {
  const spans: Span[] = [];
  const weekdays = new Set<number>();
  for (let day = first; ; day = (day + 1) % 7) {
    weekdays.add(day + 1);
    if (day === last) break;
  }
  let date = Temporal.Instant.fromEpochMilliseconds(BEGIN)
    .toZonedDateTimeISO(zone)
    .toPlainDate()
    .subtract({ days: 2 });
  for (let day = 0; day < DAYS + 4; day += 1, date = date.add({ days: 1 })) {
    if (!weekdays.has(date.dayOfWeek)) continue;
    const instant = (minutes: number) =>
      date.toPlainDateTime().add({ minutes }).toZonedDateTime(zone).epochMilliseconds;
    spans.push([instant(from), instant(to > from ? to : to + 24 * 60)]);
  }
  return spans;
}

/** The union of all times, as disjoint spans in order. */
function unionOf(spans: readonly Span[]): Span[] {
  const union: [number, number][] = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = union.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else union.push([from, to]);
  }
  return union;
}

const given = fc.record({
  rows: fc.array(
    fc.tuple(fc.integer({ min: 0, max: (DAYS * DAY) / MINUTE }), fc.integer({ min: 0, max: 90 * MINUTE })),
    { minLength: 1, maxLength: 60 },
  ),
  first: fc.nat(6),
  last: fc.nat(6),
  from: fc.nat(24 * 4 - 1).map((quarters) => quarters * 15),
  to: fc.nat(24 * 4).map((quarters) => quarters * 15),
  zone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"),
  delayMinutes: fc.constantFrom(1, 5, 15, 600),
});

function clock(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

test("a compute with a schedule is active during requests, the delay after them, and the windows", async () => {
  await expectHolds(
    fc.asyncProperty(
      given.filter(({ from, to }) => from !== to),
      async ({ rows, first, last, from, to, zone, delayMinutes }) => {
        const requests = rows
          .map(([minute, durationMs]) => [minute * MINUTE, durationMs] as const)
          .sort((a, b) => a[0] - b[0]);
        const lengthMs = (DAYS + 1) * DAY;
        const policy = `schedule:${NAMES[first]}-${NAMES[last]}@${clock(from)}-${clock(to)},zone=${zone},delay=${delayMinutes}m`;
        const outcome = replayTrace(traceOf(lengthMs, requests), parsePolicy(policy), replaySetting(60));
        const begin = BEGIN + (requests[0]?.[0] ?? 0);
        const windows = windowsOf(first, last, from, to, zone)
          .map(([start, end]): Span => [Math.max(start, begin), end])
          .filter(([start, end]) => start < end);
        const busy = (delayMs: number) =>
          requests.map(([at, durationMs]): Span => [BEGIN + at, BEGIN + at + durationMs + delayMs]);
        const active = unionOf([...busy(delayMinutes * MINUTE), ...windows]);
        const end = BEGIN + lengthMs;
        const activeMs = active.reduce((sum, span) => sum + Math.max(0, Math.min(span[1], end) - span[0]), 0);
        // A busy time without its delay begins where the previous one has ended, or warm in an active time.
        const starts = active.filter(
          ([at]) => requests.some(([row]) => BEGIN + row === at) && !windows.some(([start]) => start === at),
        );
        expect(outcome.activeMs).toBe(activeMs);
        expect(outcome.coldStarts + outcome.firstStarts).toBe(
          Math.max(1, starts.length + (windows.some(([start]) => start === begin) ? 1 : 0)),
        );
      },
    ),
    300,
  );
});

test("a schedule of all hours never suspends", () => {
  const rows = [[0], [3 * DAY]] as const;
  const outcome = replayTrace(
    traceOf(7 * DAY, rows),
    parsePolicy("schedule:mon-sun@00:00-24:00"),
    replaySetting(60),
  );
  expect(outcome).toMatchObject({ coldStarts: 0, activeMs: 7 * DAY, resumesUsed: 0, resumesWasted: 0 });
});

test("a hold ends with the window, however long the start takes", () => {
  const setting = replaySetting(60, { kind: "fixed", ms: 10 * SECOND });
  const outcome = replayTrace(
    traceOf(2 * DAY, [[0]]),
    parsePolicy("schedule:tue@08:00-18:00,delay=1m"),
    setting,
  );
  expect(outcome).toMatchObject({ resumesWasted: 1, activeMs: 10 * SECOND + MINUTE + 10 * HOUR });
});
