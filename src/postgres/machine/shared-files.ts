import { execFile } from "node:child_process";
import { constants, existsSync, linkSync, lstatSync, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type OsUser, spawnOptions } from "./os-user.ts";

const run = promisify(execFile);

/** Since Postgres 15, these databases have the same object ids in each cluster. */
const TEMPLATE1 = "1";
const TEMPLATE0 = "4";
const POSTGRES = "5";
const SHARING_DATABASES = [TEMPLATE1, TEMPLATE0, POSTGRES];
/** The database that sessions of the superuser and of clients have in common. */
export const SHARED_WITH_CLIENTS: readonly string[] = [POSTGRES];
/** A directory that Postgres does not know. */
const COPIES = "standin-copies";

/**
 * Catalogs with their indexes and TOAST tables in which the superuser's sessions in the database `postgres` change
 * nothing, nor does autovacuum: functions, descriptions, rules, collations, conversions, operators and their classes,
 * aggregates, casts, access methods, languages and text search. Their files are named by these object ids.
 */
const CONSTANT_CATALOGS = new Set(
  [
    [1255, 2690, 2691, 2836, 2837],
    [2609, 2675, 2834, 2835],
    [2618, 2692, 2693, 2838, 2839],
    [3456, 3164, 3085],
    [2607, 2668, 2669, 2670],
    [2617, 2688, 2689],
    [2602, 2653, 2654, 2756],
    [2603, 2655, 2757],
    [2616, 2686, 2687],
    [2753, 2754, 2755],
    [2600, 2650, 4159, 4160],
    [2605, 2660, 2661],
    [2601, 2651, 2652],
    [2612, 2681, 2682],
    [3602, 3608, 3712],
    [3603, 3609],
    [3600, 3604, 3605],
    [3601, 3606, 3607],
    [3764, 3766, 3767],
  ]
    .flat()
    .map(String),
);

const RELATION_FILE = /^(\d+)(?:_[a-z]+)?(?:\.\d+)?$/;

/** `path` in a data directory. Files that no process writes to until `ownFiles` was called. */
export function isShareable(path: string): boolean {
  const [directory, database, name = "", ...rest] = path.split("/");
  const relation = RELATION_FILE.exec(name)?.[1];
  if (directory !== "base" || relation === undefined || rest.length > 0) return false;
  if (database === POSTGRES) return CONSTANT_CATALOGS.has(relation);
  return database === TEMPLATE0 || database === TEMPLATE1;
}

/** Whether two names refer to the same file. */
export function isSameFile(path: string, other: string): boolean {
  const [one, two] = [fileAt(path), fileAt(other)];
  return one !== undefined && two !== undefined && one.ino === two.ino && one.dev === two.dev;
}

/** Gives a file a second name. Returns false if the file system allows no more links, or none at all. */
export function linkIfPossible(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/**
 * Replaces the files of a cluster that others have, too, by copies. No process that has opened one of them may be
 * left when one is written. Returns whether there were any. Works as the user of Postgres, who owns the directories.
 */
export async function ownFiles(
  dataDirectory: string,
  user: OsUser | undefined,
  databases: readonly string[] = SHARING_DATABASES,
): Promise<boolean> {
  let hadShared = false;
  for (const database of databases) {
    const directory = join(dataDirectory, "base", database);
    const names = sharedFilesOf(dataDirectory, database);
    if (names.length === 0) continue;
    hadShared = true;
    const inDirectory = { ...spawnOptions(user), cwd: directory };
    const shell = (script: string) => run("sh", ["-ec", script, "sh", ...names], inDirectory);
    await shell(`rm -rf ${COPIES}; mkdir ${COPIES}; cp -p -- "$@" ${COPIES}/`);
    for (const name of names) await sync(join(directory, COPIES, name));
    await shell(`cd ${COPIES}; mv -f -- "$@" ..; cd ..; rmdir ${COPIES}`);
  }
  return hadShared;
}

/**
 * Deletes what each start of Postgres deletes, and its first session creates again: 350 KB. Works as the user of
 * Postgres, who owns the directories.
 */
export async function removeCaches(dataDirectory: string, user: OsUser | undefined): Promise<void> {
  const find = ["base", "global", "-name", "pg_internal.init", "-delete"];
  // The next start deletes the remaining files.
  await run("find", find, { ...spawnOptions(user), cwd: dataDirectory }).catch(() => undefined);
}

function sharedFilesOf(dataDirectory: string, database: string): string[] {
  const directory = join(dataDirectory, "base", database);
  if (!existsSync(directory)) return [];
  return readdirSync(directory).filter((name) => {
    if (!isShareable(`base/${database}/${name}`)) return false;
    const file = fileAt(join(directory, name));
    return file?.isFile() === true && file.nlink > 1;
  });
}

async function sync(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function fileAt(path: string) {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
