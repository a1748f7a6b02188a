import { expect, onTestFinished, test } from "vitest";
import { findDumpPrograms } from "../../../src/postgres/upgrade/dump-programs.ts";
import { createBranch, startPostgresServer } from "../../support/postgres/postgres.ts";
import { spawnStandin, waitForExit } from "../../support/process/process.ts";
import { openClient } from "./clients.ts";
import { plant } from "./hostile-database.ts";
import { SERVER_ARGS } from "./hostile-server.ts";
import { INSTALLATIONS, NEWEST } from "./installations.ts";
import { excessiveRights } from "./judge.ts";
import { Observer } from "./observer.ts";

const [oldest] = INSTALLATIONS;
const [newest] = NEWEST;
const LONGEST_MS = 240_000;

/** Views of catalogs whose columns the newer version does not have cannot be carried. */
const DROP_VIEWS = `do $do$ declare v record; begin
  perform pg_catalog.set_config('search_path', 'pg_catalog', true);
  for v in select pg_class.oid::regclass as name from pg_class where relkind = 'v' and relnamespace = 'shadow'::regnamespace
    and relowner = current_user::regrole loop
    execute pg_catalog.concat('drop view if exists ', v.name, ' cascade'); end loop; end $do$`;

const canUpgrade =
  oldest !== undefined &&
  newest !== undefined &&
  oldest.version < newest.version &&
  (await findDumpPrograms(INSTALLATIONS, undefined, oldest.version, newest.version).then(
    () => true,
    () => false,
  ));

test.skipIf(!canUpgrade)(
  "hostile code gets no right while its branch is carried to a newer version",
  { timeout: LONGEST_MS },
  async () => {
    const { version = 0, binDirectory = "" } = oldest ?? {};
    const observer = new Observer();
    onTestFinished(() => observer.remove());
    const server = await startPostgresServer([...SERVER_ARGS, "--engine-bin", binDirectory]);
    onTestFinished(() => server.end());
    const { projectId, branchId } = await createBranch(server);
    const branch = { project_id: projectId, branch_id: branchId };
    const client = await openClient(server, branch);
    await plant(client, observer, version);
    await client.query(DROP_VIEWS);
    await client.end();
    await server.kill("SIGTERM");
    const upgrade = ["engines", "upgrade", String(newest?.version), "--data", server.data];
    const { code, stderr } = await waitForExit(spawnStandin(upgrade), LONGEST_MS);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    expect(observer.traces()).toEqual([]);
    const upgraded = await startPostgresServer(SERVER_ARGS, server.data);
    onTestFinished(() => upgraded.end());
    await upgraded.api(
      "POST",
      `/projects/${projectId}/branches/${branchId}/roles/neondb_owner/reset_password`,
    );
    const reader = await openClient(upgraded, branch);
    // The code ran as the temporary role, which is none of the branch. That role can do no more than all of them.
    const found = await excessiveRights(reader);
    const { rows } = await reader.query(
      `select count(*)::int as roles from pg_roles where rolname ~ 'standin_restore'`,
    );
    await reader.end();
    expect([...observer.traces(), ...found]).toEqual([]);
    expect(rows).toEqual([{ roles: 0 }]);
  },
);
