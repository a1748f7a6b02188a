import { DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import sqlParser from "node-sql-parser";
import { describe, expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { csvInput } from "../../../src/traffic/recorded/formats/csv-input.ts";
import { readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { CurveAnswer } from "../../../src/whatif/questions/curve/curve-answer.ts";
import type { GapRow } from "../../../src/whatif/trace/gap-row.ts";
import { gapRowSink } from "../../../src/whatif/trace/gap-row-reader.ts";
import { DIALECTS, type Dialect, gapQuery } from "../../../src/whatif/trace/gap-sql.ts";
import { GapTable } from "../../../src/whatif/trace/gap-table.ts";
import { type Traffic, trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { NO_LATENCY } from "../../../src/whatif/units/start-latency.ts";
import { expectHolds } from "../../support/properties/properties.ts";
import {
  anyRequests,
  csvOf,
  gapRowsOf,
  type Request,
  tableOf,
  traceOfRequests,
} from "../../support/traffic/gap-requests.ts";
import { BEGIN, DAY, SECOND } from "../../support/traffic/traces.ts";

const RUNS = 25;

/** The whole answer as JSON: figures, margins, held-out gain and computes. */
function answerOf(traffic: Traffic): unknown {
  const question = questionFrom({ present: 300, cu: 0.25, startLatency: NO_LATENCY });
  const { currentDelay, costs } = question;
  const reading = readCurve(traffic, {
    ...{ currentDelay, costs, startMs: 0, byCompute: true, byDay: true },
    ...{ from: 0, to: traffic.computes.length },
  });
  for (let step = reading.next(); ; step = reading.next()) {
    if (step.done !== true) continue;
    const { limits: _, ...summary } = new CurveAnswer(traffic, step.value, question, randomFrom(1)).summary(
      {},
    );
    return JSON.parse(JSON.stringify(summary));
  }
}

/** Requests of two weeks, so that there are margins and a held-out gain. */
function twoWeeks(): Request[] {
  const draw = randomFrom(7).stream("test", 1);
  return ["a", "b", "c"].flatMap((compute, index) => {
    const requests: Request[] = [];
    for (
      let at = BEGIN + index;
      at < BEGIN + 15 * DAY;
      at += (1 + (draw() % 1_500)) * SECOND + (draw() % 999)
    )
      requests.push({ compute, at, durationMs: draw() % 20_000 });
    return requests;
  });
}

const read = (text: string) => {
  const table = new GapTable();
  const input = csvInput(gapRowSink(table));
  input.push(new TextEncoder().encode(text));
  input.end();
  return table;
};

describe("the answer from gap rows is that of the requests", () => {
  test("for two weeks of three computes, with margins, held-out gain and computes", () => {
    const requests = twoWeeks();
    const expected = answerOf(trafficOf(traceOfRequests(requests))) as {
      held_out: object;
      computes: object[];
    };
    expect(expected.held_out).not.toHaveProperty("missing");
    expect(expected.computes).toHaveLength(3);
    const fromRows = tableOf(gapRowsOf(requests));
    expect(answerOf(fromRows.traffic())).toEqual(expected);
    expect(answerOf(read(csvOf(fromRows)).traffic())).toEqual(expected);
  });

  test("for any requests", async () => {
    await expectHolds(
      fc.property(anyRequests, (requests) => {
        const expected = answerOf(trafficOf(traceOfRequests(requests)));
        expect(answerOf(tableOf(gapRowsOf(requests)).traffic())).toEqual(expected);
      }),
      RUNS,
    );
  });
});

test("a day of a compute has at most 418 rows", () => {
  const requests: Request[] = [{ compute: "a", at: BEGIN - 3_600 * SECOND, durationMs: 0 }];
  // The shortest gaps of different lengths, after one over midnight.
  for (let [at, gap] = [BEGIN, 0]; at < BEGIN + DAY; gap += 1, at += (gap - 1) * SECOND + 1)
    requests.push({ compute: "a", at, durationMs: 0 });
  requests.push(
    { compute: "a", at: BEGIN + DAY - 1, durationMs: 0 },
    { compute: "a", at: BEGIN + DAY - 1, durationMs: 0 },
  );
  const rows = [...tableOf(gapRowsOf(requests)).sortedRows()].filter(({ day }) => day * DAY === BEGIN);
  expect(rows.length).toBeGreaterThan(410);
  expect(rows.length).toBeLessThanOrEqual(418);
});

test("rows merge to the same bytes, however they are divided and in whatever order", async () => {
  await expectHolds(
    fc.property(anyRequests, fc.infiniteStream(fc.nat(3)), (requests, choices) => {
      const rows = gapRowsOf(requests);
      const parts: GapRow[][] = [[], [], [], []];
      for (const row of rows) parts[choices.next().value as number]?.push(row);
      const whole = csvOf(tableOf(rows));
      expect(csvOf(tableOf(parts.toReversed().flat()))).toBe(whole);
      // In two steps, as machines do.
      const [first = "", second = ""] = [parts.slice(0, 2), parts.slice(2)].map((some) =>
        csvOf(tableOf(some.flat())),
      );
      const merged = new GapTable();
      for (const text of [second, first]) for (const row of read(text).sortedRows()) merged.add(row);
      expect(csvOf(merged)).toBe(whole);
    }),
    RUNS,
  );
});

describe("DuckDB", () => {
  test("counts the gaps of any requests as the requests have them", async () => {
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    await connection.run(
      'create table calls (db varchar, "at" timestamp, ms bigint, seconds double, ended timestamp)',
    );
    const columns = { endpoint: "db", at: "at" };
    const mappings = [
      { columns: { ...columns, duration: "ms" } },
      { columns: { ...columns, duration: "seconds" }, durationUnit: "s" as const },
      { columns: { ...columns, end: "ended" } },
      { columns: { endpoint: "db", end: "ended", duration: "ms" } },
      { columns: { endpoint: "db", at: 'epoch_us("at")', duration: "ms" }, timeUnit: "us" as const },
      { columns: { endpoint: "db", at: 'epoch("at")', duration: "ms" }, timeUnit: "s" as const },
    ];
    // As doubles, 16.304 s * 1000 is less than 16,304 ms.
    const inSeconds: Request[] = [{ compute: "a", at: BEGIN + 1, durationMs: 16_304 }];
    await expectHolds(
      fc.asyncProperty(
        anyRequests,
        fc.constantFrom(...mappings),
        fc.nat(3),
        async (requests, mapping, of) => {
          await connection.run("delete from calls");
          const values = requests.map(
            ({ compute, at, durationMs }) =>
              `('${compute}', epoch_ms(${at}), ${durationMs}, ${durationMs}/1000.0, epoch_ms(${at + durationMs}))`,
          );
          await connection.run(`insert into calls values ${values.join(", ")}`);
          const parts = of === 0 ? [undefined] : Array.from({ length: of }, (_, index) => ({ index, of }));
          const results = [];
          for (const part of parts)
            results.push(
              await connection.runAndReadAll(
                gapQuery({ dialect: "duckdb", table: "calls", ...mapping, part }),
              ),
            );
          const text = [results[0]?.columnNames() ?? [], ...results.flatMap((result) => result.getRows())]
            .map((row) => row.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(","))
            .join("\n");
          expect(csvOf(read(text))).toBe(csvOf(tableOf(gapRowsOf(requests))));
        },
      ),
      2 * RUNS,
      mappings.map((mapping): [Request[], typeof mapping, number] => [inSeconds, mapping, 0]),
    );
    connection.closeSync();
    instance.closeSync();
  });
});

describe("queries", () => {
  const PARSERS: Partial<Record<Dialect, string>> = {
    postgres: "postgresql",
    redshift: "redshift",
    bigquery: "bigquery",
    snowflake: "snowflake",
    spark: "hive",
  };
  const parser = new sqlParser.Parser();
  const full = { endpoint: "db", at: "started_at", duration: "compile_ms+run_ms", kind: "kind" };
  const bounds = { from: BEGIN, to: BEGIN + DAY };

  test.each(Object.entries(PARSERS))("for %s are valid SQL", (dialect, database) => {
    for (const input of [{}, bounds, { timeUnit: "s" as const, ...bounds }]) {
      const query = gapQuery({ dialect: dialect as Dialect, table: "calls", columns: full, ...input });
      // The parser does not know windows that end before the current row.
      parser.astify(query.replace("and 1 preceding", "and current row"), { database });
    }
  });

  test.each(DIALECTS)("for %s name the columns of gap rows, the bounds and no other table", (dialect) => {
    const query = gapQuery({ dialect, table: "logs.calls", columns: full, ...bounds });
    expect(query).toMatch(
      /from logs\.calls\n {2}where .started_at.? is not null|from logs\.calls\n {2}where started_at is not null/,
    );
    expect(query).toContain(dialect === "postgres" ? String(BEGIN) : "2026-01-05");
    expect(query).toMatch(
      /min\(at_ms\) as first_at_ms, max\(at_ms\) as last_at_ms, max\(end_ms\) as last_end_ms/,
    );
  });

  test("need a column of the compute, or its name, and one of the arrivals", () => {
    const query = (columns: object, endpoint?: string) =>
      gapQuery({ dialect: "duckdb", table: "calls", columns, endpoint });
    expect(() => query({ at: "at" })).toThrow("--map: name the column of the compute");
    expect(() => query({ endpoint: "db" })).toThrow("--map: name the column of the arrivals");
    expect(query({ at: "at" }, "it's one")).toContain("select 'it''s one' as compute");
  });
});

describe("bad gap rows are errors that name the row and the field", () => {
  const HEADER = "COMPUTE,day,gap_s,over_midnight,requests,gap_ms,busy_ms,first_at_ms,last_at_ms,last_end_ms";
  const first = `a,20000,0,0,1,0,500,1728000000000,1728000000000,1728000000500`;

  test.each([
    ["a,20000,x,0,1,0,500,1,1,501", 'line 2: gap_s: "x" must be a whole number, at least 0'],
    [",20000,0,0,1,0,500,1,1,501", "line 2: compute: is empty"],
    ["a,20000,0,0,0,0,500,1,1,501", "line 2: requests: 0 must be at least 1"],
    ["a,20000,61,0,2,61000,500,1,1,501", "line 2: gap_ms: 61000 is not the length of 2 gaps of 61 s"],
    ["a,20000,0,0,1,0,500,2,1,501", "line 2: first_at_ms: 2 is after"],
    ["a,20000,700000,0,1,700000000,500,1,1,501", "line 2: gap_s: 700000 must be at most 604801"],
    ["a,20000,61,1,2,121500,500,1,1,501", "line 2: over_midnight: 1 with 2 requests"],
    ["a,20000,0", "has 3 fields, but the header has 10"],
  ])("%s", (row, message) => {
    expect(() => read(`${HEADER}\n${row}\n`)).toThrow(message);
  });

  test("a missing column is named with the existing ones", () => {
    expect(() => read("compute,day\na,1\n")).toThrow('there is no column "gap_s"; there are compute, day');
  });

  test("a compute whose rows do not cover its time is named", () => {
    const gap = "a,20000,100,0,1,100000,0,1728000100500,1728000100500,1728000100500";
    expect(read(`${HEADER}\n${first}\n${gap}\n`).traffic().computes).toEqual(["a"]);
    const later = "a,20000,0,0,1,0,0,1728000200500,1728000200500,1728000200500";
    expect(() => read(`${HEADER}\n${first}\n${gap}\n${later}\n`).traffic()).toThrow(
      'compute "a": its rows cover 101 s of 201 s; rows are missing or twice',
    );
    expect(() => read(`${HEADER}\n${first}\n${gap}\n${gap}\n`).traffic()).toThrow("its rows cover");
    expect(() => new GapTable().traffic()).toThrow("no gap rows");
  });
});
