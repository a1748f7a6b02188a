import { PLATFORM_GROUP } from "../engine/engine.ts";
import { literal } from "../engine/sql-text.ts";
import { createEventTrigger, OWN_EVENT_TRIGGERS, onOneLine } from "./event-triggers.ts";
import { GAP, NAME, NAMES, SPACE, WITH } from "./statement-patterns.ts";

const { publicationStart: START, publicationEnd: END } = OWN_EVENT_TRIGGERS;

const IN_SCHEMAS = `TABLES${SPACE}IN${SPACE}SCHEMA${SPACE}${NAMES}`;

/** `psql` sends no comments of its own, and `pg_restore` sends none. */
function whole(statement: readonly string[]): string {
  return `^${GAP}${statement.join(SPACE)}${GAP};?${GAP}$`;
}

const CREATE = whole(["CREATE", "PUBLICATION", NAME, "FOR", `(ALL${SPACE}TABLES|${IN_SCHEMAS})${WITH}`]);
const ALTER = whole(["ALTER", "PUBLICATION", NAME, "(ADD|SET)", IN_SCHEMAS]);
const CHANGE_OWNER = whole(["ALTER", "PUBLICATION", NAME, "OWNER", "TO", NAME]);
const OWN_NAMES = Object.values(OWN_EVENT_TRIGGERS).map(literal).join(", ");
/** Without quotes, they name no role. */
const ROLE_KEYWORDS = ["current_role", "current_user", "session_user", "public", "none"];

/** A single name. Unlike `NAME`, it is not empty within quotes. */
const ONE_NAME = '"(?:[^"]|"")+"|[a-z_][a-z0-9_$]*';

/**
 * SQL for the name that follows these parts of a statement, as Postgres reads it. The pattern begins at the start of
 * the statement, because a name in quotes may contain the same words.
 */
function nameAfter(statement: readonly string[]): string {
  const pattern = `^${GAP}${statement.join(SPACE)}${SPACE}(${ONE_NAME})`;
  return `substring(statement FROM ${literal(`(?i)${pattern}`)})`;
}

/** SQL for the name in `variable` as Postgres stores it: without its quotes, or in lower case if it has none. */
function unquoted(variable: string): string {
  return `CASE WHEN ${variable} LIKE '"%' THEN replace(substr(${variable}, 2, length(${variable}) - 2), '""', '"')
      ELSE lower(${variable}) END`;
}

/**
 * Makes the current role a superuser for one statement of the client, within its transaction, if no code of clients can
 * run in the meantime. The statement must be all that the client has sent: a row filter would evaluate functions of clients.
 * If it is executed by a function, the context has another line. What Postgres does not check for a superuser is checked here.
 */
const START_FUNCTION = `CREATE FUNCTION pg_catalog.${START}() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $standin$
DECLARE
  context text;
  statement text COLLATE "C" := current_query();
  invoker oid;
  invoker_name name := session_user;
  is_creation boolean;
  is_change_of_owner boolean;
  publication text;
  new_owner text;
  is_for_superusers boolean;
BEGIN
  GET DIAGNOSTICS context = PG_CONTEXT;
  IF current_setting('role') <> 'none' THEN
    invoker_name := current_setting('role');
  END IF;
  SELECT r.oid INTO invoker FROM pg_roles r
    WHERE r.rolname = invoker_name AND NOT r.rolsuper AND has_database_privilege(r.oid, current_database(), 'CREATE')
      AND EXISTS (SELECT FROM pg_roles g WHERE g.rolname = ${literal(PLATFORM_GROUP)} AND pg_has_role(r.oid, g.oid, 'USAGE'));
  IF invoker IS NULL OR statement IS NULL THEN
    RETURN;
  END IF;
  is_creation := statement ~* ${literal(CREATE)};
  is_change_of_owner := statement ~* ${literal(CHANGE_OWNER)};
  IF strpos(context, chr(10)) > 0 OR strpos(statement, chr(92)) > 0
      OR NOT (is_creation OR is_change_of_owner OR statement ~* ${literal(ALTER)}) THEN
    IF statement ~* 'ALL${SPACE}TABLES|TABLES${SPACE}IN${SPACE}SCHEMA' THEN
      RAISE NOTICE 'FOR ALL TABLES and FOR TABLES IN SCHEMA need a statement that is sent alone'
        USING HINT = 'Send it without other statements and comments, outside of functions and DO.';
    END IF;
    RETURN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_event_trigger WHERE evtname = ${literal(END)} AND evtenabled = 'A')
      OR EXISTS (SELECT FROM pg_event_trigger WHERE evtname NOT IN (${OWN_NAMES}) AND evtenabled <> 'D') THEN
    RAISE NOTICE 'event triggers of an extension would run in this statement, so it is not executed as a superuser';
    RETURN;
  END IF;
  IF NOT is_creation THEN
    publication := ${nameAfter(["ALTER", "PUBLICATION"])};
    publication := ${unquoted("publication")};
    SELECT p.puballtables OR EXISTS (SELECT FROM pg_depend d WHERE d.classid = to_regclass('pg_publication_namespace')
          AND d.refclassid = 'pg_publication'::regclass AND d.refobjid = p.oid)
      INTO is_for_superusers FROM pg_publication p
      WHERE p.pubname = publication AND pg_has_role(invoker, p.pubowner, 'USAGE') FOR UPDATE OF p;
    IF NOT FOUND OR is_change_of_owner AND NOT is_for_superusers THEN
      RETURN;
    END IF;
  END IF;
  IF is_change_of_owner THEN
    new_owner := ${nameAfter(["ALTER", "PUBLICATION", `(?:${ONE_NAME})`, "OWNER", "TO"])};
    IF new_owner NOT LIKE '"%' AND lower(new_owner) IN (${ROLE_KEYWORDS.map(literal).join(", ")}) THEN
      RETURN;
    END IF;
    new_owner := ${unquoted("new_owner")};
    PERFORM FROM pg_roles r, pg_roles g WHERE r.rolname = new_owner AND NOT r.rolsuper AND g.rolname = ${literal(PLATFORM_GROUP)}
      AND pg_has_role(invoker, r.oid, CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END)
      AND pg_has_role(r.oid, g.oid, 'USAGE') AND has_database_privilege(r.oid, current_database(), 'CREATE');
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;
  UPDATE pg_authid SET rolsuper = true WHERE pg_authid.oid = invoker;
END $standin$`;

/** No role of clients is a superuser at any other time. */
const END_FUNCTION = `CREATE FUNCTION pg_catalog.${END}() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $standin$
BEGIN
  UPDATE pg_authid SET rolsuper = false WHERE rolsuper AND pg_authid.oid >= 16384;
END $standin$`;

const TAGS = ["CREATE PUBLICATION", "ALTER PUBLICATION"];

/**
 * Statements of the superuser, without line breaks, for a database in which owners may publish all tables, and the tables of
 * schemas. Stock Postgres demands a superuser for both.
 */
export const PUBLICATION_RIGHTS: readonly string[] = [
  END_FUNCTION,
  START_FUNCTION,
  ...createEventTrigger({ name: END, event: "ddl_command_end", tags: TAGS, procedure: END }),
  ...createEventTrigger({ name: START, event: "ddl_command_start", tags: TAGS, procedure: START }),
].map(onOneLine);
