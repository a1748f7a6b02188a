import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram } from "../../../src/cli/program.ts";
import { escapeReferences } from "../../../src/scenario/file/references.ts";
import {
  createBranch,
  isMissing,
  type PostgresServer,
  startPostgresServer,
} from "../../support/postgres/postgres.ts";
import { spawnStandin, temporaryDirectory, waitForExit } from "../../support/process/process.ts";
import { clientOfWorld } from "../../support/server/worlds.ts";
import { openClient } from "./clients.ts";
import { CODE_PLACES, plant } from "./hostile-database.ts";
import { SERVER_ARGS } from "./hostile-server.ts";
import { NEWEST } from "./installations.ts";
import { findingsOf } from "./judge.ts";
import { Observer } from "./observer.ts";
import { COMMANDS_WITHOUT_DATA } from "./operations/command-verbs.ts";

/** The commands that the tests below run. */
const COMMANDS_WITH_DATA = [
  "serve",
  "run",
  "record",
  "exec",
  "env",
  "psql",
  "snapshots",
  "worlds",
  "export",
  "import",
  "mirror",
  // In upgrade.test.ts.
  "engines",
];
const LONGEST_MS = 120_000;

test("every command is run against hostile data, or has a reason why it reaches none", async () => {
  const { commands } = await createProgram([]);
  expect([...COMMANDS_WITH_DATA, ...Object.keys(COMMANDS_WITHOUT_DATA)].sort()).toEqual(
    commands.map((command) => command.name()).sort(),
  );
});

describe.each(NEWEST)("with Postgres $version,", ({ binDirectory, version }) => {
  const observer = new Observer();
  const directory = mkdtempSync(join(tmpdir(), "adversary-commands-"));
  const engine = ["--engine-bin", binDirectory];
  let server: PostgresServer;
  let branch: { readonly project_id: string; readonly branch_id: string };

  beforeAll(async () => {
    server = await startPostgresServer([...SERVER_ARGS, ...engine]);
    const { projectId, branchId } = await createBranch(server);
    branch = { project_id: projectId, branch_id: branchId };
    const client = await openClient(server, branch);
    await plant(client, observer, version);
    await client.end();
  });
  afterAll(async () => {
    await server.end();
    observer.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  async function standin(args: readonly string[], data = server.data, status: 0 | 1 = 0): Promise<string> {
    const { code, stdout, stderr } = await waitForExit(
      spawnStandin(args, { STANDIN_DATA: data }),
      LONGEST_MS,
    );
    if (code !== status) throw new Error(`standin ${args.join(" ")}: ${code}\n${stdout}\n${stderr}`);
    return stdout;
  }

  /** What hostile code has done in the branch of this server or of another one. */
  async function findings(world?: string, of: PostgresServer = server): Promise<string[]> {
    const api = world === undefined ? of : clientOfWorld(of, worldUrls(of, world));
    const client = await openClient(api, { ...branch, ...(world === undefined ? {} : { world }) });
    const found = await findingsOf(client);
    await client.end();
    return [...observer.traces(), ...found];
  }

  test("a snapshot of the world is created, restored, pushed and pulled", async () => {
    await standin(["snapshots", "create", "before"]);
    await standin(["snapshots", "restore", "before"]);
    expect(await findings()).toEqual([]);
    await standin(["snapshots", "push", "before", "--to", directory]);
    await standin(["snapshots", "list"]);
    await standin(["snapshots", "delete", "before"]);
    expect(await findings()).toEqual([]);
  });

  test("a world is forked and deleted", async () => {
    await standin(["worlds", "create", "copy"]);
    expect(await findings("copy")).toEqual([]);
    await standin(["worlds", "delete", "copy"]);
    expect(await findings()).toEqual([]);
  });

  test.skipIf(isMissing("psql"))("psql runs as a role of the branch", async () => {
    await standin(["env", "--branch", "main"]);
    expect(await standin(["psql", "main", "--", "--no-psqlrc", "-At", "-c", "show is_superuser"])).toBe(
      "off\n",
    );
    expect(await findings()).toEqual([]);
  });

  test("the history is recorded, and the account is mirrored", async () => {
    // The SQL of clients cannot be recorded.
    await standin(["record", "--out", join(directory, "recorded.yaml")], server.data, 1);
    const { ready } = server;
    await standin([
      ...["mirror", "--from", ready.api_url, "--from-key", ready.api_key ?? ""],
      ...["--out", join(directory, "seed.yaml")],
    ]);
    expect(await findings()).toEqual([]);
  });

  test("a scenario plants code, and branches, restarts and restores", async () => {
    const file = join(directory, "hostile.yaml");
    writeFileSync(file, hostileScenario(observer, version));
    await standin(["run", file]);
    expect(observer.traces()).toEqual([]);
  });

  test("a seed file plants code, and a command of its own server works with it", async () => {
    const file = join(directory, "seed-of-exec.yaml");
    writeFileSync(file, hostileSeed(observer, version));
    const statement = "select current_user, is_called from adversary.sightings";
    const script = `"$0" "$1" psql br-main-1 -- --no-psqlrc -At -c '${statement}'`;
    const command = ["sh", "-c", script, process.execPath, COMMAND];
    if (isMissing("psql")) return;
    expect(await standin(["exec", "--seed-file", file, "--settle", "--", ...command])).toContain("clerk|f\n");
    expect(observer.traces()).toEqual([]);
  });

  test("the data is exported, imported elsewhere and served there", async () => {
    await server.kill("SIGTERM");
    const out = join(directory, "world.sqlite");
    await standin(["export", "--with-data", "--out", out]);
    const { path: data, remove } = temporaryDirectory();
    await standin(["import", out, "--with-data", "--data", data]);
    const imported = await startPostgresServer(
      ["--api-key", "key-of-the-copy", "--clock", "manual", "--operations", "immediate", ...engine],
      data,
    );
    try {
      const path = `/projects/${branch.project_id}/branches/${branch.branch_id}`;
      await imported.api("POST", `${path}/roles/neondb_owner/reset_password`);
      expect(await findings(undefined, imported)).toEqual([]);
    } finally {
      await imported.end();
      remove();
    }
  });
});

/** The same statements as those of `plant`, each as one statement. */
function plantingStatements(observer: Observer, version: number): string[] {
  const places = CODE_PLACES.filter(({ since = 0 }) => version >= since).map(({ sql }) => sql);
  return [observer.sql, "create schema shadow; grant usage on schema shadow to public", ...places].map(
    (sql) => `do $place$ begin execute '${sql.replaceAll("'", "''")}'; end $place$`,
  );
}

function hostileScenario(observer: Observer, version: number): string {
  const on = "shop/main";
  return JSON.stringify({
    version: 1,
    name: "hostile",
    world: {
      projects: {
        shop: { pg_version: requested(version), branches: { main: { computes: { primary: {} } } } },
      },
    },
    steps: [
      // In scenarios, braces name what a step has captured, and two dollar signs stand for one.
      ...plantingStatements(observer, version).map((query) => ({
        sql: { on, query: escapeReferences(query).replaceAll("$", "$$$$") },
      })),
      {
        request: {
          method: "POST",
          path: "/projects/{shop}/branches",
          body: { branch: { name: "bare", init_source: "schema-only" }, endpoints: [{ type: "read_write" }] },
          status: 201,
          capture: { bare: "endpoints.0.id" },
        },
      },
      {
        request: {
          method: "POST",
          path: "/projects/{shop}/branches",
          body: { branch: { name: "dev" }, endpoints: [{ type: "read_write" }] },
          status: 201,
          capture: { dev: "endpoints.0.id" },
        },
      },
      { advance: { until: "settled" } },
      { snapshot: "before" },
      { restart: true },
      ...["{dev}", "{bare}", on].map((compute) => ({
        sql: { on: compute, query: UNSEEN, rows: [{ seen: false }] },
      })),
      { restore: "before" },
      { sql: { on, query: UNSEEN, rows: [{ seen: false }] } },
    ],
  });
}

/** A version that the platform offers, for which the server chooses this one. */
const requested = (version: number) => Math.min(version, 17);

const UNSEEN = "select is_called as seen from adversary.sightings";

function hostileSeed(observer: Observer, version: number): string {
  const text = plantingStatements(observer, version).join(";\n").replaceAll("neondb_owner", "clerk");
  const branches = [{ id: "br-main-1", name: "main", endpoints: [{ id: "ep-main-1" }] }];
  return JSON.stringify({
    version: 1,
    accounts: [
      {
        id: "shop",
        keys: [{ name: "ci", key: "known-key-of-the-shop-0123456789" }],
        projects: [
          { id: "storefront-1", pg_version: requested(version), role: "clerk", sql: { text }, branches },
        ],
      },
    ],
  });
}

const COMMAND = join(import.meta.dirname, "../../../dist/standin.js");

function worldUrls({ ready }: PostgresServer, world: string) {
  const { origin } = new URL(ready.api_url);
  return { api_url: `${origin}/w/${world}/api/v2`, control_url: `${origin}/w/${world}/_sim` };
}
