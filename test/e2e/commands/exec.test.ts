import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandinProcess, spawnStandin, waitForExit } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const NODE = process.execPath;
/** Creates a project on the server of the environment. */
const CREATES = `fetch(process.env.NEON_API_HOST + "/projects", {
  method: "POST",
  headers: { Authorization: "Bearer " + process.env.NEON_API_KEY, "Content-Type": "application/json" },
  body: JSON.stringify({ project: { name: "shop" } }),
}).then(async (response) => { console.log(response.status, (await response.json()).project.id); process.exitCode = 3; })`;
const exec = (args: readonly string[], env: Record<string, string> = {}) =>
  runStandinProcess(["exec", ...args], env);

test("the command has a server of its own, its exit status is passed on, and nothing is left", async () => {
  const scratch = testDirectory();
  const results = [];
  for (let round = 0; round < 2; round += 1)
    results.push(
      await exec(["--clock", "manual", "--settle", "--", NODE, "-e", CREATES], { TMPDIR: scratch }),
    );
  expect(results[0]).toEqual({ code: 3, stdout: expect.stringMatching(/^201 \S+\n$/), stderr: "" });
  expect(results[1]).toEqual(results[0]);
  expect(readdirSync(scratch)).toEqual([]);
});

test("with --keep, the world of a failed command is kept and named; that of a successful one is not", async () => {
  const scratch = testDirectory();
  const failed = await exec(["--keep", "--", NODE, "-e", CREATES], { TMPDIR: scratch });
  const [, kept = ""] =
    /kept the world in (\S+); to look at it: standin serve --data \1, /.exec(failed.stderr) ?? [];
  expect([failed.code, existsSync(join(kept, "worlds/default.sqlite"))]).toEqual([3, true]);
  expect((await exec(["--keep", "--", NODE, "-e", ""], { TMPDIR: scratch })).code).toBe(0);
  expect(readdirSync(scratch)).toHaveLength(1);
});

test("Ctrl-C ends the command, stops the server and removes the world", async () => {
  const scratch = testDirectory();
  const running = spawnStandin(
    ["exec", "--", NODE, "-e", "console.log(process.env.STANDIN_DATA); setInterval(() => {}, 1000)"],
    { TMPDIR: scratch },
  );
  await running.waitForOutput(/standin-exec-.*\n/);
  running.process.kill("SIGINT");
  const { code, stderr } = await waitForExit(running);
  expect({ code, stderr, left: readdirSync(scratch) }).toEqual({ code: 130, stderr: "", left: [] });
});

test("after SIGKILL, the command and the server end, and the world is removed", async () => {
  const scratch = testDirectory();
  const running = spawnStandin(
    ["exec", "--", NODE, "-e", "console.log('pid', process.pid); setInterval(() => {}, 1000)"],
    { TMPDIR: scratch },
  );
  const pid = Number((await running.waitForOutput(/pid \d+\n/)).slice("pid ".length));
  const [world = ""] = readdirSync(scratch);
  const { pid: server } = JSON.parse(readFileSync(join(scratch, world, "server.json"), "utf8"));
  expect([isAlive(pid), isAlive(server)]).toEqual([true, true]);
  running.process.kill("SIGKILL");
  await expect
    .poll(() => [isAlive(pid), isAlive(server), ...readdirSync(scratch)], { timeout: 15_000 })
    .toEqual([false, false]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("a command that does not exist is 127, and a server that cannot start is reported", async () => {
  const missing = await exec(["--", "no-such-command-at-all"]);
  expect([missing.code, missing.stderr]).toEqual([
    127,
    expect.stringContaining("cannot run no-such-command-at-all"),
  ]);
  const broken = await exec(["--seed-file", "no-such-file.yaml", "--", NODE, "-e", ""]);
  expect([broken.code, broken.stderr]).toEqual([
    2,
    expect.stringContaining("--seed-file: no-such-file.yaml does not exist"),
  ]);
});
