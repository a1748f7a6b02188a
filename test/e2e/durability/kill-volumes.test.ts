import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { API_KEY } from "../../support/double/double.ts";
import { verify } from "../../support/durability/corruption.ts";
import { KILLS, killAtVolumeChange, randomDraws, repeatCommand } from "../../support/durability/crashes.ts";
import {
  createBranch,
  type PostgresServer,
  startPostgresServer,
  withoutVerification,
} from "../../support/postgres/postgres.ts";
import { runStandinProcess, temporaryDirectory } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";
import { directoriesIn, neededDirectories, processesIn } from "../../support/store/data-files.ts";

/** Kills of each operation. */
const KILLS_EACH = KILLS === 1 ? 2 : 10 * KILLS;
const START = "2026-01-01T00:00:00Z";
const OPTIONS = ["--clock", "manual", "--operations", "immediate", "--max-branch-history", "16MiB"];
/** Several of these exceed the smallest limit of a log, which is then shortened. */
const LONG_WRITE = "insert into filler select repeat(md5(n::text), 30) from generate_series(1, 4000) n";

/** A project with two branches, whose tables contain different numbers. The parent has had fewer earlier. */
type Template = {
  readonly data: string;
  readonly projectId: string;
  readonly parent: { readonly id: string; readonly uri: string };
  readonly child: { readonly id: string; readonly uri: string };
  /** When the parent contained 1 only. */
  readonly past: string;
};

const LONGEST_WAIT_MS = 30_000;
const PARENT = [1, 3];
const PARENT_IN_THE_PAST = [1];
const CHILD = [1, 2];

const directory = temporaryDirectory();
let template: Template;

beforeAll(async () => {
  template = await makeTemplate();
});
afterAll(() => directory.remove());

async function makeTemplate(): Promise<Template> {
  const data = directory.path;
  const server = await startPostgresServer([...OPTIONS, "--start-at", START, "--api-key", API_KEY], data);
  const { projectId, branchId, uri } = await createBranch(server);
  await query(uri, "create table numbers (number int)");
  await query(uri, "create table filler (text text)");
  await query(uri, "insert into numbers values (1)");
  await server.sim("POST", "/clock/advance", { by: "10m" });
  const past: string = (await server.sim("GET", "/clock")).body.now;
  await server.sim("POST", "/clock/advance", { by: "10m" });
  const { body } = await server.api("POST", `/projects/${projectId}/branches`, {
    branch: { parent_id: branchId },
    endpoints: [{ type: "read_write" }],
  });
  const child = { id: body.branch.id, uri: body.connection_uris[0].connection_uri };
  await query(child.uri, "insert into numbers values (2)");
  await query(uri, "insert into numbers values (3)");
  await server.sim("POST", "/clock/advance", { by: "10m" });
  await server.kill("SIGTERM");
  return { data, projectId, parent: { id: branchId, uri }, child, past };
}

/** Returns the first column. */
async function query(uri: string, sql: string): Promise<unknown[]> {
  const client = new Client({ ...withoutVerification(uri) });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: "array" });
    return rows.map(([value]) => value);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A server on a copy of the template. */
type Scene = {
  readonly server: PostgresServer;
  at(uri: string): string;
  numbersOf(uri: string): Promise<unknown[]>;
  branches(): Promise<{ id: string; name: string }[]>;
};

async function open(data: string, env: Record<string, string> = {}): Promise<Scene> {
  const args = ["--max-branch-history", "16MiB", "--api-key", API_KEY];
  const server = await startPostgresServer(args, data, 0, env);
  onTestFinished(async () => {
    await server.kill("SIGKILL");
  });
  const at = (uri: string) => uri.replace(/:\d+\//, `:${server.pgPort}/`);
  return {
    server,
    at,
    async numbersOf(uri) {
      return query(at(uri), "select number from numbers order by number");
    },
    async branches() {
      return (await server.api("GET", `/projects/${template.projectId}/branches`)).body.branches;
    },
  };
}

/** The operation, and what it has acknowledged until the server was killed. */
type Operation<T> = {
  readonly name: string;
  readonly work: (scene: Scene, acknowledged: Partial<T>) => Promise<void>;
  readonly check: (scene: Scene, acknowledged: Partial<T>) => Promise<void>;
};

const operation = <T>(operation: Operation<T>) => operation as Operation<object>;

/** A branch that is created, and the numbers that are then inserted and acknowledged. */
type Creation = { readonly id: string; readonly uri: string; inserted: number };

/** The numbers that a branch may contain: those that it began with, and one that may have been inserted. */
function mayHave(begin: readonly number[], inserted: number, acknowledged: number | undefined): number[][] {
  const after = [...begin, inserted];
  return acknowledged === undefined ? [[...begin], after] : [after];
}

function creation(name: string, branch: () => Record<string, unknown>, begin: readonly number[]) {
  return operation<Creation>({
    name,
    async work(scene, acknowledged) {
      const { status, body } = await scene.server.api("POST", `/projects/${template.projectId}/branches`, {
        branch: { parent_id: template.parent.id, ...branch() },
        endpoints: [{ type: "read_write" }],
      });
      expect(status, JSON.stringify(body)).toBe(201);
      Object.assign(acknowledged, { id: body.branch.id, uri: body.connection_uris[0].connection_uri });
      await query(scene.at(acknowledged.uri as string), "insert into numbers values (10)");
      acknowledged.inserted = 10;
    },
    async check(scene, { id, uri, inserted }) {
      if (id === undefined || uri === undefined) return;
      expect((await scene.branches()).map((branch) => branch.id)).toContain(id);
      expect(mayHave(begin, 10, inserted)).toContainEqual(await scene.numbersOf(uri));
      expect(await scene.numbersOf(template.parent.uri)).toEqual(PARENT);
    },
  });
}

function restore(
  name: string,
  {
    of,
    from,
    before,
    after,
  }: {
    readonly of: "parent" | "child";
    readonly from: () => Record<string, unknown>;
    readonly before: readonly number[];
    readonly after: readonly number[];
  },
) {
  return operation<{ restored: boolean; inserted: number }>({
    name,
    async work(scene, acknowledged) {
      const path = `/projects/${template.projectId}/branches/${template[of].id}/restore`;
      const { status, body } = await scene.server.api("POST", path, {
        ...from(),
        preserve_under_name: "before",
      });
      expect(status, JSON.stringify(body)).toBe(200);
      acknowledged.restored = true;
      await query(scene.at(template[of].uri), "insert into numbers values (10)");
      acknowledged.inserted = 10;
    },
    async check(scene, { restored, inserted }) {
      const preserved = (await scene.branches()).find((branch) => branch.name === "before");
      if (restored === true) expect(preserved).toBeDefined();
      const allowed = preserved === undefined ? [[...before]] : mayHave(after, 10, inserted);
      expect(allowed).toContainEqual(await scene.numbersOf(template[of].uri));
      if (preserved === undefined) return;
      const { body } = await scene.server.api("POST", `/projects/${template.projectId}/endpoints`, {
        endpoint: { branch_id: preserved.id, type: "read_write" },
      });
      expect(body.endpoint, JSON.stringify(body)).toBeDefined();
      const query = `branch_id=${preserved.id}&database_name=neondb&role_name=neondb_owner`;
      const uri = await scene.server.api("GET", `/projects/${template.projectId}/connection_uri?${query}`);
      expect(await scene.numbersOf(uri.body.uri)).toEqual(before);
    },
  });
}

const OPERATIONS: readonly Operation<object>[] = [
  creation("a creation of a branch", () => ({}), PARENT),
  creation(
    "a creation of a branch of the past",
    () => ({ parent_timestamp: template.past }),
    PARENT_IN_THE_PAST,
  ),
  creation("a creation of a branch without rows", () => ({ init_source: "schema-only" }), []),
  restore("a reset to the parent", {
    of: "child",
    from: () => ({ source_branch_id: template.parent.id }),
    before: CHILD,
    after: PARENT,
  }),
  restore("a restore of the past", {
    of: "parent",
    from: () => ({ source_branch_id: template.parent.id, source_timestamp: template.past }),
    before: PARENT,
    after: PARENT_IN_THE_PAST,
  }),
  operation<{ deleted: boolean }>({
    name: "a deletion of a branch",
    async work(scene, acknowledged) {
      const path = `/projects/${template.projectId}/branches/${template.child.id}?hard_delete=true`;
      expect((await scene.server.api("DELETE", path)).status).toBe(200);
      acknowledged.deleted = true;
      // On a manual clock, what is due is executed with the next request.
      await scene.branches();
      const volume = new RegExp(`/${template.child.id}-`);
      await until(scene, () => !directoriesIn(scene.server.data).some((path) => volume.test(path)));
    },
    async check(scene, { deleted }) {
      const isThere = (await scene.branches()).some(({ id }) => id === template.child.id);
      if (isThere) expect(await scene.numbersOf(template.child.uri)).toEqual(CHILD);
      if (deleted === true) expect(isThere).toBe(false);
    },
  }),
  operation<{ numbers: number[] }>({
    name: "a shortening of the log",
    async work(scene, acknowledged) {
      acknowledged.numbers = [];
      for (let number = 100; number < 108; number += 1) {
        await query(scene.at(template.parent.uri), LONG_WRITE);
        await query(scene.at(template.parent.uri), `insert into numbers values (${number})`);
        acknowledged.numbers.push(number);
      }
      // The compute is suspended, and its position marked.
      await scene.server.sim("POST", "/clock/advance", { by: "10m" });
      await until(scene, () => directoriesIn(scene.server.data).some((path) => path.includes("/base-")));
    },
    async check(scene, { numbers = [] }) {
      const all = [...PARENT, ...numbers];
      const next = [...all, 100 + numbers.length];
      expect([all, next]).toContainEqual(await scene.numbersOf(template.parent.uri));
      expect(await scene.numbersOf(template.child.uri)).toEqual(CHILD);
    },
  }),
];

const onLinux = process.platform === "linux";

test.runIf(onLinux).each(OPERATIONS)(
  "killed at any change of files of $name, the data is as before or as after it, and nothing is left over",
  { timeout: 60_000 + KILLS_EACH * 30_000 },
  async ({ name, work, check }) => {
    const run = async (step: number) => {
      const data = copyOfTemplate();
      const kill = killAtVolumeChange(testDirectory());
      const scene = await open(data, kill.env);
      const acknowledged = {};
      kill.arm(step);
      await work(scene, acknowledged).catch((error: unknown) => {
        if (!isLost(error)) throw error;
      });
      await scene.server.kill("SIGKILL");
      const restarted = await open(data);
      await check(restarted, acknowledged);
      await expectNothingLeft(restarted);
      await restarted.server.kill("SIGTERM");
      expect(processesIn(data), repeatCommand()).toEqual([]);
      rmSync(data, { recursive: true });
      return kill.counted();
    };
    await killEverywhere(name, run);
  },
);

/** Runs the work once without a kill, and then kills it at moments that are drawn from equal parts of it. */
async function killEverywhere(name: string, run: (step: number) => Promise<number>): Promise<void> {
  const moments = await run(Number.MAX_SAFE_INTEGER);
  expect(moments, "there were moments to be killed at").toBeGreaterThan(1);
  const draw = randomDraws(name);
  const part = moments / Math.min(KILLS_EACH, moments);
  for (let from = 0; from < moments; from += part)
    await run(1 + Math.floor(from + ((draw() >>> 0) % Math.ceil(part))));
}

/** Whether a request has got no answer, or a connection has ended. */
function isLost(error: unknown): boolean {
  return (
    error instanceof Killed || error instanceof TypeError || /terminated|ECONNRE|closed/.test(String(error))
  );
}

class Killed extends Error {}

async function until({ server }: Scene, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + LONGEST_WAIT_MS;
  while (!condition()) {
    if (server.process.exitCode !== null || server.process.signalCode !== null) throw new Killed();
    if (performance.now() > deadline) throw new Error(`not after ${LONGEST_WAIT_MS / 1_000} s: ${condition}`);
    await sleep(20);
  }
}

function copyOfTemplate(): string {
  const data = testDirectory();
  // Keeps the owners of files, and several names of one file.
  execFileSync("cp", ["-a", `${template.data}/.`, data]);
  return data;
}

async function expectNothingLeft({ server }: Scene): Promise<void> {
  const { data } = server;
  await expect
    .poll(() => directoriesIn(data).filter((path) => !neededDirectories(data).has(path)), {
      timeout: 30_000,
      message: repeatCommand(),
    })
    .toEqual([]);
  expect((await server.sim("GET", "/invariants")).body, repeatCommand()).toMatchObject({ ok: true });
  expect(await verify(join(data, "worlds", "default.sqlite")), repeatCommand()).toBeUndefined();
}

test.runIf(onLinux)(
  "killed at any change of files of an export with data, the world is as before, and can be exported",
  { timeout: 60_000 + KILLS_EACH * 30_000 },
  () =>
    killEverywhere("export", async (step) => {
      const data = copyOfTemplate();
      const out = join(testDirectory(), "world.sqlite");
      const kill = killAtVolumeChange(testDirectory());
      kill.arm(step);
      await exportData(data, out, kill.env);
      for (const file of [out, `${out}.volumes`]) rmSync(file, { recursive: true, force: true });
      expect(await exportData(data, out), repeatCommand()).toMatchObject({ code: 0 });
      await expectRows(await open(data));
      return kill.counted();
    }),
);

test.runIf(onLinux)(
  "killed at any change of files of an import with data, the world is complete or absent, and can be imported",
  { timeout: 60_000 + KILLS_EACH * 30_000 },
  async () => {
    const file = join(testDirectory(), "world.sqlite");
    expect(await exportData(template.data, file)).toMatchObject({ code: 0 });
    await killEverywhere("import", async (step) => {
      const data = testDirectory();
      const kill = killAtVolumeChange(testDirectory());
      kill.arm(step);
      const first = await importData(file, data, kill.env);
      const second = await importData(file, data);
      if (first.code === 0 || second.code !== 0)
        expect(second.stderr, repeatCommand()).toContain('already has a world "default"');
      await expectRows(await open(data));
      return kill.counted();
    });
  },
);

function exportData(data: string, out: string, env: Record<string, string> = {}) {
  return runStandinProcess(["export", data, "--out", out, "--with-data"], env);
}

function importData(file: string, data: string, env: Record<string, string> = {}) {
  return runStandinProcess(["import", file, "--with-data", "--data", data], env);
}

/** Clients find the rows of both branches with the new passwords of their roles. */
async function expectRows(scene: Scene): Promise<void> {
  for (const [{ id }, rows] of [
    [template.parent, PARENT],
    [template.child, CHILD],
  ] as const) {
    const branch = `/projects/${template.projectId}/branches/${id}`;
    expect((await scene.server.api("POST", `${branch}/roles/neondb_owner/reset_password`)).status).toBe(200);
    const query = `branch_id=${id}&database_name=neondb&role_name=neondb_owner`;
    const uri = await scene.server.api("GET", `/projects/${template.projectId}/connection_uri?${query}`);
    expect(await scene.numbersOf(uri.body.uri), repeatCommand()).toEqual(rows);
  }
  await expectNothingLeft(scene);
}
