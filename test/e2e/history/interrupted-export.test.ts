import { existsSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { spawnStandin } from "../../support/process/process.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

/** A world whose history and file take a while to copy. */
async function createWorld(): Promise<string> {
  const data = testDirectory();
  const server = await startServer(data, ["--clock", "manual", "--operations", "immediate"]);
  for (let number = 0; number < 40; number += 1)
    await server.api("POST", "/projects", { project: { name: `project ${number}` } });
  await server.sim("POST", "/clock/advance", { by: "2d" });
  await server.kill("SIGTERM");
  return data;
}

/** Signals the command when its number of changes in the directory of its output has been made. */
async function interruptAfter(changes: number, data: string, options: readonly string[]) {
  const directory = testDirectory();
  const out = join(directory, "out.sqlite");
  const running = spawnStandin(["export", data, "--out", out, ...options]);
  onTestFinished(async () => void (await running.kill("SIGKILL")));
  let seen = 0;
  const watcher = watch(directory, () => {
    seen += 1;
    if (seen === changes) running.process.kill("SIGINT");
  });
  onTestFinished(() => watcher.close());
  const code = await running.ended;
  return { code, hasOutput: existsSync(out), names: readdirSync(directory), stderr: running.stderr() };
}

test.each([[[]], [["--events"]]])(
  "an export %j that is interrupted at any moment leaves a complete file or none",
  async (options) => {
    const data = await createWorld();
    const ends = new Set<number | null>();
    for (const changes of [1, 2, 3, 4, 6, 8, 12]) {
      const { code, hasOutput, names, stderr } = await interruptAfter(changes, data, options);
      ends.add(code);
      expect([changes, names]).toEqual([changes, hasOutput ? ["out.sqlite"] : []]);
      // A signal after the export is complete ends the process.
      if (hasOutput) expect([0, null]).toContain(code);
      else expect([code, stderr]).toEqual([130, expect.stringContaining("interrupted; nothing was written")]);
    }
    expect([...ends]).toContain(130);
  },
);
