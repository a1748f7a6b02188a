import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { EngineError, SPARE_DATABASE, SUPERUSER } from "./engine.ts";
import type { Installation } from "./installation.ts";
import { type OsUser, spawnOptions } from "./os-user.ts";
import { lastLine } from "./postgres-process.ts";

const run = promisify(execFile);

export type EmptyClusterOptions = {
  /** Absolute. Holds one empty cluster per version, which new clusters are copied from. */
  readonly templateDirectory: string;
  readonly user: OsUser | undefined;
};

/** A cluster without databases of clients. Returns its directory, which is not changed any more. */
export async function createEmptyCluster(
  { version, binDirectory }: Installation,
  { templateDirectory, user }: EmptyClusterOptions,
): Promise<string> {
  const template = join(templateDirectory, String(version));
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
    await createSpareDatabase(binDirectory, unfinished, user);
    renameSync(unfinished, template);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (existsSync(template)) return template;
    throw new EngineError(`initdb of Postgres ${version} failed: ${lastLine((error as Error).message)}`);
  }
  return template;
}

/** Renaming a database is ten times faster than creating one, and needs neither memory nor log. */
async function createSpareDatabase(
  binDirectory: string,
  dataDirectory: string,
  user: OsUser | undefined,
): Promise<void> {
  const postgres = join(binDirectory, "postgres");
  const options = { ...spawnOptions(user), cwd: dataDirectory };
  const session = run(postgres, ["--single", "-F", "-D", dataDirectory, "template1"], options);
  session.child.stdin?.end(`CREATE DATABASE ${SPARE_DATABASE}\n`);
  await session;
}
