import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../terminal/cli-error.ts";
import { refusedAccess } from "../terminal/file-problem.ts";

/**
 * How other commands find the server of a data directory. Exists while the server runs; only its user can
 * read it.
 */
export type ServerFile = {
  readonly pid: number;
  readonly api_url: string;
  readonly control_url: string;
  /** Absent if the server accepts no Postgres clients. */
  readonly postgres_url?: string | undefined;
  /** The directory of the Postgres port's certificate authority; absent if the operator gave a certificate. */
  readonly postgres_tls?: string | undefined;
  readonly control_token?: string | undefined;
};

export function writeServerFile(directory: string, server: ServerFile): void {
  const path = serverFilePath(directory);
  writeFileSync(`${path}.new`, JSON.stringify(server), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function removeServerFile(directory: string): void {
  rmSync(serverFilePath(directory), { force: true });
}

/**
 * The last server of this directory. It may be gone: a killed server leaves its file behind. Throws a `CliError` if only
 * another user can read the file; `advice` says what to do then.
 */
export function readServerFile(
  directory: string,
  advice = "select the server of another user with --url and --control-token",
): ServerFile | undefined {
  const path = serverFilePath(directory);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ServerFile;
  } catch (error) {
    if (refusedAccess(error) !== undefined)
      throw new CliError(`${path} cannot be read by this user; ${advice}`);
    return undefined;
  }
}

function serverFilePath(directory: string): string {
  return join(directory, "server.json");
}
