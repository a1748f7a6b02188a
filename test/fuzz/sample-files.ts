import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { createDouble, createProject, START } from "../support/double/double.ts";
import { runStandinProcess } from "../support/process/process.ts";

const ROWS = 400;
/** Columns of a Postgres log in CSV. */
const LOG_COLUMNS = 26;
const [MESSAGE, APPLICATION, BACKEND] = [13, 22, 23] as const;

/** Small valid files of every format that `standin whatif import` reads, by name. */
export async function sampleFiles(scratch: string): Promise<ReadonlyMap<string, Buffer>> {
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    endpoint_id: `ep-${i % 7}`,
    at: new Date(Date.UTC(2026, 0, 1) + 1_000 * i).toISOString(),
    duration_ms: i % 13,
  }));
  const csv = Buffer.from(
    ["endpoint_id,at,duration_ms", ...rows.map((row) => Object.values(row).join(","))].join("\n"),
  );
  const ndjson = asLines(rows);
  const columnData = (["endpoint_id", "at", "duration_ms"] as const).map((name) => ({
    name,
    data: rows.map((row) => row[name]),
  }));
  const parquet = (codec: "SNAPPY" | "UNCOMPRESSED") =>
    Buffer.from(parquetWriteBuffer({ columnData, codec }));
  return new Map([
    ["rows.csv", csv],
    ["rows.csv.gz", gzipSync(csv)],
    ["rows.ndjson", ndjson],
    ["rows.ndjson.gz", gzipSync(ndjson)],
    ["snappy.parquet", parquet("SNAPPY")],
    ["plain.parquet", parquet("UNCOMPRESSED")],
    ["log.csv", csvLog()],
    ["log.json", jsonLog()],
    ["journal.ndjson", await journal()],
    ["rows.standin-trace", await trace(csv, scratch)],
  ]);
}

/** The options of the one format that is not detected. */
export function formatOf(path: string): readonly string[] {
  return path.endsWith("log.json") ? ["--format", "jsonlog"] : [];
}

function asLines(values: readonly unknown[]): Buffer {
  return Buffer.from(values.map((value) => JSON.stringify(value)).join("\n"));
}

/** Log time and message of each statement; some statements have quotes and line breaks. */
function statements(): { time: string; message: string }[] {
  return Array.from({ length: ROWS }, (_, i) => ({
    time: new Date(Date.UTC(2026, 0, 5) + 1_000 * i).toISOString().replace("T", " ").replace("Z", " UTC"),
    message: `duration: ${i % 50}.25 ms  statement: select "a${i}"${i % 5 === 0 ? ",\n1" : ""}`,
  }));
}

function csvLog(): Buffer {
  const lines = statements().map(({ time, message }) => {
    const cells = Array.from({ length: LOG_COLUMNS }, () => "");
    cells[0] = time;
    cells[MESSAGE] = `"${message.replaceAll('"', '""')}"`;
    cells[APPLICATION] = "psql";
    cells[BACKEND] = '"client backend"';
    return cells.join(",");
  });
  return Buffer.from(lines.join("\n"));
}

function jsonLog(): Buffer {
  return asLines(
    statements().map(({ time, message }) => ({
      timestamp: time,
      message,
      application_name: "psql",
      backend_type: "client backend",
    })),
  );
}

/** The events of a world with connections, queries and suspends. */
async function journal(): Promise<Buffer> {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const activities = Array.from({ length: ROWS / 4 }, (_, i) => {
    const at = new Date(START + (i + 1) * 400_000).toISOString();
    const connection_id = `c${i}`;
    const kind = ["connect", "query", "disconnect"][i % 3];
    return kind === "query"
      ? { endpoint_id: endpointId, at, duration_ms: i }
      : { endpoint_id: endpointId, at, kind, connection_id };
  });
  const { status, body } = await double.sim("POST", "/activity", activities);
  if (status !== 200) throw new Error(`POST /_sim/activity: ${status} ${JSON.stringify(body)}`);
  await double.sim("POST", "/clock/advance", { by: "1d" });
  const { events } = (await double.sim("GET", "/events?since=0&limit=10000")).body;
  await double.close();
  return asLines(events);
}

async function trace(csv: Buffer, scratch: string): Promise<Buffer> {
  const [from, out] = [join(scratch, "sample.csv"), join(scratch, "sample.standin-trace")];
  writeFileSync(from, csv);
  const { code, stderr } = await runStandinProcess(["whatif", "import", from, "--out", out]);
  if (code !== 0) throw new Error(stderr);
  return readFileSync(out);
}
