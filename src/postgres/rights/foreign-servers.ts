import { PLATFORM_GROUP } from "../engine/engine.ts";

/** The extension whose servers are checked. Its script names its own schema, so it cannot be moved to another. */
export const CHECKED_WRAPPER = "postgres_fdw";

/** Options of a server that name no file and no socket of the machine. Others are rejected. */
const SERVER_OPTIONS = [
  ...["host", "hostaddr", "port", "dbname", "options", "application_name", "client_encoding"],
  ...["connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"],
  ...["tcp_user_timeout", "sslmode", "sslnegotiation", "sslsni", "channel_binding", "target_session_attrs"],
  ...["use_remote_estimate", "fdw_startup_cost", "fdw_tuple_cost", "extensions", "updatable", "truncatable"],
  ...["fetch_size", "batch_size", "async_capable", "analyze_sampling", "keep_connections"],
  ...["parallel_commit", "parallel_abort"],
];
const USER_OPTIONS = ["user", "password"];

const WRAPPER =
  /CREATE FOREIGN DATA WRAPPER postgres_fdw\s+HANDLER postgres_fdw_handler\s+VALIDATOR postgres_fdw_validator;/;

/**
 * The connections of foreign servers start in Postgres, as the user that it runs as: a host that is a path would be a
 * socket of the machine, such as that of another branch, and other options of libpq name files that it reads or writes.
 * So a server is a host in the network, and only Postgres itself may change what checks it.
 */
export function checkedWrapper(script: string): string {
  if (!WRAPPER.test(script)) return script;
  // Without this change of the wrapper, clients may not use it at all.
  return script.replace(WRAPPER, () => CREATE_WRAPPER);
}

const CREATE_WRAPPER = `CREATE FUNCTION postgres_fdw_network_validator(options pg_catalog.text[], catalog pg_catalog.oid)
RETURNS pg_catalog.void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  option text;
  name text;
  value text;
  has_host boolean := false;
  is_server boolean := catalog = 'pg_foreign_server'::regclass;
BEGIN
  PERFORM @extschema@.postgres_fdw_validator(options, catalog);
  IF NOT is_server AND catalog <> 'pg_user_mapping'::regclass THEN
    RETURN;
  END IF;
  FOREACH option IN ARRAY options LOOP
    name := split_part(option, '=', 1);
    value := substr(option, length(name) + 2);
    IF name <> ALL (CASE WHEN is_server THEN '{${SERVER_OPTIONS.join(",")}}'::text[] ELSE '{${USER_OPTIONS.join(",")}}' END) THEN
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format('option "%s" is not allowed', name),
        DETAIL = 'Connections start on the machine of the server, so options that name its files are rejected.';
    END IF;
    IF name IN ('host', 'hostaddr') THEN
      has_host := true;
      IF value !~ '^[A-Za-z0-9][A-Za-z0-9.:_-]*$' THEN
        RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
          MESSAGE = format('option "%s": expected the name or address of one host, got "%s"', name, value);
      END IF;
    END IF;
    IF name = 'options' AND value !~ '^(endpoint|project)=[a-z0-9-]+$' THEN
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
        MESSAGE = format('option "options": expected endpoint=<id>, got "%s"', value);
    END IF;
  END LOOP;
  IF is_server AND NOT has_host THEN
    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'a server needs the option "host"',
      DETAIL = 'Without one, it would be a socket of the machine.';
  END IF;
END $$;
CREATE FOREIGN DATA WRAPPER postgres_fdw HANDLER postgres_fdw_handler VALIDATOR postgres_fdw_network_validator;
GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO ${PLATFORM_GROUP} WITH GRANT OPTION;
`;
