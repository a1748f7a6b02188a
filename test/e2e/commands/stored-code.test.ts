import { chmodSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandinProcess, serve, spawnCommand, waitForExit } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const LONG_AGO = new Date("2026-01-01T00:00:00Z");
const COMMAND = join(import.meta.dirname, "../../../dist/standin.js");

/** Commands that keep their compiled code in a directory of the test. */
function storedIn(directory = testDirectory()) {
  const env = { NODE_COMPILE_CACHE: directory, NODE_DISABLE_COMPILE_CACHE: "" };
  const path = (name: string) => join(directory, "standin", name);
  return {
    env,
    path,
    run: (...args: string[]) => runStandinProcess(args, env),
    names: () => readdirSync(join(directory, "standin")).sort(),
    age: (name: string) => utimesSync(path(name), LONG_AGO, LONG_AGO),
    isOld: (name: string) => statSync(path(name)).mtimeMs === LONG_AGO.getTime(),
  };
}

test("a command keeps its compiled code for the next start, which only its user may read", async () => {
  const stored = storedIn();
  const first = await stored.run("run", "--help");
  const [name = "", ...others] = stored.names();
  expect(others).toEqual([]);
  expect(name).toMatch(/^command-\w+\.cjs-v[\d.]+-\w+-[0-9a-f]+-run$/);
  expect(statSync(stored.path(name)).mode & 0o777).toBe(0o600);
  stored.age(name);
  expect(await stored.run("run", "--help")).toEqual(first);
  expect(stored.isOld(name)).toBe(true);
  await stored.run("status", "--help");
  await stored.run("nonsense");
  await stored.run("--version");
  expect(stored.names()).toEqual([name.replace("-run", "-other"), name]);
});

test.each([
  ["zeros", (code: Buffer) => Buffer.alloc(code.length)],
  ["a changed byte", (code: Buffer) => Buffer.from(code).fill((code[5_000] ?? 0) ^ 1, 5_000, 5_001)],
  ["half of it", (code: Buffer) => code.subarray(0, code.length / 2)],
  ["nothing", () => Buffer.alloc(0)],
])("damaged code is ignored and replaced: %s", async (_, damage) => {
  const stored = storedIn();
  const first = await stored.run("run", "--help");
  const [name = ""] = stored.names();
  writeFileSync(stored.path(name), damage(readFileSync(stored.path(name))));
  stored.age(name);
  expect(await stored.run("run", "--help")).toEqual(first);
  expect(stored.names()).toEqual([name]);
  expect(stored.isOld(name)).toBe(false);
  stored.age(name);
  await stored.run("run", "--help");
  expect(stored.isOld(name)).toBe(true);
});

test("starts with other options of V8 keep code of their own", async () => {
  const stored = storedIn();
  const first = await stored.run("run", "--help");
  const [name = ""] = stored.names();
  stored.age(name);
  const other = () => spawnCommand([process.execPath, "--no-lazy", COMMAND, "run", "--help"], stored.env);
  expect(await waitForExit(other())).toEqual(first);
  const [own = "", ...more] = stored.names().filter((one) => one !== name);
  expect([more, stored.isOld(name)]).toEqual([[], true]);
  stored.age(own);
  expect(await waitForExit(other())).toEqual(first);
  expect(stored.isOld(own)).toBe(true);
});

test("code is not written through a link of the name of the unfinished file", async () => {
  const stored = storedIn();
  await stored.run("run", "--help");
  const [name = ""] = stored.names();
  const target = join(testDirectory(), "mine.txt");
  writeFileSync(target, "mine");
  rmSync(stored.path(name));
  // The name has the number of the process, which `exec` does not change.
  const script = `ln -s ${target} ${stored.path(name)}.$$-0; exec ${process.execPath} ${COMMAND} run --help`;
  const { code } = await waitForExit(spawnCommand(["sh", "-c", script], stored.env));
  expect([code, readFileSync(target, "utf8")]).toEqual([0, "mine"]);
});

test("a server keeps its code once it has started", async () => {
  const stored = storedIn();
  const server = await serve(testDirectory(), [], stored.env);
  await expect.poll(stored.names, { timeout: 30_000 }).toHaveLength(1);
  expect(await server.kill("SIGINT")).toBe(0);
  expect(stored.names()[0]).toMatch(/-serve$/);
});

test("threads use the code of their command, and store none", async () => {
  const stored = storedIn();
  const scenario = join(testDirectory(), "mine.yaml");
  writeFileSync(scenario, "version: 1\nworld: { projects: { shop: {} } }\nlength: 1h\n");
  for (const _ of ["first start", "second"]) {
    const { code, stdout } = await stored.run("run", "--workers", "2", scenario, scenario);
    expect([code, stdout]).toEqual([0, expect.stringContaining("2 of 2 passed")]);
    expect(stored.names()).toEqual([expect.stringMatching(/-run$/)]);
  }
});

test("the newest files are stored, and nothing else of the directory is removed", async () => {
  const stored = storedIn();
  await stored.run("run", "--help");
  const [run = ""] = stored.names();
  const names = Array.from({ length: 20 }, (_, index) => `command-${String(index).padStart(8, "0")}.cjs-old`);
  for (const name of [...names, "mine.txt"]) {
    writeFileSync(stored.path(name), "");
    stored.age(name);
  }
  await stored.run("status", "--help");
  expect(stored.names()).toHaveLength(10 + 1);
  expect(stored.names()).toEqual(expect.arrayContaining([run, "mine.txt"]));
});

test("code that others may write is not run, and is replaced", async () => {
  const stored = storedIn();
  const first = await stored.run("run", "--help");
  const [name = ""] = stored.names();
  chmodSync(stored.path(name), 0o666);
  stored.age(name);
  expect(await stored.run("run", "--help")).toEqual(first);
  expect([stored.isOld(name), statSync(stored.path(name)).mode & 0o777]).toEqual([false, 0o600]);
});

test("a command that cannot keep its code, or must not, works as well", async () => {
  const file = join(testDirectory(), "file");
  writeFileSync(file, "");
  const impossible = await runStandinProcess(["--version"], { NODE_COMPILE_CACHE: file });
  expect([impossible.code, impossible.stderr]).toEqual([0, ""]);
  const directory = testDirectory();
  const env = { NODE_COMPILE_CACHE: directory, NODE_DISABLE_COMPILE_CACHE: "1" };
  const { code } = await runStandinProcess(["--version"], env);
  expect(code).toBe(0);
  expect(readdirSync(directory)).toEqual([]);
});

test("the command runs in strict mode, as its sources do", () => {
  const directory = join(import.meta.dirname, "../../../dist");
  const scripts = readdirSync(directory).filter((name) => name.endsWith(".cjs"));
  expect(scripts.length).toBeGreaterThan(2);
  for (const name of scripts)
    expect(readFileSync(join(directory, name), "utf8").slice(0, 100)).toMatch(/^"use strict";/);
});
