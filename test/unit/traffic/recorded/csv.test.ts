import { expect, test } from "vitest";
import { MAX } from "../../../../src/input-limits/limits.ts";
import { csvInput } from "../../../../src/traffic/recorded/formats/csv-input.ts";
import { CsvScanner } from "../../../../src/traffic/recorded/formats/csv-scanner.ts";
import { BAD_ROWS_SHOWN } from "../../../../src/traffic/recorded/rows/bad-rows.ts";
import { parseMapping } from "../../../../src/traffic/recorded/rows/column-mapping.ts";
import { type IntakeOptions, MAX_SOURCES } from "../../../../src/traffic/recorded/rows/intake.ts";
import { RecordingError } from "../../../../src/traffic/recorded/rows/recording-error.ts";
import type { RowOptions } from "../../../../src/traffic/recorded/rows/row-reader.ts";
import { requestSink } from "../../../../src/traffic/recorded/rows/row-sink.ts";
import { readText, readWith } from "../../../support/traffic/trace-input.ts";

const HEAD = "endpoint_id,at,duration_ms";
const csv = (text: string, options: RowOptions = {}, chunkBytes?: number, intakeOptions?: IntakeOptions) =>
  readText(text, (intake) => csvInput(requestSink(intake, options)), chunkBytes, intakeOptions);

test("CSV rows become requests with any line ends and any chunk boundaries", () => {
  const text = `\uFEFF${HEAD},source\r\n"ep-a" , 2026-01-05T00:00:00Z,12.9,"a ""b"", c"\r\n\r\nep-b,2026-01-05 01:00:00+01:00,,"two\nlines"\r\nep-a,2026-01-05T00:00:01.9999Z,0,`;
  const expected = [
    ["ep-a", "2026-01-05T00:00:00.000Z", 12, 'a "b", c'],
    ["ep-b", "2026-01-05T00:00:00.000Z", 0, "two\nlines"],
    ["ep-a", "2026-01-05T00:00:01.999Z", 0, ""],
  ];
  for (const chunkBytes of [1, 2, 3, 5, 8, 64, 1_000])
    expect(csv(text, {}, chunkBytes).rows).toEqual(expected);
});

test("a source may combine several columns", () => {
  const text = `${HEAD},user,database\nep-a,2026-01-05T00:00:00Z,5,ann,shop\nep-a,2026-01-05T00:00:01Z,5,ann,`;
  const { rows } = csv(text, { mapping: parseMapping("source=user+database") });
  expect(rows.map(([, , , source]) => source)).toEqual(["ann/shop", "ann/"]);
  expect(() => csv(text, { mapping: parseMapping("source=user+db") })).toThrow(
    'source: there is no column "db"',
  );
});

test("a field must not be read from one of two columns with the same name", () => {
  const rows = "\nep-a,2026-01-05T00:00:00Z,5,2026-01-05T01:00:00Z";
  expect(() => csv(`${HEAD},at${rows}`)).toThrow('at: two columns are called "at"; rename one of them');
  expect(() => csv(`${HEAD},AT${rows}`)).toThrow('at: two columns are called "at"');
  expect(() => csv(`who,at,duration_ms,who${rows}`, { mapping: { endpoint: "who" } })).toThrow(
    'endpoint: two columns are called "who"',
  );
  expect(csv(`${HEAD},AT${rows}`, { mapping: { at: "at" } }).rows).toEqual([
    ["ep-a", "2026-01-05T00:00:00.000Z", 5, ""],
  ]);
  expect(csv("endpoint_id,at,duration_ms,note,note\nep-a,2026-01-05T00:00:00Z,1,x,y").rows).toHaveLength(1);
});

test("start and end determine the duration; an end before the start or an invalid end is a bad row", () => {
  const body = [
    "2026-01-05T00:00:00Z,2026-01-05T00:00:02.5Z",
    "2026-01-05T00:00:03Z,",
    "2026-01-05T00:00:05Z,2026-01-05T00:00:04Z",
  ]
    .concat("2026-01-05T00:00:06Z,soon", "soon,2026-01-05T00:00:06Z")
    .map((row) => `ep-a,${row}`)
    .join("\n");
  const expected = [
    ["ep-a", "2026-01-05T00:00:00.000Z", 2_500, ""],
    ["ep-a", "2026-01-05T00:00:03.000Z", 0, ""],
  ];
  const guessed = csv(`endpoint_id,started_at,ended_at\n${body}`);
  const named = csv(`endpoint_id,begin,stop\n${body}`, { mapping: parseMapping("at=begin,end=stop") });
  for (const { rows, intake } of [guessed, named]) {
    expect(rows).toEqual(expected);
    expect(intake.bad.map(({ line, reason }) => `${line} ${reason}`)).toEqual([
      '4 end: "2026-01-05T00:00:04Z" is before "2026-01-05T00:00:05Z"',
      '5 end: "soon" must be an ISO 8601 instant, or a number since 1970',
      '6 at: "soon" must be an ISO 8601 instant, or a number since 1970',
    ]);
  }
  expect(guessed.intake.notes).toContain("columns read as endpoint=endpoint_id,at=started_at,end=ended_at");
  const numbers = csv("endpoint_id,at,end_time\nep-a,1767225600,1767225601.5");
  expect(numbers.rows).toEqual([["ep-a", "2026-01-01T00:00:00.000Z", 1_500, ""]]);
});

test("a duration takes precedence over an end, with a note if the end was mapped", () => {
  const text = `${HEAD},ended_at\nep-a,2026-01-05T00:00:00Z,5,2026-01-05T01:00:00Z`;
  for (const mapping of [undefined, parseMapping("end=ended_at,at=at")]) {
    const { rows, intake } = csv(text, mapping === undefined ? {} : { mapping });
    expect(rows).toEqual([["ep-a", "2026-01-05T00:00:00.000Z", 5, ""]]);
    expect(intake.notes.some((note) => note.startsWith("end: is not read"))).toBe(mapping !== undefined);
  }
});

test("semicolons and tabs are recognised as delimiters", () => {
  for (const delimiter of [";", "\t"]) {
    const text = `${HEAD}\nep-a,2026-01-05T00:00:00Z,5`.replaceAll(",", delimiter);
    expect(csv(text).rows).toEqual([["ep-a", "2026-01-05T00:00:00.000Z", 5, ""]]);
  }
});

test.each([
  ["99999999999", "5138-11-16T09:46:39.000Z", "seconds"],
  ["100000000000", "1973-03-03T09:46:40.000Z", "milliseconds"],
  ["1767225600", "2026-01-01T00:00:00.000Z", "seconds"],
  ["1767225600.1239", "2026-01-01T00:00:00.123Z", "seconds"],
  ["1767225600123", "2026-01-01T00:00:00.123Z", "milliseconds"],
  ["1767225600123999", "2026-01-01T00:00:00.123Z", "microseconds"],
  ["1767225600000000000", "2026-01-01T00:00:00.000Z", "nanoseconds"],
  ["1767225599999999999", "2025-12-31T23:59:59.999Z", "nanoseconds"],
])("the number %s is %s, because it is read as %s", (number, instant, unit) => {
  const { rows, intake } = csv(`${HEAD}\nep-a,${number},1`);
  expect(rows).toEqual([["ep-a", instant, 1, ""]]);
  expect(intake.notes.at(-1)).toContain(`read as ${unit}`);
});

test("the first number determines the unit of the file, unless a unit is given", () => {
  const { rows } = csv(`${HEAD}\nep-a,1767225600000,1\nep-a,99999999999,1`);
  expect(rows.map(([, at]) => at)).toEqual(["2026-01-01T00:00:00.000Z", "1973-03-03T09:46:39.999Z"]);
  const given = csv(`${HEAD}\nep-a,60,1`, { timeUnit: "s" });
  expect(given.rows[0]?.[1]).toBe("1970-01-01T00:01:00.000Z");
  expect(given.intake.notes.join()).not.toContain("numbers are read as");
});

test("the year changes at midnight UTC", () => {
  const { rows } = csv(
    `${HEAD}\nep-a,2025-12-31T23:59:59.999Z,1\nep-a,2026-01-01T00:00:00Z,1\nep-a,2025-12-31T23:30:00-01:00,1\nep-a,2024-02-29,1`,
  );
  expect(rows.map(([, at]) => at)).toEqual([
    "2025-12-31T23:59:59.999Z",
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:30:00.000Z",
    "2024-02-29T00:00:00.000Z",
  ]);
});

test("instants without a zone use the given zone, in summer and in winter", () => {
  const text = `${HEAD}\nep-a,2026-01-15 12:00:00,1\nep-a,2026-07-15 12:00:00,1\nep-a,2026-07-15 12:00:00Z,1`;
  const at = (timeZone?: string) => csv(text, { timeZone }).rows.map((row) => row[1].slice(11, 16));
  expect(at()).toEqual(["12:00", "12:00", "12:00"]);
  expect(at("Europe/Berlin")).toEqual(["11:00", "10:00", "12:00"]);
});

test.each([
  ["duration_s", "1.001", 1_001],
  ["duration_us", "1999", 1],
  ["duration_ns", "2000000", 2],
  ["duration_ms", "1e3", 1_000],
  ["duration", "7", 7],
])("a duration in a column %s of %s is %d ms", (column, duration, expected) => {
  expect(csv(`endpoint_id,at,${column}\nep-a,2026-01-05T00:00:00Z,${duration}`).rows[0]?.[2]).toBe(expected);
});

test("bad rows are counted, the first ones are listed with line and reason, and the other rows are read", () => {
  const rows = [
    "ep-a,2026-02-30,1",
    ",2026-01-05,1",
    "ep-a,2026-01-05,-1",
    "ep-a,2026-01-05,soon",
    'ep-a,"x" y,1',
    "ep-a,2026-01-05,3",
    "ep-a",
  ];
  const { rows: taken, intake } = csv([HEAD, ...rows].join("\n"));
  expect(taken).toEqual([["ep-a", "2026-01-05T00:00:00.000Z", 3, ""]]);
  expect(intake.badRows).toBe(6);
  expect(intake.bad.map(({ line, reason }) => [line, reason.split(" ")[0]])).toEqual([
    [2, "at:"],
    [3, "endpoint:"],
    [4, "duration:"],
    [5, "duration:"],
    [6, "has"],
    [8, "has"],
  ]);
  const many = csv(
    [HEAD, ...Array.from({ length: BAD_ROWS_SHOWN + 1 }, () => "ep-a,never,1")].join("\n"),
  ).intake;
  expect([many.badRows, many.bad.length]).toEqual([BAD_ROWS_SHOWN + 1, BAD_ROWS_SHOWN]);
});

test("strict rejects the first bad row with its line, also after multi-line cells", () => {
  const text = `${HEAD},source\nep-a,2026-01-05,1,"x\ny"\nep-a,never,1,`;
  expect(() => readText(text, (intake) => csvInput(requestSink(intake)), 7, { strict: true })).toThrow(
    /^line 4: at: "never" must be/,
  );
  expect(readText(text, (intake) => csvInput(requestSink(intake)), 7).intake.badRows).toBe(1);
});

test("an unclosed quote costs only its line", () => {
  const { rows, intake } = csv(`${HEAD}\n"ep-a,2026-01-05,1\nep-b,2026-01-05,2\nep-c,2026-01-05,3`);
  expect(rows.map(([endpoint]) => endpoint)).toEqual(["ep-b", "ep-c"]);
  expect(intake.bad).toEqual([{ input: "", line: 2, reason: "has an unclosed quote" }]);
});

test("columns are guessed by name with a note, or mapped explicitly", () => {
  const { rows, intake } = csv("app,started_at,latency_ms,client\nx,2026-01-05,4,web");
  expect(rows).toEqual([["x", "2026-01-05T00:00:00.000Z", 4, "web"]]);
  expect(intake.notes).toEqual([
    "columns read as endpoint=app,at=started_at,duration=latency_ms,source=client, durations in ms",
  ]);
  const mapping = parseMapping("endpoint_id=db,at=when,duration_ms=run+wait");
  expect(csv("db,when,run,wait\nx,2026-01-05,4,5", { mapping }).rows).toEqual([
    ["x", "2026-01-05T00:00:00.000Z", 9, ""],
  ]);
});

test("two columns that could hold one field are an error with the options that choose", () => {
  const row = "shop,2026-01-05T00:00:00Z,5,web";
  expect(() => csv(`db,ts,took_ms,app\n${row}`)).toThrow(
    'endpoint: could be read from "db" and "app"; choose one: --map endpoint=db or --map endpoint=app',
  );
  expect(() => csv(`database,ts,took_ms,app\n${row}`)).toThrow('from "database" and "app"');
  expect(() => csv(`db,ts,duration,took_ms\n${row}`)).toThrow('duration: could be read from "duration" and');
  expect(() => csv(`db,created_at,took_ms,started_at\n${row}`)).toThrow("at: could be read from");
  // Once the compute is known, the application is a source.
  const chosen = csv(`db,ts,took_ms,app,note\n${row},x`, { mapping: parseMapping("endpoint=db") });
  expect(chosen.rows).toEqual([["shop", "2026-01-05T00:00:00.000Z", 5, "web"]]);
  expect(chosen.intake.notes).toEqual([
    "columns read as endpoint=db,at=ts,duration=took_ms,source=app, durations in ms; not read: note",
  ]);
});

test("a name that means one field only goes before names that may mean others", () => {
  const { rows } = csv("app,endpoint_id,time,at,duration_ms\nweb,ep-a,1,2026-01-05,5");
  expect(rows).toEqual([["ep-a", "2026-01-05T00:00:00.000Z", 5, "web"]]);
});

test("unknown durations are asked for", () => {
  const text = "endpoint_id,at\nep-a,2026-01-05";
  expect(() => csv(text)).toThrow(
    /^line 1: duration: no column has a known name; .* --map duration=<column>; or state how long .* --no-duration/,
  );
  for (const durationMs of [0, 50])
    expect(csv(text, {}, 7, { durationMs }).rows).toEqual([
      ["ep-a", "2026-01-05T00:00:00.000Z", durationMs, ""],
    ]);
  const read = (rows: string, options?: IntakeOptions) =>
    readWith((intake) => {
      intake.begin("a.csv");
      const input = csvInput(requestSink(intake));
      input.push(new TextEncoder().encode(`${HEAD}\n${rows}`));
      input.end();
      intake.end();
    }, options);
  expect(() => read("ep-a,2026-01-05,\nep-a,2026-01-06,\n")).toThrow("duration: no request states one");
  expect(read("ep-a,2026-01-05,\nep-a,2026-01-06,7\n").intake.notes).toContain(
    "1 request states no duration, which is read as 0 ms; --duration sets another",
  );
  expect(read("ep-a,2026-01-05,\nep-a,2026-01-06,7\n", { durationMs: 90 }).rows.map((row) => row[2])).toEqual(
    [90, 7],
  );
});

test.each([
  ["app,at,duration_ms", '--strict: endpoint: the column "app" is a guess; state it: --map endpoint=app'],
  ["endpoint_id,ts,duration_ms", "state it: --map at=ts"],
  ["endpoint_id,at,duration", "state it: --map duration=duration"],
])("strict reading refuses the guesses of %s", (head, problem) => {
  const text = `${head}\nx,2026-01-05T00:00:00Z,5`;
  expect(() => csv(text, {}, 7, { strict: true })).toThrow(problem);
  expect(csv(text).rows).toHaveLength(1);
});

test("strict reading refuses to guess units", () => {
  const text = `${HEAD}\nep-a,1767225600,1`;
  expect(() => csv(text, {}, 7, { strict: true })).toThrow("state it: --time-unit s");
  expect(csv(text, { timeUnit: "s" }, 7, { strict: true }).rows).toHaveLength(1);
  const plain = "endpoint_id,at,run\nep-a,2026-01-05,1";
  const mapping = parseMapping("duration=run");
  expect(() => csv(plain, { mapping }, 7, { strict: true })).toThrow(
    '--strict: duration: the unit of "run" is a guess; state it: --duration-unit ms',
  );
  expect(csv(plain, { mapping, durationUnit: "s" }, 7, { strict: true }).rows[0]?.[2]).toBe(1_000);
});

test("the first requests of each input are shown as read", () => {
  const rows = [1, 2, 3, 4].map((day) => `ep-a,2026-01-0${day},5,web`).join("\n");
  const { intake } = readWith((into) => {
    into.begin("a.csv");
    const input = csvInput(requestSink(into));
    input.push(new TextEncoder().encode(`${HEAD},source\n${rows}`));
    input.end();
  });
  const [reading] = intake.readings;
  expect(reading?.input).toBe("a.csv");
  expect(reading?.first.map(({ at }) => new Date(at).getUTCDate())).toEqual([1, 2, 3]);
  expect(reading?.first[0]).toMatchObject({ compute: "ep-a", durationMs: 5, source: "web" });
});

test("an input that cannot be a trace is rejected with a hint", () => {
  expect(() => csv("a,b\n1,2")).toThrow(
    "endpoint: no column has a known name; the columns are a, b; add --map endpoint=<column>",
  );
  expect(() => csv("endpoint_id,started\nx,2026-01-05")).toThrow(
    "at: no column has a known name; the columns are endpoint_id, started; did you mean --map at=started?",
  );
  expect(() => csv("endpoint_id,started\nx,2026-01-05", { mapping: { at: "strated" } })).toThrow(
    'at: there is no column "strated"; there are endpoint_id, started; did you mean "started"?',
  );
  expect(() => csv("endpoint_id,b\n1,2")).toThrow("at: no column has a known name");
  expect(() => csv(`${"x".repeat(1_000)},b\n1,2`)).toThrow(`the columns are ${"x".repeat(99)}…, b; add`);
  expect(() => csv(`${HEAD}\n`, { mapping: { at: "when" } })).toThrow(
    'at: there is no column "when"; there are endpoint_id, at, duration_ms',
  );
  expect(() => csv("")).toThrow("the first line must name the columns");
  expect(() => parseMapping("when=x")).toThrow(RecordingError);
  expect(() =>
    readText("ignored", (intake) => {
      const input = csvInput(requestSink(intake));
      input.push(Uint8Array.of(0xff, 0xfe, 0x61, 0, 10, 0));
      return input;
    }),
  ).toThrow("UTF-16");
});

test("one endpoint may be set for all rows, and disconnect rows are skipped", () => {
  const { rows, intake } = csv("at,kind,duration_ms\n2026-01-05,query,1\n2026-01-06,disconnect,1", {
    endpoint: "ep-x",
  });
  expect(rows).toEqual([["ep-x", "2026-01-05T00:00:00.000Z", 1, ""]]);
  expect(intake.skippedRows).toBe(1);
});

test("sources beyond the limit of 16 bits count as (other)", () => {
  const sources = [
    ...Array.from({ length: MAX_SOURCES - 1 }, (_, i) => `s${i}`),
    "one more",
    "and another",
    "s5",
  ];
  const { rows, intake } = csv(
    `${HEAD},source\n${sources.map((source) => `a,2026-01-05,1,${source}`).join("\n")}`,
    {},
    65_536,
  );
  expect(rows.slice(-4).map(([, , , source]) => source)).toEqual([
    `s${MAX_SOURCES - 2}`,
    "(other)",
    "(other)",
    "s5",
  ]);
  expect(intake.notes.join()).toContain(`more than ${MAX_SOURCES}`);
});

test("an unknown time zone is rejected", () => {
  expect(() => csv(`${HEAD}\n`, { timeZone: "Mars/Base" })).toThrow(
    'time zone: expected a name such as Europe/Berlin, got "Mars/Base"',
  );
});

test("Azure Functions 2021: requests start their duration before their end", () => {
  const { rows, intake } = csv(
    "app,func,end_timestamp,duration\nx,f,5160.142570018768,0.134\ny,g,0.05,0.134",
  );
  expect(rows).toEqual([
    ["x", "2021-01-31T01:26:00.008Z", 134, "f"],
    ["y", "2021-01-30T23:59:59.916Z", 134, "g"],
  ]);
  expect(intake.notes).toContain("the columns match the data set azure-functions-2021");
});

test("Redset: compilation, queue and execution add up", () => {
  const head =
    "instance_id,user_id,arrival_timestamp,compile_duration_ms,queue_duration_ms,execution_duration_ms";
  const { rows } = csv(`${head}\n7,3,2024-03-01 00:00:00.123456,1,,30`);
  expect(rows).toEqual([["7", "2024-03-01T00:00:00.123Z", 31, "3"]]);
});

test("Snowset: a missing value is written \\N", () => {
  const { rows } = csv(
    "queryId,warehouseId,databaseId,createdTime,endTime,durationTotal\n1,77,\\N,2018-02-21 00:00:00.5,x,12\n1,\\N,1,2018-02-21,x,12",
  );
  expect(rows).toEqual([["77", "2018-02-21T00:00:00.500Z", 12, ""]]);
});

test("a line that does not end is rejected once, and is read once, however long it is", () => {
  const chunk = new Uint8Array(64 * 1024).fill("a".charCodeAt(0));
  const rejected: (readonly [number, string])[] = [];
  const rows: number[] = [];
  const scanner = new CsvScanner(
    { row: (line) => rows.push(line), bad: (line, reason) => rejected.push([line, reason]) },
    ",",
  );
  scanner.push(new TextEncoder().encode("first,row\n"));
  // Three times the limit, in parts: without a rejected rest, each part would be rejected again.
  for (let bytes = 0; bytes < 3 * MAX.csvRecord; bytes += chunk.length) scanner.push(chunk);
  scanner.push(new TextEncoder().encode("end of the line\nlast,row\n"));
  scanner.end();
  expect(rows).toEqual([1, 3]);
  expect(rejected).toEqual([[2, `is longer than ${MAX.csvRecord} bytes`]]);
});

test.each([16, 64 * 1024, 3 * MAX.csvRecord])(
  "a record is as long as its limit at most, read in parts of %i KiB",
  (kib) => {
    const partBytes = Math.min(kib * 1024, 3 * MAX.csvRecord);
    const rejected: number[] = [];
    const rows: number[] = [];
    const scanner = new CsvScanner(
      { row: (line) => rows.push(line), bad: (line) => rejected.push(line) },
      ",",
    );
    const text = Buffer.from(`${"a".repeat(MAX.csvRecord)}\n${"b".repeat(MAX.csvRecord + 1)}\nlast,row\n`);
    for (let at = 0; at < text.length; at += partBytes) scanner.push(text.subarray(at, at + partBytes));
    scanner.end();
    expect([rows, rejected]).toEqual([[1, 3], [2]]);
  },
);
