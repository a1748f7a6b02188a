import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { processTreeCpuMs } from "../../../../src/postgres/machine/cpu-time.ts";

const BUSY_MS = 200;
/** Uses this much processor time, writes a line, and waits for the end of its input. */
const BUSY = `while (process.cpuUsage().user + process.cpuUsage().system < ${BUSY_MS * 1_000});
  console.log("done"); process.stdin.resume();`;

test.skipIf(!existsSync("/proc/self/stat"))(
  "children count while they run and after their exit",
  async () => {
    // The shell waits for a child that exits, and for one that goes on.
    const script = `"$0" -e '${BUSY.replace("process.stdin.resume();", "")}'; "$0" -e '${BUSY}'`;
    const shell = spawn("sh", ["-c", `${script}; :`, process.execPath], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    // The running child ends with its input.
    onTestFinished(() => void shell.stdin.end());
    let lines = "";
    while (lines.split("done").length < 3) lines += (await once(shell.stdout, "data"))[0];
    expect(processTreeCpuMs(shell.pid ?? 0)).toBeGreaterThanOrEqual(2 * BUSY_MS - 20);
  },
);

test("a process that does not exist has no processor time", () => {
  expect(processTreeCpuMs(2 ** 30)).toBeUndefined();
});
