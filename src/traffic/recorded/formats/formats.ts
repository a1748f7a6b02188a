import { type Cells, textAt } from "../rows/cells.ts";
import { InstantReader } from "../rows/instant-reader.ts";
import { columnNamesIn } from "./csv-input.ts";
import { CsvScanner } from "./csv-scanner.ts";
import { parseObject } from "./json-input.ts";
import { areMinuteCounts } from "./minute-counts.ts";
import { CSVLOG_COLUMNS } from "./postgres-log.ts";

export type InputFormat =
  | "csv"
  | "ndjson"
  | "parquet"
  | "journal"
  | "csvlog"
  | "jsonlog"
  | "azure-functions-2019"
  | "standin-trace"
  | "world";

export const INPUT_FORMATS: readonly InputFormat[] = [
  "csv",
  "ndjson",
  "parquet",
  "journal",
  "csvlog",
  "jsonlog",
  "azure-functions-2019",
  "standin-trace",
  "world",
];

/** Bytes read to guess a format; a row of 1,440 minute counts fits. */
export const GUESS_BYTES = 65_536;

const MAGIC: readonly (readonly [text: string, format: InputFormat])[] = [
  ["PAR1", "parquet"],
  ["SITRACE\n", "standin-trace"],
  ["SQLite format 3\0", "world"],
];

/** Guesses the format from the start of an input; `undefined` if it is unknown. */
export function guessFormat(head: Uint8Array): InputFormat | undefined {
  const magic = MAGIC.find(([text]) =>
    [...text].every((letter, index) => head[index] === letter.charCodeAt(0)),
  );
  if (magic !== undefined) return magic[1];
  const start = new TextDecoder()
    .decode(head)
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (start === "" || start.includes("\0")) return undefined;
  if (/^(\{|data:|event:|id:|retry:|:)/.test(start)) return guessJson(start);
  return guessCsv(head);
}

function guessJson(start: string): InputFormat {
  const [first] = start.split("\n").filter((line) => line.trim() !== "" && !/^(id|event|retry)?:/.test(line));
  const value = parseObject((first ?? "").replace(/^data: ?/, ""));
  if (
    !start.startsWith("{") ||
    (value !== undefined && typeof value["type"] === "string" && "at" in value && "seq" in value)
  )
    return "journal";
  if (value?.["type"] === "ActivityRecorded") return "journal";
  const isLog = value !== undefined && "timestamp" in value && "error_severity" in value && "pid" in value;
  return isLog ? "jsonlog" : "ndjson";
}

function guessCsv(head: Uint8Array): InputFormat | undefined {
  let guess: InputFormat | undefined;
  const scanner = new CsvScanner({
    row(_, cells) {
      guess ??= formatOfFirstRecord(cells);
    },
    bad: () => {},
  });
  scanner.push(head);
  scanner.end();
  return guess;
}

function formatOfFirstRecord(cells: Cells): InputFormat {
  const instant = new InstantReader({ timeZone: "UTC" }).read(
    cells.bytes,
    cells.starts[0] ?? 0,
    cells.ends[0] ?? 0,
  );
  if (CSVLOG_COLUMNS.includes(cells.count) && !Number.isNaN(instant) && /^\d{4}-/.test(textAt(cells, 0)))
    return "csvlog";
  return areMinuteCounts(columnNamesIn(cells)) ? "azure-functions-2019" : "csv";
}
