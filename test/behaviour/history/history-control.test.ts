import { expect, test } from "vitest";
import { recordActivity, worldState } from "../../support/double/compute.ts";
import { createProject, type Double } from "../../support/double/double.ts";
import {
  clockOf,
  createTestDouble,
  forkWorld,
  fullState,
  stateAt,
} from "../../support/double/history-requests.ts";
import { STORAGE_KINDS } from "../../support/double/storage-double.ts";

const historyOf = async ({ sim }: Pick<Double, "sim">) => (await sim("GET", "/health")).body.history;
const eventsSince = async ({ sim }: Pick<Double, "sim">, since: number) =>
  (await sim("GET", `/events?since=${since}&limit=10000`)).body;
const compact = ({ sim }: Pick<Double, "sim">, keep: unknown) => sim("POST", "/compact", { keep });

test.each(STORAGE_KINDS)("%s: the state at a past point equals the state shown then", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  const shown: [at: string, seq: number, state: string][] = [];
  const remember = async () => {
    const { now } = await clockOf(double);
    shown.push([now, (await historyOf(double)).seq, await worldState(double)]);
  };
  await remember();
  const { endpointId, path } = await createProject(double);
  await remember();
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "job" });
  await double.advance("1s");
  await remember();
  await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } });
  for (let step = 0; step < 4; step += 1) {
    await double.sim("POST", "/clock/advance", { next: true });
    await remember();
  }
  await double.advance("10d");
  const { events } = await eventsSince(double, 0);
  let instants = 0;
  for (const [at, seq, state] of shown) {
    expect(await stateAt(double, seq)).toBe(state);
    // An instant includes all its events, also those after the state was read.
    if (events.some((event) => event.at === at && event.seq > seq)) continue;
    expect(await stateAt(double, at)).toBe(state);
    instants += 1;
  }
  expect(instants).toBeGreaterThan(3);
  expect(await stateAt(double, (await historyOf(double)).seq)).toBe(await worldState(double));
});

test.each(STORAGE_KINDS)("%s: reading the past changes nothing", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await createProject(double);
  await double.advance("1h");
  const before = await fullState(double);
  await stateAt(double, 5);
  await stateAt(double, "2026-01-01T00:00:03Z");
  expect(await fullState(double)).toEqual(before);
});

test.each(STORAGE_KINDS)("%s: an event within a decision selects the whole decision", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await createProject(double);
  const { events } = await eventsSince(double, 0);
  for (const { seq, decision } of events) {
    const { seq: last } = events.findLast((event) => event.decision === decision);
    expect(JSON.parse(await stateAt(double, seq)).seq).toBe(last);
  }
});

test.each([
  ["14", 422, "POINT_NOT_REACHED", /event 13/],
  ["2026-01-01T00:00:10.001Z", 422, "POINT_NOT_REACHED", /event 13/],
  ["9999-12-31T23:59:59Z", 422, "POINT_NOT_REACHED", /event 13/],
  ["2025-12-31T23:59:59.999Z", 422, "HISTORY_FORGOTTEN", /before event 1, which created the world/],
  [
    "now",
    400,
    "BAD_REQUEST",
    /^at: must be an ISO 8601 instant like 2026-01-31T12:00:00Z, or the sequence number of an event/,
  ],
  ["", 400, "BAD_REQUEST", /^at: must be/],
  ["-1", 400, "BAD_REQUEST", /^at: must be/],
  ["1.5", 400, "BAD_REQUEST", /^at: must be/],
  ["1e3", 400, "BAD_REQUEST", /^at: must be/],
  ["2026-02-30T00:00:00Z", 400, "BAD_REQUEST", /^at: must be/],
  ["2026-01-01T00:00:00", 400, "BAD_REQUEST", /^at: must be/],
] as const)("the state at %j is rejected with %i and a reason", async (at, status, code, message) => {
  const double = (await createTestDouble("in memory")).double();
  await createProject(double);
  const response = await double.sim("GET", `/state?at=${at}`);
  expect([response.status, response.body.code]).toEqual([status, code]);
  expect(response.body.message).toMatch(message);
});

test("a point that is given twice is rejected", async () => {
  const double = (await createTestDouble("in memory")).double();
  const { status, body } = await double.sim("GET", "/state?at=1&at=2");
  expect([status, body.message]).toEqual([400, "at: is given more than once"]);
});

test.each(STORAGE_KINDS)(
  "%s: the current instant is a point of history, the next millisecond is not",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    await double.advance("90s");
    expect(await stateAt(double, "2026-01-01T00:01:40Z")).toBe(await worldState(double));
    expect((await double.sim("GET", "/state?at=2026-01-01T00:01:40.001Z")).status).toBe(422);
  },
);

test.each(STORAGE_KINDS)("%s: scheduled activity does not belong to history yet", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { at: "2026-01-01T00:01:00Z" });
  expect((await double.sim("GET", "/state?at=2026-01-01T00:01:00Z")).body.code).toBe("POINT_NOT_REACHED");
});

test.each(STORAGE_KINDS)(
  "%s: compaction keeps the world and the sequence numbers, and reports where history begins",
  async (kind) => {
    const kept = await createTestDouble(kind);
    const double = kept.double();
    const { projectId, path } = await createProject(double);
    await double.advance("1h");
    await double.api("POST", `${path}/start`);
    await double.advance("10s");
    const [state, clock, history] = [
      await worldState(double),
      await clockOf(double),
      await historyOf(double),
    ];
    const { events } = await eventsSince(double, 0);
    const { status, body } = await compact(double, "1m");
    const forgotten = events.findLast(({ at }) => at <= "2026-01-01T00:59:20.000Z").seq;
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        history_id: history.id,
        seq: history.seq,
        forgotten_seq: forgotten,
        now: "2026-01-01T01:00:20.000Z",
        size_bytes: expect.any(Number),
      },
    });
    expect(await historyOf(double)).toEqual({ ...history, forgotten_seq: forgotten });
    expect([await worldState(double), await clockOf(double)]).toEqual([state, clock]);
    expect(await eventsSince(double, 0)).toEqual({
      events: events.slice(forgotten),
      next_since: history.seq,
      forgotten_seq: forgotten,
    });
    expect(await eventsSince(double, forgotten)).not.toHaveProperty("forgotten_seq");
    // Operations that ended before then are deleted too.
    const { operations } = (await double.api("GET", `/projects/${projectId}/operations`)).body;
    expect(operations.map(({ action }) => action)).toEqual(["start_compute"]);
    await createProject(double);
    expect((await eventsSince(double, history.seq)).events[0].seq).toBe(history.seq + 1);
    for (const { ok, from } of await kept.verify("default"))
      expect({ ok, from }).toEqual({ ok: true, from: forgotten });
  },
);

test.each(STORAGE_KINDS)(
  "%s: a compacted world continues as it would have without compaction",
  async (kind) => {
    const doubles = [
      (await createTestDouble(kind)).double(),
      (await createTestDouble(kind)).double(),
    ] as const;
    for (const double of doubles) {
      const { endpointId, path } = await createProject(double);
      await recordActivity(double, endpointId, { at: "2026-01-01T02:00:00Z", duration_ms: 5_000 });
      await double.api("POST", `${path}/restart`);
      await double.advance("1s");
    }
    await compact(doubles[0], 0);
    for (const double of doubles) {
      await double.advance("3h");
      await createProject(double);
    }
    expect(await worldState(doubles[0])).toBe(await worldState(doubles[1]));
  },
);

test.each(STORAGE_KINDS)(
  "%s: compaction beyond the start of history deletes nothing, and repeating it deletes no more",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    await double.advance("1h");
    const history = await historyOf(double);
    expect((await compact(double, "30d")).body.forgotten_seq).toBe(0);
    expect(await historyOf(double)).toEqual(history);
    const { forgotten_seq } = (await compact(double, "30m")).body;
    expect(forgotten_seq).toBeGreaterThan(0);
    expect((await compact(double, "30m")).body.forgotten_seq).toBe(forgotten_seq);
    expect((await compact(double, "45m")).body.forgotten_seq).toBe(forgotten_seq);
  },
);

test.each(STORAGE_KINDS)(
  "%s: truncated history can be neither shown nor forked, but its end can",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    await double.advance("1h");
    await compact(double, "0s");
    const oldest = await worldState(double);
    for (const name of ["first", "second"]) await double.api("POST", "/api_keys", { key_name: name });
    const { forgotten_seq } = await historyOf(double);
    for (const at of [1, forgotten_seq - 1, "2026-01-01T00:00:05Z", "2026-01-01T00:05:03.999Z"]) {
      const shown = await double.sim("GET", `/state?at=${at}`);
      expect([at, shown.status, shown.body.code]).toEqual([at, 422, "HISTORY_FORGOTTEN"]);
      expect(shown.body.message).toContain(`event ${forgotten_seq}`);
      const forked = await double.sim("POST", "/worlds", { name: "copy", at });
      expect([at, forked.status, forked.body.code]).toEqual([at, 422, "HISTORY_FORGOTTEN"]);
    }
    // Nothing has happened since its last event, so that instant is still known.
    for (const at of [forgotten_seq, "2026-01-01T00:05:04Z", "2026-01-01T00:30:00Z"])
      expect(await stateAt(double, at)).toBe(oldest);
    expect(await worldState(await forkWorld(double, { name: "copy", at: forgotten_seq }))).toBe(oldest);
  },
);

test.each([[undefined], ["soon"], ["-1d"], [-1], [""], ["forever"], [null], [1.5]])(
  "keep %j is rejected with 400 and the field, and nothing is truncated",
  async (keep) => {
    const double = (await createTestDouble("in memory")).double();
    await createProject(double);
    const before = await historyOf(double);
    const { status, body } = await compact(double, keep);
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    expect(body.message).toMatch(/^keep: /);
    expect(await historyOf(double)).toEqual(before);
  },
);

test.each(STORAGE_KINDS)(
  "%s: compacting a fork does not affect its origin, nor the reverse",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    const copy = await forkWorld(double, { name: "copy" });
    const whole = await eventsSince(double, 0);
    await compact(copy, 0);
    expect(await eventsSince(double, 0)).toEqual(whole);
    expect((await historyOf(copy)).forgotten_seq).toBe(whole.next_since);
    await double.advance("1h");
    await compact(double, 0);
    const late = await forkWorld(double, { name: "late" });
    expect((await historyOf(late)).forgotten_seq).toBe((await historyOf(double)).forgotten_seq);
    expect(await worldState(late)).toBe(await worldState(double));
  },
);

test.each(STORAGE_KINDS)(
  "%s: compaction during requests keeps all their changes in the journal",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    await double.advance("1h");
    const { seq } = await historyOf(double);
    const [forgotten, ...responses] = await Promise.all([
      compact(double, "0s"),
      ...Array.from({ length: 10 }, (_, index) => double.api("POST", "/api_keys", { key_name: `k${index}` })),
    ]);
    expect(forgotten?.status).toBe(200);
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const { events } = await eventsSince(double, seq);
    const names = events.flatMap(({ api_key }) => (api_key === undefined ? [] : [api_key.name]));
    // Changes before the new beginning of history are truncated, but the objects exist.
    expect((await double.api("GET", "/api_keys")).body).toHaveLength(11);
    expect(names.length + (await historyOf(double)).forgotten_seq).toBe(seq + 10);
  },
);
