/** A right of the owner of a branch, on the platform and here: a row of the table in `docs/reference/postgres.md`. */
export type OwnerRight = {
  readonly statement: string;
  /** Whether the platform accepts it. */
  readonly platform: boolean;
  /** Reason why the statement is rejected here, although the platform accepts it. */
  readonly refusal?: string;
  /** SQLSTATE of the rejection; default: insufficient privilege. */
  readonly code?: string;
  /** The first major version that has the statement. Absent: all have it. */
  readonly since?: number;
  /** Evidence for the platform's behaviour: a letter of `docs/evidence.md`. */
  readonly evidence: "R" | "S" | "C" | "D" | "A";
  /** Statements that the owner runs before it. */
  readonly before?: readonly string[];
  /** Statement that the test runs; default: `statement`. */
  readonly sql?: string;
};

const INSUFFICIENT_PRIVILEGE = "42501";
const NOT_SUPPORTED = "0A000";

/** In the order of the table. Each is executed in a database of its own. */
export const OWNER_RIGHTS: readonly OwnerRight[] = [
  { statement: "CREATE ROLE clerk LOGIN", platform: true, evidence: "D" },
  {
    statement: "ALTER ROLE clerk SET statement_timeout = '5s'",
    platform: true,
    evidence: "A",
    before: ["CREATE ROLE clerk"],
  },
  { statement: "CREATE DATABASE copy", platform: true, evidence: "D" },
  {
    statement: "CREATE DATABASE copy TEMPLATE original",
    platform: true,
    evidence: "A",
    before: ["CREATE DATABASE original"],
  },
  {
    statement: "REASSIGN OWNED BY clerk TO neondb_owner",
    platform: true,
    evidence: "A",
    before: ["CREATE ROLE clerk", "GRANT clerk TO neondb_owner"],
  },
  {
    statement: "REASSIGN OWNED BY clerk TO neondb_owner, without GRANT clerk TO neondb_owner",
    platform: false,
    evidence: "A",
    before: ["CREATE ROLE clerk"],
    sql: "REASSIGN OWNED BY clerk TO neondb_owner",
  },
  {
    statement: "SELECT, INSERT, UPDATE, DELETE on tables of other roles",
    platform: true,
    evidence: "D",
    before: [
      "CREATE ROLE clerk",
      "GRANT clerk TO neondb_owner",
      "GRANT CREATE ON SCHEMA public TO clerk",
      "SET ROLE clerk",
      "CREATE TABLE words (word text)",
      "RESET ROLE",
      "REVOKE clerk FROM neondb_owner",
    ],
    sql: "INSERT INTO words VALUES ('one'); UPDATE words SET word = 'two'; DELETE FROM words",
  },
  {
    statement: "GRANT pg_monitor TO clerk",
    platform: true,
    evidence: "D",
    before: ["CREATE ROLE clerk"],
  },
  {
    statement: "GRANT pg_signal_backend TO clerk",
    platform: true,
    evidence: "D",
    before: ["CREATE ROLE clerk"],
  },
  {
    statement: "CREATE PUBLICATION p FOR TABLE words",
    platform: true,
    evidence: "D",
    before: ["CREATE TABLE words (word text)"],
  },
  {
    statement: "CREATE PUBLICATION p FOR ALL TABLES",
    platform: true,
    evidence: "D",
  },
  {
    statement: "CREATE PUBLICATION p FOR TABLES IN SCHEMA public",
    platform: true,
    evidence: "D",
    since: 15,
  },
  {
    statement: "ALTER PUBLICATION p ADD TABLE words",
    platform: true,
    evidence: "D",
    before: ["CREATE TABLE words (word text)", "CREATE PUBLICATION p"],
  },
  {
    statement: "SELECT pg_create_logical_replication_slot('slot', 'pgoutput')",
    platform: true,
    evidence: "D",
  },
  {
    statement: "CREATE SUBSCRIPTION s CONNECTION '…' PUBLICATION p",
    platform: true,
    evidence: "D",
    since: 16,
    sql: "CREATE SUBSCRIPTION s CONNECTION 'host=db.example user=u password=p' PUBLICATION p WITH (connect = false, slot_name = none)",
  },
  {
    statement: "CREATE SUBSCRIPTION s CONNECTION 'host=/tmp …' PUBLICATION p",
    platform: true,
    evidence: "A",
    refusal:
      "connections start on the machine of the server, so their options name no file and no socket of it, and up to version 15 Postgres requires a superuser for all subscriptions",
    sql: "CREATE SUBSCRIPTION s CONNECTION 'host=/tmp user=u password=p' PUBLICATION p WITH (connect = false, slot_name = none)",
  },
  {
    statement: "CREATE EVENT TRIGGER t ON ddl_command_end EXECUTE FUNCTION f()",
    platform: true,
    evidence: "D",
    refusal:
      "Postgres requires a superuser in all versions. An event trigger would also run in sessions of the server, in scripts of extensions, which run as the superuser, and in the middle of the statements for publications",
    before: ["CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'"],
  },
  { statement: "SET session_replication_role = replica", platform: false, evidence: "C" },
  { statement: "ALTER SYSTEM SET work_mem = '1MB'", platform: false, evidence: "A" },
  {
    statement: "CREATE EXTENSION dblink",
    platform: true,
    evidence: "D",
    code: NOT_SUPPORTED,
    refusal:
      "in all versions, its functions take connection strings that name sockets and files of the machine. `postgres_fdw` is available",
  },
  { statement: "CREATE EXTENSION postgres_fdw", platform: true, evidence: "D" },
  { statement: "CREATE EXTENSION file_fdw", platform: false, evidence: "D" },
  {
    statement: "COPY words FROM PROGRAM 'date'",
    platform: false,
    evidence: "A",
    before: ["CREATE TABLE words (word text)"],
  },
  { statement: "CREATE ROLE other SUPERUSER", platform: false, evidence: "D" },
];

/** Expected result of the statement: `accepted`, or a SQLSTATE. */
export function wantedOutcome({ platform, refusal, code = INSUFFICIENT_PRIVILEGE }: OwnerRight): string {
  return platform && refusal === undefined ? "accepted" : code;
}

/** The lines of the table as the page has it. */
export function ownerRightsTable(): string[] {
  const rows = OWNER_RIGHTS.map(({ statement, platform, refusal, evidence }) => {
    const here = refusal === undefined ? (platform ? "yes" : "no") : `no: ${refusal}`;
    return `| \`${statement}\` | ${platform ? "yes" : "no"} | ${here} | ${evidence} |`;
  });
  return ["| Statement | Platform | Here | Evidence |", "|---|---|---|---|", ...rows];
}
