import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { runStandinProcess } from "../../support/process/process.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const ROOT = join(import.meta.dirname, "../../..");

type Check = {
  readonly check: string;
  readonly level: string;
  readonly found: string;
  readonly fix?: string;
};

async function checksOf(data: string) {
  const { code, stdout } = await runStandin(["doctor", "--data", data, "--json"]);
  const { checks } = JSON.parse(stdout) as { checks: readonly Check[] };
  return { code, checkOf: (name: string) => checks.find(({ check }) => check === name), checks };
}

/** Those that depend on other programs of the machine that runs the tests. */
const OF_MACHINE = ["api port", "postgres port", "names"];

test("doctor finds what a server needs, follows a running one, and changes nothing", async () => {
  const data = testDirectory();
  const before = await checksOf(join(data, "absent"));
  expect(before.checkOf("data")).toMatchObject({
    level: "ok",
    found: expect.stringContaining("does not exist"),
  });
  expect(before.checkOf("sqlite")).toMatchObject({
    level: "ok",
    found: expect.stringMatching(/^SQLite 3\./),
  });
  expect(before.checkOf("node")?.found).toBe(`Node ${process.versions.node}`);
  expect(readdirSync(data)).toEqual([]);

  const server = await startServer(data);
  const running = await checksOf(data);
  expect(running.checkOf("data")?.found).toContain(`served by process ${server.process.pid}`);
  expect(running.checkOf("api port")).toMatchObject({
    level: "ok",
    found: `${new URL(server.ready.api_url).port} is used by the server of this directory`,
  });
  expect(running.checkOf("worlds")).toMatchObject({ level: "ok" });
  await server.kill("SIGKILL");
  const stopped = await checksOf(data);
  expect(stopped.checkOf("data")).toMatchObject({
    level: "ok",
    found: expect.stringContaining("no server uses"),
  });
  const others = stopped.checks.filter(({ check }) => !OF_MACHINE.includes(check));
  expect(others.filter(({ level }) => level === "problem")).toEqual([]);
});

test("a file in place of the data directory is a problem, which another owner would not solve", async () => {
  const file = join(testDirectory(), "file");
  writeFileSync(file, "");
  for (const data of [file, join(file, "below")]) {
    const { code, checkOf } = await checksOf(data);
    expect([code, checkOf("data")]).toMatchObject([
      1,
      { level: "problem", found: `${data} is a file or is below one`, fix: "use another --data directory" },
    ]);
  }
});

test.runIf(existsSync("/proc/self"))(
  "a file system without new directories is a problem, whatever its rights say",
  async () => {
    for (const data of ["/proc", "/proc/absent/data"]) {
      const { code, checkOf } = await checksOf(data);
      expect([code, checkOf("data")]).toMatchObject([
        1,
        { level: "problem", found: `${data} is in a file system that accepts no new directories` },
      ]);
    }
  },
);

test("a damaged world is a problem: doctor names it and the fix, and exits with 1", async () => {
  const data = testDirectory();
  await (await startServer(data)).kill("SIGTERM");
  writeFileSync(
    join(data, "worlds/broken.sqlite"),
    "not a database, but long enough to be read as one".repeat(100),
  );
  const { code, stdout } = await runStandinProcess(["doctor", "--data", data]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^problem {2}worlds +broken cannot be opened: .*\n +fix: /m);
  expect(stdout).toMatch(/^ok +data /m);
});

test("doctor and serve say how to get the SQLite module when it is missing", async () => {
  const installed = testDirectory();
  for (const part of ["dist", "migrations", "package.json"])
    cpSync(join(ROOT, part), join(installed, part), { recursive: true });
  const command = [join(installed, "dist/standin.js"), "doctor", "--data", testDirectory()];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  expect([status, stderr]).toEqual([1, ""]);
  expect(stdout).toMatch(/^problem {2}sqlite .*better-sqlite3.*\n +fix: run npm rebuild better-sqlite3/m);
  const server = [join(installed, "dist/standin.js"), "serve", "--port", "0", "--data", testDirectory()];
  const started = spawnSync(process.execPath, server, { encoding: "utf8" });
  expect([started.status, started.stdout]).toEqual([1, ""]);
  expect(started.stderr).toMatch(
    /^standin: the module better-sqlite3 cannot be loaded: [^\n]+; run npm rebuild better-sqlite3, [^\n]+\n$/,
  );
});

test("a program on the port of the API is a problem", async () => {
  const other = createServer();
  onTestFinished(() => void other.close());
  const isListening = await new Promise<boolean>((resolve) => {
    other.once("error", () => resolve(false));
    other.listen(4620, "127.0.0.1", () => resolve(true));
  });
  const { code, checkOf } = await checksOf(testDirectory());
  expect([isListening, code, checkOf("api port")?.level]).toEqual([isListening, 1, "problem"]);
});
