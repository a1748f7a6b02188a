import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser, spawnAs } from "../../src/postgres/machine/os-user.ts";
import {
  connect,
  createBranch,
  letSuspend,
  type PostgresServer,
  runningPostgres,
  startPostgresServer,
  stateOf,
  type TestBranch,
} from "../support/postgres/postgres.ts";
import { testDirectory } from "../support/server/running-server.ts";

const user = engineUser();
const INSTALLATIONS = await findInstallations(undefined, user);
/** Programs for clients come with the Postgres of Debian only. */
const CLIENT = INSTALLATIONS.find(({ binDirectory }) => existsSync(join(binDirectory, "pg_recvlogical")));

const SETTINGS = { settings: { enable_logical_replication: true } };
const ARGS = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--operations", "immediate"];

describe.each(INSTALLATIONS)("with Postgres $version,", ({ binDirectory }) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgresServer([...ARGS, "--engine-bin", binDirectory]);
  });
  afterAll(() => server.end());

  /** The owner of a branch that has a table and a publication of it. */
  async function publisher() {
    const branch = await createBranch(server, SETTINGS);
    const owner = await connect(branch.uri);
    await owner.query(
      "create table words (id int primary key, word text); create publication words for table words",
    );
    return { branch, owner };
  }

  test("without the setting of the project, there are no logical slots", async () => {
    const owner = await connect((await createBranch(server)).uri);
    expect(await owner.query("show wal_level").then(({ rows }) => rows)).toEqual([{ wal_level: "replica" }]);
    await expect(createSlot(owner)).rejects.toMatchObject({ code: "55000" });
  });

  test("slots exist from the next start on after the project has enabled it, and its computes restart", async () => {
    const branch = await createBranch(server);
    const before = await connect(branch.uri);
    const ended = new Promise((resolve) => before.once("end", resolve));
    const project = `/projects/${branch.projectId}`;
    expect((await server.api("PATCH", project, { project: SETTINGS })).status).toBe(200);
    expect((await server.api("GET", project)).body.project.settings.enable_logical_replication).toBe(true);
    await server.api("POST", `${branch.path}/restart`);
    await ended;
    const owner = await connect(branch.uri);
    expect((await owner.query("show wal_level")).rows).toEqual([{ wal_level: "logical" }]);
    await createSlot(owner);
    expect(await slots(owner)).toEqual([{ slot_name: "words", active: false }]);
  });

  test.skipIf(CLIENT === undefined)("pg_recvlogical receives the changes of a branch", async () => {
    const { branch, owner } = await publisher();
    const received = receive(branch, [
      "--create-slot",
      "--start",
      "--slot",
      "words",
      "--plugin",
      "test_decoding",
    ]);
    await expect.poll(() => slots(owner)).toEqual([{ slot_name: "words", active: true }]);
    await owner.query("insert into words values (1, 'one'); update words set word = 'eins'");
    await expect.poll(received.text).toContain("table public.words: INSERT: id[integer]:1 word[text]:'one'");
    await expect.poll(received.text).toContain("table public.words: UPDATE: id[integer]:1 word[text]:'eins'");
    await received.end();
    await expect.poll(() => slots(owner)).toEqual([{ slot_name: "words", active: false }]);
    // What happens while nobody reads is received later.
    await owner.query("delete from words");
    const again = receive(branch, ["--start", "--slot", "words"]);
    await expect.poll(again.text).toContain("table public.words: DELETE: id[integer]:1");
    await again.end();
  });

  test.skipIf(CLIENT === undefined)("a subscriber that is another Postgres receives the rows", async () => {
    const { branch, owner } = await publisher();
    await owner.query("insert into words values (1, 'before')");
    const subscriber = await startSubscriber();
    await subscriber.query("create table words (id int primary key, word text)");
    await subscriber.query(
      `create subscription words connection '${connectionString(branch)}' publication words`,
    );
    await owner.query("insert into words values (2, 'after')");
    const words = () => subscriber.query("select word from words order by id").then(({ rows }) => rows);
    await expect.poll(words, { timeout: 20_000 }).toEqual([{ word: "before" }, { word: "after" }]);
    await subscriber.query("drop subscription words");
    expect(await slots(owner)).toEqual([]);
  });

  test.skipIf(CLIENT === undefined)("a client that reads a slot keeps its compute active", async () => {
    const { branch, owner } = await publisher();
    const received = receive(branch, [
      "--create-slot",
      "--start",
      "--slot",
      "words",
      "--plugin",
      "test_decoding",
    ]);
    await expect.poll(() => slots(owner)).toEqual([{ slot_name: "words", active: true }]);
    await owner.end();
    await server.sim("POST", "/clock/advance", { by: "1h" });
    expect(await stateOf(server, branch)).toBe("active");
    await received.end();
    await expect
      .poll(async () => {
        await server.sim("POST", "/clock/advance", { by: "10m" });
        return stateOf(server, branch);
      })
      .toBe("idle");
  });

  test("a slot survives a suspend, a restart and a kill, but no branch and no restored branch has it", async () => {
    const { branch, owner } = await publisher();
    await createSlot(owner);
    await owner.query("insert into words values (1, 'one')");
    await owner.end();
    await letSuspend(server, branch);
    const slot = [{ slot_name: "words", active: false }];
    const woken = await connect(branch.uri);
    expect(await slots(woken)).toEqual(slot);
    await woken.end();
    await server.api("POST", `${branch.path}/restart`);
    const restarted = await connect(branch.uri);
    expect(await slots(restarted)).toEqual(slot);
    const { rows } = await restarted.query("select pg_backend_pid() as pid");
    expect(rows).toHaveLength(1);
    process.kill(runningPostgres(server.data).pid, "SIGKILL");
    await expect.poll(() => restarted.query("select 1").catch(() => "ended")).toBe("ended");
    const recovered = await connect(branch.uri);
    expect(await slots(recovered)).toEqual(slot);
    const changes = await recovered.query(
      "select data from pg_logical_slot_peek_changes('words', null, null)",
    );
    expect(changes.rows.map(({ data }) => data)).toContain(
      "table public.words: INSERT: id[integer]:1 word[text]:'one'",
    );
    const project = `/projects/${branch.projectId}`;
    const { body } = await server.api("POST", `${project}/branches`, {
      branch: { parent_id: branch.branchId },
      endpoints: [{ type: "read_write" }],
    });
    const child = await connect(await uriOf(branch.projectId, body.branch.id));
    expect(await child.query("select word from words").then((answer) => answer.rows)).toEqual([
      { word: "one" },
    ]);
    expect(await slots(child)).toEqual([]);
    await server.sim("POST", "/clock/advance", { by: "1m" });
    await server.api("POST", `${project}/branches/${branch.branchId}/restore`, {
      source_branch_id: body.branch.id,
      preserve_under_name: "before",
    });
    const restored = await connect(branch.uri);
    expect(await restored.query("select word from words").then((answer) => answer.rows)).toEqual([
      { word: "one" },
    ]);
    expect(await slots(restored)).toEqual([]);
  });

  async function uriOf(projectId: string, branchId: string): Promise<string> {
    const query = `branch_id=${branchId}&database_name=neondb&role_name=neondb_owner`;
    return (await server.api("GET", `/projects/${projectId}/connection_uri?${query}`)).body.uri;
  }

  /** A connection string of libpq that names the compute by an option. */
  function connectionString({ uri, password }: TestBranch, database = "neondb"): string {
    const endpoint = new URL(uri).searchParams.get("options");
    return `host=127.0.0.1 port=${server.pgPort} user=neondb_owner password=${password} dbname=${database} options=${endpoint} sslmode=require`;
  }

  /** Reads a slot through the gateway until `end`. */
  function receive(branch: TestBranch, args: readonly string[]) {
    const program = join(CLIENT?.binDirectory ?? "", "pg_recvlogical");
    const child = spawn(program, ["-d", connectionString(branch), "-f", "-", ...args]);
    onTestFinished(() => void child.kill("SIGKILL"));
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (data: string) => {
      text += data;
    });
    child.stderr.setEncoding("utf8").on("data", (data: string) => {
      text += data;
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    return {
      text: () => text,
      end: async () => {
        child.kill("SIGINT");
        await ended;
      },
    };
  }
});

async function createSlot(client: pg.Client): Promise<void> {
  await client.query("select pg_create_logical_replication_slot('words', 'test_decoding')");
}

async function slots(client: pg.Client): Promise<unknown[]> {
  const { rows } = await client.query("select slot_name, active from pg_replication_slots order by 1");
  return rows;
}

/** A Postgres that has nothing to do with standin, and its superuser. */
async function startSubscriber(): Promise<pg.Client> {
  const binDirectory = CLIENT?.binDirectory ?? "";
  const directory = testDirectory();
  const data = join(directory, "data");
  mkdirSync(data);
  if (user !== undefined) for (const path of [directory, data]) chownSync(path, user.uid, user.gid);
  // Without one, libpq would look for certificates in the home of the user who runs the tests.
  const env = { ...process.env, HOME: directory };
  const options = { ...spawnAs(user), env, cwd: directory, stdio: "ignore" as const };
  execFileSync(
    join(binDirectory, "initdb"),
    ["-D", data, "-U", "admin", "--auth=trust", "--no-sync"],
    options,
  );
  const settings = ["listen_addresses=", `unix_socket_directories=${directory}`, "fsync=off"];
  const child = spawn(
    join(binDirectory, "postgres"),
    ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
    options,
  );
  onTestFinished(() => void child.kill("SIGQUIT"));
  const open = async () => {
    const client = new pg.Client({ host: directory, user: "admin", database: "postgres" });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  };
  const socket = join(directory, ".s.PGSQL.5432");
  await expect.poll(() => existsSync(socket), { timeout: 20_000 }).toBe(true);
  const opened = await retried(open);
  onTestFinished(() => opened.end().catch(() => undefined));
  return opened;
}

/** While it recovers, a Postgres that starts rejects sessions. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await work();
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(100);
    }
}
