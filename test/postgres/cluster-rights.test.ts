import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import { PostgresEngine } from "../../src/postgres/processes/postgres-engine.ts";
import { SOCKET_PORT } from "../../src/postgres/processes/postgres-process.ts";
import { asRole } from "../../src/postgres/processes/script.ts";
import { ensureRights } from "../../src/postgres/rights/cluster-rights.ts";
import { writeExtension } from "../../src/postgres/rights/extension.ts";
import { testDirectory } from "../support/server/running-server.ts";

const user = engineUser();
const installations = await findInstallations(undefined, user);

/** A cluster as a superuser of an earlier release, or of an imported file, may have left it. */
async function runningCluster(installation: (typeof installations)[number]) {
  const directory = testDirectory();
  chmodSync(directory, 0o711);
  const volume = join(directory, "volume");
  mkdirSync(join(volume, "wal"), { recursive: true, mode: 0o711 });
  const engine = new PostgresEngine({
    replacesVersions: false,
    installations: [installation],
    templateDirectory: join(directory, "templates"),
    extension: writeExtension(directory, "platform"),
    user,
    maxLogBytes: 2 ** 25,
    maxSlotLogBytes: 2 ** 25,
  });
  onTestFinished(() => engine.close());
  const base = await engine.emptyCluster(installation.version);
  const dataDirectory = join(volume, "data");
  await engine.copyCluster({ base, to: dataDirectory, archive: join(volume, "wal") });
  if (user !== undefined) chownSync(join(volume, "wal"), user.uid, user.gid);
  const running = await engine.start({ dataDirectory, maxConnections: 5, logicalReplication: false });
  onTestFinished(() => running.stop());
  return running;
}

describe.each(installations)("Postgres $version", (installation) => {
  test("rights that no client may have are taken back, and reported once", async () => {
    const running = await runningCluster(installation);
    expect(await ensureRights(running)).toEqual([]);
    await running.query(
      `CREATE ROLE first SUPERUSER LOGIN; CREATE ROLE "Second" SUPERUSER; CREATE ROLE third LOGIN;
       GRANT pg_write_server_files TO third; GRANT cloud_admin TO third; GRANT platform_superuser TO third`,
    );
    expect([...(await ensureRights(running))].sort()).toEqual([
      'role "Second": SUPERUSER',
      'role "first": SUPERUSER',
      'role "third": member of cloud_admin',
      'role "third": member of pg_write_server_files',
    ]);
    const superusers = "SELECT rolname FROM pg_roles WHERE rolsuper AND rolname !~ '^pg_'";
    expect(await running.query(superusers)).toEqual([{ rolname: "cloud_admin" }]);
    const groups = `SELECT roleid::regrole::text AS name FROM pg_auth_members WHERE member = 'third'::regrole`;
    expect(await running.query(groups)).toEqual([{ name: "platform_superuser" }]);
    expect(await ensureRights(running)).toEqual([]);
  });

  test("the role that restores data gives publications of all tables and schemas to their owners", async () => {
    const running = await runningCluster(installation);
    await ensureRights(running);
    await running.query(
      "CREATE ROLE owner; CREATE ROLE restorer LOGIN; GRANT owner, platform_superuser TO restorer",
    );
    await running.query("GRANT platform_superuser TO owner");
    await running.query("CREATE DATABASE clients OWNER owner TEMPLATE template0");
    const session = {
      host: dirname(running.address.path),
      port: SOCKET_PORT,
      database: "clients",
      user: "restorer",
    };
    // As pg_restore sends them.
    await asRole(session, async (query) => {
      await query(
        "CREATE PUBLICATION a FOR ALL TABLES WITH (publish = 'insert, update, delete, truncate');\n\n\n",
      );
      await query("ALTER PUBLICATION a OWNER TO owner;\n\n");
      await query("CREATE PUBLICATION b WITH (publish = 'insert, update, delete, truncate');\n\n\n");
      await query("ALTER PUBLICATION b OWNER TO owner;\n\n");
      if (installation.version >= 15) await query("ALTER PUBLICATION b ADD TABLES IN SCHEMA public;\n\n\n");
    });
    const publications = await running.inDatabase("clients", (query) =>
      query("SELECT pubname, pg_get_userbyid(pubowner) AS owner FROM pg_publication ORDER BY pubname"),
    );
    expect(publications).toEqual([
      { pubname: "a", owner: "owner" },
      { pubname: "b", owner: "owner" },
    ]);
    expect(await ensureRights(running)).toEqual([]);
  });
});
