import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";
import { runWhatif } from "../../support/whatif/whatif-command.ts";

const HEAD = "endpoint_id,at,duration";

function fileWith(text: string, name = "trace.csv"): string {
  const file = join(testDirectory(), name);
  writeFileSync(file, text);
  return file;
}

test("units of instants and durations can be stated", async () => {
  const file = fileWith(`${HEAD}\na,0,2.5\na,600,0.5\n`);
  const figures = (...units: string[]) => runWhatif(["curve", file, "--delay", "60", ...units]);
  expect(await figures("--time-unit", "s", "--duration-unit", "s")).toMatchObject({
    active_s: 2.5 + 60 + 0.5,
    cold_starts: 1,
  });
  expect(await figures("--time-unit", "ms", "--duration-unit", "us")).toMatchObject({ active_s: 0.601 });
});

test("a duration that is cut to 0 ms is reported, with the option that sets its unit", async () => {
  const file = fileWith(`${HEAD}\na,2026-01-01T00:00:00Z,0\na,2026-01-01T00:01:00Z,0.25\n`);
  const note =
    'duration: "0.25" milliseconds is below 1 ms and is read as 0 ms; if the unit is another one, set --duration-unit';
  expect((await runWhatif(["curve", file])).input.notes).toContain(note);
  const inSeconds = await runWhatif(["curve", file, "--duration-unit", "s"]);
  expect(inSeconds.input.notes.join()).not.toContain("is read as 0 ms");
});

test.each(["--time-unit", "--duration-unit"])(
  "%s is rejected for another unit, a world and fixed fields",
  async (flag) => {
    const file = fileWith(`${HEAD}\na,2026-01-01T00:00:00Z,5\n`);
    const refused = async (...args: string[]) => {
      const { code, stderr } = await runStandin(["whatif", "curve", ...args]);
      return [code, stderr];
    };
    expect(await refused(file, flag, "h")).toEqual([2, expect.stringMatching(/expected s, ms, us or ns/)]);
    expect(await refused("--data", "mine", flag, "s")).toEqual([
      2,
      expect.stringMatching(/only to trace files/),
    ]);
    const trace = join(testDirectory(), "done.standin-trace");
    expect((await runStandin(["whatif", "import", file, "--out", trace])).code).toBe(0);
    expect(await refused(trace, flag, "s")).toEqual([
      1,
      expect.stringMatching(/does not apply to the format standin-trace/),
    ]);
  },
);

test("a stray instant that makes the period long is reported; without it there is no note", async () => {
  const rows = (count: number) =>
    Array.from(
      { length: count },
      (_, day) => `a,${new Date(Date.UTC(2026, 0, 1 + (day % 28), day % 24)).toISOString()},5`,
    );
  const notesOf = async (lines: readonly string[]) =>
    (await runWhatif(["curve", fileWith([`${HEAD}_ms`, ...lines].join("\n"))])).input.notes as string[];
  const isStray = (note: string) => note.startsWith("the trace lasts");
  expect((await notesOf(rows(300))).filter(isStray)).toEqual([]);
  const [year] = (await notesOf([...rows(300), "a,2027-06-01T00:00:00Z,5"])).filter(isStray);
  expect(year).toMatch(
    /^the trace lasts 516 days, from 2026-01-01.* to 2027-06-01.*, but 98 % of its requests are from 2026-01-01.* to 2026-01-28.*: check its instants/,
  );
  const [ages] = (await notesOf([...rows(3), "a,9998-01-01T00:00:00Z,5"])).filter(isStray);
  expect(ages).toMatch(/^the trace lasts 2,911,\d{3} days/);
});

test("a row with missing or surplus fields is a bad row, which --strict rejects", async () => {
  const file = fileWith(
    `${HEAD}_ms\na,2026-01-01T00:00:00Z,5\na,2026-01-01T00:00:01Z\na,2026-01-01T00:00:02Z,5,6\n`,
  );
  const { stdout } = await runStandin(["whatif", "curve", file, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    traffic: { requests: 1 },
    input: {
      files: [{ bad_rows: 2 }],
      bad: [
        { line: 3, reason: "has 2 fields, but the header has 3" },
        { line: 4, reason: "has 4 fields, but the header has 3" },
      ],
    },
  });
  const strict = await runStandin(["whatif", "curve", file, "--strict"]);
  expect([strict.code, strict.stderr]).toEqual([
    1,
    expect.stringMatching(/line 3: has 2 fields, but the header has 3/),
  ]);
});

test("report.html has the notes of the import and the bad rows", async () => {
  const file = fileWith(`${HEAD}\na,2026-01-01T00:00:00Z,5\na,soon,5\na,2026-01-02T00:00:00Z,0.5\n`);
  const out = join(testDirectory(), "report");
  expect((await runStandin(["whatif", "curve", file, "--out", out])).code).toBe(0);
  const html = readFileSync(join(out, "report.html"), "utf8");
  for (const part of [
    "columns read as endpoint=",
    "is read as 0 ms",
    "1 bad row skipped",
    "trace.csv, line 3: at: &quot;soon&quot;",
  ])
    expect(html).toContain(part);
});

test("exact means given the recorded instants and durations; randomly placed calls are not exact", async () => {
  const recorded = fileWith(`${HEAD}_ms\na,2026-01-01T00:00:00Z,5\n`);
  const exact = (await runWhatif(["curve", recorded])).limits.exact;
  expect(exact[0]).toBe("Given the recorded instants and durations of the requests:");
  const minutes = Array.from({ length: 1_440 }, (_, minute) => minute + 1).join(",");
  const counts = Array.from({ length: 1_440 }, (_, minute) => (minute % 100 === 0 ? 2 : 0)).join(",");
  const counted = fileWith(`HashOwner,HashApp,HashFunction,Trigger,${minutes}\no,app,f,http,${counts}\n`);
  const trace = join(testDirectory(), "counted.standin-trace");
  const unknown = await runStandin(["whatif", "import", counted, "--out", trace]);
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("minute counts state no durations"),
  });
  const stated = ["--no-duration"];
  expect((await runStandin(["whatif", "import", counted, "--out", trace, ...stated])).code).toBe(0);
  for (const [input, options] of [
    [counted, stated],
    [trace, []],
  ] as const) {
    const { limits } = await runWhatif(["curve", input, ...options]);
    expect(limits.exact).toEqual([]);
    expect(limits.simulated.slice(0, 2)).toEqual([
      expect.stringMatching(/placed randomly within a minute/),
      exact[1],
    ]);
  }
});

test("two columns that could name the compute are an error, and the answer is about the chosen one", async () => {
  const rows = [0, 1, 2].map((hour) => `shop,2026-01-01T0${hour}:00:00Z,60000,web`);
  const file = fileWith(`db,ts,took_ms,app\n${rows.join("\n")}\n`);
  const unclear = await runStandin(["whatif", "curve", file]);
  expect(unclear.code).toBe(1);
  expect(unclear.stderr).toContain(
    'endpoint: could be read from "db" and "app"; choose one: --map endpoint=db or --map endpoint=app',
  );
  const { traffic, busy_s } = await runWhatif(["curve", file, "--map", "endpoint=db"]);
  expect([traffic.computes, busy_s]).toEqual([1, 180]);
});

test("days without any request are asked about, counted as idle, or left out in whole weeks", async () => {
  const hours = Array.from({ length: 21 * 24 }, (_, hour) => Date.UTC(2026, 0, 5, hour));
  const isMissing = (at: number) => at >= Date.UTC(2026, 0, 12) && at < Date.UTC(2026, 0, 19);
  const rows = hours.filter((at) => !isMissing(at)).map((at) => `a,${new Date(at).toISOString()},5`);
  const file = fileWith(`${HEAD}_ms\n${rows.join("\n")}\n`);
  const unanswered = await runStandin(["whatif", "curve", file]);
  expect(unanswered.code).toBe(2);
  expect(unanswered.stderr).toContain("no compute has a request on 2026-01-12 to 2026-01-18 (7 days)");
  const cost = async (...options: string[]) =>
    (await runWhatif(["curve", file, "--present", "300", ...options])).decision.current
      .cost_dollars_per_month;
  const [omitted, idle] = [await cost("--silence", "omit"), await cost("--silence", "idle")];
  const whole = fileWith(
    `${HEAD}_ms\n${hours.map((at) => `a,${new Date(at).toISOString()},5`).join("\n")}\n`,
  );
  const { decision } = await runWhatif(["curve", whole, "--present", "300"]);
  expect(Math.abs(omitted / decision.current.cost_dollars_per_month - 1)).toBeLessThan(0.01);
  expect(idle / omitted).toBeCloseTo(2 / 3, 1);
  // Idle time says as much about other days as any other: there are intervals.
  const { decision: ofIdle } = await runWhatif(["curve", file, "--silence", "idle"]);
  expect(ofIdle.no_margins).toBeNull();
  // The replays of worker threads read the same traffic.
  const compared = ["compare", file, "--policy", "fixed:300", "--silence", "omit"];
  const [one, two] = [
    await runWhatif([...compared, "--workers", "1"]),
    await runWhatif([...compared, "--workers", "2"]),
  ];
  expect(two.policies).toEqual(one.policies);
});
