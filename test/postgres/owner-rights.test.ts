import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import { OWNER_RIGHTS, ownerRightsTable, wantedOutcome } from "../support/postgres/owner-rights.ts";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
} from "../support/postgres/postgres.ts";

const INSTALLATIONS = await findInstallations(undefined, engineUser());
const PAGE = "docs/reference/postgres.md";
const SETTINGS = { settings: { enable_logical_replication: true } };
const INSUFFICIENT_PRIVILEGE = "42501";

test("the table of the page has these rows", () => {
  const [, section = ""] = /## Rights of the owner\n(.*?)\n## /s.exec(readFileSync(PAGE, "utf8")) ?? [];
  expect(section.split("\n").filter((line) => line.startsWith("|"))).toEqual(ownerRightsTable());
});

describe.each(INSTALLATIONS)("with Postgres $version,", ({ binDirectory, version }) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgresServer(["--operations", "immediate", "--engine-bin", binDirectory]);
  });
  afterAll(() => server.end());

  test("each statement of the table is accepted or rejected as the table says", async () => {
    const branch = await createBranch(server, SETTINGS);
    const admin = await connect(branch.uri);
    const different: string[] = [];
    const rights = OWNER_RIGHTS.filter(({ since = 0 }) => since <= version);
    for (const [index, right] of rights.entries()) {
      const { statement, before = [], sql } = right;
      const database = `row_${index}`;
      await admin.query(`create database ${database}`);
      const uri = new URL(branch.uri);
      uri.pathname = `/${database}`;
      const owner = await connect(uri.href);
      for (const earlier of before) await owner.query(earlier);
      const outcome = await owner.query(sql ?? statement).then(
        () => "accepted",
        (error) => error.code as string,
      );
      if (outcome !== wantedOutcome(right)) different.push(`${statement}: ${outcome}`);
      await owner.query("select pg_drop_replication_slot(slot_name) from pg_replication_slots");
      await owner.query("drop subscription if exists s");
      for (const name of ["copy", "original"]) await owner.query(`drop database if exists ${name}`);
      await owner.end();
      await admin.query(`drop database ${database}`);
      await admin.query("drop role if exists clerk");
    }
    expect(different).toEqual([]);
  });

  test("members of the group see and end the sessions of others, but not those of the server", async () => {
    const branch = await createBranch(server);
    const role = await server.api("POST", `/projects/${branch.projectId}/branches/${branch.branchId}/roles`, {
      role: { name: "second" },
    });
    const owner = await connect(branch.uri);
    const uri = new URL(branch.uri);
    uri.username = "second";
    uri.password = role.body.role.password;
    const second = await connect(uri.href);
    await second.query("select 'of second'");
    const { rows } = await owner.query("select pid, query from pg_stat_activity where usename = 'second'");
    expect(rows).toEqual([{ pid: expect.any(Number), query: "select 'of second'" }]);
    await owner.query("select pg_terminate_backend($1)", [rows[0].pid]);
    await expect.poll(() => second.query("select 1").catch(() => "ended")).toBe("ended");
    const end = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'cloud_admin'";
    await expect(owner.query(end)).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
  });
});
