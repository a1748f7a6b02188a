import { expect, test } from "vitest";
import { periodicSources } from "../../../src/whatif/trace/periodic-sources.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";

const START = Date.UTC(2026, 0, 5);

function sourcesOf(bySource: Readonly<Record<string, readonly number[]>>) {
  const sources = Object.keys(bySource);
  const rows = sources
    .flatMap((name, source) => (bySource[name] ?? []).map((at) => ({ at: START + at, source })))
    .sort((a, b) => a.at - b.at);
  return periodicSources(
    trafficOf({
      period: { startAt: START, endAt: START + 86_400_000 },
      sources,
      computes: [
        {
          id: "ep-a",
          arrivals: {
            at: Float64Array.from(rows, ({ at }) => at),
            durationMs: new Float64Array(rows.length),
            source: Uint16Array.from(rows, ({ source }) => source),
          },
        },
      ],
    }),
  );
}

const every = (ms: number, count: number, jitterMs = 0) =>
  Array.from({ length: count }, (_, index) => index * ms + ((index * 7_919) % 11) * (jitterMs / 10));

test("a source with one interval is periodic, jittered by a few per cent too", () => {
  expect(sourcesOf({ check: every(240_000, 30, 8_000), web: [1, 5_000, 90_000, 90_500] })).toEqual([
    { source: "check", everyMs: expect.closeTo(240_000, -4) },
  ]);
});

test("20 gaps are needed; a source without a name, or with irregular gaps, is not periodic", () => {
  expect(sourcesOf({ check: every(60_000, 21) })).toHaveLength(1);
  expect(sourcesOf({ check: every(60_000, 20) })).toEqual([]);
  expect(sourcesOf({ "": every(60_000, 40) })).toEqual([]);
  expect(sourcesOf({ people: Array.from({ length: 60 }, (_, index) => index ** 2 * 3_000) })).toEqual([]);
});

test("a burst of requests counts as one", () => {
  const bursts = every(60_000, 30).flatMap((at) => [at, at + 5, at + 900]);
  expect(sourcesOf({ check: bursts })).toEqual([{ source: "check", everyMs: 59_100 }]);
});
