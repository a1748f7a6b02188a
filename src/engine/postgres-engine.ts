import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import { copyWithLog } from "./cluster-copy.ts";
import {
  type CopyRequest,
  type Engine,
  EngineError,
  type RunningEngine,
  SPARE_DATABASE,
  type StartRequest,
  SUPERUSER,
} from "./engine.ts";
import { type ExtensionFiles, programWithExtension } from "./extension.ts";
import type { Installation } from "./installation.ts";
import { chooseInstallation } from "./installation.ts";
import { stopProcessesOn } from "./leftover-processes.ts";
import { type OsUser, spawnAs } from "./os-user.ts";
import { lastLine, PostgresProcess, SOCKET_PORT } from "./postgres-process.ts";

const run = promisify(execFile);

export type PostgresEngineOptions = {
  readonly installations: readonly Installation[];
  /** Absolute. Holds one empty cluster per version, which new clusters are copied from. */
  readonly templateDirectory: string;
  readonly extension: ExtensionFiles;
  readonly user: OsUser | undefined;
  /** Called once per version that is not installed. */
  readonly onSubstitute?: (wanted: number, chosen: number) => void;
};

/** The archive is beside the data directory, which is the working directory. */
const ARCHIVE_COMMAND = "test -f ../wal/%f || ln %p ../wal/%f";

/** The prefix of a directory of this process, which has one directory per engine. */
const SOCKET_ROOT = "standin-";
const SHARED_BUFFERS = "32MB";
/** The first version of Postgres with asynchronous reads. */
const IO_METHOD_SINCE = 18;

/** Runs the stock Postgres of an installation, one process per cluster. */
export class PostgresEngine implements Engine {
  readonly versions: readonly number[];
  readonly #options: PostgresEngineOptions;
  readonly #templates = new Map<number, Promise<string>>();
  readonly #processes = new Set<ChildProcess>();
  /** A process that ends without `close` leaves no Postgres, unless it is killed. */
  readonly #onExit = () => {
    for (const child of this.#processes) child.kill("SIGQUIT");
    this.close();
  };
  readonly #substituted = new Set<number>();
  #socketRoot: string | undefined;
  #sockets = 0;

  constructor(options: PostgresEngineOptions) {
    this.#options = options;
    this.versions = options.installations.map(({ version }) => version);
    process.once("exit", this.#onExit);
  }

  emptyCluster(version: number): Promise<string> {
    const installation = this.#installationFor(version);
    const { version: chosen } = installation;
    let template = this.#templates.get(chosen);
    if (template === undefined) {
      template = this.#createTemplate(installation);
      this.#templates.set(chosen, template);
      template.catch(() => this.#templates.delete(chosen));
    }
    return template;
  }

  async copyCluster(request: CopyRequest): Promise<void> {
    await copyWithLog(request);
    await this.#own(request.to);
    await this.#own(request.archive);
  }

  async start({ dataDirectory, maxConnections, logicalReplication }: StartRequest): Promise<RunningEngine> {
    const version = Number(readFileSync(join(dataDirectory, "PG_VERSION"), "utf8"));
    const installation = this.#options.installations.find((candidate) => candidate.version === version);
    if (installation === undefined)
      throw new EngineError(
        `${dataDirectory} was created by Postgres ${version}, which is no longer available; available are ${this.versions.join(", ")}`,
      );
    const socketDirectory = this.#newSocketDirectory();
    const { program, args } = programWithExtension(installation, this.#options.extension);
    const startedAt = performance.now();
    const child = spawn(
      program,
      [
        ...["-D", dataDirectory, "-k", socketDirectory],
        ...settings({
          listen_addresses: "",
          port: SOCKET_PORT,
          unix_socket_permissions: "0700",
          max_connections: maxConnections,
          superuser_reserved_connections: 0,
          wal_level: logicalReplication ? "logical" : "replica",
          log_destination: "stderr",
          logging_collector: "off",
          // Complete segments are linked into the archive, and into copies of the cluster.
          archive_mode: "on",
          archive_command: ARCHIVE_COMMAND,
          wal_recycle: "off",
          wal_init_zero: "off",
          // A copy of a cluster has all of the log that it replays.
          restore_command: "false",
          hot_standby: "off",
          // The platform's default.
          jit: "off",
          // Many computes share the memory of one machine, whose file cache has the rest.
          shared_buffers: SHARED_BUFFERS,
          // Worker processes for reads cost more memory than they save time with a local disk.
          ...(version >= IO_METHOD_SINCE ? { io_method: "sync" } : {}),
        }),
        ...args,
      ],
      { ...this.#spawnOptions(), cwd: dataDirectory, stdio: ["ignore", "ignore", "pipe"] },
    );
    this.#processes.add(child);
    child.once("close", () => this.#processes.delete(child));
    return PostgresProcess.ready(child, socketDirectory, startedAt);
  }

  async stopLeftover(dataDirectory: string): Promise<boolean> {
    const pidFile = join(dataDirectory, "postmaster.pid");
    if (!existsSync(pidFile)) return false;
    const [pid, , , , socketDirectory = ""] = readFileSync(pidFile, "utf8").split("\n");
    const wasRunning = await stopProcessesOn(dataDirectory, Number(pid));
    this.#removeSocketDirectory(socketDirectory);
    return wasRunning;
  }

  close(): void {
    process.off("exit", this.#onExit);
    if (this.#socketRoot !== undefined) rmSync(this.#socketRoot, { recursive: true, force: true });
    this.#socketRoot = undefined;
  }

  #installationFor(version: number): Installation {
    const installation = chooseInstallation(this.#options.installations, version);
    if (installation === undefined) throw new EngineError("no Postgres is installed");
    if (installation.version !== version && !this.#substituted.has(version)) {
      this.#substituted.add(version);
      this.#options.onSubstitute?.(version, installation.version);
    }
    return installation;
  }

  async #createTemplate({ version, binDirectory }: Installation): Promise<string> {
    const { templateDirectory, user } = this.#options;
    const template = join(templateDirectory, String(version));
    if (existsSync(template)) return template;
    mkdirSync(templateDirectory, { recursive: true, mode: 0o700 });
    if (user !== undefined) chownSync(templateDirectory, user.uid, user.gid);
    // Two servers may share the directory: each creates its own, and the first one stays.
    const unfinished = `${template}.${randomBytes(4).toString("hex")}.unfinished`;
    const locale =
      version >= 17
        ? ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        : ["--locale=C"];
    try {
      await run(
        join(binDirectory, "initdb"),
        [
          ...["-D", unfinished, "-U", SUPERUSER, "--encoding=UTF8", ...locale],
          ...["--auth=trust", "--wal-segsize=1", "--data-checksums", "--no-sync"],
        ],
        { ...this.#spawnOptions(), cwd: templateDirectory },
      );
      await this.#createSpareDatabase(binDirectory, unfinished);
      renameSync(unfinished, template);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      if (existsSync(template)) return template;
      throw new EngineError(`initdb of Postgres ${version} failed: ${lastLine((error as Error).message)}`);
    }
    return template;
  }

  /** Renaming a database is ten times faster than creating one, and needs neither memory nor log. */
  async #createSpareDatabase(binDirectory: string, dataDirectory: string): Promise<void> {
    const postgres = join(binDirectory, "postgres");
    const options = { ...this.#spawnOptions(), cwd: dataDirectory };
    const session = run(postgres, ["--single", "-F", "-D", dataDirectory, "template1"], options);
    session.child.stdin?.end(`CREATE DATABASE ${SPARE_DATABASE}\n`);
    await session;
  }

  /** As root, gives the files to the user that Postgres runs as. */
  async #own(directory: string): Promise<void> {
    chmodSync(directory, 0o700);
    const { user } = this.#options;
    if (user !== undefined) await run("chown", ["-R", `${user.uid}:${user.gid}`, directory]);
  }

  #newSocketDirectory(): string {
    if (this.#socketRoot === undefined) {
      // The path of a socket may have about 100 bytes, so it is not in the data directory.
      this.#socketRoot = mkdtempSync(join(tmpdir(), SOCKET_ROOT));
      chmodSync(this.#socketRoot, this.#options.user === undefined ? 0o700 : 0o711);
    }
    this.#sockets += 1;
    const directory = join(this.#socketRoot, String(this.#sockets));
    mkdirSync(directory, { mode: 0o700 });
    const { user } = this.#options;
    if (user !== undefined) chownSync(directory, user.uid, user.gid);
    return directory;
  }

  /** Also removes the root of a killed server with the last of its directories. */
  #removeSocketDirectory(directory: string): void {
    const root = dirname(directory);
    if (!root.startsWith(join(tmpdir(), SOCKET_ROOT))) return;
    rmSync(directory, { recursive: true, force: true });
    if (root === this.#socketRoot) return;
    try {
      rmdirSync(root);
    } catch {
      // It has others, or was removed with another one.
    }
  }

  #spawnOptions() {
    return { ...spawnAs(this.#options.user), env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" } };
  }
}

function settings(values: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
