import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { spawnCommand, waitForExit } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const COMMAND = join(import.meta.dirname, "../../../dist/standin.js");
const LONGEST_MS = 110_000;
const MIB = 1024 ** 2;
const INFLATED_MIB = 256;
/** Node itself takes about 100 MiB, and the longest line 16 MiB, some times. */
const MAX_MEMORY_MIB = 350;

/** Printed last by the process: the most memory that it had, in KiB. Its parent may have had more. */
const REPORT_MEMORY = `data:text/javascript,${encodeURIComponent(
  "import { readFileSync } from 'node:fs'; process.on('exit', () => process.stderr.write('memory ' + /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1] + '\\n'))",
)}`;

const HEADER = "endpoint,at,duration_ms\n";
const ROW = "a,2026-01-01T00:00:00Z,5\n";

/** Small files that become large when they are decompressed. */
const BOMBS: readonly (readonly [string, string, (fill: (byte: string) => Buffer) => Buffer])[] = [
  [
    "a line of NDJSON that does not end",
    "x.ndjson.gz",
    (fill) => Buffer.concat([Buffer.from('{"endpoint":"'), fill("a")]),
  ],
  ["empty lines only", "x.ndjson.gz", (fill) => fill("\n")],
];

test.skipIf(process.platform !== "linux").each(BOMBS)(
  "a compressed trace with %s needs little memory",
  async (_, name, content) => {
    const directory = testDirectory();
    const file = join(directory, name);
    writeFileSync(
      file,
      gzipSync(
        content((byte) => Buffer.alloc(INFLATED_MIB * MIB, byte)),
        { level: 1 },
      ),
    );
    const args = ["--import", REPORT_MEMORY, COMMAND, "whatif", "curve", file, "--json"];
    const { code, stderr } = await waitForExit(spawnCommand([process.execPath, ...args]), LONGEST_MS);
    expect(code, stderr).toBe(1);
    expect(stderr).not.toMatch(/internal error|at .*\.js:\d/);
    expect(Number(/memory (\d+)\n$/.exec(stderr)?.[1]) / 1024).toBeLessThan(MAX_MEMORY_MIB);
  },
);

test("a trace that was named is read, also through a link, and nothing else is written than --out", async () => {
  const directory = testDirectory();
  mkdirSync(join(directory, "traces"));
  writeFileSync(join(directory, "calls.csv"), HEADER + ROW);
  symlinkSync(join(directory, "calls.csv"), join(directory, "traces", "link.csv"));
  const args = ["whatif", "curve", join(directory, "traces", "link.csv"), "--json"];
  const command = ["env", "-C", directory, process.execPath, COMMAND, ...args];
  expect((await waitForExit(spawnCommand(command), LONGEST_MS)).code).toBe(0);
  expect(readdirSync(directory, { recursive: true }).sort()).toEqual([
    "calls.csv",
    "traces",
    "traces/link.csv",
  ]);
});
