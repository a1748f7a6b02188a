import type { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { PG_SETTINGS, type SettingValues } from "../../src/platform/catalog/pg-setting-values.ts";
import { problemOfPgSetting } from "../../src/platform/catalog/pg-settings.ts";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import {
  connect,
  createBranch,
  NEAREST_VERSION,
  type PostgresServer,
  startPostgresServer,
} from "../support/postgres/postgres.ts";

const ARGS = ["--operations", "immediate", "--clock", "manual"];

async function settingOf(client: Client, name: string): Promise<string> {
  return (await client.query(`show ${name}`)).rows[0][name];
}

async function serverOf(args: readonly string[] = []): Promise<PostgresServer> {
  const server = await startPostgresServer([...ARGS, ...NEAREST_VERSION, ...args]);
  onTestFinished(() => server.end());
  return server;
}

for (const { version, binDirectory } of await findInstallations(undefined, engineUser())) {
  test(`Postgres ${version} has the settings of the table with these values, and accepts their bounds`, async () => {
    const server = await serverOf(["--engine-bin", binDirectory]);
    const client = await connect((await createBranch(server)).uri);
    const { rows } = await client.query(
      "select lower(name) as name, context, vartype, unit, min_val, max_val, enumvals from pg_settings",
    );
    const known = new Map(rows.map((row) => [row.name, row]));
    for (const [name, values] of Object.entries<SettingValues>(PG_SETTINGS)) {
      const row = known.get(name.toLowerCase());
      if ((values.since ?? 0) > version) {
        expect(row, name).toBeUndefined();
        continue;
      }
      expect(row?.context, name).toBe("user");
      if ("isFlag" in values) expect(row.vartype, name).toBe("bool");
      else if ("oneOf" in values)
        expect(row.enumvals, name).toEqual(expect.arrayContaining([...values.oneOf]));
      else
        expect([row.vartype, row.unit ?? undefined], name).toEqual([
          values.isReal ? "real" : "integer",
          values.unit,
        ]);
      for (const value of boundsOf(values)) {
        expect(problemOfPgSetting(name, value)).toBeUndefined();
        await client.query(`set ${name} = '${value}'`);
        await client.query(`reset ${name}`);
      }
    }
  });
}

/** All choices, or both bounds. */
function boundsOf(values: SettingValues): readonly string[] {
  if ("isFlag" in values) return ["on", "off"];
  return "oneOf" in values ? values.oneOf : [String(values.min), String(values.max)];
}

test("SHOW agrees with the API: from the creation on, after an update, and after a resize", async () => {
  const server = await serverOf();
  const branch = await createBranch(server, {
    pg_version: 15,
    default_endpoint_settings: { pg_settings: { work_mem: "9MB", random_page_cost: "1.1", jit: "on" } },
  });
  const created = await connect(branch.uri);
  expect(await settingOf(created, "work_mem")).toBe("9MB");
  expect(await settingOf(created, "random_page_cost")).toBe("1.1");
  expect(await settingOf(created, "jit")).toBe("on");
  expect(await settingOf(created, "maintenance_work_mem")).toBe("64MB");
  expect(await settingOf(created, "idle_in_transaction_session_timeout")).toBe("5min");
  const ended = new Promise((resolve) => created.once("end", resolve));
  const changes = { settings: { pg_settings: { Work_Mem: "16384", maintenance_work_mem: "1GB" } } };
  expect((await server.api("PATCH", branch.path, { endpoint: changes })).status).toBe(200);
  await ended;
  const updated = await connect(branch.uri);
  expect(await settingOf(updated, "work_mem")).toBe("16MB");
  expect(await settingOf(updated, "random_page_cost")).toBe("4");
  expect(await settingOf(updated, "maintenance_work_mem")).toBe("1GB");
  await server.api("PATCH", branch.path, {
    endpoint: {
      autoscaling_limit_min_cu: 2,
      autoscaling_limit_max_cu: 4,
      settings: { pg_settings: {} },
    },
  });
  const resized = await connect(branch.uri);
  expect(await settingOf(resized, "work_mem")).toBe("4MB");
  expect(await settingOf(resized, "maintenance_work_mem")).toBe("137518kB");
  expect(await settingOf(resized, "max_worker_processes")).toBe("18");
  expect(await settingOf(resized, "max_connections")).toBe("901");
});

test("after a resize, pg_settings has each setting that the API has, and the limits of the new size", async () => {
  const server = await serverOf();
  const pg_settings = { work_mem: "12288", lock_timeout: "1500", geqo_seed: "0.25", enable_seqscan: "off" };
  const branch = await createBranch(server, { default_endpoint_settings: { pg_settings } });
  for (const [min, max] of [
    [2, 4],
    [0.25, 0.25],
  ]) {
    const sizes = { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max };
    expect((await server.api("PATCH", branch.path, { endpoint: sizes })).status).toBe(200);
    const { settings } = (await server.api("GET", branch.path)).body.endpoint;
    expect(settings.pg_settings).toEqual(pg_settings);
    const client = await connect(branch.uri);
    const { rows } = await client.query(
      "select name, setting from pg_settings where name = any ($1) order by name",
      [Object.keys(settings.pg_settings)],
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual(
      settings.pg_settings,
    );
    expect(await settingOf(client, "max_connections")).toBe(min === 2 ? "901" : "112");
    await client.end();
  }
});

test("a role's own value has precedence over that of the compute, and a session's over both", async () => {
  const server = await serverOf();
  const { uri } = await createBranch(server, {
    default_endpoint_settings: { pg_settings: { work_mem: "9MB", statement_timeout: "50ms" } },
  });
  const owner = await connect(uri);
  await expect(owner.query("select pg_sleep(1)")).rejects.toMatchObject({ code: "57014" });
  await owner.query("alter role neondb_owner set work_mem = '10MB'");
  const client = await connect(uri);
  expect(await settingOf(client, "work_mem")).toBe("10MB");
  await client.query("set work_mem = '11MB'");
  expect(await settingOf(client, "work_mem")).toBe("11MB");
});

test("a replica has the settings of its own compute, and the limits of its own size", async () => {
  const server = await serverOf();
  const branch = await createBranch(server);
  await (await connect(branch.uri)).query("create table notes (body text)");
  const { body } = await server.api("POST", `/projects/${branch.projectId}/endpoints`, {
    endpoint: {
      branch_id: branch.branchId,
      type: "read_only",
      autoscaling_limit_min_cu: 2,
      autoscaling_limit_max_cu: 2,
      settings: { pg_settings: { work_mem: "7MB" } },
    },
  });
  const query = `endpoint_id=${body.endpoint.id}&database_name=neondb&role_name=neondb_owner`;
  const uri = (await server.api("GET", `/projects/${branch.projectId}/connection_uri?${query}`)).body.uri;
  const replica = await connect(uri);
  expect(await settingOf(replica, "work_mem")).toBe("7MB");
  expect(await settingOf(replica, "maintenance_work_mem")).toBe("137518kB");
  expect(await settingOf(replica, "max_connections")).toBe("901");
  expect((await replica.query("select from notes")).rowCount).toBe(0);
});

test("settings that Postgres does not accept are refused when they are set, and change nothing", async () => {
  const server = await serverOf();
  const branch = await createBranch(server, { pg_version: 15 });
  const patch = (pg_settings: Record<string, string>) =>
    server.api("PATCH", branch.path, { endpoint: { settings: { pg_settings } } });
  expect(await patch({ work_mem: "1" })).toMatchObject({
    status: 400,
    body: {
      message: expect.stringMatching(/endpoint\.settings\.pg_settings\.work_mem: must be an integer from 64/),
    },
  });
  expect((await patch({ fsync: "off" })).status).toBe(400);
  expect(await patch({ transaction_timeout: "5s" })).toMatchObject({
    status: 422,
    body: {
      code: "PG_SETTING_NOT_AVAILABLE",
      message: "settings.pg_settings.transaction_timeout: needs Postgres 17 or newer, and the project has 15",
    },
  });
  expect((await server.api("GET", branch.path)).body.endpoint.settings.pg_settings).toEqual({});
});
