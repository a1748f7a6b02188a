import { describe, expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { replayComputes } from "../../../src/whatif/input/replay-jobs.ts";
import { parseSlo, percentileText, type Slo, sloSource, sloText } from "../../../src/whatif/input/slo.ts";
import { SloWaits, withoutSource } from "../../../src/whatif/questions/advice/slo-waits.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { HOUR, MINUTES, type Row, SECOND, traceOf } from "../../support/traffic/traces.ts";

describe("a limit on the wait for a start", () => {
  test.each<[string, Slo | undefined]>([
    ["p99 wait < 2s", { share: 0.99, waitMs: 2_000 }],
    ["p99 wait<2s", undefined],
    ["p99 wait <= 500ms", { share: 0.99, waitMs: 500 }],
    ["p50 wait at most 1m", { share: 0.5, waitMs: 60_000 }],
    ["p99.9 wait < 1.5s", { share: 0.999, waitMs: 1_500 }],
    [" p95 wait < 2s for web ", { share: 0.95, waitMs: 2_000, source: "web" }],
    ["p95 wait < 2s for the nightly job", { share: 0.95, waitMs: 2_000, source: "the nightly job" }],
    ["p99 wait < 2s for ", undefined],
    ["p0 wait < 2s", undefined],
    ["p100 wait < 2s", undefined],
    ["p99 wait < 2", undefined],
    ["p99 < 2s", undefined],
    ["wait < 2s", undefined],
    ["fast", undefined],
  ])("%j", (text, slo) => {
    expect(parseSlo(text)).toEqual(slo);
  });

  test("it is written as it was read", () => {
    for (const text of ["p1", "p50", "p99", "p99.9", "p99.999"]) {
      const slo = parseSlo(`${text} wait < 1s for web`) as Slo;
      expect(percentileText(slo.share)).toBe(text);
      expect(sloText(slo, (ms) => `${ms}ms`)).toBe(`${text} wait < 1000ms for web`);
    }
  });

  test("its source must be one of the traffic", () => {
    const slo = { share: 0.99, waitMs: 1, source: "web" };
    expect(sloSource(slo, ["cron", "web"])).toBe(1);
    expect(sloSource({ share: 0.99, waitMs: 1 }, [])).toBeUndefined();
    expect(() => sloSource(slo, ["cron", "", "app"], "--slo")).toThrow(
      '--slo: no request has the source "web"; there are cron, app',
    );
    expect(() => sloSource(slo, [""])).toThrow("no request names a source");
  });
});

/** A check every 10 minutes starts the compute; a page is sent within that start or while the compute is active. */
const CHECK = 0;
const WEB = 1;
const rows: readonly Row[] = Array.from({ length: 100 }, (_, index): Row[] => {
  const at = index * 10 * MINUTES;
  return index % 4 === 0
    ? [
        [at, 0, CHECK],
        [at + 1 * SECOND, 0, WEB],
      ]
    : [
        [at, 0, CHECK],
        [at + MINUTES, 0, WEB],
      ];
}).flat();
const traffic = trafficOf({ ...traceOf(20 * HOUR, rows, rows.slice(1)), sources: ["check", "web"] });
const question = questionFrom({ startLatency: { kind: "fixed", ms: 3_000 } });

function complete<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

function waitUnder(text: string, delay: number, dropped?: string): number {
  const waits = new SloWaits(traffic, question, parseSlo(text) as Slo, randomFrom(1));
  return complete(
    dropped === undefined
      ? waits.under(delay)
      : waits.under(delay, (own) => withoutSource(own, traffic.sources.indexOf(dropped))),
  );
}

test("the wait of all requests at p99 is that of every replay", () => {
  for (const delay of [60, 300, 600, 3_600]) {
    const jobs = [{ policy: `fixed:${delay}`, question, seed: question.seed }];
    const work = { jobs, from: 0, to: traffic.computes.length, fleetGaps: undefined };
    const [outcome] = complete(replayComputes(traffic, work, randomFrom));
    expect(waitUnder("p99 wait < 1s", delay)).toBe(outcome?.waits.quantile(0.99, outcome.arrivals));
  }
});

test("the wait of one source counts only its requests, in starts that any request causes", () => {
  // Every check waits 3 s, and a quarter of the pages 2 s.
  expect(waitUnder("p50 wait < 1s for check", 120)).toBe(3_000);
  expect(waitUnder("p99 wait < 1s for web", 120)).toBe(2_000);
  expect(waitUnder("p70 wait < 1s for web", 120)).toBe(0);
  expect(waitUnder("p99 wait < 1s for web", 3_600)).toBe(0);
  // Without the check, the pages start the compute themselves.
  expect(waitUnder("p70 wait < 1s for web", 120, "check")).toBe(3_000);
});
