import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { lastLine } from "../../kernel/text.ts";
import { EngineError, SPARE_DATABASE, SUPERUSER } from "../engine/engine.ts";
import { dropLog, firstSegment, LOG_DIRECTORY } from "../engine/log-files.ts";
import { segmentNumber } from "../engine/log-position.ts";
import type { Installation } from "../installations/installation.ts";
import { type OsUser, spawnOptions } from "../machine/os-user.ts";
import { type ExtensionFiles, programWithExtension } from "../rights/extension.ts";
import { PUBLICATION_RIGHTS } from "../rights/publication-rights.ts";
import { subscriptionRights } from "../rights/subscription-rights.ts";

const run = promisify(execFile);

/** Part of the directory's name, as in `18-3-platform`: clusters of other forms are not used for new branches. */
const FORM = 5;
/** The first version whose databases can be created without log. Earlier ones always do. */
const STRATEGY_SINCE = 15;
/** Postgres reads them when it starts, and writes them when it stops. */
const STATISTICS = "pg_stat";
const MAP = /^\d+_(?:fsm|vm)$/;

export type EmptyClusterOptions = {
  /** Absolute. Holds one empty cluster per version, which new clusters are copied from. */
  readonly templateDirectory: string;
  readonly user: OsUser | undefined;
  readonly extension: ExtensionFiles;
};

/** A cluster without databases of clients. Returns its directory, which is not changed any more. */
export async function createEmptyCluster(
  installation: Installation,
  { templateDirectory, user, extension }: EmptyClusterOptions,
): Promise<string> {
  const { version, binDirectory } = installation;
  const template = join(templateDirectory, `${version}-${FORM}-${extension.name}`);
  if (existsSync(template)) return template;
  mkdirSync(templateDirectory, { recursive: true, mode: 0o700 });
  if (user !== undefined) chownSync(templateDirectory, user.uid, user.gid);
  // Two servers may share the directory: each creates its own, and the first one stays.
  const unfinished = `${template}.${randomBytes(4).toString("hex")}.unfinished`;
  const locale =
    version >= 17 ? ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"] : ["--locale=C"];
  try {
    await run(
      join(binDirectory, "initdb"),
      [
        ...["-D", unfinished, "-U", SUPERUSER, "--encoding=UTF8", ...locale],
        ...["--auth=trust", "--wal-segsize=1", "--data-checksums", "--no-sync"],
      ],
      { ...spawnOptions(user), cwd: templateDirectory },
    );
    await removeFutureLog(unfinished);
    await createPlatformObjects(installation, unfinished, { user, extension });
    await removeMaps(unfinished);
    await removeStatistics(unfinished);
    renameSync(unfinished, template);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (existsSync(template)) return template;
    throw new EngineError(`initdb of Postgres ${version} failed: ${lastLine((error as Error).message)}`);
  }
  return template;
}

/**
 * A spare database: renaming one is ten times faster than creating one, and needs neither memory nor log. R: the
 * platform's own database has the view of the cache statistics. Nobody connects to `template1`, so that clusters share
 * its files; reading a frozen row does not change it. The log begins with a segment that is almost empty.
 */
async function createPlatformObjects(
  installation: Installation,
  dataDirectory: string,
  { user, extension }: Pick<EmptyClusterOptions, "user" | "extension">,
): Promise<void> {
  const strategy = installation.version >= STRATEGY_SINCE ? " STRATEGY file_copy" : "";
  const settings = ["-c", "wal_recycle=off", "-c", "wal_init_zero=off", "-c", "exit_on_error=on"];
  const { program, args } = programWithExtension(installation, extension);
  const execute = async (database: string, statements: readonly string[]) => {
    const session = run(program, ["--single", "-F", ...settings, ...args, "-D", dataDirectory, database], {
      ...spawnOptions(user),
      cwd: dataDirectory,
    });
    session.child.stdin?.end([...statements, ""].join("\n"));
    await session;
  };
  const { checks, grants } = subscriptionRights(installation.version);
  // Databases of clients are copies of these.
  for (const database of ["template0", "template1"])
    await execute(database, [...PUBLICATION_RIGHTS, ...checks, "VACUUM (FREEZE)"]);
  await execute("postgres", [
    ...checks,
    ...grants,
    `CREATE DATABASE ${SPARE_DATABASE}${strategy}`,
    "ALTER DATABASE template1 ALLOW_CONNECTIONS false",
    `CREATE EXTENSION ${extension.name} SCHEMA public`,
    "VACUUM (FREEZE)",
    "SELECT pg_switch_wal()",
  ]);
  await dropLog(dataDirectory);
}

/** After `initdb`, the log continues with the first segment. The others are recycled ones. */
async function removeFutureLog(dataDirectory: string): Promise<void> {
  const directory = join(dataDirectory, LOG_DIRECTORY);
  const first = firstSegment(dataDirectory);
  for (const name of await readdir(directory))
    if ((segmentNumber(name) ?? first) !== first) await rm(join(directory, name));
}

/** Maps of free space and of visible rows are a sixth of an empty database. Postgres creates them when it needs them. */
async function removeMaps(dataDirectory: string): Promise<void> {
  const base = join(dataDirectory, "base");
  for (const database of await readdir(base))
    for (const name of await readdir(join(base, database)))
      if (MAP.test(name)) await rm(join(base, database, name));
}

/**
 * Autovacuum also works in databases that allow no connections, if there are statistics of them: those of `initdb`. It
 * would write to files of `template1`, which clusters share.
 */
async function removeStatistics(dataDirectory: string): Promise<void> {
  const directory = join(dataDirectory, STATISTICS);
  for (const name of await readdir(directory)) await rm(join(directory, name));
}
