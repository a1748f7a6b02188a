import { expect, test } from "vitest";
import { csvInput } from "../../../../src/traffic/recorded/formats/csv-input.ts";
import { type RecordingOptions, readRecording } from "../../../../src/traffic/recorded/read-recording.ts";
import { RecordedArrivals } from "../../../../src/traffic/recorded/recorded-arrivals.ts";
import { RecordingError } from "../../../../src/traffic/recorded/rows/recording-error.ts";
import { requestSink } from "../../../../src/traffic/recorded/rows/row-sink.ts";
import { NEW_YEAR, takeArrivals } from "../../../support/traffic/arrivals.ts";
import { readText as takeTrace } from "../../../support/traffic/trace-input.ts";

const csv = (text: string, options: Partial<RecordingOptions> = {}) =>
  readRecording([text], { format: "csv", ...options });

test("CSV columns are found by name, and each endpoint has its own connections", async () => {
  const recorded = await csv(
    [
      "endpoint_id,at,duration_ms,kind,queries,source,connection_id",
      "ep-a,2026-01-01T00:00:00Z,250,query,3,web,c1",
      'ep-b,2026-01-01T00:00:01.5Z,0,connect,,"job, nightly",c9',
      "ep-a,2026-01-01T00:00:02+00:00,,,,,",
    ].join("\n"),
  );
  expect([...recorded.endpoints.keys()]).toEqual(["ep-a", "ep-b"]);
  expect([recorded.rows, recorded.badRows, recorded.sources]).toEqual([3, 0, ["web", "job, nightly", ""]]);
  const [a, b] = [...recorded.endpoints.values()].map((requests) =>
    takeArrivals(new RecordedArrivals(requests)),
  );
  expect(a).toEqual([
    { at: NEW_YEAR, durationMs: 250, queries: 3, kind: "query", connection: 0 },
    { at: NEW_YEAR + 2_000, durationMs: 0, queries: 1, kind: "query", connection: -1 },
  ]);
  expect(b).toEqual([{ at: NEW_YEAR + 1_500, durationMs: 0, queries: 0, kind: "connect", connection: 0 }]);
});

test("the unit of an instant follows from its size, the unit of a duration from its column", async () => {
  const recorded = await csv("endpoint,ts,duration_s\na,1767225600.123,0.5\na,1767225600124,2\n");
  const requests = recorded.endpoints.get("a");
  expect([...(requests?.at ?? [])]).toEqual([NEW_YEAR + 123, NEW_YEAR + 124]);
  expect([...(requests?.durationMs ?? [])]).toEqual([500, 2_000]);
});

test.each([
  ["duration_us", "1767225600123456", "2500", 2],
  ["duration_ns", "1767225600123456789", "2500000", 2],
  ["duration_s", "1767225600.123", "0.25", 250],
  ["duration_seconds", "1767225600123", "1e-1", 100],
  ["duration_ms", "2026-01-01T00:00:00.123Z", "12.9", 12],
])(
  "a column %s and its instants are read as in what-if experiments",
  async (column, at, duration, durationMs) => {
    const text = `endpoint,at,${column}\na,${at},${duration}\n`;
    const requests = (await csv(text, { strict: true })).endpoints.get("a");
    expect([[...(requests?.at ?? [])], [...(requests?.durationMs ?? [])]]).toEqual([
      [NEW_YEAR + 123],
      [durationMs],
    ]);
    expect(takeTrace(text, (intake) => csvInput(requestSink(intake))).rows).toEqual([
      ["a", "2026-01-01T00:00:00.123Z", durationMs, ""],
    ]);
  },
);

test("rows are sorted by time; rows of one instant keep their order", async () => {
  const recorded = await csv(
    "endpoint_id,at,duration_ms\na,2026-01-01T00:00:02Z,1\na,2026-01-01T00:00:01Z,2\na,2026-01-01T00:00:02Z,3\na,2026-01-01T00:00:01Z,4\n",
  );
  expect([...(recorded.endpoints.get("a")?.durationMs ?? [])]).toEqual([2, 4, 1, 3]);
});

const WITH_BAD_ROWS = [
  "endpoint_id,at,duration_ms,kind",
  "a,2026-01-01T00:00:00Z,1,query",
  "a,yesterday,1,query",
  ",2026-01-01T00:00:00Z,1,query",
  "a,2026-02-30T00:00:00Z,1,query",
  "a,2026-01-01T00:00:00Z,-1,query",
  "a,2026-01-01T00:00:00Z,1,dance",
  "a,2026-01-01T00:00:01Z,1,query",
].join("\n");

test("bad rows are counted with line and reason, and the other rows are read", async () => {
  const recorded = await csv(WITH_BAD_ROWS);
  expect([recorded.rows, recorded.badRows]).toEqual([2, 5]);
  expect(recorded.bad.map(({ line, reason }) => `${line} ${reason}`)).toEqual([
    '3 at: "yesterday" must be an ISO 8601 instant, or a number since 1970',
    "4 endpoint: is empty; if another column names the endpoint, set columns: { endpoint: <column> }",
    '5 at: "2026-02-30T00:00:00Z" must be an ISO 8601 instant, or a number since 1970',
    '6 duration: "-1" must be a number, at least 0',
    '7 kind: "dance" must be one of query, transaction, connect, disconnect',
  ]);
});

test("strict reading stops at the first bad row", async () => {
  const reading = csv(WITH_BAD_ROWS, { strict: true });
  await expect(reading).rejects.toBeInstanceOf(RecordingError);
  await expect(reading).rejects.toThrow(/^line 3: at: "yesterday"/);
});

test("an unclosed quote is a bad row", async () => {
  const recorded = await csv('endpoint_id,at\na,2026-01-01T00:00:00Z\na,"2026-01-01T00:00:01Z\n');
  expect([recorded.rows, recorded.badRows]).toEqual([1, 1]);
});

test("columns are mapped by name, and an unknown column is rejected with a list of the known ones", async () => {
  const text = "who,when\nx,2026-01-01T00:00:00Z\n";
  const recorded = await csv(text, { columns: { endpoint: "who", at: "when" } });
  expect(recorded.columns).toEqual({ endpoint: "who", at: "when" });
  expect(recorded.rows).toBe(1);
  await expect(csv(text, { columns: { endpoint: "whom" } })).rejects.toThrow(
    'line 1: endpoint: there is no column "whom"; there are who, when; did you mean "who"?',
  );
  await expect(csv(text)).rejects.toThrow(
    "line 1: endpoint: no column has a known name; the columns are who, when; add columns: { endpoint: <column> }",
  );
});

test("a mapped NDJSON key may be missing in a row, but not in all rows", async () => {
  const rows = '{"endpoint":"a","at":1767225600}\n{"endpoint":"a","at":1767225601,"took_us":2500}\n';
  const named = (duration: string) => readRecording([rows], { format: "ndjson", columns: { duration } });
  expect([...((await named("took_us")).endpoints.get("a")?.durationMs ?? [])]).toEqual([0, 2]);
  await expect(named("tuk_us")).rejects.toThrow('line 1: duration: no row has the key "tuk_us"');
});

test("chunk boundaries do not change the result", async () => {
  const text = `${WITH_BAD_ROWS}\nä,2026-01-01T00:00:03Z,7,query\n`;
  const bytes = new TextEncoder().encode(text);
  const whole = await csv(text);
  for (const size of [1, 7, 64]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    expect(await readRecording(chunks, { format: "csv" })).toEqual(whole);
  }
});

test("NDJSON keys are read like columns", async () => {
  const text = [
    '{"endpoint_id":"a","at":"2026-01-01T00:00:00Z","duration_ms":5}',
    "",
    '{"endpoint_id":"a","at":1767225601000,"kind":"transaction","queries":4}',
    "not json",
    "[1]",
  ].join("\n");
  const recorded = await readRecording([text.slice(0, 30), text.slice(30)], { format: "ndjson" });
  expect(takeArrivals(new RecordedArrivals(recorded.endpoints.get("a") as never))).toEqual([
    { at: NEW_YEAR, durationMs: 5, queries: 1, kind: "query", connection: -1 },
    { at: NEW_YEAR + 1_000, durationMs: 0, queries: 4, kind: "transaction", connection: -1 },
  ]);
  expect(recorded.bad).toEqual([
    { input: "", line: 4, reason: "is not a JSON object" },
    { input: "", line: 5, reason: "is not a JSON object" },
  ]);
});

test("a journal has its activity in either case style or as an event stream; other events are skipped", async () => {
  const text = [
    `{"type":"ComputeActivated","at":${NEW_YEAR},"endpointId":"ep-a"}`,
    `{"type":"ActivityRecorded","at":${NEW_YEAR},"activity":{"endpointId":"ep-a","kind":"connect"},"waitedMs":0,"opened":"#7"}`,
    '{"type":"ActivityRecorded","at":"2026-01-01T00:00:01.000Z","activity":{"endpoint_id":"ep-a","kind":"query","duration_ms":30,"source":"web"}}',
    "id: 12",
    'data: {"type":"ActivityRecorded","at":"2026-01-01T00:00:02.000Z","activity":{"endpoint_id":"ep-a","kind":"disconnect","connection_id":"#7"}}',
    ": still there",
  ].join("\n");
  const recorded = await readRecording([text], { format: "journal" });
  expect(recorded.badRows).toBe(0);
  expect(
    takeArrivals(new RecordedArrivals(recorded.endpoints.get("ep-a") as never)).map(
      ({ at, kind, connection }) => [at - NEW_YEAR, kind, connection],
    ),
  ).toEqual([
    [0, "connect", 0],
    [1_000, "query", -1],
    [2_000, "disconnect", 0],
  ]);
});

test("a recording may be replayed at another time", async () => {
  const recorded = await csv("endpoint_id,at\na,2026-01-01T00:00:00Z\n");
  expect(
    takeArrivals(new RecordedArrivals(recorded.endpoints.get("a") as never, 60_000)).map(({ at }) => at),
  ).toEqual([NEW_YEAR + 60_000]);
});
