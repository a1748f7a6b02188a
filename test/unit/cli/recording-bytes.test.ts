import { serialize } from "node:v8";
import { expect, test } from "vitest";
import { InvalidRecording, recordingBytes, recordingFrom } from "../../../src/cli/queue/recording-bytes.ts";
import { readRecording } from "../../../src/traffic/recorded/read-recording.ts";

const CSV = [
  "endpoint,at,duration_ms,kind,queries,source,connection_id",
  "a,2026-01-01T00:00:01Z,5,query,2,web,c1",
  "b,2026-01-01T00:00:00Z,0,transaction,1,cron,",
  "a,2026-01-01T00:00:00Z,7,query,1,,c2",
  "a,never,7,query,1,,c2",
  "",
].join("\n");

const recorded = () => readRecording([CSV], { format: "csv" });

test("a recording is read as it was written", async () => {
  const recording = await recorded();
  expect(recording).toMatchObject({ rows: 3, badRows: 1 });
  expect(recordingFrom(recordingBytes(recording))).toEqual(recording);
  const empty = await readRecording(["endpoint,at\n"], { format: "csv" });
  expect(recordingFrom(recordingBytes(empty))).toEqual(empty);
});

test("a recording that is shorter or longer than it says is invalid", async () => {
  const bytes = recordingBytes(await recorded());
  for (let length = 0; length < bytes.length; length += 1)
    expect(() => recordingFrom(bytes.subarray(0, length)), String(length)).toThrow(InvalidRecording);
  expect(() => recordingFrom(Buffer.concat([bytes, Buffer.alloc(8)]))).toThrow(InvalidRecording);
});

test("values of JavaScript that V8 has serialized are no recording", async () => {
  expect(() => recordingFrom(serialize(new Map([["a", 1]])))).toThrow(InvalidRecording);
});

/** Changes the columns of the endpoint `a`. */
const WRONG = [
  ["an instant that is no number", { at: new Float64Array([Number.NaN, 1]) }],
  ["an instant after the end of time", { at: new Float64Array([0, 1e18]) }],
  ["instants that are not sorted", { at: new Float64Array([2, 1]) }],
  ["a negative duration", { durationMs: new Float64Array([-1, 1]) }],
  ["an endless duration", { durationMs: new Float64Array([Number.POSITIVE_INFINITY, 1]) }],
  ["an unknown kind", { kind: new Uint8Array([4, 0]) }],
  ["an unknown source", { source: new Uint16Array([0, 3]) }],
  ["a negative connection", { connection: new Int32Array([-2, 0]) }],
] as const;

test.each(WRONG)("a recording with %s is invalid", async (_, change) => {
  const recording = await recorded();
  const endpoints = new Map(recording.endpoints);
  const columns = endpoints.get("a");
  if (columns === undefined) throw new Error("no endpoint");
  endpoints.set("a", { ...columns, ...change });
  expect(() => recordingFrom(recordingBytes({ ...recording, endpoints }))).toThrow(
    /arrival \d of the recording/,
  );
});
