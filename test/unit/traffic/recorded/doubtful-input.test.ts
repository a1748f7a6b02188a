import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HOUR, MINUTE } from "../../../../src/kernel/time.ts";
import { randomFrom } from "../../../../src/simulation/random.ts";
import { csvInput } from "../../../../src/traffic/recorded/formats/csv-input.ts";
import { requestSink } from "../../../../src/traffic/recorded/rows/row-sink.ts";
import { fileInput } from "../../../../src/traffic/recorded/trace-files/file-input.ts";
import { importTrace } from "../../../../src/traffic/recorded/trace-files/import-trace.ts";
import { readWith } from "../../../support/traffic/trace-input.ts";

const NIGHT = Date.UTC(2026, 9, 25);
const csvOf = (instants: readonly number[]) =>
  `endpoint_id,at,duration_ms\n${instants.map((at) => `ep-a,${new Date(at).toISOString()},5`).join("\n")}\n`;
const notesOf = (instants: readonly number[]) =>
  readWith((intake) => {
    intake.begin("a.csv");
    const input = csvInput(requestSink(intake));
    input.push(new TextEncoder().encode(csvOf(instants)));
    input.end();
    intake.end();
  }).intake.notes.filter((note) => note.startsWith("the instants go back"));

test("an hour that local clocks show twice is noted", () => {
  const ascending = Array.from({ length: 40 }, (_, index) => NIGHT + index * 6 * MINUTE);
  const repeated = ascending.map((at) => (at >= NIGHT + 3 * HOUR ? at - HOUR : at));
  expect(notesOf(ascending)).toEqual([]);
  expect(notesOf(repeated)).toEqual([
    "the instants go back by 54 min after 2026-10-25T02:54:00.000Z: if they are local times at a clock change, this hour counts twice; write instants in UTC or with an offset",
  ]);
});

test("an input in any order is not taken for a clock change", () => {
  const shuffled = Array.from({ length: 40 }, (_, index) => NIGHT + ((index * 17) % 40) * 6 * MINUTE);
  expect(notesOf(shuffled)).toEqual([]);
});

test.each([
  [["a.csv", "a.csv"], true],
  [["a.csv"], false],
])("the files %j: a file that is given twice is noted: %s", async (names, isNoted) => {
  const directory = mkdtempSync(join(tmpdir(), "standin-twice-"));
  writeFileSync(
    join(directory, "a.csv"),
    csvOf(Array.from({ length: 20 }, (_, index) => NIGHT + index * MINUTE)),
  );
  const inputs = names.map((name) => fileInput(join(directory, name), { random: randomFrom(1) }));
  const { notes } = await importTrace(inputs, join(directory, "t.standin-trace"));
  expect(notes.some((note) => note.startsWith("50 % of the requests repeat another one"))).toBe(isNoted);
});

test("a file that is given twice is noted if different requests arrive in one millisecond", async () => {
  const directory = mkdtempSync(join(tmpdir(), "standin-twice-"));
  const pairs = Array.from({ length: 20 }, (_, index) => {
    const at = new Date(NIGHT + index * MINUTE).toISOString();
    return `ep-a,${at},5\nep-a,${at},7\nep-a,${at},9`;
  });
  writeFileSync(join(directory, "a.csv"), `endpoint_id,at,duration_ms\n${pairs.join("\n")}\n`);
  const inputs = () => fileInput(join(directory, "a.csv"), { random: randomFrom(1) });
  const notesOfFiles = async (...files: Parameters<typeof importTrace>[0]) =>
    (await importTrace(files, join(directory, "t.standin-trace"))).notes;
  const note =
    "50 % of the requests repeat another one with the same compute, instant, duration and source: is a file given twice?";
  expect(await notesOfFiles(inputs(), inputs())).toContain(note);
  expect(await notesOfFiles(inputs())).not.toContain(note);
});

test("a file that is given twice beside a larger one is noted, and files with other requests are not", async () => {
  const directory = mkdtempSync(join(tmpdir(), "standin-twice-"));
  const write = (name: string, count: number, from: number, isReversed = false) => {
    const ats = Array.from({ length: count }, (_, index) => from + index * MINUTE);
    writeFileSync(join(directory, name), csvOf(isReversed ? ats.reverse() : ats));
  };
  write("a.csv", 20, NIGHT);
  write("copy.csv", 20, NIGHT, true);
  write("other.csv", 20, NIGHT + 1);
  write("large.csv", 400, NIGHT + 30_000);
  const notesOfFiles = async (...names: string[]) => {
    const inputs = names.map((name) => fileInput(join(directory, name), { random: randomFrom(1) }));
    const { notes } = await importTrace(inputs, join(directory, "t.standin-trace"));
    return notes.filter((note) => note.includes("twice?"));
  };
  expect(await notesOfFiles("a.csv", "large.csv", "copy.csv")).toEqual([
    "copy.csv has the same 20 requests as a.csv: is a file given twice?",
  ]);
  expect(await notesOfFiles("a.csv", "large.csv", "other.csv")).toEqual([]);
});
