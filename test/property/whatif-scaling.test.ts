import fc from "fast-check";
import { expect, test } from "vitest";
import { PROFILES } from "../../src/platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../src/platform/catalog/sizes.ts";
import { LoadReadingTimes } from "../../src/platform/model/load-reading-times.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { ComputeArrivals, Period } from "../../src/traffic/recorded/trace/trace.ts";
import type { SuspendDelay } from "../../src/whatif/gap-curve/delay.ts";
import { emptyScalingOutcome } from "../../src/whatif/questions/capacity/scaling-outcome.ts";
import { replayScaling } from "../../src/whatif/questions/capacity/scaling-replay.ts";
import type { LoadReadingsSource } from "../../src/whatif/sizes/load-readings-source.ts";
import type { LatencySource } from "../../src/whatif/units/start-latency.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { BEGIN, HOUR, requestsOf, SECOND } from "../support/traffic/traces.ts";
import { LIVE_SEED, type LiveSettings, simulateComputes } from "../support/whatif/live-computes.ts";

// The live double and the replay are two programs that share only the goal and the load average. Their
// histories must be equal, event by event. A live request has the duration that its client observes, so the
// live double gets the durations that the replay found: lengthened where the compute was throttled.

const SIZES = [0.25, 0.5, 1, 2, 3, 4, 8];
const READING_MS = 5 * SECOND;

const range: fc.Arbitrary<SizeRange> = fc
  .tuple(fc.nat(SIZES.length - 1), fc.nat(SIZES.length - 1))
  .map(([a, b]) => ({ minCu: SIZES[Math.min(a, b)] as number, maxCu: SIZES[Math.max(a, b)] as number }));

const gapMs = fc.oneof(
  fc.constantFrom(0, 1, READING_MS - 1, READING_MS, READING_MS + 1, 60 * SECOND, 60 * SECOND + 1),
  fc.nat(READING_MS),
  fc.nat(3 * 60 * SECOND),
  fc.nat(HOUR),
);
const durationMs = fc.oneof(
  fc.constantFrom(0, 1, READING_MS, 2 * READING_MS, 60 * SECOND),
  fc.nat(2 * READING_MS),
  fc.nat(10 * 60 * SECOND),
);
const load = fc.oneof(fc.constantFrom(0, 0.1, 0.225, 1, 3.7), fc.double({ min: 0, max: 6, noNaN: true }));
const requests = fc
  .array(fc.record({ gapMs, durationMs, load }), { maxLength: 30, size: "max" })
  .map((steps): ComputeArrivals => {
    let at = 0;
    const rows = steps.map(({ gapMs, durationMs }) => {
      at += gapMs;
      return [at, durationMs] as const;
    });
    return { ...requestsOf(rows), load: Float64Array.from(steps, ({ load }) => load) };
  });

/** The creation takes operations 1 to 3: a timeline, a start and a suspend. Each later start is followed by a suspend. */
function liveReadingSeed(start: number): number {
  return randomFrom(LIVE_SEED).stream("load-readings", FIRST_START + 2 * start)();
}

const FIRST_START = 4;

type Scaled = {
  readonly starts: (readonly [number, number])[];
  readonly suspends: number[];
  readonly resizes: (readonly [number, number])[];
};

function replayed(
  arrivals: ComputeArrivals,
  period: Period,
  delay: SuspendDelay,
  limits: SizeRange,
  latencies: LatencySource,
  readings: LoadReadingsSource,
) {
  const history: Scaled = { starts: [], suspends: [], resizes: [] };
  const endsAt = new Float64Array(arrivals.at.length);
  const observer = {
    started: (at: number, readyAt: number) => history.starts.push([at, readyAt]),
    suspended: (at: number) => history.suspends.push(at),
    resized: (at: number, sizeCu: number) => history.resizes.push([at, sizeCu]),
    ended: (index: number, at: number) => {
      endsAt[index] = at;
    },
  };
  const outcome = replayScaling(
    arrivals,
    { loadPerRequest: 1 },
    { period, delay, latencies, readings },
    limits,
    PROFILES["2024"],
    emptyScalingOutcome(),
    observer,
  );
  return { history, outcome, endsAt };
}

test.each<Omit<LiveSettings, "delay">>([
  { operations: "immediate", startDelay: { kind: "fixed", ms: 0 } },
  { operations: "timed", startDelay: { kind: "fixed", ms: 3_000 } },
  { operations: "timed", startDelay: { kind: "fixed", ms: 7_001 } },
])(
  "a range scales in the replay as in the live double: $operations operations, $startDelay",
  async (settings) => {
    const startMs = settings.startDelay.kind === "fixed" ? settings.startDelay.ms : 0;
    const latencies = { at: () => startMs };
    let [resizes, throttled] = [0, 0];
    await expectHolds(
      fc.asyncProperty(
        requests,
        range,
        fc.constantFrom<SuspendDelay[]>(60, 61, 300, 3_600, "never"),
        async (arrivals, limits, delay) => {
          // Long enough for every request to end, however much it is throttled.
          const period = { startAt: BEGIN, endAt: (arrivals.at.at(-1) ?? BEGIN) + 100 * HOUR };
          // The live double draws when it reads loads by the number of the start, so the replay gets its draws.
          let starts = 0;
          const readings = {
            from: (readyAt: number) => new LoadReadingTimes(readyAt, liveReadingSeed(starts++)),
          };
          const { history, outcome, endsAt } = replayed(arrivals, period, delay, limits, latencies, readings);
          resizes += history.resizes.length;
          throttled += outcome.throttledMs;
          const readyAt = (at: number) =>
            history.starts.reduce((latest, [from, ready]) => (from <= at ? Math.max(at, ready) : latest), at);
          const observed = {
            ...arrivals,
            durationMs: arrivals.at.map((at, index) => (endsAt[index] as number) - readyAt(at)),
          };
          const trace = { period, computes: [{ id: "one", arrivals: observed }] };
          const [lived] = simulateComputes(trace, { ...settings, delay, range: limits });
          expect(history).toEqual({
            starts: lived?.starts,
            suspends: lived?.suspends,
            resizes: lived?.resizes,
          });
          expect([outcome.activeMs, outcome.cuMs]).toEqual([lived?.meteredMs, lived?.cuMs]);
        },
      ),
      100,
    );
    // Otherwise the statement would be about fixed sizes and idle computes.
    expect(resizes).toBeGreaterThan(50);
    expect(throttled).toBeGreaterThan(60 * SECOND);
  },
);
