import { execFile } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { MaxData } from "../postgres/data/data-limit.ts";
import type { Engine } from "../postgres/engine/engine.ts";
import type { Gateway, GatewayOptions } from "../postgres/gateway.ts";
import type { OsUser } from "../postgres/machine/os-user.ts";
import type { StatementLog } from "../postgres/statements/statement-log.ts";
import { EXTENSION, TEMPLATES, type Volumes } from "../postgres/volumes/volumes.ts";
import { DEFAULT_WORLD } from "../worlds/directory-layout.ts";
import type { WorldsHandle } from "../worlds/world-handle.ts";

export type EngineVersionRule = "exact" | "nearest";

export const DEFAULT_ENGINE_VERSION = "exact" satisfies EngineVersionRule;

export type PostgresOptions = {
  /** Only if it is the directory of this server's worlds may its mode be changed. */
  readonly dataDirectory: string;
  /** The directory of the branches' data. */
  readonly volumes: string;
  /** `none`: Postgres is not run, and clients are rejected. */
  readonly engine: "auto" | "none";
  /** The directory of `postgres` and `initdb`; absent: they are searched for. */
  readonly engineBin?: string | undefined;
  /** For a project of a version that is not installed. `exact`: clients are rejected. `nearest`: another one runs. */
  readonly engineVersion: EngineVersionRule;
  /** The data directory that `standin engines install` was given; absent: `dataDirectory`. */
  readonly enginesData?: string | undefined;
  /** The data directory is removed when this process has ended, also by SIGKILL. */
  readonly isTemporary?: boolean;
  readonly maxEngines: number;
  /** Log that each branch retains, in bytes. */
  readonly maxBranchHistory: number;
  /** Limit for the data of all branches on disk. */
  readonly maxData: MaxData;
  readonly requireTls: boolean;
  /** Whether each connection of the port begins with a header of the PROXY protocol. */
  readonly proxyProtocol: boolean;
  /** The directory of the certificate authority, which is used without `tlsFiles`. */
  readonly tlsDirectory: string;
  readonly tlsFiles?: { readonly key: string; readonly cert: string } | undefined;
  /** For runs that must repeat: what Postgres reports of its load differs between two of them. */
  readonly ignoresLoad?: boolean | undefined;
  /** The name of the extension with the statistics of a compute. */
  readonly extensionName: string;
  /** Clock of `now()` in SQL: the machine's or the world's. */
  readonly sqlClock: SqlClock;
  /** Log of the statements of clients; absent if statements are not logged. */
  readonly statements?: StatementLog | undefined;
};

export type SqlClock = "machine" | "world";

export type PostgresLog = {
  error(error: unknown, message: string): void;
  warn(message: string): void;
  info(message: string): void;
};

/** Loads what only Postgres clients need. */
export async function loadGateway(
  worlds: WorldsHandle,
  options: PostgresOptions,
  log: PostgresLog,
  data: Pick<GatewayOptions, "volumes" | "dataLimit" | "requestRemoval">,
): Promise<Gateway> {
  const { Gateway } = await import("../postgres/gateway.ts");
  const { TlsIdentity } = await import("../postgres/login/tls-identity.ts");
  let opened: ReturnType<typeof openPostgresEngine> | undefined;
  return new Gateway({
    worlds,
    defaultWorld: DEFAULT_WORLD,
    openEngine: () => {
      opened ??= openPostgresEngine(options, data.volumes, log);
      // A version that was missing may have been installed in the meantime.
      opened.catch(() => {
        opened = undefined;
      });
      return opened;
    },
    ...data,
    tls: new TlsIdentity(options.tlsDirectory, options.tlsFiles),
    requireTls: options.requireTls,
    proxyProtocol: options.proxyProtocol,
    maxEngines: options.maxEngines,
    ignoresLoad: options.ignoresLoad,
    maxBranchHistory: options.maxBranchHistory,
    onError: (error, message) => log.error(error, message),
    statements: options.statements,
  });
}

/** Checkpoints in half of the limit of a log. A log can only be cut at a checkpoint. */
const CHECKPOINTS_PER_HISTORY = 8;

export type EngineOptions = Pick<
  PostgresOptions,
  | "dataDirectory"
  | "engine"
  | "engineBin"
  | "engineVersion"
  | "enginesData"
  | "isTemporary"
  | "maxBranchHistory"
  | "extensionName"
  | "sqlClock"
>;

/** Finds Postgres, and stops the processes of a server that was killed. */
export async function openPostgresEngine(
  options: EngineOptions,
  volumes: Volumes,
  log: PostgresLog,
): Promise<Engine> {
  if (options.engine === "none") {
    const { EngineError } = await import("../postgres/engine/engine.ts");
    throw new EngineError("this server runs no Postgres (--engine none)");
  }
  const { engineUser } = await import("../postgres/machine/os-user.ts");
  const { findInstallations } = await import("../postgres/installations/installation.ts");
  const { enginesDirectory } = await import("../postgres/installations/installed-engines.ts");
  const { writeExtension } = await import("../postgres/rights/extension.ts");
  const { findTimeLibrary } = await import("../postgres/installations/time-library.ts");
  const { PostgresEngine } = await import("../postgres/processes/postgres-engine.ts");
  const { removeUnclaimedDirectories } = await import("../postgres/machine/claimed-directories.ts");
  await removeUnclaimedDirectories();
  const user = engineUser();
  const { root } = volumes;
  mkdirSync(root, { recursive: true, mode: user === undefined ? 0o700 : 0o711 });
  // The data directory also has the programs of `standin engines install`, which the user of Postgres must reach.
  if (user !== undefined) await makeReachable(root, options.dataDirectory, user);
  const find = () => findInstallations(options.engineBin, user, enginesDirectory(options));
  const installations = await find();
  log.info(
    user === undefined
      ? "Postgres runs as the user of this server: what escapes from Postgres can do what the server can (SECURITY.md)"
      : `Postgres runs as the user ${user.name}, which cannot read the worlds and keys of this server`,
  );
  const extensionDirectory = join(root, EXTENSION);
  mkdirSync(extensionDirectory, { recursive: true, mode: user === undefined ? 0o700 : 0o755 });
  const engine = new PostgresEngine({
    installations,
    findInstallations: find,
    templateDirectory: join(root, TEMPLATES),
    extension: writeExtension(extensionDirectory, options.extensionName),
    user,
    maxLogBytes: options.maxBranchHistory / CHECKPOINTS_PER_HISTORY,
    maxSlotLogBytes: options.maxBranchHistory,
    replacesVersions: options.engineVersion === "nearest",
    timeLibrary: options.sqlClock === "world" ? findTimeLibrary() : undefined,
    temporaryDirectories: options.isTemporary === true ? [options.dataDirectory] : undefined,
    onSubstitute: (wanted, chosen) =>
      log.warn(
        `Postgres ${wanted} is not installed, so computes of projects with pg_version ${wanted} run Postgres ${chosen}`,
      ),
  });
  for (const dataDirectory of volumes.dataDirectories()) await engine.stopLeftover(dataDirectory);
  return engine;
}

/** Lets the user of Postgres enter the directories above the volumes. The files in them stay private. */
async function makeReachable(root: string, dataDirectory: string, user: OsUser): Promise<void> {
  const { EngineError } = await import("../postgres/engine/engine.ts");
  const { spawnAs } = await import("../postgres/machine/os-user.ts");
  const data = resolve(dataDirectory);
  if (root.startsWith(`${data}/`)) chmodSync(data, 0o711);
  chmodSync(root, 0o711);
  try {
    await promisify(execFile)("test", ["-x", root], { ...spawnAs(user), cwd: "/" });
  } catch {
    throw new EngineError(
      `Postgres runs as the user ${user.name}, which cannot reach ${root}; choose another directory with --volumes, or do not run the server as root`,
    );
  }
}
