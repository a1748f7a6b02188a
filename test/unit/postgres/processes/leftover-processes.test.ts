import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { commandNames } from "../../../../src/postgres/processes/leftover-processes.ts";

const hasPs = spawnSync("ps", ["-p", String(process.pid)]).status === 0;

test.runIf(hasPs)("a process is recognized by the directory of its command line", async () => {
  const child = spawn(process.execPath, [
    "-e",
    "setInterval(() => 0, 1000)",
    "--",
    "-D",
    "/srv/one",
    "-k",
    "/x",
  ]);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  await expect.poll(() => commandNames(pid, "/srv/one")).toBe(true);
  expect(commandNames(pid, "/srv/on")).toBe(false);
  expect(commandNames(process.pid, "/srv/one")).toBe(false);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  expect(commandNames(pid, "/srv/one")).toBe(false);
});
