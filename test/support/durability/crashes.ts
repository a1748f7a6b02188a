import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { expect } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import type { ApiResponse } from "../answers/api-response.ts";
import type { AnsweredEvent } from "../answers/control-answers.ts";
import { API_KEY, createDouble, createProject, START } from "../double/double.ts";
import type { SpawnedCommand } from "../process/process.ts";
import { journalOf, type RunningServer, startServer } from "../server/running-server.ts";
import { verify } from "./corruption.ts";

const SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);
/**
 * Multiplies the number of kills in CI; use with `--testTimeout=0`. From 2 on, tests also kill at every step and try
 * every disk size.
 */
export const KILLS = Number(process.env["STANDIN_TEST_KILLS"] ?? 1);

/** The command that repeats the running test. */
export function repeatCommand(): string {
  const { testPath = "", currentTestName = "" } = expect.getState();
  const name = currentTestName
    .split(" > ")
    .at(-1)
    ?.replaceAll(/[^\w ,]/g, ".");
  const file = testPath.slice(testPath.lastIndexOf("test/"));
  return `to repeat: STANDIN_TEST_SEED=${SEED} STANDIN_TEST_KILLS=${KILLS} npx vitest run ${file} --testTimeout=0 -t '${name}'`;
}

export function randomDraws(name: string): () => number {
  return randomFrom(SEED).stream(name, 1);
}

/** The number of kills of each kind, and how many of them came before the work was done. */
export class KillCounts {
  readonly #counts = new Map<string, { kills: number; duringWork: number }>();

  add(kind: string, duringWork: boolean): void {
    const { kills, duringWork: before } = this.#counts.get(kind) ?? { kills: 0, duringWork: 0 };
    this.#counts.set(kind, { kills: kills + 1, duringWork: before + (duringWork ? 1 : 0) });
  }

  /** A summary for long runs. */
  print(): void {
    if (KILLS === 1) return;
    for (const [kind, { kills, duringWork }] of this.#counts)
      process.stdout.write(`${kind}: ${kills} kills, ${duringWork} within the work\n`);
  }
}

/** A data directory with a closed world of some ten thousand events on a manual clock. */
export async function makeLargeWorld(data: string, activities = 1_600): Promise<void> {
  const directory = new DataDirectory(data, MIGRATIONS_FOLDER);
  const double = await createDouble({ storage: directory });
  const { endpointId } = await createProject(double);
  const at = (index: number) => new Date(START + (index + 1) * 1_200_000).toISOString();
  const all = Array.from({ length: activities }, (_, index) => ({
    endpoint_id: endpointId,
    at: at(index),
    duration_ms: index % 9_000,
  }));
  for (let from = 0; from < activities; from += 5_000) {
    const { status, body } = await double.sim("POST", "/activity", all.slice(from, from + 5_000));
    if (status !== 200) throw new Error(`POST /_sim/activity: ${status} ${JSON.stringify(body)}`);
  }
  await double.sim("POST", "/clock/advance", { to: at(activities - 100) });
  await double.close();
  directory.release();
}

/** A copy of a directory without open files. */
export function copyWorlds(from: string, to: string): void {
  mkdirSync(join(to, "worlds"), { recursive: true });
  for (const file of readdirSync(join(from, "worlds")))
    copyFileSync(join(from, "worlds", file), join(to, "worlds", file));
}

/** Everything that a world returns. */
export type WorldContents = {
  readonly state: string;
  readonly journal: readonly AnsweredEvent[];
  readonly history: string;
};

export async function readContents(server: Pick<RunningServer, "sim">): Promise<WorldContents> {
  const state = JSON.stringify((await server.sim("GET", "/state")).body);
  const { history } = (await server.sim("GET", "/health")).body;
  return { state, journal: await journalOf(server), history: history.id };
}

/** Another world of a server. */
export function inWorld(
  server: Pick<RunningServer, "ready">,
  name: string,
): Pick<RunningServer, "sim" | "api"> {
  const { api_url, control_url } = server.ready;
  const base = (url: string, path: string) => url.replace(path, `/w/${name}${path}`);
  const call = async <Body>(
    url: string,
    method: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse<Body>> => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url, {
      method,
      headers: { ...headers, "Content-Type": "application/json" },
      ...content,
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  };
  return {
    sim: (method, path, body) => call(base(control_url, "/_sim") + path, method, body),
    api: (method, path, body, key = API_KEY) =>
      call(base(api_url, "/api/v2") + path, method, body, { Authorization: `Bearer ${key}` }),
  };
}

/**
 * Does the work and kills the server after this many milliseconds. Returns the result; `undefined` without an
 * answer.
 */
export async function runUntilKilled<T>(
  ms: number,
  server: SpawnedCommand,
  work: Promise<T>,
): Promise<T | undefined> {
  const outcome = work.catch((error: unknown) => {
    // The connection is lost.
    if (error instanceof TypeError) return undefined;
    throw error;
  });
  // The kill comes at a random point of the work; nothing waits for it.
  const timer = setTimeout(() => server.process.kill("SIGKILL"), ms);
  const result = await outcome;
  await server.ended;
  clearTimeout(timer);
  return result;
}

/** Starts on the directory after a kill and checks that everything in it is complete. */
export async function restartAfterKill(data: string, args: readonly string[] = []): Promise<RunningServer> {
  const server = await startServer(data, args, { key: API_KEY });
  await expectIntact(server, data);
  return server;
}

/** Every world and every snapshot is intact and has a file of its own, and there are no other files. */
export async function expectIntact(server: RunningServer, data: string): Promise<void> {
  const worlds: string[] = (await server.sim("GET", "/worlds")).body.worlds.map(({ name }) => name);
  const expected = worlds.map((name) => join("worlds", `${name}.sqlite`));
  const inodes = new Set<number>();
  for (const world of worlds) {
    const control = world === "default" ? server : inWorld(server, world);
    const { snapshots } = (await control.sim("GET", "/snapshots")).body;
    for (const { name, error } of snapshots) {
      expect(error, `snapshot ${name} of ${world}; ${repeatCommand()}`).toBeUndefined();
      expected.push(join("snapshots", world, `${name}.sqlite`));
    }
    expect((await control.sim("GET", "/invariants")).body, repeatCommand()).toMatchObject({ ok: true });
  }
  for (const file of expected) {
    expect(await verify(join(data, file)), `${file}; ${repeatCommand()}`).toBeUndefined();
    inodes.add(statSync(join(data, file)).ino);
  }
  expect(inodes.size, `two names for one file; ${repeatCommand()}`).toBe(expected.length);
  expect(databasesUnder(data), repeatCommand()).toEqual(expected.sort());
}

/** The files of worlds and snapshots, without those of an open database. */
function databasesUnder(data: string): string[] {
  return ["worlds", "snapshots"]
    .filter((folder) => existsSync(join(data, folder)))
    .flatMap((folder) =>
      (readdirSync(join(data, folder), { recursive: true }) as string[]).map((file) => join(folder, file)),
    )
    .filter((file) => statSync(join(data, file)).isFile() && !/\.sqlite-(wal|shm|head)$/.test(basename(file)))
    .sort();
}

/** A function of `node:fs` or of `node:fs/promises`, and which of its arguments is the path that it changes. */
type WatchedCall = readonly [module: "fs" | "fs.promises", name: string, path: number];

const WORLD_CHANGES: readonly WatchedCall[] = [
  ["fs", "renameSync", 1],
  ["fs", "linkSync", 1],
  ["fs", "copyFileSync", 1],
  ["fs", "rmSync", 0],
  ["fs.promises", "copyFile", 1],
];

const VOLUME_CHANGES: readonly WatchedCall[] = [
  ...WORLD_CHANGES,
  ["fs", "mkdirSync", 0],
  ["fs", "writeFileSync", 0],
  ["fs", "openSync", 0],
  ["fs", "symlinkSync", 1],
  ["fs.promises", "cp", 1],
  ["fs.promises", "mkdir", 0],
  ["fs.promises", "open", 0],
  ["fs.promises", "rename", 1],
  ["fs.promises", "rm", 0],
  ["fs.promises", "rmdir", 0],
  ["fs.promises", "writeFile", 0],
];

export type KillSwitch = {
  /** The environment of the process. */
  readonly env: Record<string, string>;
  /** Arms the switch: the process counts its moments and ends with SIGKILL at the n-th. */
  readonly arm: (n: number) => void;
  /** Number of moments counted so far. */
  readonly counted: () => number;
};

/**
 * A module that ends its process with SIGKILL at the n-th of these moments after it was armed: before each
 * change of a directory of worlds, and right after each renaming.
 */
export function killAtMoment(directory: string): KillSwitch {
  return killSwitch(directory, ["worlds", "snapshots", "out"], WORLD_CHANGES);
}

/** As `killAtMoment`, for changes of worlds and of volumes, including opening and writing a file of a volume. */
export function killAtVolumeChange(directory: string): KillSwitch {
  return killSwitch(directory, ["worlds", "volumes", "[^/]*\\.volumes"], VOLUME_CHANGES);
}

function killSwitch(
  directory: string,
  folders: readonly string[],
  calls: readonly WatchedCall[],
): KillSwitch {
  const module = join(directory, "kill-at-moment.cjs");
  const armed = join(directory, "armed");
  const count = join(directory, "count");
  writeFileSync(
    module,
    `const fs = require("node:fs");
const read = fs.readFileSync, exists = fs.existsSync, write = fs.writeSync, open = fs.openSync;
let left, counter, count = 0;
function step() {
  if (left === undefined) {
    let text;
    try { text = read(${JSON.stringify(armed)}, "utf8"); } catch { return; }
    left = Number(text);
    counter = open(${JSON.stringify(count)}, "w");
  }
  count += 1;
  write(counter, String(count), 0);
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}
const folders = new RegExp(${JSON.stringify(`[/\\\\](${folders.join("|")})([/\\\\]|$)`)});
const watched = (path) => typeof path === "string" && folders.test(path);
const wrap = (target, name, which) => {
  const original = target[name];
  target[name] = function (...args) {
    if (watched(args[which]) && (name !== "rmSync" || exists(args[0]))) step();
    const result = original.apply(this, args);
    if (name === "renameSync" && watched(args[which])) step();
    return result;
  };
};
${calls.map(([module, name, path]) => `wrap(${module}, "${name}", ${path});`).join("\n")}
require("node:module").syncBuiltinESMExports();
`,
  );
  return {
    env: { NODE_OPTIONS: `--require ${module}` },
    arm: (n) => writeFileSync(armed, String(n)),
    counted: () => (existsSync(count) ? Number(readFileSync(count, "utf8")) : 0),
  };
}
