import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { environment } from "../../support/process/process.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const PACKAGE = join(import.meta.dirname, "../../..");
const FILES = ["scenario.yaml", "seed.yaml", "standin.test.mjs"];

function runIn(cwd: string, args: readonly string[]) {
  return spawnSync(process.execPath, args, { cwd, env: environment(), encoding: "utf8" });
}
const standinIn = (cwd: string, ...args: readonly string[]) =>
  runIn(cwd, [join(PACKAGE, "dist/standin.js"), ...args]);

test("the files of standin init work as written", async () => {
  const directory = testDirectory();
  mkdirSync(`${directory}/node_modules/@standin`, { recursive: true });
  symlinkSync(PACKAGE, `${directory}/node_modules/@standin/standin`);
  expect(standinIn(directory, "init")).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(directory)).toEqual(["node_modules", ...FILES]);
  expect(standinIn(directory, "run", "scenario.yaml")).toMatchObject({ status: 0, stderr: "" });
  for (const name of ["scenario.yaml", "seed.yaml"]) {
    const [, schema] =
      /^# yaml-language-server: \$schema=(.*)\n/.exec(readFileSync(`${directory}/${name}`, "utf8")) ?? [];
    expect(existsSync(`${directory}/${schema}`)).toBe(true);
  }
  const tested = runIn(directory, ["--test", "standin.test.mjs"]);
  expect(tested.stdout).toMatch(/pass 1\b/);
  expect(tested.status).toBe(0);
  const server = await startServer(`${directory}/data`, ["--seed-file", `${directory}/seed.yaml`]);
  const { body } = await server.api("GET", "/projects", undefined, "acme-local-key-0123456789");
  expect(body.projects).toMatchObject([{ id: "shop-project-10000001" }]);
});

test.each(FILES)("standin init writes nothing if %s exists", (name) => {
  const directory = testDirectory();
  writeFileSync(`${directory}/${name}`, "mine");
  expect(standinIn(directory, "init")).toMatchObject({
    status: 1,
    stderr: `standin: ${name} already exists here; nothing was written\n`,
  });
  expect(readdirSync(directory)).toEqual([name]);
});
