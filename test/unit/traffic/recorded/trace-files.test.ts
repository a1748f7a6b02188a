import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { randomFrom } from "../../../../src/simulation/random.ts";
import { RunBuffer, rowColumns } from "../../../../src/traffic/recorded/rows/row-run.ts";
import { checkArrivals, eachPart, PART_LENGTH } from "../../../../src/traffic/recorded/trace/trace.ts";
import { fileInput } from "../../../../src/traffic/recorded/trace-files/file-input.ts";
import {
  type ImportOptions,
  type ImportProgress,
  importTrace,
} from "../../../../src/traffic/recorded/trace-files/import-trace.ts";
import { SpillFile } from "../../../../src/traffic/recorded/trace-files/spill.ts";
import { TraceFile } from "../../../../src/traffic/recorded/trace-files/trace-file.ts";
import { estimateTraceBytes } from "../../../../src/traffic/recorded/trace-files/trace-writer.ts";
import { curveOf, pointAt } from "../../../../src/whatif/gap-curve/curve.ts";
import { questionFrom } from "../../../../src/whatif/input/question.ts";
import { fleetGapsOf } from "../../../../src/whatif/input/replay-jobs.ts";
import { trafficOf } from "../../../../src/whatif/trace/traffic.ts";
import { expectHolds } from "../../../support/properties/properties.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "standin-trace-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const at = (name: string) => join(directory, name);
const options = { random: randomFrom(1) };
type PlainRow = {
  readonly endpoint: number;
  readonly at: number;
  readonly durationMs: number;
  readonly source: number;
};

function csvFile(name: string, rows: readonly PlainRow[]): string {
  const lines = rows.map((row) => `ep-${row.endpoint},${row.at},${row.durationMs},app-${row.source}`);
  writeFileSync(at(name), `${["endpoint_id,at,duration_ms,source", ...lines].join("\n")}\n`);
  return at(name);
}

async function imported(
  paths: readonly string[],
  importOptions: ImportOptions = {},
  out = at("t.standin-trace"),
) {
  return importTrace(
    paths.map((path) => fileInput(path, options)),
    out,
    importOptions,
  );
}

function opened<T>(use: (file: TraceFile) => T, path = at("t.standin-trace")): T {
  const file = new TraceFile(path);
  try {
    return use(file);
  } finally {
    file.close();
  }
}

/** Requests by compute, as an unbounded importer would return them. */
function expectedOf(rows: readonly PlainRow[]) {
  const ids = [...new Set(rows.map(({ endpoint }) => endpoint))];
  return ids.map((id) => ({
    id: `ep-${id}`,
    requests: rows
      .filter(({ endpoint }) => endpoint === id)
      .sort((one, other) => one.at - other.at)
      .map((row) => [row.at, row.durationMs, `app-${row.source}`]),
  }));
}

function readBack() {
  return opened((file) => {
    file.verify();
    const { computes, sources = [], period } = file.load();
    return computes.map(({ id, arrivals: requests }) => {
      expect(checkArrivals(requests, period)).toBeUndefined();
      return {
        id,
        requests: Array.from(requests.at, (time, i) => [
          time,
          requests.durationMs[i],
          sources[requests.source?.[i] ?? -1],
        ]),
      };
    });
  });
}

const BASE = 1_767_225_600_000;
const rowsOf = fc.array(
  fc.record({
    endpoint: fc.nat(4),
    at: fc.oneof(fc.nat(20), fc.nat(70_000), fc.nat(2 ** 33), fc.nat(2 ** 40)).map((ms) => BASE + ms),
    durationMs: fc.oneof(fc.constantFrom(0, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32), fc.nat(300)),
    source: fc.nat(2),
  }),
  { minLength: 1, maxLength: 60 },
);

test("an import reads back as its rows by compute and time, sorted in memory or on disk", async () => {
  await expectHolds(
    fc.asyncProperty(rowsOf, fc.integer({ min: 1, max: 70 }), async (rows, rowsInMemory) => {
      const report = await imported([csvFile("t.csv", rows)], { rowsInMemory });
      expect([report.rows, report.header.rows]).toEqual([rows.length, rows.length]);
      expect(readBack()).toEqual(expectedOf(rows));
    }),
    200,
  );
  expect(readdirSync(directory).sort()).toEqual(["t.csv", "t.standin-trace"]);
});

test("the output does not depend on the memory, and rows of one instant keep their order", async () => {
  const rows = Array.from({ length: 500 }, (_, i) => ({
    endpoint: (i * 7) % 11,
    at: BASE + ((i * 7_919) % 10),
    durationMs: i,
    source: i % 2,
  }));
  const path = csvFile("t.csv", rows);
  const hashes = new Set<string>();
  for (const rowsInMemory of [1, 7, 50, 130, 499, 500, 501, 10_000])
    hashes.add((await imported([path], { rowsInMemory })).header.sha256);
  expect(hashes.size).toBe(1);
  expect(readBack()).toEqual(expectedOf(rows));
});

test.each([PART_LENGTH - 1, PART_LENGTH, PART_LENGTH + 1])(
  "a compute with %d requests is read in parts",
  async (count) => {
    await imported([
      csvFile(
        "t.csv",
        Array.from({ length: count }, (_, i) => ({
          endpoint: 0,
          at: BASE + i * 300,
          durationMs: 1,
          source: 0,
        })),
      ),
    ]);
    opened((file) => {
      const lengths: number[] = [];
      eachPart(file.partsOf(0), ({ at }) => lengths.push(at.length));
      expect(lengths).toEqual(count > PART_LENGTH ? [PART_LENGTH, count - PART_LENGTH] : [count]);
      expect(file.load().computes[0]?.arrivals.at.at(-1)).toBe(BASE + (count - 1) * 300);
    });
  },
);

const SOME = [
  { endpoint: 1, at: BASE + 5_000, durationMs: 3, source: 0 },
  { endpoint: 0, at: BASE, durationMs: 2, source: 1 },
];

test("any changed byte is reported as damage on open, read or verify", async () => {
  await imported([csvFile("t.csv", SOME)]);
  const sound = readFileSync(at("t.standin-trace"));
  for (let byte = 0; byte < sound.length; byte += 1) {
    const changed = Buffer.from(sound);
    changed[byte] = (changed[byte] as number) ^ 0x10;
    writeFileSync(at("changed"), changed);
    expect(() => opened((file) => file.verify(), at("changed")), `byte ${byte}`).toThrow(
      /is damaged, or not a trace: /,
    );
  }
});

test("a truncated or extended file is reported as damaged on open", async () => {
  await imported([csvFile("t.csv", SOME)]);
  const sound = readFileSync(at("t.standin-trace"));
  for (let length = 0; length < sound.length; length += 1) {
    writeFileSync(at("cut"), sound.subarray(0, length));
    expect(() => new TraceFile(at("cut")), `${length} bytes`).toThrow("is damaged, or not a trace");
  }
  writeFileSync(at("cut"), Buffer.concat([sound, Buffer.of(0)]));
  expect(() => new TraceFile(at("cut"))).toThrow("bytes instead of");
});

test("bad values in a guessed column are reported with the option that reads another one", async () => {
  writeFileSync(at("wrong.csv"), "endpoint_id,time,started,duration_ms\nx,noon,2026-01-05,1\n");
  const hint =
    'at: the column "time" was guessed, and not all of its values can be read; the columns are endpoint_id, time, started, duration_ms; did you mean --map at=started?';
  await expect(imported([at("wrong.csv")])).rejects.toThrow(hint);
  writeFileSync(
    at("partly.csv"),
    "endpoint_id,time,started,duration_ms\nx,noon,2026-01-05,1\nx,2026-01-05,2026-01-05,1\n",
  );
  expect((await imported([at("partly.csv")])).notes).toContain(hint);
});

test("the period covers the first to the last arrival, or is the requested one; other rows are counted", async () => {
  const path = csvFile("t.csv", SOME);
  expect((await imported([path])).header.period).toEqual({ startAt: BASE, endAt: BASE + 5_001 });
  const instant = csvFile("i.csv", [{ endpoint: 0, at: BASE, durationMs: 0, source: 0 }]);
  expect((await imported([instant])).header.period).toEqual({ startAt: BASE, endAt: BASE + 1 });
  const long = csvFile("l.csv", [{ endpoint: 0, at: BASE, durationMs: 9_000, source: 0 }, ...SOME]);
  expect((await imported([long])).header.period.endAt).toBe(BASE + 5_001);
  const report = await imported([path], { startAt: BASE - 1, endAt: BASE + 5_000 });
  expect(report.header.period).toEqual({ startAt: BASE - 1, endAt: BASE + 5_000 });
  expect([report.rows, report.outsideRows]).toEqual([1, 1]);
  await expect(imported([path], { endAt: BASE })).rejects.toThrow(
    "no usable request in t.csv (2 outside the period)",
  );
});

test.each([
  [{ mapping: { source: "user" } }, "a mapping"],
  [{ preset: "redset" }, "a preset"],
  [{ endpoint: "ep-one" }, "an endpoint name"],
  [{ timeZone: "Europe/Berlin" }, "a time zone"],
] as const)("an option that does not apply to the format is rejected: %j", async (input, text) => {
  await imported([csvFile("t.csv", SOME)]);
  const mapped = fileInput(at("t.standin-trace"), { ...options, ...input });
  await expect(importTrace([mapped], at("u.standin-trace"))).rejects.toThrow(
    `t.standin-trace: ${text} does not apply to the format standin-trace, which has fixed fields`,
  );
});

test("a re-imported trace keeps its period, and another file may extend it", async () => {
  await imported([csvFile("t.csv", SOME)], { endAt: BASE + 5_500 });
  await imported([at("t.standin-trace")], {}, at("u.standin-trace"));
  expect(opened(({ period }) => period.endAt, at("u.standin-trace"))).toBe(BASE + 5_500);
  const more = csvFile("m.csv", [{ endpoint: 0, at: BASE + 5_999, durationMs: 6_000, source: 0 }]);
  await imported([at("t.standin-trace"), more], {}, at("u.standin-trace"));
  expect(opened(({ period }) => period.endAt, at("u.standin-trace"))).toBe(BASE + 6_000);
});

test("active time of every delay equals a second-by-second simulation", async () => {
  const source = randomFrom(9).stream("rows", 0);
  const rows = Array.from({ length: 60 }, () => ({
    endpoint: source() % 3,
    at: BASE + 1_000 * (source() % 3_600),
    durationMs: 1_000 * (source() % 400),
    source: 0,
  }));
  await imported([csvFile("t.csv", rows)]);
  const curve = opened((file) => curveOf(fleetGapsOf(trafficOf(file.load()), questionFrom({}))));
  const ends = rows.map((row) => row.at + row.durationMs);
  const lastAt = Math.max(...rows.map((row) => row.at));
  for (const delay of [0, 1, 60, 200, 1_000]) {
    let active = 0;
    for (let second = BASE; second < Math.max(...ends); second += 1_000) {
      for (const endpoint of [0, 1, 2]) {
        const own = rows.filter((row) => row.endpoint === endpoint);
        const isWithin = (moreMs: number) =>
          own.some((row) => row.at <= second && second < row.at + row.durationMs + moreMs);
        if (isWithin(0)) active += 1_000;
        // The period ends one millisecond after the last arrival.
        else if (isWithin(1_000 * delay)) active += Math.min(1_000, Math.max(0, lastAt + 1 - second));
      }
    }
    expect(pointAt(curve, delay).activeMs, `${delay} s`).toBe(active);
  }
});

test("files of several formats, one gzipped, become one trace, and a trace can be imported again", async () => {
  csvFile("a.csv", SOME);
  writeFileSync(
    at("b.ndjson.gz"),
    gzipSync(`${JSON.stringify({ endpoint_id: "ep-0", at: BASE + 1, duration_ms: 9, source: "app-0" })}\n`),
  );
  await imported([at("a.csv"), at("b.ndjson.gz")]);
  const first = readBack();
  expect(first.find(({ id }) => id === "ep-0")?.requests).toEqual([
    [BASE, 2, "app-1"],
    [BASE + 1, 9, "app-0"],
  ]);
  await imported([at("t.standin-trace")], {}, at("u.standin-trace"));
  expect(opened((file) => file.load().computes, at("u.standin-trace"))).toEqual(
    opened((file) => file.load().computes),
  );
});

test("progress has rows and bytes, and with a clock the rate", async () => {
  const heard: ImportProgress[] = [];
  let now = 0;
  const clock = () => {
    now += 1_000;
    return now;
  };
  const path = csvFile("t.csv", SOME);
  await imported([path, path], { clock, onProgress: (progress) => void heard.push(progress) });
  const ofBytes = 2 * readFileSync(path).length;
  expect(
    heard.map(({ rows, bytes, totalBytes: of, rowsPerSecond }) => [rows, bytes / of, of, rowsPerSecond]),
  ).toEqual([
    [2, 0.5, ofBytes, 2],
    [4, 1, ofBytes, 2],
  ]);
});

test("a failed import leaves the previous trace unchanged and no other files", async () => {
  await imported([csvFile("t.csv", SOME)]);
  const previous = readFileSync(at("t.standin-trace"));
  writeFileSync(at("bad.csv"), "endpoint_id,at,duration_ms\nep-a,2026-01-05,1\nep-a,never,1\n");
  await expect(imported([at("bad.csv")], { strict: true, rowsInMemory: 1 })).rejects.toThrow(
    /^bad\.csv: line 3: at: /,
  );
  expect(readFileSync(at("t.standin-trace")).equals(previous)).toBe(true);
  expect(readdirSync(directory).sort()).toEqual(["bad.csv", "t.csv", "t.standin-trace"]);
  expect((await imported([at("bad.csv")])).badRows).toBe(1);
});

test("missing files, directories, empty files and truncated gzip are rejected by name", async () => {
  expect(() => fileInput(at("none"), options)).toThrow("does not exist");
  expect(() => fileInput(at("."), options)).toThrow(/ is a directory; pass the files in it/);
  writeFileSync(at("empty"), "");
  await expect(imported([at("empty")])).rejects.toThrow("empty: is empty or has an unknown format");
  const noise = Array.from({ length: 5_000 }, (_, i) => ({
    endpoint: i % 97,
    at: BASE + ((i * 7_919) % 100_003),
    durationMs: (i * 31) % 97,
    source: 0,
  }));
  writeFileSync(at("cut.csv.gz"), gzipSync(readFileSync(csvFile("t.csv", noise))));
  truncateSync(at("cut.csv.gz"), 9_000);
  await expect(imported([at("cut.csv.gz")])).rejects.toThrow("cut.csv.gz: is damaged");
  expect(existsSync(at("t.standin-trace"))).toBe(false);
});

test("spilled rows are in an unlinked file, so nothing remains however the process ends", () => {
  const before = readdirSync(at("."));
  const spill = new SpillFile(at("large.standin-trace"));
  const run = new RunBuffer(10, () => {});
  for (let i = 0; i < 3; i += 1) run.add(0, i, i, 0);
  spill.write(run.group());
  expect(readdirSync(at("."))).toEqual(before);
  const [stretch] = spill.segmentsOf()(0);
  const into = rowColumns(3);
  stretch?.read(0, into);
  expect([...into.at]).toEqual([0, 1, 2]);
  spill.remove();
});

test("maxBytes allows a trace of exactly that size; a larger trace leaves no file", async () => {
  const file = csvFile("t.csv", SOME);
  await imported([file]);
  const size = statSync(at("t.standin-trace")).size;
  await imported([file], { maxBytes: size }, at("u.standin-trace"));
  const before = readdirSync(directory);
  await expect(imported([file], { maxBytes: size - 1 }, at("v.standin-trace"))).rejects.toThrow(
    `the limit is ${(size - 1).toLocaleString("en")}`,
  );
  expect(readdirSync(directory)).toEqual(before);
});

test("the size of a large trace is estimated from its first rows", async () => {
  const count = 40_000;
  const rows = Array.from({ length: count }, (_, index) => ({
    ...{ endpoint: 0, at: BASE + index * 1_000, durationMs: 5, source: 0 },
  }));
  const estimates: (number | undefined)[] = [];
  const onProgress = ({ estimatedBytes }: ImportProgress) => void estimates.push(estimatedBytes);
  await imported([csvFile("large.csv", rows)], { onProgress });
  const [first = 0] = estimates.filter((bytes) => bytes !== undefined);
  expect(Math.abs(first / estimateTraceBytes(count) - 1)).toBeLessThan(0.1);
  await imported([csvFile("small.csv", SOME)], { onProgress }, at("small.standin-trace"));
  expect(estimates.at(-1)).toBeUndefined();
});
