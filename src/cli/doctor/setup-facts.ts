import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  statfsSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { hostsIn, SYSTEM_HOSTS_FILE } from "../../app/hosts-file.ts";
import { PACKAGE_ROOT } from "../../app/package-root.ts";
import { hostNamesResolve } from "../../app/postgres-port.ts";
import { probeServer } from "../../app/server-probe.ts";
import { messageOf } from "../../kernel/message-of.ts";
import { HOST_DOMAIN } from "../../platform/rules/compute/host-name.ts";
import { DEFAULT_API_PORT } from "../server/options/http-options.ts";
import { DEFAULT_POSTGRES_PORTS } from "../server/options/postgres-options.ts";
import { readServerFile, type ServerFile } from "../server/server-file.ts";
import type { PortUse, SetupFacts } from "./check-setup.ts";

const HOST = "127.0.0.1";
const FIRST_LINE = /^.*/;

/**
 * Reads the facts of this machine and of a data directory. Leaves nothing in either. Modules that load SQLite are imported only
 * once it is known to load.
 */
export async function readSetup(data: string): Promise<SetupFacts> {
  const path = resolve(data);
  const sqlite = await readSqlite();
  const server = await runningServer(path);
  const worlds = "value" in sqlite ? await readWorlds(path) : undefined;
  const freeBytes = freeBytesOf(path);
  return {
    node: process.versions.node,
    oldestNode: oldestNode(),
    sqlite,
    data: { path: data, ...(await readDirectory(path, server, "value" in sqlite)) },
    ...(worlds && { worlds }),
    ...(freeBytes === undefined ? {} : { freeBytes }),
    apiPort: await readPort(portOf(server?.api_url) ?? DEFAULT_API_PORT, portOf(server?.api_url)),
    postgresPort: await readPort(DEFAULT_POSTGRES_PORTS[0] ?? 0, portOf(server?.postgres_url)),
    engines: await readEngines(path),
    names: { domain: HOST_DOMAIN, resolve: await hostNamesResolve(), inHostsFile: namesInHostsFile() },
  };
}

function oldestNode(): string {
  const { engines } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")) as {
    engines: { node: string };
  };
  return engines.node.replace(">=", "");
}

async function readSqlite(): Promise<SetupFacts["sqlite"]> {
  try {
    const { default: Database } = await import("better-sqlite3");
    const memory = new Database(":memory:");
    try {
      return {
        value:
          memory.prepare<[], { version: string }>("SELECT sqlite_version() version").get()?.version ?? "",
      };
    } finally {
      memory.close();
    }
  } catch (error) {
    return { error: firstLine(error) };
  }
}

/** The server of the directory, if it responds. */
async function runningServer(path: string): Promise<ServerFile | undefined> {
  let found: ServerFile | undefined;
  try {
    found = readServerFile(path);
  } catch {
    // It belongs to another user: the directory is reported as not accessible.
  }
  if (found === undefined) return undefined;
  const live = await probeServer(found.control_url.replace(/\/_sim\/?$/, ""));
  return live?.pid === found.pid ? found : undefined;
}

async function readDirectory(
  path: string,
  server: ServerFile | undefined,
  hasSqlite: boolean,
): Promise<Omit<SetupFacts["data"], "path">> {
  if (server !== undefined) return { state: "served", pid: server.pid };
  if (!statSync(nearestExisting(path)).isDirectory()) return { state: "no directory" };
  if (!isAccessible(nearestExisting(path))) return { state: "not accessible" };
  if (!acceptsDirectories(nearestExisting(path))) return { state: "no new files" };
  if (!existsSync(path)) return { state: "absent" };
  if (!hasSqlite) return { state: "unused" };
  const { isLocked } = await import("../../worlds/lock.ts");
  const { lockPath } = await import("../../worlds/directory-layout.ts");
  try {
    return { state: isLocked(lockPath(path)) ? "in use" : "unused" };
  } catch {
    return { state: "not accessible" };
  }
}

async function readWorlds(path: string): Promise<SetupFacts["worlds"]> {
  const { databasesIn, worldFilePath, worldsFolder } = await import("../../worlds/directory-layout.ts");
  const { readTablesVersion } = await import("../../store/file/world-snapshot.ts");
  const { SCHEMA_VERSION } = await import("../../store/tables/format-version.ts");
  if (!isAccessible(nearestExisting(worldsFolder(path)))) return undefined;
  const stored = databasesIn(worldsFolder(path)).map((world) => {
    try {
      return { world, version: readTablesVersion(worldFilePath(path, world)) };
    } catch (error) {
      return { world, error: firstLine(error) };
    }
  });
  return { stored, currentVersion: SCHEMA_VERSION };
}

async function readEngines(path: string): Promise<SetupFacts["engines"]> {
  const { findInstallations } = await import("../../postgres/installations/installation.ts");
  const { enginesDirectory } = await import("../../postgres/installations/installed-engines.ts");
  const { engineUser } = await import("../../postgres/machine/os-user.ts");
  try {
    const found = await findInstallations(undefined, engineUser(), enginesDirectory({ dataDirectory: path }));
    return { value: found.map(({ version }) => version) };
  } catch (error) {
    return { error: firstLine(error) };
  }
}

async function readPort(
  port: number,
  ownPort: number | undefined,
): Promise<{ readonly port: number; readonly use: PortUse }> {
  if (port === ownPort) return { port, use: "this server" };
  return { port, use: (await isFree(port)) ? "free" : "other" };
}

/** Whether a server could listen on this port. Listens for a moment, and accepts no connection. */
function isFree(port: number): Promise<boolean> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });
}

function portOf(url: string | undefined): number | undefined {
  return url === undefined ? undefined : Number(new URL(url).port);
}

function namesInHostsFile(): number {
  try {
    const names = [...hostsIn(readFileSync(SYSTEM_HOSTS_FILE, "utf8")).keys()];
    return names.filter((name) => name.endsWith(`.${HOST_DOMAIN}`)).length;
  } catch {
    return 0;
  }
}

function freeBytesOf(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(nearestExisting(path));
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function isAccessible(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Tries it with a directory that it removes: the mode bits are not enough, for example below `/proc`. */
function acceptsDirectories(path: string): boolean {
  try {
    rmdirSync(mkdtempSync(join(path, ".standin-doctor-")));
    return true;
  } catch {
    return false;
  }
}

function firstLine(error: unknown): string {
  return FIRST_LINE.exec(messageOf(error))?.[0] ?? "";
}
