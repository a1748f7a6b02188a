import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ensureRights } from "../../src/postgres/engine/cluster-rights.ts";
import { writeExtension } from "../../src/postgres/engine/extension.ts";
import { findInstallations } from "../../src/postgres/engine/installation.ts";
import { engineUser } from "../../src/postgres/engine/os-user.ts";
import { PostgresEngine } from "../../src/postgres/engine/postgres-engine.ts";
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
});
