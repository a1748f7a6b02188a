import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { EngineError } from "../engine/engine.ts";
import { type Installation, systemDirectories } from "../installations/installation.ts";
import { type OsUser, spawnOptions } from "../machine/os-user.ts";

const run = promisify(execFile);

/** `pg_dump` and `pg_restore` of one major version. */
export type DumpPrograms = { readonly version: number; readonly binDirectory: string };

/**
 * The first minor release of each major version whose dumps cannot contain statements that an object's name smuggles
 * in (CVE-2025-8715). Later major versions have the correction from their first release on.
 */
const SAFE_SINCE: ReadonlyMap<number, number> = new Map([
  [14, 19],
  [15, 14],
  [16, 10],
  [17, 6],
]);

/**
 * The newest programs that can read data of version `from` and whose dumps version `to` can read. The npm packages of
 * Postgres do not have them. Throws `EngineError`.
 */
export async function findDumpPrograms(
  installations: readonly Installation[],
  user: OsUser | undefined,
  from: number,
  to: number,
): Promise<DumpPrograms> {
  const directories = [
    ...installations.map(({ binDirectory }) => binDirectory),
    ...(await systemDirectories()),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ].filter((directory) => directory !== "");
  const found: DumpPrograms[] = [];
  const outdated: string[] = [];
  for (const binDirectory of new Set(directories)) {
    const version = await versionOf(binDirectory, user);
    if (version === undefined || version.major < from || version.major > to) continue;
    if (version.minor >= (SAFE_SINCE.get(version.major) ?? 0))
      found.push({ version: version.major, binDirectory });
    else outdated.push(`${version.major}.${version.minor} in ${binDirectory}`);
  }
  const newest = found.sort((one, other) => other.version - one.version)[0];
  if (newest !== undefined) return newest;
  throw new EngineError(
    outdated.length > 0
      ? `pg_dump ${outdated[0]} has a known security hole (CVE-2025-8715); update it`
      : `pg_dump and pg_restore of Postgres ${from === to ? from : `${from} to ${to}`} were not found; on Debian and Ubuntu: apt-get install postgresql-client-${from}`,
  );
}

async function versionOf(
  binDirectory: string,
  user: OsUser | undefined,
): Promise<{ readonly major: number; readonly minor: number } | undefined> {
  if (!existsSync(join(binDirectory, "pg_dump")) || !existsSync(join(binDirectory, "pg_restore")))
    return undefined;
  try {
    const options = { ...spawnOptions(user), cwd: "/" };
    const { stdout } = await run(join(binDirectory, "pg_restore"), ["--version"], options);
    const match = /\b(\d+)\.(\d+)/.exec(stdout);
    return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) };
  } catch {
    return undefined;
  }
}
