import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test } from "vitest";
import { randomFrom } from "../../../../src/simulation/random.ts";
import { guessFormat } from "../../../../src/traffic/recorded/formats/formats.ts";
import { journalInput } from "../../../../src/traffic/recorded/formats/journal-input.ts";
import { ndjsonInput } from "../../../../src/traffic/recorded/formats/json-input.ts";
import { MAX_PER_MINUTE, minuteCountsInput } from "../../../../src/traffic/recorded/formats/minute-counts.ts";
import { readParquet } from "../../../../src/traffic/recorded/formats/parquet-input.ts";
import { csvlogInput, jsonlogInput } from "../../../../src/traffic/recorded/formats/postgres-log.ts";
import type { ColumnMapping } from "../../../../src/traffic/recorded/rows/column-mapping.ts";
import { Intake } from "../../../../src/traffic/recorded/rows/intake.ts";
import { requestSink } from "../../../../src/traffic/recorded/rows/row-sink.ts";
import { collectRows, readText } from "../../../support/traffic/trace-input.ts";

const lines = (...values: readonly unknown[]) =>
  values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join("\n");

test("NDJSON: keys may be missing in the first row, and lines without an object are bad rows", () => {
  const text = lines({ endpoint_id: "a", at: 1767225600000 }, "", "[1]", "{", {
    at: "2026-01-01",
    endpoint_id: "b",
    duration_ms: 1.5,
    source: "web",
  });
  const { rows, intake } = readText(text, (into) => ndjsonInput(requestSink(into)));
  expect(rows).toEqual([
    ["a", "2026-01-01T00:00:00.000Z", 0, ""],
    ["b", "2026-01-01T00:00:00.000Z", 1, "web"],
  ]);
  expect(intake.bad.map(({ line }) => line)).toEqual([3, 4]);
  expect(() => readText("\n\n", (into) => ndjsonInput(requestSink(into)))).toThrow(
    "no line with a JSON object",
  );
});

test("NDJSON: bad lines are reported in order, and strict reading stops at the first one", () => {
  const text = lines(
    "[1]",
    { endpoint_id: "a", at: "soon" },
    "{",
    { endpoint_id: "a", at: "2026-01-01" },
    { endpoint_id: "", at: "2026-01-01" },
  );
  const { intake } = readText(text, (into) => ndjsonInput(requestSink(into)), 7, { durationMs: 0 });
  expect(intake.bad.map(({ line }) => line)).toEqual([1, 2, 3, 5]);
  const strict = (bad: string) => () => ndjsonStrictly(lines({ endpoint_id: "a", at: "soon" }, bad));
  expect(strict("{")).toThrow(expect.objectContaining({ line: 1, message: expect.stringContaining("at:") }));
  expect(() => ndjsonStrictly("[1]\n{")).toThrow(
    expect.objectContaining({ line: 1, message: expect.stringContaining("is not a JSON object") }),
  );
});

function ndjsonStrictly(text: string): void {
  const reader = ndjsonInput(requestSink(new Intake({ add: () => {} }, { strict: true, durationMs: 0 })));
  reader.push(new TextEncoder().encode(text));
  reader.end();
}

test("Parquet: timestamps, integers and strings are read from several row groups", async () => {
  const count = 5;
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: "endpoint_id", data: Array.from({ length: count }, (_, i) => `ep-${i % 2}`), type: "STRING" },
      {
        name: "at",
        data: Array.from({ length: count }, (_, i) => new Date(Date.UTC(2026, 0, 5, 0, 0, i))),
        type: "TIMESTAMP",
      },
      { name: "duration_ms", data: Array.from({ length: count }, (_, i) => BigInt(i)), type: "INT64" },
      { name: "unread", data: Array.from({ length: count }, () => 1.5), type: "DOUBLE" },
    ],
    rowGroupSize: 2,
  });
  const { intake, rows } = collectRows();
  const done: number[] = [];
  await readParquet(buffer, requestSink(intake), async (rowsDone) => void done.push(rowsDone));
  expect(rows()).toEqual(
    Array.from({ length: count }, (_, i) => [`ep-${i % 2}`, `2026-01-05T00:00:0${i}.000Z`, i, ""]),
  );
  expect(done).toEqual([2, 4, 5]);
  await expect(readParquet(buffer.slice(0, buffer.byteLength - 9), requestSink(intake))).rejects.toThrow(
    "is damaged, or not readable as Parquet",
  );
});

test.each([
  ["TIMESTAMP", { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" }],
  ["TIMESTAMP", { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" }],
  ["TIMESTAMP", { type: "TIMESTAMP", isAdjustedToUTC: false, unit: "NANOS" }],
  ["DATE", undefined],
] as const)("Parquet: instants of the type %s %j", async (kind, logical_type) => {
  const instants = [0, 1, 999, 86_399_999, 1_767_225_600_123, 4_102_444_800_000].map((at) =>
    kind === "DATE" ? at - (at % 86_400_000) : at,
  );
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: "endpoint_id", data: instants.map(() => "a") },
      { name: "at", data: instants.map((at) => (kind === "DATE" ? at / 86_400_000 : new Date(at))) },
    ],
    schema: [
      { name: "root", num_children: 2 },
      { name: "endpoint_id", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      kind === "DATE"
        ? { name: "at", type: "INT32", converted_type: "DATE", repetition_type: "REQUIRED" }
        : { name: "at", type: "INT64", logical_type, repetition_type: "REQUIRED" },
    ],
  });
  const { intake, rows } = collectRows({ durationMs: 0 });
  await readParquet(buffer, requestSink(intake));
  expect(rows().map(([, at]) => at)).toEqual(instants.map((at) => new Date(at).toISOString()));
});

test("Parquet: a row group that is read in several parts, with values missing", async () => {
  const count = 140_000;
  const begin = Date.UTC(2026, 0, 5);
  const indexes = Array.from({ length: count }, (_, index) => index);
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: "endpoint_id", data: indexes.map((index) => `ep-${index % 3}é`), type: "STRING" },
      {
        name: "at",
        data: indexes.map((index) => (index % 1_000 === 7 ? null : new Date(begin + index * 1_000))),
        type: "TIMESTAMP",
        nullable: true,
      },
      { name: "duration_ms", data: indexes.map((index) => index % 50), type: "INT32" },
    ],
    rowGroupSize: count,
  });
  const { intake, rows } = collectRows();
  await readParquet(buffer, requestSink(intake));
  const expected = indexes
    .filter((index) => index % 1_000 !== 7)
    .map((index) => [`ep-${index % 3}é`, new Date(begin + index * 1_000).toISOString(), index % 50, ""]);
  // Compared as text, because a difference of arrays of this length takes minutes to print.
  expect(JSON.stringify(rows()) === JSON.stringify(expected)).toBe(true);
  expect(intake.bad[0]).toMatchObject({ line: 8 });
});

const csvlog = (
  time: string,
  message: string,
  backend: string | undefined = "client backend",
  application = "psql",
) => {
  const cells = Array.from({ length: backend === undefined ? 23 : 26 }, () => "");
  cells[0] = time;
  cells[13] = `"${message.replaceAll('"', '""')}"`;
  cells[22] = application;
  if (backend !== undefined) cells[23] = `"${backend}"`;
  return cells.join(",");
};

test("csvlog: a statement starts its duration before its log time, connections count, and other lines are skipped", () => {
  const text = lines(
    csvlog("2026-01-05 00:00:01.500 UTC", 'duration: 1500.999 ms  statement: select "a",\n1'),
    csvlog("2026-01-05 00:00:02.000 GMT", "connection authorized: user=a database=b"),
    csvlog("2026-01-05 00:00:02.000 UTC", "disconnection: session time: 0:00:01"),
    csvlog("2026-01-05 00:00:03.000 UTC", "duration: 5 ms", "autovacuum worker"),
    csvlog("2026-01-05 00:00:04.000 UTC", "duration: 0.2 ms", undefined, "old"),
    "short,line",
  );
  const { rows, intake } = readText(text, (into) => csvlogInput(into, { endpoint: "ep-a" }));
  expect(rows).toEqual([
    ["ep-a", "2026-01-05T00:00:00.000Z", 1_500, "psql"],
    ["ep-a", "2026-01-05T00:00:02.000Z", 0, "psql"],
    ["ep-a", "2026-01-05T00:00:04.000Z", 0, "old"],
  ]);
  expect([intake.skippedRows, intake.badRows]).toEqual([2, 1]);
});

test("csvlog: a zone abbreviation needs the time zone of the log", () => {
  const text = csvlog("2026-07-05 12:00:00.000 CEST", "duration: 0 ms");
  expect(readText(text, (into) => csvlogInput(into)).intake.bad[0]?.reason).toContain(
    "set the time zone of the log",
  );
  expect(readText(text, (into) => csvlogInput(into, { timeZone: "Europe/Berlin" })).rows[0]?.[1]).toBe(
    "2026-07-05T10:00:00.000Z",
  );
});

test("jsonlog is read like csvlog", () => {
  const line = {
    timestamp: "2026-01-05 00:00:01.500 UTC",
    message: "duration: 500.000 ms  statement: select 1",
    application_name: "psql",
    backend_type: "client backend",
  };
  const { rows, intake } = readText(
    lines(line, { ...line, message: "checkpoint starting: time" }, "no JSON"),
    (into) => jsonlogInput(into),
  );
  expect(rows).toEqual([["postgres", "2026-01-05T00:00:01.000Z", 500, "psql"]]);
  expect([intake.skippedRows, intake.badRows]).toEqual([1, 1]);
});

test("of a log only the source may be mapped, to user and database", () => {
  const line = {
    timestamp: "2026-01-05 00:00:01.500 UTC",
    message: "duration: 500 ms",
    user: "ann",
    dbname: "shop",
    application_name: "psql",
  };
  const sourceOf = (source: string) =>
    readText(lines(line), (into) => jsonlogInput(into, { mapping: { source } })).rows[0]?.[3];
  expect([sourceOf("user"), sourceOf("user+dbname"), sourceOf("dbname + application_name")]).toEqual([
    "ann",
    "ann/shop",
    "shop/psql",
  ]);
  expect(() => sourceOf("nope+zip")).toThrow(
    'source: a log has no column "nope" for a source; use one of user, dbname, application_name',
  );
  const cells = [
    "2026-01-05 00:00:01.500 UTC",
    "ann",
    "shop",
    ...Array.from({ length: 10 }, () => ""),
    "duration: 500 ms",
  ];
  const row = [...cells, ...Array.from({ length: 8 }, () => ""), "psql", "client backend"].join(",");
  const csv = (mapping: ColumnMapping) =>
    readText(lines(row), (into) => csvlogInput(into, { mapping })).rows[0]?.[3];
  expect([csv({}), csv({ source: "user_name+database_name" })]).toEqual(["psql", "ann/shop"]);
  expect(() => csv({ endpoint: "database_name" })).toThrow(
    "endpoint: a log has fixed columns; only source can be mapped",
  );
});

const sheet = (...rows: readonly (readonly [app: string, counts: Readonly<Record<number, number>>])[]) =>
  lines(
    [
      "HashOwner",
      "HashApp",
      "HashFunction",
      "Trigger",
      ...Array.from({ length: 1_440 }, (_, i) => i + 1),
    ].join(","),
    ...rows.map(([app, counts]) =>
      ["o", app, "f", "http", ...Array.from({ length: 1_440 }, (_, i) => counts[i + 1] ?? 0)].join(","),
    ),
  );
const counts = (text: string, seed = 1) =>
  readText(text, (into) => minuteCountsInput(into, { random: randomFrom(seed) }), 4_096, { durationMs: 40 });

test("minute counts: calls lie in their minute, depend on the seed alone, and not on other rows", () => {
  const { rows, intake } = counts(sheet(["a", { 1: 3, 1440: 2 }]));
  expect(rows.map(([, at]) => at.slice(0, 16))).toEqual([
    ...Array.from({ length: 3 }, () => "2019-07-15T00:00"),
    ...Array.from({ length: 2 }, () => "2019-07-15T23:59"),
  ]);
  expect(counts(sheet(["b", { 5: 7 }], ["a", { 1: 3, 1440: 2 }])).rows.slice(7)).toEqual(rows);
  expect(counts(sheet(["a", { 1: 3, 1440: 2 }]), 2).rows).not.toEqual(rows);
  expect(intake.period).toEqual({ startAt: Date.UTC(2019, 6, 15), endAt: Date.UTC(2019, 6, 16) });
  expect(intake.notes.join()).toContain("delays near 60 s");
});

test("minute counts: at most the maximum per minute is used", () => {
  const full = counts(sheet(["a", { 1: MAX_PER_MINUTE }]));
  const over = counts(sheet(["a", { 1: MAX_PER_MINUTE + 1 }]));
  expect([full.intake.rows, over.intake.rows]).toEqual([MAX_PER_MINUTE, MAX_PER_MINUTE]);
  expect(over.intake.notes.length).toBe(full.intake.notes.length + 1);
  expect(counts(sheet(["a", { 3: -1 }])).intake.bad[0]?.reason).toBe(
    "3: must be a whole number of calls, at least 0",
  );
});

test("minute counts: a truncated row is a bad row", () => {
  const [head = "", row = ""] = sheet(["a", { 1: 3 }]).split("\n");
  const { rows, intake } = counts(
    lines(head, row.split(",").slice(0, 5).join(","), row.split(",").slice(0, -1).join(","), row),
  );
  expect(rows).toHaveLength(3);
  expect(intake.bad.map(({ line, reason }) => [line, reason])).toEqual([
    [2, "has 5 cells instead of 1444: the row is truncated"],
    [3, "has 1443 cells instead of 1444: the row is truncated"],
  ]);
});

test("a journal has its queries, and transactions until their connection closes", () => {
  const event = (at: string, activity: object, more: object = {}) => ({
    seq: 1,
    type: "ActivityRecorded",
    at: `2026-01-05T00:00:${at}Z`,
    activity,
    ...more,
  });
  const text = lines(
    `data: ${JSON.stringify(event("01", { endpoint_id: "ep-a", kind: "query", duration_ms: 40, source: "web" }, { waited_ms: 300 }))}`,
    "id: 7",
    event("02", { endpointId: "ep-a", kind: "transaction", connectionId: "c" }),
    event("03", { endpointId: "ep-a", kind: "connect", connectionId: "d" }),
    event("05", { endpointId: "ep-a", kind: "disconnect", connectionId: "c" }),
    event("05", { endpointId: "ep-a", kind: "disconnect", connectionId: "d" }),
    { type: "ProjectCreated", at: "2026-01-05T00:00:06Z" },
    event("07", { endpointId: "ep-b", kind: "transaction", connectionId: "c" }),
    event("09", { endpointId: "ep-a", kind: "query" }),
    event("09", { endpointId: "ep-a", kind: "nap" }),
  );
  const { rows, intake } = readText(text, (into) => journalInput(into));
  expect(rows).toEqual([
    ["ep-a", "2026-01-05T00:00:03.000Z", 0, ""],
    ["ep-a", "2026-01-05T00:00:02.000Z", 3_000, ""],
    ["ep-a", "2026-01-05T00:00:09.000Z", 0, ""],
    ["ep-a", "2026-01-05T00:00:01.000Z", 40, "web"],
    ["ep-b", "2026-01-05T00:00:07.000Z", 2_000, ""],
  ]);
  expect(intake.bad.map(({ reason }) => reason)).toEqual([
    "kind: must be query, transaction, connect or disconnect",
  ]);
  // The period goes from the first event to the last one of any type, not to the end of running queries.
  const [begin, end] = ["2026-01-04T00:00:00Z", "2026-01-05T00:05:01Z"];
  const open = event("02", { endpoint_id: "ep-a", kind: "transaction", connection_id: "c" });
  const running = event("01", { endpoint_id: "ep-a", kind: "query", duration_ms: 1e9 });
  const journal = lines(
    { type: "WorldCreated", at: begin },
    running,
    open,
    { type: "ProjectUpdated", at: end },
    { type: "Odd", at: "?" },
  );
  const result = readText(journal, (into) => journalInput(into));
  expect(result.intake.period).toEqual({ startAt: Date.parse(begin), endAt: Date.parse(end) });
  expect(result.rows.map(([, , duration]) => duration)).toEqual([1e9, 299_000]);
});

const CLOSED = 10;

/** A journal of one compute whose connections close at second 10; the journal ends at second 100. */
function closing(...events: readonly object[]): readonly (readonly [second: number, durationMs: number])[] {
  const of = (activity: object, at: number, more: object = {}) => ({
    type: "ActivityRecorded",
    at: instant(at),
    activity: { endpoint_id: "ep-a", ...activity },
    ...more,
  });
  const text = lines(
    of({ kind: "transaction", connection_id: "open" }, 1),
    of({ kind: "query", connection_id: "named", duration_ms: 60_000 }, 2, { opened: "named" }),
    of({ kind: "query", duration_ms: 60_000 }, 3, { opened: "#3" }),
    of({ kind: "query", duration_ms: 4_000 }, 4, { opened: "#4" }),
    {
      ...of({ kind: "query", duration_ms: 60_000 }, 5),
      activity: { endpoint_id: "ep-b", kind: "query", duration_ms: 60_000 },
    },
    of({ kind: "query", duration_ms: 60_000 }, 9, { opened: "#9", waited_ms: 3_000 }),
    ...events,
    { type: "ProjectUpdated", at: instant(100) },
  );
  const { rows } = readText(text, (into) => journalInput(into));
  return rows
    .map(([, at, durationMs]) => [Number(at.slice(17, 19)), durationMs] as const)
    .sort(([a], [b]) => a - b);
}

function instant(second: number): string {
  return new Date(Date.parse("2026-01-05T00:00:00Z") + second * 1_000).toISOString();
}

const [WHOLE, OTHER] = [60_000, [5, 60_000]] as const;

test.each<readonly [string, ...(readonly number[])]>([
  ["ComputeSuspending", 9_000, 8_000, 7_000, WHOLE],
  ["ComputeSuspended", 9_000, 8_000, 7_000, WHOLE],
  ["ComputeStartFailed", 9_000, 8_000, 7_000, 0],
  ["ComputeDeleted", 9_000, 8_000, 7_000, 0],
  ["ComputeResized", 99_000, WHOLE, WHOLE, WHOLE],
])(
  "running arrivals end when the platform closes connections: %s",
  (type, open, named, nameless, waiting) => {
    const expected = [[1, open], [2, named], [3, nameless], [4, 4_000], OTHER, [9, waiting]];
    expect(closing({ type, at: instant(CLOSED), endpoint_id: "ep-a" })).toEqual(expected);
    expect(closing({ type, at: instant(CLOSED), endpointId: "ep-a" })).toEqual(expected);
  },
);

test("a reset and a disconnect end only the arrivals of the closed connections", () => {
  const left = {
    type: "ActivityRecorded",
    at: instant(CLOSED),
    activity: { endpoint_id: "ep-a", kind: "disconnect", connection_id: "named" },
  };
  expect(closing(left)).toEqual([[1, 99_000], [2, 8_000], [3, WHOLE], [4, 4_000], OTHER, [9, WHOLE]]);
  expect(closing({ type: "WorldReset", at: instant(CLOSED) })).toEqual([
    [1, 9_000],
    [2, 8_000],
    [3, 7_000],
    [4, 4_000],
    [5, 5_000],
    [9, 0],
  ]);
});

test("an arrival that waited for a start runs from its end, and a later suspend ends it", () => {
  const [active, suspended] = [13, 20].map((at) => ({ at: instant(at), endpoint_id: "ep-a" }));
  const rows = closing({ type: "ComputeActivated", ...active }, { type: "ComputeSuspended", ...suspended });
  expect(rows.at(-1)).toEqual([9, 7_000]);
});

test.each([
  ["csv", "endpoint_id,at\nx,2026-01-05"],
  ["csv", "\uFEFFendpoint_id,at\n"],
  ["csvlog", csvlog("2026-01-05 00:00:01.500 UTC", "hello")],
  ["csv", csvlog("not a time", "hello")],
  ["azure-functions-2019", sheet()],
  ["ndjson", '{"endpoint_id":"a","at":1}'],
  ["jsonlog", '{"timestamp":"2026-01-05 00:00:01.500 UTC","pid":1,"error_severity":"LOG","message":""}'],
  ["journal", '{"seq":1,"type":"WorldCreated","at":"2026-01-05T00:00:00Z"}'],
  ["journal", 'event: x\ndata: {"seq":1}'],
  ["parquet", "PAR1..."],
  ["standin-trace", "SITRACE\n..."],
  ["world", "SQLite format 3\0..."],
  [undefined, ""],
  [undefined, "\u0001\0\u0002"],
])("the format is guessed from the start of a file: %s", (format, head) => {
  expect(guessFormat(new TextEncoder().encode(head))).toBe(format);
});
