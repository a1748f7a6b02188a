import fc from "fast-check";
import { expect, test } from "vitest";
import { LoadReadingTimes } from "../../src/platform/model/load-reading-times.ts";
import { journalOf } from "../support/double/call-log.ts";
import { createDouble, START } from "../support/double/double.ts";
import { expectHolds } from "../support/properties/properties.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const UP_AT = START + SECOND;
const BEGIN = UP_AT + 10 * SECOND;
/** R, "Compute sizes". */
const SIZES = [0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
/** The load average takes the load of one instant in each five seconds since the start. */
const READING_MS = 5 * SECOND;

type Busy = { readonly at: number; readonly durationMs: number; readonly load: number };
type Range = { readonly minCu: number; readonly maxCu: number };

const range: fc.Arbitrary<Range> = fc
  .tuple(fc.nat(SIZES.length - 1), fc.nat(SIZES.length - 1))
  .map(([a, b]) => ({
    minCu: SIZES[Math.min(a, b)] ?? 0,
    maxCu: SIZES[Math.max(a, b)] ?? 0,
  }));
/** Loads at nine tenths of a size, and just above it. */
const edge = fc
  .constantFrom(...SIZES)
  .chain((cu) => fc.constantFrom(-0.001, 0, 0.001).map((off) => Number((0.9 * cu + off).toFixed(4))));
const load = fc.oneof(
  fc.constantFrom(0, 0.001, 9, 9.001, 50, 1_000_000),
  edge,
  fc.double({ min: 0, max: 12, noNaN: true }),
);
const gapMs = fc.oneof(fc.constantFrom(0, 1, READING_MS - 1, READING_MS, READING_MS + 1), fc.nat(5 * MINUTE));
const trace: fc.Arbitrary<Busy[]> = fc
  .array(fc.record({ gapMs, durationMs: fc.oneof(fc.constantFrom(0, 1), fc.nat(5 * MINUTE)), load }), {
    maxLength: 20,
    size: "max",
  })
  .map((steps) => {
    let at = BEGIN;
    return steps.map(({ gapMs, durationMs, load }) => {
      at += gapMs;
      return { at, durationMs, load };
    });
  });

/** Each change of size until `end`, by the kernel's load average and the goal of each reading. */
function expectedSizes(
  trace: readonly Busy[],
  { minCu, maxCu }: Range,
  end: number,
  times: LoadReadingTimes,
) {
  const changes = [{ at: UP_AT, cu: minCu }];
  let load1 = 0;
  for (let reading = 1; times.at(reading) <= end; reading += 1) {
    const at = times.at(reading);
    const running = trace.filter((busy) => busy.at <= at && at < busy.at + busy.durationMs);
    const load = running.reduce((sum, busy) => sum + busy.load, 0);
    load1 = (load1 * 1_884 + load * 164) / 2_048;
    const steps = load1 / 0.9 / 0.25;
    // Within rounding errors of a boundary either size is right, and the figures would differ.
    if (Math.abs((steps % 1) - 0.5) < 1e-7) return undefined;
    const cu = Math.min(maxCu, Math.max(minCu, Math.round(steps) / 4));
    if (cu !== changes.at(-1)?.cu) changes.push({ at, cu });
  }
  return changes;
}

test("a compute's size follows its load within limits, closes no connection, and is billed while it lasts", async () => {
  await expectHolds(
    fc.asyncProperty(range, trace, async (range, trace) => {
      const double = await createDouble({ startDelay: { kind: "fixed", ms: 0 } });
      const { body: created } = await double.api("POST", "/projects", {
        project: {
          autoscaling_limit_min_cu: range.minCu,
          autoscaling_limit_max_cu: range.maxCu,
          default_endpoint_settings: { suspend_timeout_seconds: -1 },
        },
      });
      await double.advance("5s");
      const endpoint_id: string = created.endpoints[0].id;
      await double.sim("POST", "/activity", { endpoint_id, kind: "connect", connection_id: "stays" });
      const activities = trace.map(({ at, durationMs, load }) => {
        return {
          endpoint_id,
          at: new Date(at).toISOString(),
          kind: "query",
          connection_id: "stays",
          duration_ms: durationMs,
          load,
        };
      });
      if (activities.length > 0) expect((await double.sim("POST", "/activity", activities)).status).toBe(200);

      const last = Math.max(BEGIN, ...trace.map(({ at, durationMs }) => at + durationMs));
      const end = last + 30 * MINUTE;
      const [started] = (await journalOf(double)).filter(({ type }) => type === "ComputeActivated");
      const times = new LoadReadingTimes(UP_AT, started?.reading_seed);
      const sizes = expectedSizes(trace, range, end, times);
      fc.pre(sizes !== undefined);
      await double.sim("POST", "/clock/advance", { to: new Date(end).toISOString() });
      const { body: stats } = await double.sim("GET", `/endpoints/${endpoint_id}/stats`);
      expect(stats).toMatchObject({ current_size_cu: range.minCu, connections: { direct: 1 } });
      const cuMs = sizes.reduce(
        (sum, { at, cu }, index) => sum + cu * ((sizes[index + 1]?.at ?? end) - at),
        0,
      );

      await double.api("POST", `/projects/${created.project.id}/endpoints/${endpoint_id}/suspend`);
      await double.advance("1s");
      const { body: state } = await double.sim("GET", "/state");
      const total = cuMs + SECOND * range.minCu;
      for (const usage of state.usage)
        expect(usage).toMatchObject({ active_ms: end + SECOND - UP_AT, cu_ms: total });

      const journal = await journalOf(double);
      const resizes = journal
        .filter(({ type }) => type === "ComputeResized")
        .map(({ at, size_cu }) => ({ at: Date.parse(at), cu: size_cu }));
      expect(resizes).toEqual(sizes.slice(1));
      await double.close();
    }),
    150,
  );
});
