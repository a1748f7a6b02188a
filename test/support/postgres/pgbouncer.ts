import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../process/ports.ts";
import { runningPostgres } from "./postgres.ts";

const IS_UP = /process up/;

export type PgBouncer = { readonly uri: string; end(): Promise<void> };

/** Starts PgBouncer in transaction mode, in front of the Postgres whose files are below this directory. */
export async function startPgBouncer(data: string, role: string, poolSize: number): Promise<PgBouncer> {
  const directory = mkdtempSync(join(tmpdir(), "pgbouncer-"));
  chmodSync(directory, 0o755);
  const port = await freePort();
  const config = join(directory, "pgbouncer.ini");
  writeFileSync(
    config,
    `[databases]
neondb = host=${runningPostgres(data).socketDirectory} port=5432 dbname=neondb user=${role}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
ignore_startup_parameters = extra_float_digits
`,
  );
  // It does not run as root; Postgres does not, either.
  const user = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
  const child = spawn("pgbouncer", [...user, config], { stdio: ["ignore", "ignore", "pipe"] });
  await new Promise<void>((resolve, reject) => {
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      log += text;
      if (IS_UP.test(log)) resolve();
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(log)));
  });
  return {
    uri: `postgresql://${role}@127.0.0.1:${port}/neondb`,
    async end() {
      const exited = once(child, "exit");
      child.kill("SIGQUIT");
      await exited;
      rmSync(directory, { recursive: true });
    },
  };
}
