import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "pg";

/** The roles of a hostile branch. Code of a client may run as one of them. */
const CLIENT_ROLES = ["neondb_owner", "clerk"] as const;

/**
 * What hostile code does when it runs. As a client it does nothing. With any other right it leaves a trace in a
 * directory outside of all volumes and makes the owner a superuser. Sequences and files survive a rollback.
 */
export class Observer {
  readonly directory: string;

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), "adversary-"));
    // Postgres may run as another user than the server.
    chmodSync(this.directory, 0o777);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Statements that create `adversary.observe(place)`, which every planted piece of code calls. */
  get sql(): string {
    return `create schema if not exists adversary;
grant usage on schema adversary to public;
create sequence adversary.sightings;
grant all on sequence adversary.sightings to public;
create function adversary.is_client(role name) returns boolean language sql immutable
  set search_path = pg_catalog, pg_temp
  as $$ select role = any ('{${CLIENT_ROLES.join(",")}}'::name[]) $$;
create function adversary.act(place text) returns boolean language plpgsql volatile
  set search_path = pg_catalog, pg_temp as $act$
declare escape text; report text;
begin
  if adversary.is_client(current_user) and adversary.is_client(session_user) then return true; end if;
  -- Postgres itself runs code as the owner of a table, from which there is no way back to the session's role.
  if adversary.is_client(current_user) then
    foreach escape in array array['reset role', 'set role none', 'set session authorization default'] loop
      begin execute escape; exception when others then null; end;
    end loop;
    if adversary.is_client(current_user) then return true; end if;
  end if;
  report := format('%s ran as %s in a session of %s', place, current_user, session_user);
  begin perform nextval('adversary.sightings'); exception when others then null; end;
  begin
    execute format('copy (select %L) to %L', report, '${this.directory}/' || md5(report));
  exception when others then null; end;
  begin
    execute format('copy (select %L) to program %L', report, 'cat >> ${this.directory}/program');
  exception when others then null; end;
  begin execute 'alter role neondb_owner superuser'; exception when others then null; end;
  return true;
end $act$;
-- Indexes, generated columns and checks accept immutable code only.
create function adversary.observe(place text) returns boolean language plpgsql immutable
  as $$ begin return adversary.act(place); end $$;
grant execute on all functions in schema adversary to public;
`;
  }

  /** What hostile code has written to files so far. */
  traces(): string[] {
    const contents = readdirSync(this.directory).map((name) =>
      readFileSync(join(this.directory, name), "utf8").trim(),
    );
    return [...new Set(contents.flatMap((text) => text.split("\n")))].sort();
  }
}

/** Whether code of this database has run with a right that no client has. */
export async function hasSighting(client: Client): Promise<boolean> {
  const { rows } = await client.query("select is_called from adversary.sightings");
  return rows[0].is_called;
}
