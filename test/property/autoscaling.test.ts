import fc from "fast-check";
import { expect, test } from "vitest";
import { journalOf } from "../support/call-log.ts";
import { createDouble, START } from "../support/double.ts";
import { expectHolds } from "../support/properties.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const UP_AT = START + SECOND;
const BEGIN = UP_AT + 10 * SECOND;
/** R, "Compute sizes". */
const SIZES = [0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
/** A load reading counts for one minute after the activity that carried it (load1). */
const READING_MS = MINUTE;

type Busy = { readonly at: number; readonly durationMs: number; readonly load: number };
type Range = { readonly minCu: number; readonly maxCu: number };

const range: fc.Arbitrary<Range> = fc
  .tuple(fc.nat(SIZES.length - 1), fc.nat(SIZES.length - 1))
  .map(([a, b]) => ({
    minCu: SIZES[Math.min(a, b)] ?? 0,
    maxCu: SIZES[Math.max(a, b)] ?? 0,
  }));
/** Loads at the capacity of a size, and just above it. */
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

/** The smallest size within the limits that carries the highest load reading at `now` at 90 %. */
function expectedSize(trace: readonly Busy[], { minCu, maxCu }: Range, now: number): number {
  const believed = trace
    .filter(({ at, durationMs }) => at <= now && now < at + durationMs + READING_MS)
    .map(({ load }) => load);
  const goal = Math.max(0, ...believed) / 0.9;
  return SIZES.find((cu) => cu >= minCu && cu <= maxCu && cu >= goal) ?? maxCu;
}

/** The instants at which the size may change, in order. */
function turningPoints(trace: readonly Busy[]): number[] {
  const points = trace.flatMap(({ at, durationMs }) => [at, at + durationMs + READING_MS]);
  return [...new Set(points)].sort((a, b) => a - b);
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

      const stats = async (to: number) => {
        await double.sim("POST", "/clock/advance", { to: new Date(to).toISOString() });
        return (await double.sim("GET", `/endpoints/${endpoint_id}/stats`)).body;
      };
      let [now, cuMs] = [UP_AT, 0];
      for (const point of turningPoints(trace)) {
        for (const at of [point - 1, point]) {
          if (at < START + 5 * SECOND || at <= now) continue;
          cuMs += (at - now) * expectedSize(trace, range, now);
          now = at;
          const { current_size_cu } = await stats(at);
          expect(current_size_cu, `at ${at - START} ms`).toBe(expectedSize(trace, range, at));
        }
      }
      const end = Math.max(now, BEGIN) + MINUTE;
      expect(await stats(end)).toMatchObject({ current_size_cu: range.minCu, connections: { direct: 1 } });

      await double.api("POST", `/projects/${created.project.id}/endpoints/${endpoint_id}/suspend`);
      await double.advance("1s");
      const { body: state } = await double.sim("GET", "/state");
      const total = cuMs + (end + SECOND - now) * range.minCu;
      for (const usage of state.usage)
        expect(usage).toMatchObject({ active_ms: end + SECOND - UP_AT, cu_ms: total });

      const journal = (await journalOf(double)) as any[];
      for (const { size_cu } of journal.filter(({ type }) => type === "ComputeResized")) {
        expect(size_cu).toBeGreaterThanOrEqual(range.minCu);
        expect(size_cu).toBeLessThanOrEqual(range.maxCu);
      }
      await double.close();
    }),
    150,
  );
});
