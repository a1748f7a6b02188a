import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { claimDirectory } from "../../src/postgres/machine/claimed-directories.ts";
import { engineUser, spawnAs } from "../../src/postgres/machine/os-user.ts";
import { KILLS, repeatCommand } from "../support/durability/crashes.ts";
import { connect, createBranch, runningPostgres, startPostgresServer } from "../support/postgres/postgres.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { processesIn } from "../support/store/data-files.ts";

const IMMEDIATE = ["--operations", "immediate"];

/** A server whose files remain when it is killed, with one branch that has a row. */
async function serverWithRow(env?: Record<string, string>) {
  const { path: data, remove } = temporaryDirectory();
  onTestFinished(remove);
  const server = await startPostgresServer(IMMEDIATE, data, 0, env);
  onTestFinished(() => server.end());
  const branch = await createBranch(server);
  const client = await connect(branch.uri);
  await client.query("create table kept (x int); insert into kept values (1)");
  return { server, data, branch, client };
}

/** Starts a server on the files of another one, and returns the rows of the branch. */
async function rowsAfterStart(data: string, uri: string) {
  const server = await startPostgresServer(IMMEDIATE, data, Number(new URL(uri).port));
  onTestFinished(() => server.end());
  return (await (await connect(uri)).query("select x from kept")).rows;
}

/** The data directory of the only branch that an engine has run on. */
function dataDirectoryOf(data: string): string {
  const volumes = join(data, "volumes");
  const [file = ""] = readdirSync(volumes, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith("data/PG_VERSION") && name.includes("/br-"),
  );
  return dirname(join(volumes, file));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.each(["SIGKILL", "SIGABRT"] as const)(
  "Postgres ends by itself after %s of the server, and nothing is lost",
  { timeout: 30_000 * KILLS },
  async (signal) => {
    let { server, data, branch, client } = await serverWithRow();
    for (let kill = 1; ; kill += 1) {
      const { pid, socketDirectory } = runningPostgres(data);
      client.query("select pg_sleep(600)").catch(() => undefined);
      await server.kill(signal);
      await expect.poll(() => isAlive(pid)).toBe(false);
      await expect.poll(() => existsSync(dirname(socketDirectory))).toBe(false);
      expect(processesIn(data), repeatCommand()).toEqual([]);
      if (kill === KILLS) break;
      server = await startPostgresServer(IMMEDIATE, data, Number(new URL(branch.uri).port));
      onTestFinished(() => server.end());
      client = await connect(branch.uri);
      expect((await client.query("select x from kept")).rows).toEqual([{ x: 1 }]);
    }
    expect(await rowsAfterStart(data, branch.uri)).toEqual([{ x: 1 }]);
  },
);

test("Postgres ends by itself if the server is killed while it starts", async () => {
  const { server, data, branch } = await serverWithRow();
  await server.api("POST", `${branch.path}/restart`);
  const file = join(dataDirectoryOf(data), "postmaster.pid");
  await expect.poll(() => existsSync(file)).toBe(false);
  connect(branch.uri).catch(() => undefined);
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8").includes("\n")).toBe(true);
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  await server.kill("SIGKILL");
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test.runIf(existsSync("/proc/self/stat"))(
  "a zombie with the number of Postgres does not prevent a start",
  async () => {
    const { server, data, branch } = await serverWithRow();
    const running = runningPostgres(data);
    await server.kill("SIGKILL");
    const file = join(dataDirectoryOf(data), "postmaster.pid");
    await expect.poll(() => isAlive(running.pid)).toBe(false);
    // The shell becomes a program that waits for none of its children.
    const parent = spawn("sh", ["-c", "sh -c 'echo $$; exit 0' & exec sleep 600"], spawnAs(engineUser()));
    onTestFinished(() => void parent.kill("SIGKILL"));
    const pid = Number(await new Promise<Buffer>((resolve) => parent.stdout.once("data", resolve)));
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    rmSync(file, { force: true });
    writeFileSync(file, [pid, ...lines.slice(1)].join("\n"));
    expect(await rowsAfterStart(data, branch.uri)).toEqual([{ x: 1 }]);
  },
);

test("sockets are in directories that other users cannot enter", async () => {
  const { data } = await serverWithRow();
  const { socketDirectory } = runningPostgres(data);
  expect(lstatSync(socketDirectory).mode & 0o777).toBe(0o700);
  expect(lstatSync(socketDirectory).uid).toBe(engineUser()?.uid ?? process.getuid?.());
});

test("the next start of any server removes what is left if the watchdog was killed, too, but nothing of others", async () => {
  // The servers of other tests would remove it too early.
  const { path: sockets, remove } = temporaryDirectory();
  onTestFinished(remove);
  chmodSync(sockets, 0o755);
  const env = { TMPDIR: sockets };
  const { server, data } = await serverWithRow(env);
  const { pid, socketDirectory } = runningPostgres(data);
  const root = dirname(socketDirectory);
  const watchdogs = readdirSync("/proc").filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").endsWith(`\0QUIT\0${root}\0`);
    } catch {
      return false;
    }
  });
  expect(watchdogs).toHaveLength(1);
  for (const watchdog of watchdogs) process.kill(Number(watchdog), "SIGKILL");
  await server.kill("SIGKILL");
  process.kill(pid, "SIGQUIT");
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(existsSync(root)).toBe(true);
  // Of a process that lives, and one that another program made.
  const [live, foreign] = ["standin-live-", "standin-other-"].map((name) => mkdtempSync(join(sockets, name)));
  const claim = claimDirectory(live ?? "");
  onTestFinished(() => {
    claim.close();
    for (const path of [live, foreign]) rmSync(path ?? "", { recursive: true });
  });
  await serverWithRow(env);
  expect([root, live, foreign].map((path) => existsSync(path ?? ""))).toEqual([false, true, true]);
});

test("a start removes no directory because a file of Postgres names it", async () => {
  const { server, data, branch } = await serverWithRow();
  await server.kill("SIGKILL");
  const { path: canary, remove } = temporaryDirectory();
  onTestFinished(remove);
  const named = join(canary, "other", "1");
  mkdirSync(named, { recursive: true });
  writeFileSync(join(named, "kept"), "");
  const file = join(dataDirectoryOf(data), "postmaster.pid");
  const [pid, directory, started, port] = existsSync(file) ? readFileSync(file, "utf8").split("\n") : ["1"];
  writeFileSync(file, [pid, directory, started, port, named, ""].join("\n"));
  expect(await rowsAfterStart(data, branch.uri)).toEqual([{ x: 1 }]);
  expect(existsSync(join(named, "kept"))).toBe(true);
});

test("the server writes through no link in the directory of a cluster", async () => {
  const { server, data, branch, client } = await serverWithRow();
  const { path: canary, remove } = temporaryDirectory();
  onTestFinished(remove);
  const target = join(canary, "target");
  writeFileSync(target, "untouched");
  const statistics = join(dataDirectoryOf(data), "standin_file_cache.json");
  const replaced = () => lstatSync(statistics).isSymbolicLink();
  rmSync(statistics, { force: true });
  symlinkSync(target, statistics);
  const log = join(dirname(dataDirectoryOf(data)), "wal");
  await client.query("insert into kept select generate_series(1, 50000)");
  const { pid } = runningPostgres(data);
  await server.api("POST", `${branch.path}/restart`);
  await expect.poll(() => isAlive(pid)).toBe(false);
  await expect.poll(() => readdirSync(log).length).toBeGreaterThan(0);
  for (const name of readdirSync(log)) symlinkSync(target, join(log, `${name}.sparse`));
  await expect
    .poll(async () => {
      await client.query("select count(*) from kept").catch(() => undefined);
      await server.api("POST", `${branch.path}/restart`);
      await (await connect(branch.uri)).query("select count(*) from kept");
      return replaced();
    })
    .toBe(false);
  expect(readFileSync(target, "utf8")).toBe("untouched");
});
