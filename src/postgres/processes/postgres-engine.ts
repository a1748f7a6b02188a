import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import { lastLine } from "../../kernel/text.ts";
import { copyWithLog, RECOVERY_SIGNAL } from "../engine/cluster-copy.ts";
import { readClusterFile } from "../engine/cluster-files.ts";
import { rememberConnections } from "../engine/control-file.ts";
import {
  type AdvanceRequest,
  type CopyRequest,
  type Engine,
  EngineError,
  type EngineSettings,
  type NeededLog,
  type RunningEngine,
  type RunningStandby,
  type StandbyRequest,
  type StartRequest,
  SUPERUSER,
  TooFewConnections,
} from "../engine/engine.ts";
import { dropLog, firstSegment, trimLog } from "../engine/log-files.ts";
import { SEGMENT_BYTES } from "../engine/log-position.ts";
import type { Installation } from "../installations/installation.ts";
import { KnownInstallations, type KnownInstallationsOptions } from "../installations/known-installations.ts";
import { writeClockLibrary } from "../installations/time-library.ts";
import { spawnOptions } from "../machine/os-user.ts";
import { SocketDirectories } from "../machine/socket-directories.ts";
import { Watchdog } from "../machine/watchdog.ts";
import { createMissingExtension, programWithExtension } from "../rights/extension.ts";
import { blockSubscriptions } from "./blocked-subscriptions.ts";
import { ClockFile } from "./clock-file.ts";
import { createEmptyCluster, type EmptyClusterOptions } from "./empty-cluster.ts";
import { stopProcessesOn } from "./leftover-processes.ts";
import { exitOf, PostgresProcess, SOCKET_PORT } from "./postgres-process.ts";
import { lockSettings, serverArguments } from "./server-arguments.ts";
import { LOG_SETTINGS } from "./server-log.ts";
import { linkPrimary, STANDBY_SETTINGS, writeStandbySignal } from "./standby.ts";

const run = promisify(execFile);

export type PostgresEngineOptions = EmptyClusterOptions &
  KnownInstallationsOptions & {
    /** Postgres writes a checkpoint at the latest after this amount of log. */
    readonly maxLogBytes: number;
    /** The log that replication slots of clients retain. */
    readonly maxSlotLogBytes: number;
    /** Shows engines the time that they are given; absent: all have the machine's clock. */
    readonly timeLibrary?: string | undefined;
    /** Removed when this process has ended, also by SIGKILL. */
    readonly temporaryDirectories?: readonly string[] | undefined;
  };

/**
 * Complete segments are linked into the archive, and into copies of the cluster. The archive is next to the data
 * directory, which is the working directory.
 */
const ARCHIVE_SETTINGS = { archive_mode: "on", archive_command: "test -f ../wal/%f || ln %p ../wal/%f" };

/** One transaction locks all tables of a database. */
const SCRATCH_SETTINGS = { archive_mode: "off", max_locks_per_transaction: 1_024 };

/** The clock of SQL may jump by weeks, and connections between engines end with their processes. */
const WORLD_CLOCK_SETTINGS = { wal_sender_timeout: 0, wal_receiver_timeout: 0 };

const SETTINGS = {
  listen_addresses: "",
  port: SOCKET_PORT,
  unix_socket_permissions: "0700",
  ...LOG_SETTINGS,
  // Segments that are linked into copies are not reused.
  wal_recycle: "off",
  wal_init_zero: "off",
  // A copy of a cluster has all of the log that it replays.
  restore_command: "false",
  hot_standby: "off",
  // Senders of its own sessions, one per database, and of standbys. Standbys must have the same number.
  max_wal_senders: 50,
  // The platform's default.
  jit: "off",
  // R. Pages that Postgres has not used yet take no memory of the machine.
  shared_buffers: "128MB",
};

/** Runs the stock Postgres of an installation, one process per cluster. */
export class PostgresEngine implements Engine {
  readonly #options: PostgresEngineOptions;
  readonly #installations: KnownInstallations;
  readonly #templates = new Map<number, Promise<string>>();
  readonly #processes = new Set<ChildProcess>();
  /** An immediate shutdown loses nothing that was committed. */
  readonly #watchdog = new Watchdog({
    signal: "QUIT",
    directories: () => [this.#sockets.root(), ...(this.#options.temporaryDirectories ?? [])],
  });
  /** A process that ends without `close` leaves no Postgres. The watchdog is for one that is killed. */
  readonly #onExit = () => {
    for (const child of this.#processes) child.kill("SIGQUIT");
    this.close();
  };
  readonly #sockets: SocketDirectories;
  #clockLibrary: string | undefined;

  constructor(options: PostgresEngineOptions) {
    this.#options = options;
    this.#sockets = new SocketDirectories(options.user);
    this.#installations = new KnownInstallations(options);
    process.once("exit", this.#onExit);
    if (options.temporaryDirectories !== undefined) this.#watchdog.start();
  }

  get versions(): readonly number[] {
    return this.#installations.versions;
  }

  async emptyCluster(version: number): Promise<string> {
    const installation = await this.#installations.toCreate(version);
    const { version: chosen } = installation;
    let template = this.#templates.get(chosen);
    if (template === undefined) {
      template = createEmptyCluster(installation, this.#options);
      this.#templates.set(chosen, template);
      template.catch(() => this.#templates.delete(chosen));
    }
    return template;
  }

  async copyCluster(request: CopyRequest): Promise<void> {
    await copyWithLog(request);
    await this.#own(request.to);
    if (request.archive !== undefined) await this.#own(request.archive);
  }

  async advanceCluster({ position, ...request }: AdvanceRequest): Promise<void> {
    await this.copyCluster(request);
    const installation = await this.#installationOf(request.to);
    const socketDirectory = this.#sockets.create();
    const child = this.#spawn(installation, request.to, {
      unix_socket_directories: socketDirectory,
      archive_mode: "off",
      recovery_target_lsn: position,
      recovery_target_inclusive: "off",
      // In contrast to a promotion, the log can be continued.
      recovery_target_action: "shutdown",
    });
    try {
      const log = await exitOf(child);
      if (child.exitCode !== 0) throw new EngineError(`Postgres did not replay the log: ${lastLine(log)}`);
    } finally {
      rmSync(socketDirectory, { recursive: true, force: true });
    }
    rmSync(join(request.to, RECOVERY_SIGNAL), { force: true });
    // The log that it replaces will be deleted.
    await run(join(installation.binDirectory, "initdb"), ["--sync-only", "-D", request.to], {
      ...spawnOptions(this.#options.user),
      cwd: request.to,
    });
  }

  logStart(base: string): number {
    return firstSegment(base) * SEGMENT_BYTES;
  }

  dropLog(cluster: string): Promise<void> {
    return dropLog(cluster);
  }

  trimLog(archive: string, needed: readonly NeededLog[]): Promise<void> {
    return trimLog(archive, needed);
  }

  async start(request: StartRequest): Promise<RunningEngine> {
    const { dataDirectory, maxConnections, logicalReplication, isScratch = false } = request;
    const startedAt = performance.now();
    const installation = await this.#installationOf(dataDirectory);
    const socketDirectory = this.#sockets.create();
    const clock = this.#clock(socketDirectory, request.startsAt);
    const values = {
      unix_socket_directories: socketDirectory,
      max_connections: maxConnections,
      superuser_reserved_connections: 0,
      ...lockSettings(maxConnections),
      wal_level: logicalReplication ? "logical" : "replica",
      ...(isScratch ? SCRATCH_SETTINGS : ARCHIVE_SETTINGS),
      ...blockSubscriptions(request.subscriptions, socketDirectory),
      // Two segments at least.
      max_wal_size: `${Math.max(2, Math.floor(this.#options.maxLogBytes / SEGMENT_BYTES))}MB`,
      min_wal_size: "2MB",
      max_slot_wal_keep_size: `${Math.ceil(this.#options.maxSlotLogBytes / SEGMENT_BYTES)}MB`,
    };
    const child = this.#spawn(installation, dataDirectory, values, request.settings, clock);
    const { version } = installation;
    const { user } = this.#options;
    return PostgresProcess.ready(child, { dataDirectory, user, socketDirectory, version, startedAt, clock });
  }

  async startStandby(request: StandbyRequest): Promise<RunningStandby> {
    const { dataDirectory, maxConnections, mostConnections, mostWorkers, checkpoint } = request;
    const workers = { max_worker_processes: mostWorkers };
    try {
      return await this.#startStandby(request, { ...workers, max_connections: maxConnections });
    } catch (error) {
      if (!(error instanceof TooFewConnections)) throw error;
    }
    // The log contains a larger number. It is replayed beyond a checkpoint, so that it is not replayed again.
    const until = await checkpoint();
    const replayed = await this.#startStandby(
      { ...request, until },
      { ...workers, max_connections: mostConnections },
    );
    await replayed.stop();
    rememberConnections(dataDirectory, maxConnections);
    return this.#startStandby(
      { ...request, until },
      {
        max_connections: maxConnections,
        // Places for the transactions and locks of all sessions of the primary.
        max_worker_processes: mostWorkers + mostConnections - maxConnections,
      },
    );
  }

  async #startStandby(
    { dataDirectory, name, primary, until, settings, startsAt }: StandbyRequest,
    connections: Readonly<Record<string, number>>,
  ): Promise<RunningStandby> {
    const startedAt = performance.now();
    const installation = await this.#installationOf(dataDirectory);
    const socketDirectory = this.#sockets.create();
    writeStandbySignal(dataDirectory);
    const host = linkPrimary(socketDirectory, primary);
    const clock = this.#clock(socketDirectory, startsAt);
    const values = {
      ...STANDBY_SETTINGS,
      ...connections,
      unix_socket_directories: socketDirectory,
      superuser_reserved_connections: 0,
      primary_conninfo: `host='${host}' port=${SOCKET_PORT} user=${SUPERUSER} application_name='${name}'`,
    };
    const child = this.#spawn(installation, dataDirectory, values, settings, clock);
    const { version } = installation;
    const { user } = this.#options;
    const cluster = { dataDirectory, user, socketDirectory, version, startedAt, clock };
    const standby = await PostgresProcess.ready(child, cluster);
    try {
      await standby.replayed(until);
    } catch (error) {
      await standby.stop();
      throw error;
    }
    return standby;
  }

  ensureExtension(engine: RunningEngine): Promise<void> {
    return createMissingExtension(engine, this.#options.extension.name);
  }

  async stopLeftover(dataDirectory: string): Promise<boolean> {
    const pidFile = join(dataDirectory, "postmaster.pid");
    const lines = readClusterFile(pidFile)?.split("\n");
    if (lines === undefined) return false;
    const [pid, , , , socketDirectory = ""] = lines;
    const wasRunning = await stopProcessesOn(dataDirectory, Number(pid));
    // Its process may be a zombie, or have the number of another one: Postgres would take either for alive.
    rmSync(pidFile, { force: true });
    this.#sockets.removeLeftover(socketDirectory);
    return wasRunning;
  }

  close(): void {
    process.off("exit", this.#onExit);
    this.#watchdog.close();
    this.#sockets.remove();
  }

  #clock(socketDirectory: string, startsAt: number | undefined): ClockFile | undefined {
    const { timeLibrary } = this.#options;
    if (timeLibrary === undefined || startsAt === undefined) return undefined;
    this.#clockLibrary ??= writeClockLibrary(timeLibrary, this.#sockets.root());
    return new ClockFile(this.#clockLibrary, this.#sockets.clockFile(socketDirectory), startsAt);
  }

  /** The only one that can open the data. */
  #installationOf(dataDirectory: string): Promise<Installation> {
    const version = Number(readClusterFile(join(dataDirectory, "PG_VERSION")));
    return this.#installations.toOpen(dataDirectory, version);
  }

  #spawn(
    installation: Installation,
    dataDirectory: string,
    values: Readonly<Record<string, string | number>>,
    settingsFor: EngineSettings = () => ({}),
    clock?: ClockFile | undefined,
  ): ChildProcess {
    const { version } = installation;
    const { program, args } = programWithExtension(installation, this.#options.extension);
    const time = clock === undefined ? {} : WORLD_CLOCK_SETTINGS;
    const set = serverArguments({ ...SETTINGS, ...settingsFor(version), ...values, ...time }, version);
    const { env, ...spawned } = spawnOptions(this.#options.user);
    const child = spawn(program, ["-D", dataDirectory, ...set, ...args], {
      ...spawned,
      env: { ...env, ...clock?.environment },
      cwd: dataDirectory,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const { pid } = child;
    this.#processes.add(child);
    if (pid !== undefined) this.#watchdog.watch(pid);
    child.once("exit", () => {
      if (pid !== undefined) this.#watchdog.forget(pid);
    });
    child.once("close", () => this.#processes.delete(child));
    return child;
  }

  /** Gives the files to the user that Postgres runs as, if this process is root. */
  async #own(directory: string): Promise<void> {
    chmodSync(directory, 0o700);
    const { user } = this.#options;
    if (user !== undefined) await run("chown", ["-R", `${user.uid}:${user.gid}`, directory]);
  }
}
