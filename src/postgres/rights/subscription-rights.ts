import { PLATFORM_GROUP } from "../engine/engine.ts";
import { literal } from "../engine/sql-text.ts";
import { CONNECTION_CHECK, CONNECTION_CHECK_FUNCTION } from "./connection-check.ts";
import { createEventTrigger, OWN_EVENT_TRIGGERS, onOneLine } from "./event-triggers.ts";
import { GAP, NAME, NAMES, SPACE, WITH } from "./statement-patterns.ts";

/** Before it, only superusers may create subscriptions, and workers have all rights of the owner in all tables. */
const ROLE_SINCE = 16;
/** The last one whose statements were read. A later one may connect in others, too. */
const CHECKED_UNTIL = 18;

/** The group is the connection string, with its quotes doubled. */
const CREATE =
  `^${GAP}CREATE${SPACE}SUBSCRIPTION${SPACE}${NAME}${GAP}CONNECTION${GAP}'((?:[^']|'')*)'` +
  `${GAP}PUBLICATION${SPACE}${NAMES}${WITH}${GAP};?${GAP}$`;

const CHECK = "standin_check_subscription";

/**
 * `CREATE SUBSCRIPTION` connects before it is over, so the text that the client has sent is checked at its start: it must be
 * the statement alone, so that the string in the text is that of the statement. What is stored is checked at the end of both
 * statements: later connections, also those of workers, read it from there.
 */
const CHECK_FUNCTION = `CREATE FUNCTION pg_catalog.${CHECK}() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $standin$
DECLARE
  context text;
  statement text COLLATE "C" := current_query();
  connection text;
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = session_user AND rolsuper) THEN
    RETURN;
  END IF;
  IF tg_event = 'ddl_command_start' THEN
    GET DIAGNOSTICS context = PG_CONTEXT;
    connection := (regexp_match(statement, ${literal(CREATE)}, 'i'))[1];
    IF connection IS NULL OR strpos(context, chr(10)) > 0 OR strpos(statement, chr(92)) > 0 THEN
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
        MESSAGE = 'CREATE SUBSCRIPTION needs a statement that is sent alone',
        HINT = 'Send it without other statements, comments and backslashes, outside of functions and DO, with the connection string in single quotes.';
    END IF;
    PERFORM ${CONNECTION_CHECK}(replace(connection, $q$''$q$, $q$'$q$));
    RETURN;
  END IF;
  FOR connection IN SELECT subconninfo FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid WHERE datname = current_database() LOOP
    PERFORM ${CONNECTION_CHECK}(connection);
  END LOOP;
END $standin$`;

/** Statements of the superuser, without line breaks, for a database in which owners may create subscriptions. */
const CHECKS = [
  CONNECTION_CHECK_FUNCTION,
  CHECK_FUNCTION,
  ...createEventTrigger({
    name: OWN_EVENT_TRIGGERS.subscriptionEnd,
    event: "ddl_command_end",
    tags: ["CREATE SUBSCRIPTION", "ALTER SUBSCRIPTION"],
    procedure: CHECK,
  }),
  ...createEventTrigger({
    name: OWN_EVENT_TRIGGERS.subscriptionStart,
    event: "ddl_command_start",
    tags: ["CREATE SUBSCRIPTION"],
    procedure: CHECK,
  }),
].map(onOneLine);

/** The group gets the right only in clusters whose databases all have the checks: those that are created with them. */
const GRANTS = [
  `CREATE ROLE ${PLATFORM_GROUP} NOLOGIN CREATEDB CREATEROLE BYPASSRLS REPLICATION`,
  `GRANT pg_create_subscription TO ${PLATFORM_GROUP}`,
];

/** `checks`: for each database. `grants`: for the cluster, after them. */
export function subscriptionRights(version: number): {
  readonly checks: readonly string[];
  readonly grants: readonly string[];
} {
  if (version < ROLE_SINCE || version > CHECKED_UNTIL) return { checks: [], grants: [] };
  return { checks: CHECKS, grants: GRANTS };
}
