import { literal } from "../engine/sql-text.ts";

/** Rejects a connection string that names a file or a socket of the machine. */
export const CONNECTION_CHECK = "pg_catalog.standin_check_connection";

const HOST = "[A-Za-z0-9][A-Za-z0-9._-]*";
const ADDRESS = "[0-9A-Fa-f:.]+";

/** What libpq may be told, and the values. Others name files that it reads or writes, or are not needed. */
const VALUES: readonly (readonly [parameters: readonly string[], values: string])[] = [
  [["host"], `(?:${HOST}|${ADDRESS})(?:,(?:${HOST}|${ADDRESS}))*`],
  [["hostaddr"], `${ADDRESS}(?:,${ADDRESS})*`],
  [["port"], "[0-9]+(?:,[0-9]+)*"],
  [["options"], "(?:endpoint|project)=[a-z0-9-]+"],
  // The authorities of the system. Other values are files.
  [["sslrootcert"], "system"],
  [["dbname"], "[^=/]*"],
  [["user", "password", "application_name"], ".*"],
  [
    [
      ...["connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"],
      ...["tcp_user_timeout", "sslmode", "sslnegotiation", "sslsni", "ssl_min_protocol_version"],
      ...["ssl_max_protocol_version", "channel_binding", "gssencmode", "require_auth", "client_encoding"],
      ...["target_session_attrs", "load_balance_hosts"],
    ],
    "[A-Za-z0-9_.,!-]*",
  ],
];
const ALLOWED = VALUES.flatMap(([parameters]) => parameters).sort();
const IS_ALLOWED = VALUES.map(
  ([parameters, values]) =>
    `WHEN name = ANY (${literal(`{${parameters.join(",")}}`)}) THEN value ~ ${literal(`^(?:${values})$`)}`,
).join(" ");

const SPACE = "[[:space:]]";
/** libpq reads what follows `=` up to the next space, or up to the closing quote. */
const PAIR = `([a-z_]+)${SPACE}*=${SPACE}*(?:([^[:space:]']+)|'([^']*)')`;
const PAIRS = `^${SPACE}*${PAIR}(?:${SPACE}+${PAIR})*${SPACE}*$`;

/** Without an `@`, which libpq would take for the end of the user. */
const URI_VALUE = "[A-Za-z0-9_.~%!$*+:;,-]*";
const URI_HOST = `(?:${HOST}|[[]${ADDRESS}[]])(?::[0-9]*)?`;
const URI_PARAMETER = `[a-z_]+=${URI_VALUE}`;
const URI = [
  "^postgres(?:ql)?://",
  "(?:[A-Za-z0-9_.~%!$&*+:;=-]+@)?",
  `${URI_HOST}(?:,${URI_HOST})*`,
  "(?:/[A-Za-z0-9_.~%$+-]*)?",
  `(?:[?](${URI_PARAMETER}(?:&${URI_PARAMETER})*))?$`,
].join("");

/**
 * Accepts two forms, strictly: what this function and libpq would read in different ways is an error. So there are no
 * backslashes, which libpq takes for escapes, and only ASCII, because its spaces depend on the locale. The host of a URI is not decoded, because it could be a path.
 */
export const CONNECTION_CHECK_FUNCTION = `CREATE FUNCTION ${CONNECTION_CHECK}(connection text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $standin$
DECLARE
  given text COLLATE "C" := connection;
  is_uri boolean := given ~ '^postgres(ql)?://';
  pairs text[];
  name text COLLATE "C";
  value text COLLATE "C";
  has_host boolean := is_uri;
BEGIN
  IF given IS NULL OR strpos(given, chr(92)) > 0 OR given !~ '^[[:space:] -~]*$' OR given !~ (CASE WHEN is_uri THEN ${literal(URI)} ELSE ${literal(PAIRS)} END) THEN
    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
      MESSAGE = 'connection string: expected postgresql://user:password@host:port/database or "host=… port=… user=… password=… dbname=…"',
      DETAIL = 'It may contain only ASCII characters, and no backslashes. In a URI, special characters must be percent-encoded, but not in the host.';
  END IF;
  FOR pairs IN
    SELECT m FROM regexp_matches(CASE WHEN is_uri THEN coalesce((regexp_match(given, ${literal(URI)}))[1], '') ELSE given END,
      CASE WHEN is_uri THEN '([a-z_]+)=([^&]*)()' ELSE ${literal(PAIR)} END, 'g') m
  LOOP
    name := pairs[1];
    value := coalesce(pairs[2], pairs[3]);
    IF is_uri THEN
      value := replace(replace(value, '%3D', '='), '%3d', '=');
    END IF;
    has_host := has_host OR name IN ('host', 'hostaddr');
    IF name <> ALL (${literal(`{${ALLOWED.join(",")}}`)}) THEN
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
        MESSAGE = format('connection string: parameter "%s" is not allowed', name),
        DETAIL = 'Connections start on the machine of the server, so parameters that name its files are rejected.',
        HINT = ${literal(`Allowed are ${ALLOWED.join(", ")}.`)};
    END IF;
    IF NOT (CASE ${IS_ALLOWED} ELSE false END) THEN
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
        MESSAGE = format('connection string: parameter "%s": this value is not allowed', name),
        DETAIL = 'A host is a name or an address in the network, "options" is endpoint=<id>, and "sslrootcert" is system.';
    END IF;
  END LOOP;
  IF NOT has_host THEN
    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'connection string: expected a host',
      DETAIL = 'Without one, it would be a socket of the machine.';
  END IF;
END $standin$`;
