import fc from "fast-check";
import { expect, test } from "vitest";
import type { SimTime } from "../../src/kernel/time.ts";
import type { Activity } from "../../src/platform/model/activity.ts";
import type { RecordedEvent } from "../../src/platform/model/events.ts";
import type { ArrivalSource } from "../../src/simulation/arrival-source.ts";
import { MemoryJournal } from "../../src/simulation/memory-journal.ts";
import { createDouble, createProject, type Double, type DoubleOptions } from "../support/double/double.ts";
import { expectHolds } from "../support/properties/properties.ts";

const MINUTE = 60_000;
const FROM = Date.parse("2026-01-01T00:01:00Z");
const TO = FROM + 120 * MINUTE;

type Arrival = { readonly at: SimTime; readonly activity: Activity };

/** Arrivals in order, and every event and refusal that the source has observed. */
class ListedArrivals implements ArrivalSource {
  readonly observed: RecordedEvent[] = [];
  readonly refusals: { readonly at: SimTime; readonly code: string }[] = [];
  readonly #left: Arrival[];

  constructor(arrivals: readonly Arrival[]) {
    this.#left = [...arrivals];
  }

  get at(): SimTime {
    return this.#left[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  take(): Activity {
    return (this.#left.shift() as Arrival).activity;
  }

  observe(event: RecordedEvent): void {
    this.observed.push(event);
  }

  observeRefusal(_: Activity, { code }: { readonly code: string }, at: SimTime): void {
    this.refusals.push({ at, code });
  }
}

/**
 * Includes multiples of the autosuspend delay, so that arrivals fall on deadlines and several on one instant.
 */
const instant = fc
  .oneof(
    fc.integer({ min: 0, max: 23 }).map((fives) => fives * 5 * MINUTE),
    fc.integer({ min: 0, max: 120 * MINUTE }),
  )
  .map((ms) => FROM + ms);
const arrival = fc.record({
  at: instant,
  compute: fc.integer({ min: 0, max: 1 }),
  kind: fc.constantFrom("query", "transaction", "connect", "disconnect"),
  durationMs: fc.constantFrom(undefined, 0, 900, 5 * MINUTE),
  connectionId: fc.constantFrom(undefined, undefined, "one", "two"),
  load: fc.constantFrom(undefined, undefined, 0.5, 3),
});

async function twoComputes(
  options: DoubleOptions = {},
): Promise<{ readonly double: Double; readonly ids: readonly [string, string] }> {
  const double = await createDouble({ operations: "timed", ...options });
  const ids = [(await createProject(double)).endpointId, (await createProject(double)).endpointId] as const;
  await double.sim("POST", "/clock/advance", { to: new Date(FROM).toISOString() });
  return { double, ids };
}

/**
 * The state of a world without the numbers that depend on how arrivals were entered: the last event and the
 * activity counter.
 */
async function stateOf({ sim }: Double): Promise<unknown> {
  const { seq: _, at: __, numbers, ...state } = (await sim("GET", "/state")).body;
  const unnumbered = JSON.stringify(state).replaceAll(/"(id|connection_id)":"#\d+"/g, '"$1":"#"');
  return { ...JSON.parse(unnumbered), numbers: { ...numbers, activity: 0 } };
}

test("arrivals from a source have the same effect as scheduled activity", async () => {
  await expectHolds(
    fc.asyncProperty(
      fc.array(arrival, { maxLength: 40 }),
      fc.integer({ min: 0, max: 120 }),
      async (drawn, minutes) => {
        const { double: driven, ids } = await twoComputes();
        const { double: scheduled, ids: sameIds } = await twoComputes();
        expect(sameIds).toEqual(ids);
        const arrivals = drawn
          .map(
            ({ at, compute, ...activity }): Arrival => ({
              at,
              activity: { endpointId: ids[compute === 0 ? 0 : 1], ...activity },
            }),
          )
          .sort((a, b) => a.at - b.at);
        const source = new ListedArrivals(arrivals);
        await driven.world.advanceWithArrivals(source, FROM + minutes * MINUTE);
        await driven.world.advanceWithArrivals(source, TO);
        await scheduled.world.transact((transaction) => {
          for (const { at, activity } of arrivals)
            transaction.execute({ type: "ScheduleActivity", at, activity });
        });
        await scheduled.world.advance({ to: TO });
        expect(driven.world.now()).toBe(TO);
        expect(await stateOf(driven)).toEqual(await stateOf(scheduled));
        const dropped = (await scheduled.world.events(0, 10_000)).flatMap((event) =>
          event.type === "ActivityDropped" ? [{ at: event.at, code: event.reason }] : [],
        );
        expect(source.refusals).toEqual(dropped);
        const since = source.observed[0]?.seq ?? 1;
        if (source.observed.length > 0)
          expect(source.observed).toEqual(await driven.world.events(since - 1, 10_000));
        await Promise.all([driven.close(), scheduled.close()]);
      },
    ),
    40,
  );
});

test("an arrival source that reacts to an event can arrive at the same instant", async () => {
  const { double, ids } = await twoComputes();
  let next: SimTime = FROM + MINUTE;
  const arrivedAt: SimTime[] = [];
  const source: ArrivalSource = {
    get at() {
      return next;
    },
    take() {
      next = Number.POSITIVE_INFINITY;
      return { endpointId: ids[0], kind: "query" };
    },
    observe(event) {
      if (event.type === "ActivityRecorded") arrivedAt.push(event.at);
      if (event.type === "ComputeSuspended" && event.endpointId === ids[0] && arrivedAt.length === 1)
        next = event.at;
    },
    observeRefusal: () => undefined,
  };
  await double.world.advanceWithArrivals(source, TO);
  expect(arrivedAt).toEqual([FROM + MINUTE, FROM + 6 * MINUTE]);
  await double.close();
});

test("a journal with a limit drops old events without changing the world", async () => {
  const keep = 50;
  const arrivals = (ids: readonly string[]) =>
    Array.from(
      { length: 600 },
      (_, index): Arrival => ({
        at: FROM + index * 6 * MINUTE,
        activity: { endpointId: ids[index % 2] as string, kind: "query", durationMs: 100 },
      }),
    );
  const end = FROM + 600 * 6 * MINUTE;
  const whole = await twoComputes();
  const bounded = await twoComputes({ journal: new MemoryJournal({ limit: keep }) });
  for (const { double, ids } of [whole, bounded]) {
    // Many commits, because checkpoints are taken at commits.
    for (let share = 1; share <= 30; share += 1)
      await double.world.advanceWithArrivals(
        new ListedArrivals(arrivals(ids).filter(({ at }) => inShare(at, share, end))),
        FROM + ((end - FROM) * share) / 30,
      );
  }
  const { forgottenSeq, seq } = bounded.double.world.history();
  expect(seq - forgottenSeq).toBeGreaterThanOrEqual(keep);
  expect(seq - forgottenSeq).toBeLessThan(seq / 4);
  expect(await bounded.double.world.events(0, 100_000)).toEqual(
    await whole.double.world.events(forgottenSeq, 100_000),
  );
  expect((await bounded.double.sim("GET", "/state")).body).toEqual(
    (await whole.double.sim("GET", "/state")).body,
  );
  const past = await bounded.double.world.viewAt({ seq: seq - 10 });
  expect(past.ok).toBe(true);
  expect(await bounded.double.world.viewAt({ seq: forgottenSeq - 1 })).toMatchObject({
    ok: false,
    refusal: { code: "HISTORY_FORGOTTEN" },
  });
  await Promise.all([whole.double.close(), bounded.double.close()]);
});

function inShare(at: SimTime, share: number, end: SimTime): boolean {
  const length = (end - FROM) / 30;
  return at > FROM + (share - 1) * length - (share === 1 ? 1 : 0) && at <= FROM + share * length;
}
