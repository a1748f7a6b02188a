import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { writeClusterFile } from "../engine/cluster-files.ts";
import { ADMIN_DATABASE, EngineError, type RunningEngine } from "../engine/engine.ts";
import { literal } from "../engine/sql-text.ts";
import type { Installation } from "../installations/installation.ts";
import { type ReplacedFiles, replacedFiles } from "./extension-files.ts";

/**
 * Gives the view of the extension its values. `counted`: the reads that they contain. Nothing if the cluster does not
 * exist yet.
 */
export function writeCacheStatistics(
  dataDirectory: string,
  statistics: FileCacheStatistics,
  counted: CountedReads,
): void {
  if (existsSync(dataDirectory))
    writeClusterFile(join(dataDirectory, CACHE_STATISTICS_FILE), JSON.stringify({ ...statistics, counted }));
}

/** By database and relation: the blocks read that were counted, and the blocks that are not in the cache. */
export type CountedReads = Readonly<
  Record<string, Readonly<Record<string, readonly [read: number, uncached: number]>>>
>;

/** The name of the platform's extension, and the directory of its files. */
export type ExtensionFiles = {
  readonly name: string;
  readonly directory: string;
  /** Programs that were prepared since the start of the server, by major version. */
  readonly programs: Map<number, PreparedProgram & { readonly source: string }>;
};

type PreparedProgram = { readonly program: string; readonly args: readonly string[] };

/** The file in the data directory that the view reads. The server writes it while the compute runs. */
const CACHE_STATISTICS_FILE = "standin_file_cache.json";

const VERSION = "1.0";
/** The first version of Postgres that finds extensions outside of its own directory. */
const EXTENSION_CONTROL_PATH_SINCE = 18;

/** R: the statistics of the compute since its last start, as the extension's view returns them. */
export type FileCacheStatistics = {
  readonly file_cache_misses: number;
  readonly file_cache_hits: number;
  /** Size of the cached data, in blocks. */
  readonly file_cache_used: number;
  readonly file_cache_writes: number;
};

/** Writes the extension's files below `directory`, which must exist. */
export function writeExtension(directory: string, name: string): ExtensionFiles {
  const folder = join(directory, "extension");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, `${name}.control`),
    [
      "comment = 'statistics of the compute'",
      `default_version = '${VERSION}'`,
      "relocatable = true",
      "trusted = true",
      "",
    ].join("\n"),
  );
  writeFileSync(join(folder, `${name}--${VERSION}.sql`), installScript(name));
  return { name, directory, programs: new Map() };
}

/**
 * Statements that create the view. R: the ratio is NULL before the first access. The superuser runs them in a schema
 * that the client has chosen, so each name is qualified: a type of `pg_temp`, or an operator of that schema, would be
 * the client's code.
 */
function installScript(name: string): string {
  return `CREATE FUNCTION ${name}_file_cache_statistics() RETURNS pg_catalog.json
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DECLARE
    published json := pg_read_file('${CACHE_STATISTICS_FILE}')::json;
    counted json := published -> 'counted' -> current_database();
    new_reads int8;
    new_misses int8;
  BEGIN
    -- What sessions of this database have read since then, and what this session has not reported yet.
    SELECT coalesce(sum(reads), 0), coalesce(sum(least(reads, uncached)), 0) INTO new_reads, new_misses
    FROM (
      SELECT greatest(0, pg_stat_get_blocks_fetched(oid) - pg_stat_get_blocks_hit(oid)
          + pg_stat_get_xact_blocks_fetched(oid) - pg_stat_get_xact_blocks_hit(oid)
          - coalesce((counted -> oid::text ->> 0)::int8, 0)) AS reads,
        coalesce((counted -> oid::text ->> 1)::int8, 0) AS uncached
      FROM pg_class WHERE counted IS NOT NULL AND relkind IN ('r', 'i', 't', 'm') AND oid >= 16384
        AND relpersistence <> 't'
    ) AS relations;
    RETURN json_build_object(
      'file_cache_misses', (published ->> 'file_cache_misses')::int8 + new_misses,
      'file_cache_hits', (published ->> 'file_cache_hits')::int8 + new_reads - new_misses,
      'file_cache_used', (published ->> 'file_cache_used')::int8,
      'file_cache_writes', (published ->> 'file_cache_writes')::int8 + new_misses);
  END $$;
CREATE VIEW ${name}_stat_file_cache AS
  SELECT file_cache_misses, file_cache_hits, file_cache_used, file_cache_writes,
    CASE WHEN file_cache_hits OPERATOR(pg_catalog.+) file_cache_misses OPERATOR(pg_catalog.<>) 0::pg_catalog.int8
      THEN pg_catalog.round(file_cache_hits::pg_catalog.numeric OPERATOR(pg_catalog.*) 100::pg_catalog.numeric
        OPERATOR(pg_catalog./) (file_cache_hits OPERATOR(pg_catalog.+) file_cache_misses)::pg_catalog.numeric, 2)
    END AS file_cache_hit_ratio
  FROM pg_catalog.json_to_record(${name}_file_cache_statistics()) AS t(file_cache_misses pg_catalog.int8,
    file_cache_hits pg_catalog.int8, file_cache_used pg_catalog.int8, file_cache_writes pg_catalog.int8);
GRANT SELECT ON ${name}_stat_file_cache TO PUBLIC;
`;
}

/** R: the platform's own database has the view. Clusters of earlier releases lack it. */
export async function createMissingExtension(engine: RunningEngine, name: string): Promise<void> {
  const [row] = await engine.query(`SELECT count(*) FROM pg_extension WHERE extname = ${literal(name)}`);
  if (row?.["count"] !== "0") return;
  await engine.openToClients(ADMIN_DATABASE);
  await engine.query(`CREATE EXTENSION ${name} SCHEMA public`);
}

/** Program and additional arguments to start Postgres so that it finds the extensions. */
export function programWithExtension(installation: Installation, files: ExtensionFiles): PreparedProgram {
  // A version that was removed and installed again may be another release, or in another directory.
  const { ino, mtimeMs } = statSync(join(installation.binDirectory, "postgres"));
  const source = `${installation.binDirectory} ${ino} ${mtimeMs}`;
  const known = files.programs.get(installation.version);
  if (known?.source === source) return known;
  const prepared = { ...prepareProgram(installation, files), source };
  files.programs.set(installation.version, prepared);
  return prepared;
}

function prepareProgram({ version, binDirectory }: Installation, files: ExtensionFiles): PreparedProgram {
  const share = shareDirectoryOf(version, binDirectory);
  const replaced = replacedFiles(version, join(share, "extension"));
  const preloaded = preloadSettings(binDirectory);
  if (version < EXTENSION_CONTROL_PATH_SINCE)
    return { program: installBeside(version, binDirectory, { files, share, replaced }), args: preloaded };
  const root = join(files.directory, `extensions-${version}`);
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "extension"), { recursive: true });
  writeAll(join(root, "extension"), replaced);
  return {
    program: join(binDirectory, "postgres"),
    args: [...preloaded, "-c", `extension_control_path=${root}:$system:${files.directory}`],
  };
}

/** D: the platform collects statistics of statements, and loses them when a compute suspends or restarts. */
function preloadSettings(binDirectory: string): readonly string[] {
  const isInstalled = ["../lib/postgresql", "../lib"]
    .flatMap((directory) => ["so", "dylib"].map((suffix) => join(directory, `pg_stat_statements.${suffix}`)))
    .some((path) => existsSync(join(binDirectory, path)));
  return isInstalled
    ? ["-c", "shared_preload_libraries=pg_stat_statements", "-c", "pg_stat_statements.save=off"]
    : [];
}

type OwnFiles = {
  readonly files: ExtensionFiles;
  readonly share: string;
  readonly replaced: ReplacedFiles;
};

/**
 * Postgres finds its files relative to its program. This creates a directory of the same form, with a copy of
 * the program and symbolic links to everything else, and adds the extensions to it. Returns the program.
 */
function installBeside(version: number, binDirectory: string, { files, share, replaced }: OwnFiles): string {
  const { name, directory } = files;
  const common = commonDirectory(binDirectory, share);
  const root = join(directory, `postgres-${version}`);
  const program = join(root, relative(common, binDirectory), "postgres");
  // Packages may have been installed since it was created.
  rmSync(root, { recursive: true, force: true });
  const library = join(binDirectory, "../lib");
  mkdirSync(dirname(program), { recursive: true });
  if (existsSync(library)) symlinkSync(library, join(root, relative(common, library)));
  const shareCopy = join(root, relative(common, share));
  mkdirSync(join(shareCopy, "extension"), { recursive: true });
  linkEntries(share, shareCopy, (entry) => entry !== "extension");
  linkEntries(join(share, "extension"), join(shareCopy, "extension"), (entry) => !replaced.isHidden(entry));
  writeAll(join(shareCopy, "extension"), replaced);
  linkEntries(join(directory, "extension"), join(shareCopy, "extension"), (entry) => entry.startsWith(name));
  copyFileSync(join(binDirectory, "postgres"), program);
  return program;
}

function writeAll(directory: string, { files }: ReplacedFiles): void {
  for (const [name, text] of files) writeFileSync(join(directory, name), text);
}

function linkEntries(from: string, to: string, isWanted = (_entry: string) => true): void {
  for (const entry of readdirSync(from)) if (isWanted(entry)) symlinkSync(join(from, entry), join(to, entry));
}

function shareDirectoryOf(version: number, binDirectory: string): string {
  const candidates = [
    join(binDirectory, "../share/postgresql"),
    join(binDirectory, "../share"),
    `/usr/share/postgresql/${version}`,
  ];
  const found = candidates.find((candidate) => existsSync(join(candidate, "extension/plpgsql.control")));
  if (found === undefined)
    throw new EngineError(`the shared files of Postgres ${version} in ${binDirectory} were not found`);
  return found;
}

function commonDirectory(one: string, other: string): string {
  const parts = one.split(sep);
  const others = other.split(sep);
  const length = parts.findIndex((part, index) => part !== others[index]);
  return parts.slice(0, length === -1 ? undefined : length).join(sep);
}
