import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { lastLine } from "../../kernel/text.ts";
import {
  type Absence,
  ADMIN_DATABASE,
  type AdminQuery,
  type EngineAddress,
  EngineError,
  type Row,
  type RunningStandby,
  TooFewConnections,
} from "../engine/engine.ts";
import { processTreeCpuMs } from "../machine/cpu-time.ts";
import type { OsUser } from "../machine/os-user.ts";
import { ownFiles, removeCaches, SHARED_WITH_CLIENTS } from "../machine/shared-files.ts";
import { AdminSessions } from "./admin-sessions.ts";
import { unblockSubscriptions } from "./blocked-subscriptions.ts";
import type { ClockFile } from "./clock-file.ts";
import { runScript } from "./script.ts";
import { serverLogLine } from "./server-log.ts";
import { linkPrimary } from "./standby.ts";

/** The socket file of a cluster is named after its port, which no other cluster in the directory has. */
export const SOCKET_PORT = 5432;
/** A fast shutdown, then an immediate one, then a kill. Committed rows survive all three. */
export const STOP_SIGNALS = ["SIGINT", "SIGQUIT", "SIGKILL"] as const;
/** How long one of them may take. */
export const STOP_TIMEOUT_MS = 10_000;
const START_TIMEOUT_MS = 60_000;
const LOG_LINES = 20;
const READY = /database system is ready to accept (?:read.only )?connections/;
/** Postgres ends, or pauses the replay if it has sessions already. */
const TOO_FEW = /insufficient parameter settings/;
/** How often a standby is asked how far it has replayed the log. */
const REPLAY_POLL_MS = 10;

const POSITION =
  "SELECT lsn, pg_current_wal_flush_lsn() >= lsn AS is_durable FROM pg_current_wal_insert_lsn() AS lsn";
/** A message in a transaction of its own, whose commit waits until the log is on disk. */
const FLUSH = "SELECT pg_logical_emit_message(true, 'standin', '')";

/** `version`: the major version. `startedAt`: of `performance.now()`. */
export type StartedCluster = {
  readonly dataDirectory: string;
  readonly user: OsUser | undefined;
  readonly socketDirectory: string;
  readonly version: number;
  readonly startedAt: number;
  readonly clock: ClockFile | undefined;
};

/** Sessions that began earlier than this one. */
const SESSIONS_BEFORE = `SELECT count(*) FROM pg_stat_activity
  WHERE datname = '${ADMIN_DATABASE}' AND pid <> pg_backend_pid()
    AND backend_start <= (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid())`;

/**
 * Whether autovacuum works in the template databases, or soon will: half of the age at which it does so in all
 * databases, and a fourth of the members that lower it.
 */
const IS_VACUUMED_SOON = `SELECT bool_or(age(datfrozenxid) > 100000000 OR mxid_age(datminmxid) > 100000000)
    OR (SELECT next_multi_offset::text::bigint > 1000000000 FROM pg_control_checkpoint())
    OR EXISTS (SELECT FROM pg_stat_database WHERE datname IN ('template0', 'template1') AND xact_commit > 0) AS is_vacuumed_soon
  FROM pg_database WHERE datname IN ('template0', 'template1', '${ADMIN_DATABASE}')`;

/** At 20,000 transactions a second, the age grows by 72 million between two checks. */
const AGE_CHECK_INTERVAL_MS = 3_600_000;

/** A Postgres process that this process has started. */
export class PostgresProcess implements RunningStandby {
  readonly address: { readonly path: string };
  readonly pid: number;
  readonly clock: ClockFile | undefined;
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #admin: AdminSessions;
  readonly #socketDirectory: string;
  readonly #cluster: StartedCluster;
  #hasReplacedFiles = false;
  #opening: Promise<void> | undefined;
  #ageCheckedAt = Number.NEGATIVE_INFINITY;
  #ageTimer: NodeJS.Timeout | undefined;
  #startMs = 0;
  #cpuMs = 0;

  private constructor(child: ChildProcess, cluster: StartedCluster, log: readonly string[]) {
    const { socketDirectory, version } = cluster;
    this.#child = child;
    this.#cluster = cluster;
    this.#socketDirectory = socketDirectory;
    this.pid = child.pid ?? 0;
    this.clock = cluster.clock;
    this.address = { path: join(socketDirectory, `.s.PGSQL.${SOCKET_PORT}`) };
    this.#admin = new AdminSessions(socketDirectory, SOCKET_PORT, version);
    this.exited = new Promise((resolve) => {
      child.once("exit", () => {
        clearTimeout(this.#ageTimer);
        resolve(log.join("\n"));
      });
      child.once("error", (error) => resolve(error.message));
    });
  }

  get startMs(): number {
    return this.#startMs;
  }

  /** Waits until the process accepts connections. */
  static async ready(child: ChildProcess, cluster: StartedCluster): Promise<PostgresProcess> {
    const { socketDirectory, startedAt } = cluster;
    const log: string[] = [];
    const running = new PostgresProcess(child, cluster, log);
    const isReady = new Promise<true>((resolve) => {
      let rest = "";
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = (lines.pop() ?? "").slice(-1_000);
        for (const line of lines.flatMap((line) => serverLogLine(line) ?? [])) {
          log.push(line);
          if (log.length > LOG_LINES) log.shift();
          if (READY.test(line)) resolve(true);
        }
      });
    });
    const timeout = new AbortController();
    const outcome = await Promise.race([
      isReady,
      running.exited,
      sleep(START_TIMEOUT_MS, `not ready after ${START_TIMEOUT_MS / 1_000} s`, { signal: timeout.signal }),
    ]);
    timeout.abort();
    if (outcome !== true) {
      child.kill("SIGKILL");
      rmSync(socketDirectory, { recursive: true, force: true });
      cluster.clock?.remove();
      if (TOO_FEW.test(outcome)) throw new TooFewConnections(lastLine(outcome));
      throw new EngineError(`Postgres did not start: ${lastLine(outcome)}`);
    }
    running.#startMs = performance.now() - startedAt;
    return running;
  }

  query(sql: string): Promise<readonly Row[]> {
    return this.#admin.query(sql);
  }

  keepOutOfDatabases(): Absence {
    return this.#admin.keepOut();
  }

  get isBarredFromDatabases(): boolean {
    return this.#admin.areBarred;
  }

  inDatabase<T>(database: string, work: (query: AdminQuery) => Promise<T>): Promise<T> {
    return this.#admin.inDatabase(database, work);
  }

  /**
   * The superuser's sessions read the shared files of `postgres`, and a client might change them. Those of the template
   * databases change only if autovacuum prevents a wraparound of transaction ids, so they are no longer shared long before.
   */
  async openToClients(database: string): Promise<void> {
    if (database === ADMIN_DATABASE) {
      this.#opening ??= this.#openAdminDatabase();
      this.#opening.catch(() => {
        this.#opening = undefined;
      });
      await this.#opening;
    }
    if (performance.now() >= this.#ageCheckedAt + AGE_CHECK_INTERVAL_MS) await this.#checkAge();
  }

  async #openAdminDatabase(): Promise<void> {
    const { dataDirectory, user } = this.#cluster;
    await this.#admin.whileClosed(async () => {
      if (await ownFiles(dataDirectory, user, SHARED_WITH_CLIENTS)) this.#hasReplacedFiles = true;
    });
    if (!this.#hasReplacedFiles) return;
    // Others than this session may have opened the files before they were replaced.
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const [others] = await this.query(SESSIONS_BEFORE);
      if (others?.["count"] === "0") return;
      await sleep(REPLAY_POLL_MS);
    }
    throw new EngineError("a session of the database postgres did not end");
  }

  async #checkAge(): Promise<void> {
    this.#ageCheckedAt = performance.now();
    clearTimeout(this.#ageTimer);
    this.#ageTimer = setTimeout(
      () => void this.#checkAge().catch(() => undefined),
      AGE_CHECK_INTERVAL_MS,
    ).unref();
    const [state] = await this.query(IS_VACUUMED_SOON);
    if (state?.["is_vacuumed_soon"] !== "t") return;
    await this.openToClients(ADMIN_DATABASE);
    await ownFiles(this.#cluster.dataDirectory, this.#cluster.user);
  }

  unblockSubscriptions(): void {
    unblockSubscriptions(this.#socketDirectory);
  }

  async runScript(sql: string, database: string, role: string): Promise<void> {
    await this.openToClients(database);
    return runScript({ host: this.#socketDirectory, port: SOCKET_PORT, database, user: role }, sql);
  }

  async logPosition(): Promise<string> {
    const [position] = await this.query(POSITION);
    if (position?.["is_durable"] !== "t") await this.query(FLUSH);
    return position?.["lsn"] ?? "";
  }

  async follow(primary: EngineAddress): Promise<void> {
    linkPrimary(this.#socketDirectory, primary);
    // Otherwise it tries again after a few seconds.
    await this.query("SELECT pg_reload_conf()");
  }

  async replayed(lsn: string): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const [row] = await this.query(
        `SELECT pg_last_wal_replay_lsn() >= '${lsn}' AS is_replayed,
           pg_get_wal_replay_pause_state() = 'paused' AS is_paused`,
      );
      if (row?.["is_replayed"] === "t") return;
      // Nothing else pauses it.
      if (row?.["is_paused"] === "t") throw new TooFewConnections("the primary has more connections");
      await sleep(REPLAY_POLL_MS);
    }
    throw new EngineError(`the log was not replayed up to ${lsn} within ${START_TIMEOUT_MS / 1_000} s`);
  }

  cpuMs(): number | undefined {
    // A child that exits during the reading is missing in it.
    const cpuMs = processTreeCpuMs(this.pid);
    if (cpuMs === undefined) return undefined;
    this.#cpuMs = Math.max(this.#cpuMs, cpuMs);
    return this.#cpuMs;
  }

  async stop(): Promise<void> {
    clearTimeout(this.#ageTimer);
    await this.#admin.close();
    for (const signal of STOP_SIGNALS) {
      this.#child.kill(signal);
      const timeout = new AbortController();
      const stopped = await Promise.race([
        this.exited.then(() => true),
        sleep(STOP_TIMEOUT_MS, false, { signal: timeout.signal }),
      ]);
      timeout.abort();
      if (stopped) break;
    }
    await removeCaches(this.#cluster.dataDirectory, this.#cluster.user);
    rmSync(this.#socketDirectory, { recursive: true, force: true });
    unblockSubscriptions(this.#socketDirectory);
    this.clock?.remove();
  }
}

/** Resolves when the process has exited, with its log. */
export async function exitOf(child: ChildProcess): Promise<string> {
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-10_000);
  });
  await new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  return log
    .split("\n")
    .flatMap((line) => serverLogLine(line) ?? [])
    .join("\n");
}
