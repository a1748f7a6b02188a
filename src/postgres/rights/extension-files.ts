import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PLATFORM_GROUP } from "../engine/engine.ts";
import { literal } from "../engine/sql-text.ts";
import { CHECKED_WRAPPER, checkedWrapper } from "./foreign-servers.ts";
import { missingExtension, PUBLISHED_EXTENSIONS, type PublishedExtension } from "./published-extensions.ts";

/** Files by their name in the directory of extensions, and the names of the installation's own that they hide. */
export type ReplacedFiles = {
  readonly files: ReadonlyMap<string, string>;
  readonly isHidden: (name: string) => boolean;
};

const IS_TRUSTED = /^\s*trusted\s*=\s*(?:true|on|yes|1)\b/m;
/** The only version of an extension that cannot be created. */
const NO_VERSION = "0";

/**
 * What replaces files of an installation, so that owners of databases can create the published extensions without being
 * superusers: Postgres runs scripts of trusted extensions as the superuser.
 */
export function replacedFiles(version: number, extensionDirectory: string): ReplacedFiles {
  const installed = readdirSync(extensionDirectory);
  const files = new Map<string, string>();
  const replaced = new Set<string>();
  for (const extension of PUBLISHED_EXTENSIONS) {
    const own = filesOf(extension, { version, extensionDirectory, installed });
    if (own.size === 0) continue;
    replaced.add(extension.name);
    for (const [name, text] of own) files.set(name, text);
  }
  return { files, isHidden: (name) => replaced.has(extensionOf(name)) };
}

/** `pg_trgm` of `pg_trgm.control` and of `pg_trgm--1.3.sql`. */
function extensionOf(fileName: string): string {
  return fileName.replace(/(?:--.*)?\.(?:control|sql)$/, "");
}

type Installed = {
  readonly version: number;
  readonly extensionDirectory: string;
  readonly installed: readonly string[];
};

/** Empty if the files of the installation stay as they are. */
function filesOf(
  extension: PublishedExtension,
  { version, extensionDirectory, installed }: Installed,
): ReadonlyMap<string, string> {
  const { name, refusal } = extension;
  const controlFile = join(extensionDirectory, `${name}.control`);
  if (refusal !== undefined) return refused(name, refusal);
  if (!existsSync(controlFile)) return refused(name, missingExtension(extension, version));
  const control = readFileSync(controlFile, "utf8");
  if (IS_TRUSTED.test(control)) return new Map();
  const isRelocatable = name !== CHECKED_WRAPPER;
  const settings = ["", "trusted = true", ...(isRelocatable ? [] : ["relocatable = false"]), ""];
  const files = new Map([[`${name}.control`, control + settings.join("\n")]]);
  for (const file of installed.filter((file) => file.startsWith(`${name}--`))) {
    const text = readFileSync(join(extensionDirectory, file), "utf8");
    files.set(file, file.endsWith(".sql") ? guard(name, text) + changedScript(name, text) : text);
  }
  return files;
}

/** A control file whose script only says why. Without one, Postgres would say that a file is missing. */
function refused(name: string, reason: string): ReadonlyMap<string, string> {
  const comment = `not available: ${reason}`.replaceAll("'", "''");
  const script = `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'feature_not_supported',
  MESSAGE = ${literal(`extension "${name}" is not available`)}, DETAIL = ${literal(`${reason}.`)}; END $$;\n`;
  return new Map([
    [
      `${name}.control`,
      `comment = '${comment}'\ndefault_version = '${NO_VERSION}'\ntrusted = true\nrelocatable = false\n`,
    ],
    [`${name}--${NO_VERSION}.sql`, script],
  ]);
}

const RESET_OF_STATISTICS = /REVOKE ALL ON FUNCTION (pg_stat_statements_reset\([^)]*\)) FROM PUBLIC;/g;

function changedScript(name: string, script: string): string {
  if (name === CHECKED_WRAPPER) return checkedWrapper(script);
  // D: the platform grants it to the members of its group.
  if (name === "pg_stat_statements")
    return script.replaceAll(RESET_OF_STATISTICS, `$&\nGRANT EXECUTE ON FUNCTION $1 TO ${PLATFORM_GROUP};`);
  return script;
}

const WORD = /[a-z_][a-z0-9_]*/g;
const CAST = /::\s*([a-z_][a-z0-9_]*)/g;

/**
 * The superuser runs the script in a schema that the client has chosen. If that has a function, operator or type of the
 * client that a name of the script could mean, the script would call code of the client. Each name of the guard itself is
 * qualified. The row type of a table is only used where the script casts to it.
 */
function guard(extension: string, script: string): string {
  const text = script.toLowerCase();
  const words = namesArray([...text.matchAll(WORD)].map(([word]) => word));
  const casts = namesArray([...text.matchAll(CAST)].map(([, type = ""]) => type));
  return `DO $standin$
DECLARE
  conflict pg_catalog.text;
BEGIN
  SELECT pg_catalog.format('%I.%I', n.nspname, o.name) INTO conflict
  FROM pg_catalog.pg_namespace n JOIN (
    SELECT pronamespace AS schema, proname AS name FROM pg_catalog.pg_proc
    WHERE proowner OPERATOR(pg_catalog.<>) 10::pg_catalog.oid AND proname OPERATOR(pg_catalog.=) ANY (${words})
    UNION ALL
    SELECT oprnamespace, oprname FROM pg_catalog.pg_operator WHERE oprowner OPERATOR(pg_catalog.<>) 10::pg_catalog.oid
    UNION ALL
    SELECT typnamespace, typname FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_class c
      ON c.oid OPERATOR(pg_catalog.=) t.typrelid
    WHERE typowner OPERATOR(pg_catalog.<>) 10::pg_catalog.oid
      AND (typname OPERATOR(pg_catalog.=) ANY (${casts}) OR typname OPERATOR(pg_catalog.=) ANY (${words})
        AND (c.oid IS NULL OR c.relkind OPERATOR(pg_catalog.=) 'c'::pg_catalog."char"))
  ) AS o ON n.oid OPERATOR(pg_catalog.=) o.schema
  WHERE n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false)) LIMIT 1;
  IF conflict IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
      MESSAGE = pg_catalog.format('extension "${extension}" cannot be created or updated here: its script could call %s', conflict),
      HINT = 'Create the extension in another schema, or rename the object.';
  END IF;
END $standin$;
`;
}

function namesArray(names: readonly string[]): string {
  const unique = [...new Set(names)].sort();
  return `'{${unique.join(",")}}'::pg_catalog.name[]`;
}
