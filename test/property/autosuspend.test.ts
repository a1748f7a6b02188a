import fc from "fast-check";
import { expect, test } from "vitest";
import { journalOf } from "../support/double/call-log.ts";
import { createDouble, START } from "../support/double/double.ts";
import { expectHolds } from "../support/properties/properties.ts";

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** create_timeline takes one second; starts take no time here. */
const UP_AT = START + SECOND;

type Arrival = {
  readonly at: number;
  readonly kind: "query" | "transaction" | "connect" | "open transaction";
  readonly durationMs: number;
};

/**
 * Gaps around the delay, counted from the last arrival or the end of the last query, to hit deadlines to the
 * millisecond.
 */
function tracesFor(delayMs: number): fc.Arbitrary<Arrival[]> {
  const gapMs = fc.oneof(
    fc.constantFrom(0, 1, delayMs - 1, delayMs, delayMs + 1),
    fc.nat(delayMs),
    fc.nat(4 * delayMs),
  );
  const step = fc.record({
    gapMs,
    fromEnd: fc.boolean(),
    kind: fc.constantFrom(
      "query" as const,
      "transaction" as const,
      "connect" as const,
      "open transaction" as const,
    ),
    durationMs: fc.oneof(fc.constantFrom(0, 1, delayMs, 2 * delayMs), fc.nat(10 * SECOND)),
  });
  return fc.array(step, { maxLength: 30, size: "max" }).map((steps) => {
    let [at, end] = [UP_AT + 10 * SECOND, UP_AT];
    return steps.map(({ gapMs, fromEnd, kind, durationMs }) => {
      at = fromEnd ? Math.max(at, end + gapMs) : at + gapMs;
      end = Math.max(end, at + (kind === "connect" ? 0 : durationMs));
      return { at, kind, durationMs };
    });
  });
}

/** The documented rule as a loop: suspended exactly at the delay after the end of the last activity. */
function expected(arrivals: readonly Arrival[], delayMs: number) {
  const sleepsAt: number[] = [];
  let [activeMs, coldStarts, awakeSince, busyUntil] = [0, 0, UP_AT, UP_AT];
  for (const { at, kind, durationMs } of arrivals) {
    if (at > busyUntil + delayMs) {
      sleepsAt.push(busyUntil + delayMs);
      activeMs += busyUntil + delayMs - awakeSince;
      coldStarts += 1;
      awakeSince = at;
    }
    // An idle open connection is no activity; opening it is.
    busyUntil = Math.max(busyUntil, at + (kind === "connect" ? 0 : durationMs));
  }
  sleepsAt.push(busyUntil + delayMs);
  return { sleepsAt, coldStarts, activeMs: activeMs + busyUntil + delayMs - awakeSince };
}

/** The activities to schedule. An open transaction needs a disconnect that ends it. */
function scheduledActivities(endpoint_id: string, arrivals: readonly Arrival[]): object[] {
  return arrivals.flatMap<object>(({ at, kind, durationMs }, index) => {
    const instant = { endpoint_id, at: new Date(at).toISOString() };
    if (kind !== "open transaction") return [{ ...instant, kind, duration_ms: durationMs }];
    const connection_id = `c${index}`;
    const end = new Date(at + durationMs).toISOString();
    return [
      { ...instant, kind: "transaction", connection_id },
      { endpoint_id, at: end, kind: "disconnect", connection_id },
    ];
  });
}

const setting = fc
  .record({
    delayS: fc.constantFrom(0, 60, 61, 300, 3_600, 604_800),
    cu: fc.constantFrom(0.25, 0.5, 1, 3, 10),
  })
  .chain(({ delayS, cu }) =>
    tracesFor((delayS || 300) * SECOND).map((arrivals) => ({
      delayS,
      delayMs: (delayS || 300) * SECOND,
      cu,
      arrivals,
    })),
  );

test("a compute is suspended exactly at its delay after the last activity; a longer gap is one cold start", async () => {
  await expectHolds(
    fc.asyncProperty(setting, async ({ delayS, delayMs, cu, arrivals }) => {
      const double = await createDouble({ startDelay: { kind: "fixed", ms: 0 } });
      const size = { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu };
      const created = await double.api("POST", "/projects", {
        project: { ...size, default_endpoint_settings: { suspend_timeout_seconds: delayS } },
      });
      await double.advance("5s");
      const endpointId: string = created.body.endpoints[0].id;
      if (arrivals.length > 0) {
        const { body } = await double.sim("POST", "/activity", scheduledActivities(endpointId, arrivals));
        expect(body.activities.every(({ outcome }: { outcome: string }) => outcome === "scheduled")).toBe(
          true,
        );
      }
      await double.advance("3650d");

      const { sleepsAt, coldStarts, activeMs } = expected(arrivals, delayMs);
      const journal = await journalOf(double);
      const suspended = journal.filter(({ type }) => type === "ComputeSuspended");
      expect(suspended.map(({ at, cause }) => [Date.parse(at), cause])).toEqual(
        sleepsAt.map((at) => [at, "autosuspend"]),
      );
      const woken = journal.filter(
        ({ type, operation }) => type === "OperationScheduled" && operation.cause === "activity",
      );
      expect(woken.length).toBe(coldStarts);
      expect(journal.filter(({ type }) => type === "ActivityDropped")).toEqual([]);

      const { body: state } = await double.sim("GET", "/state");
      const used = { active_ms: activeMs, cu_ms: activeMs * cu };
      expect(state.usage).toHaveLength(2);
      for (const usage of state.usage) expect(usage).toMatchObject(used);
      // The billing period of a project covers the current month only.
      const { body } = await double.api("GET", "/projects");
      expect(body.projects[0]).toMatchObject({
        active_time: Math.floor(activeMs / SECOND),
        cpu_used_sec: Math.floor((activeMs * cu) / SECOND),
      });
      await double.close();
    }),
    150,
  );
});

test("a compute whose autosuspend is disabled is never suspended, whatever the gaps", async () => {
  await expectHolds(
    fc.asyncProperty(tracesFor(DAY), async (arrivals) => {
      const double = await createDouble({ startDelay: { kind: "fixed", ms: 0 } });
      const project = { default_endpoint_settings: { suspend_timeout_seconds: -1 } };
      const created = await double.api("POST", "/projects", { project });
      await double.advance("5s");
      const endpointId: string = created.body.endpoints[0].id;
      if (arrivals.length > 0)
        await double.sim("POST", "/activity", scheduledActivities(endpointId, arrivals));
      await double.advance("3650d");
      const { body } = await double.sim("GET", `/endpoints/${endpointId}/stats`);
      expect(body).toMatchObject({
        current_state: "active",
        autosuspend: { delay_s: null, suspend_at: null },
      });
      const journal = await journalOf(double);
      expect(journal.filter(({ type }) => type === "ComputeSuspended")).toEqual([]);
      expect(journal.filter(({ type }) => type === "ComputeActivated")).toHaveLength(1);
      await double.close();
    }),
    40,
  );
});

test("a change of the delay takes effect at once, even when the new deadline has already passed", async () => {
  const change = fc.record({
    afterMs: fc.oneof(fc.constantFrom(0, 60 * SECOND, 300 * SECOND, 3_600 * SECOND), fc.nat(7_200 * SECOND)),
    delayS: fc.constantFrom(-1, -1, 0, 60, 3_600, 604_800),
  });
  await expectHolds(
    fc.asyncProperty(
      fc.nat(600 * SECOND),
      fc.array(change, { maxLength: 6 }),
      async (durationMs, changes) => {
        const double = await createDouble({ operations: "immediate" });
        const project = { default_endpoint_settings: { suspend_timeout_seconds: -1 } };
        const { body: created } = await double.api("POST", "/projects", { project });
        const endpoint_id: string = created.endpoints[0].id;
        await double.sim("POST", "/activity", { endpoint_id, duration_ms: durationMs });
        let [now, sleepsAt] = [START, Number.POSITIVE_INFINITY];
        for (const { afterMs, delayS } of [...changes, { afterMs: 0, delayS: 60 }]) {
          now += afterMs;
          await double.sim("POST", "/clock/advance", { by: `${afterMs}ms` });
          if (sleepsAt <= now) break;
          const path = `/projects/${created.project.id}/endpoints/${endpoint_id}`;
          expect(
            (await double.api("PATCH", path, { endpoint: { suspend_timeout_seconds: delayS } })).status,
          ).toBe(200);
          sleepsAt =
            delayS === -1
              ? Number.POSITIVE_INFINITY
              : Math.max(now, START + durationMs + (delayS || 300) * SECOND);
        }
        await double.advance("30d");
        const slept = (await journalOf(double)).filter(({ type }) => type === "ComputeSuspended");
        expect(slept.map(({ at }) => Date.parse(at))).toEqual([sleepsAt]);
        await double.close();
      },
    ),
    100,
  );
});
