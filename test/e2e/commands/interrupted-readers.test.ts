import { appendFileSync, existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test } from "vitest";
import { runStandinProcess, spawnStandin, waitForExit } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const ROW = "ep-one,2026-01-01T00:00:00Z,5\n";
/** 3 GB of rows in a few MB: reading them takes longer than this test waits. */
const MEMBERS = 200;

/** Until the process has the file open; where the system does not tell, after some seconds. */
async function untilOpen(pid: number | undefined, file: string): Promise<void> {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return setTimeout(3_000);
  const isOpen = () =>
    readdirSync(folder).some((name) => {
      try {
        return readlinkSync(`${folder}/${name}`) === file;
      } catch {
        return false;
      }
    });
  while (!isOpen()) await setTimeout(20);
}

test("Ctrl-C ends the reading of a file at once and leaves nothing behind", async () => {
  const directory = testDirectory();
  const head = gzipSync("endpoint_id,at,duration_ms\n");
  const rows = gzipSync(ROW.repeat(Math.ceil(16e6 / ROW.length)));
  const file = `${directory}/rows.csv.gz`;
  writeFileSync(file, Buffer.concat([head, ...Array.from({ length: MEMBERS }, () => rows)]));
  const importing = spawnStandin(["whatif", "import", file, "--out", `${directory}/rows.standin-trace`]);
  await untilOpen(importing.process.pid, file);
  importing.process.kill("SIGINT");
  const { code, stderr } = await waitForExit(importing);
  expect([code, stderr]).toEqual([130, "standin: interrupted\n"]);
  expect(readdirSync(directory)).toEqual(["rows.csv.gz"]);
});

const SCENARIO = `version: 1
world: { projects: { app: {} } }
length: 1h
traffic:
  - { name: recorded, to: app/main, pattern: replay, file: rows.csv, computes: { ep-one: app/main } }
`;

test("Ctrl-C ends the reading of a recording of a scenario", async () => {
  const directory = testDirectory();
  writeFileSync(`${directory}/scenario.yaml`, SCENARIO);
  const rows = ROW.repeat(Math.ceil(16e6 / ROW.length));
  writeFileSync(`${directory}/rows.csv`, "endpoint_id,at,duration_ms\n");
  for (let part = 0; part < 12; part += 1) appendFileSync(`${directory}/rows.csv`, rows);
  const running = spawnStandin(["run", `${directory}/scenario.yaml`]);
  await untilOpen(running.process.pid, `${directory}/rows.csv`);
  running.process.kill("SIGINT");
  const { code, stdout, stderr } = await waitForExit(running);
  expect([code, stdout, stderr]).toEqual([130, "", "standin: interrupted\n"]);
});

test("a large recording has the same result as a small one, and its errors name the line", async () => {
  const directory = testDirectory();
  writeFileSync(`${directory}/scenario.yaml`, SCENARIO);
  const run = () => runStandinProcess(["run", `${directory}/scenario.yaml`, "--json"]);
  const rowsWith = (note: string) => ROW.replace("\n", `,${note}\n`).repeat(100);
  const write = (rows: string) =>
    writeFileSync(`${directory}/rows.csv`, `endpoint_id,at,duration_ms,note\n${rows}`);
  write(rowsWith("short"));
  const small = await run();
  expect(small.code).toBe(0);
  // A file of more than 1 MiB is read in a thread.
  const long = rowsWith("n".repeat(20_000));
  write(long);
  expect(await run()).toEqual(small);
  write(`${long}ep-one,yesterday,5,\n`);
  const damaged = await run();
  expect([damaged.code, damaged.stderr]).toEqual([2, expect.stringMatching(/rows\.csv.*line 102/)]);
});

/** A Parquet file whose metadata declare another number of rows, in the same number of bytes. */
function withRowCount(replace: (bytes: Buffer) => void): Buffer {
  const rows = 1_000;
  const bytes = Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: "endpoint_id", data: Array.from({ length: rows }, (_, i) => `ep-${i % 3}`), type: "STRING" },
        { name: "at", data: Array.from({ length: rows }, (_, i) => 1_700_000_000_000 + i), type: "DOUBLE" },
      ],
    }),
  );
  replace(bytes);
  return bytes;
}

test("a Parquet file that declares rows that it does not have is rejected", async () => {
  const directory = testDirectory();
  const file = `${directory}/rows.parquet`;
  writeFileSync(
    file,
    withRowCount((bytes) => {
      // The zigzag varint of 1,000 is d0 0f; the first one in the footer is the number of rows of the file.
      const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
      const at = bytes.indexOf(Buffer.from([0xd0, 0x0f]), footer);
      bytes[at + 1] = 0x1f;
    }),
  );
  const { code, stderr } = await runStandinProcess([
    "whatif",
    "import",
    file,
    "--out",
    `${directory}/rows.standin-trace`,
  ]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^standin: rows\.parquet: is damaged: it declares 2024 rows, and 1000 in its row groups/,
  );
  expect(readdirSync(directory)).toEqual(["rows.parquet"]);
});
