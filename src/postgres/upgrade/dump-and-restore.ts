import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { EngineError, type RunningEngine, SUPERUSER } from "../engine/engine.ts";
import { type OsUser, spawnOptions } from "../machine/os-user.ts";
import { SOCKET_PORT } from "../processes/postgres-process.ts";
import { adminOptions } from "../processes/session-settings.ts";
import type { DumpPrograms } from "./dump-programs.ts";

export type DumpRequest = {
  readonly programs: DumpPrograms;
  readonly user: OsUser | undefined;
  /** No client has a session. */
  readonly source: RunningEngine;
  /** The major version of the source. */
  readonly sourceVersion: number;
  readonly target: RunningEngine;
  /** Exists in both clusters, and is empty in the target. */
  readonly database: string;
  /** A role of the target that is not a superuser: it runs what clients have written, such as checks of constraints. */
  readonly restorer: string;
};

const STDERR_BYTES = 100_000;
/** How `pg_restore` and `pg_dump` begin what goes wrong. */
const PROBLEM = /^pg_(?:dump|restore): (?:error|while|from|detail|hint): /;

/** Copies the objects and rows of a database, without tablespaces. Throws `EngineError`. */
export async function dumpAndRestore(request: DumpRequest): Promise<void> {
  const { programs, user, source, sourceVersion, target, database, restorer } = request;
  const { env, ...spawned } = spawnOptions(user);
  const start = (name: string, args: readonly string[], stdio: "source" | "target", options: string) =>
    spawn(join(programs.binDirectory, name), args, {
      ...spawned,
      cwd: "/",
      env: { ...env, PGOPTIONS: options, PGAPPNAME: "standin" },
      stdio: stdio === "source" ? ["ignore", "pipe", "pipe"] : ["pipe", "ignore", "pipe"],
    });
  const common = ["--no-password", "--no-tablespaces"];
  const dump = start(
    "pg_dump",
    ["--format=custom", "--compress=0", ...common, "-d", connectionString(source, SUPERUSER, database)],
    "source",
    adminOptions(sourceVersion),
  );
  const restore = start(
    "pg_restore",
    ["--exit-on-error", ...common, "-d", connectionString(target, restorer, database)],
    "target",
    "-c client_encoding=UTF8",
  );
  if (restore.stdin === null || dump.stdout === null) throw new Error("the pipes are missing");
  // One of them has ended early, which its exit status says.
  restore.stdin.on("error", () => dump.kill());
  dump.stdout.pipe(restore.stdin);
  const [dumped, restored] = await Promise.all([endOf(dump), endOf(restore)]);
  // If `pg_restore` ends first, `pg_dump` fails for lack of a reader.
  const failure = restored ?? dumped;
  if (failure !== undefined) throw new EngineError(`database ${database}: ${failure}`);
}

/** Why a program failed; `undefined` if it did not. */
function endOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-STDERR_BYTES);
    });
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code, signal) => {
      if (code === 0) return resolve(undefined);
      const problems = stderr.split("\n").filter((line) => PROBLEM.test(line));
      const reason = problems.length > 0 ? problems.join("; ") : stderr.trim().split("\n").at(-1);
      resolve(reason === undefined || reason === "" ? `ended with ${code ?? signal}` : reason);
    });
  });
}

/** The name of a database may look like a connection string, so it is quoted within one. */
function connectionString({ address }: RunningEngine, role: string, database: string): string {
  return Object.entries({ host: dirname(address.path), port: SOCKET_PORT, user: role, dbname: database })
    .map(([name, value]) => `${name}='${String(value).replaceAll(/[\\']/g, "\\$&")}'`)
    .join(" ");
}
