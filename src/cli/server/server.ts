import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { resolve } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { createApp } from "../../app/create-app.ts";
import {
  type OpenedWorlds,
  openWorlds,
  type PlanLimitOverrides,
  type Populate,
  WorldMismatch,
} from "../../app/open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import type { DurationDistribution } from "../../platform/core/distribution.ts";
import type { DurationMs } from "../../platform/core/time.ts";
import type { ClockSetting } from "../../simulation/world-clock.ts";
import { DataDirectory, DEFAULT_WORLD, DirectoryInUse } from "../../worlds/data-directory.ts";
import { StoreUnavailable } from "../../worlds/world-handle.ts";
import type { WorldRegistry } from "../../worlds/world-registry.ts";
import { CliError } from "../terminal/cli-error.ts";
import { DEFAULT_DATA } from "../terminal/option-parsers.ts";
import { createLog, type Log } from "./log.ts";
import { removeServerFile, writeServerFile } from "./server-file.ts";
import { VERSION } from "./version.ts";

const DEFAULT_BACKUPS = 24;
/** How long open requests may take to end after Ctrl-C. */
const GRACE_MS = 2_000;

/** Runs the server until it is told to stop. */
export async function serve(options: ServeOptions): Promise<void> {
  checkExposure(options);
  const applySeedFile = options.seedFile === undefined ? undefined : await readSeedFile(options.seedFile);
  const log = createLog(options.logLevel);
  const directory = openDataDirectory(options.data, log);
  let listening: ListeningServer | undefined;
  try {
    // The port comes first: a world whose key nobody could be told must not be made.
    listening = await listen(options);
    const opened = await openServedWorlds(directory, options, applySeedFile, log);
    log.follow(opened.world);
    listening.setHandler(createServedApp(opened, options, log));
    const origin = originOf(listening.server.address() as AddressInfo, options.host);
    writeServerFile(directory.path, {
      pid: process.pid,
      control_url: `${origin}/_sim`,
      api_url: `${origin}/api/v2`,
      control_token: options.controlToken,
    });
    // Before the ready line: whoever has read it may end this server at once.
    stopOnSignal(listening.server, opened.worlds, directory, log);
    if (options.backupEvery !== undefined)
      scheduleBackups(options.backupEvery, options.keepBackups ?? DEFAULT_BACKUPS, opened.worlds, log);
    printReadyLine(opened, origin, options);
    log.info(`serving world ${opened.world.name}`);
  } catch (error) {
    listening?.server.close();
    directory.release();
    throw error;
  }
}

function checkExposure({ host, controlToken }: ServeOptions): void {
  const isLoopback = host === "localhost" || host === "::1" || /^127\./.test(host);
  if (isLoopback || controlToken !== undefined) return;
  throw new CliError(
    `--host ${host} is beyond loopback: whoever reaches it could move the clock. Set STANDIN_CONTROL_TOKEN first.`,
    true,
  );
}

function openDataDirectory(path: string, log: Log): DataDirectory {
  try {
    return new DataDirectory(resolve(path), MIGRATIONS_FOLDER, (world, previousSnapshot) =>
      log.info(
        `the file of world ${world} was of an older release; it is brought up to date, and the former one kept as snapshot ${previousSnapshot}`,
      ),
    );
  } catch (error) {
    if (error instanceof DirectoryInUse) throw new CliError(error.message);
    throw new CliError(`--data ${path} cannot be used: ${errorMessage(error)}`);
  }
}

/** What the file lays out; its reader is loaded only where there is a file to read. */
async function readSeedFile(path: string): Promise<Populate> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError(`--seed-file ${path} cannot be read: ${errorMessage(error)}`);
  }
  const {
    parseSeedFile: parseSeedText,
    applySeedFile,
    SeedFileError,
  } = await import("../../scenario/file/seed-file.ts");
  const wrapSeedFileErrors = <T>(step: string, work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof SeedFileError)
        throw new CliError(`--seed-file cannot be ${step}: ${error.message}`);
      throw error;
    }
  };
  const file = wrapSeedFileErrors("used", () => parseSeedText(text, path));
  return (target) => wrapSeedFileErrors("laid out", () => applySeedFile(file, target));
}

/** What is kept for ever is never looked at. */
function retentionLimit(duration: DurationMs): DurationMs | undefined {
  return Number.isFinite(duration) ? duration : undefined;
}

async function openServedWorlds(
  directory: DataDirectory,
  options: ServeOptions,
  applySeedFile: Populate | undefined,
  log: Log,
): Promise<OpenedWorlds> {
  try {
    const limits = { maxWorlds: options.maxWorlds, maxWorldBytes: options.maxWorldSize };
    const retention = {
      history: retentionLimit(options.keepHistory),
      operations: retentionLimit(options.keepOperations),
    };
    return await openWorlds(
      directory,
      { ...options, planLimits: planLimits(options), populate: applySeedFile, limits, retention },
      (error) => log.error(error, "a commit failed; the world is opened again from its file"),
    );
  } catch (error) {
    if (error instanceof WorldMismatch || error instanceof StoreUnavailable)
      throw new CliError(error.message);
    throw error;
  }
}

function planLimits({
  projectsLimit,
  branchesLimit,
  endpointsLimit,
  snapshotsLimit,
}: ServeOptions): PlanLimitOverrides | undefined {
  const limits = {
    ...(projectsLimit === undefined ? {} : { projects: projectsLimit }),
    ...(branchesLimit === undefined ? {} : { branches: branchesLimit }),
    ...(endpointsLimit === undefined ? {} : { endpoints: endpointsLimit }),
    ...(snapshotsLimit === undefined ? {} : { snapshots: snapshotsLimit }),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}

type AppFetch = ReturnType<typeof createApp>["fetch"];
type ListeningServer = { readonly server: Server; readonly setHandler: (fetch: AppFetch) => void };

/** Takes the port; requests that come before the world is open wait for it. */
async function listen(options: ServeOptions): Promise<ListeningServer> {
  let setHandler: (fetch: AppFetch) => void = () => undefined;
  const appReady = new Promise<AppFetch>((resolve) => {
    setHandler = resolve;
  });
  let fetch: AppFetch | undefined;
  appReady.then((handler) => {
    fetch = handler;
  });
  // Plain HTTP/1.1, which is what this adaptor makes unless it is told otherwise.
  const server = createAdaptorServer({
    fetch: (request, env) =>
      fetch === undefined ? appReady.then((handler) => handler(request, env)) : fetch(request, env),
  }) as Server;
  await new Promise<void>((onListening, onError) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      onError(new CliError(describeListenError(error, options))),
    );
    server.listen(options.port, options.host, onListening);
  });
  return { server, setHandler };
}

function createServedApp({ worlds }: OpenedWorlds, options: ServeOptions, log: Log): AppFetch {
  const app = createApp({
    worlds,
    version: VERSION,
    rateLimit: options.rateLimit ?? false,
    hosts: [options.host],
    controlToken: options.controlToken,
    onBug: (error) => log.error(error, "a request met a bug"),
  });
  return log.requests(app.fetch);
}

/** Ends when it is told to: no new requests, a moment for the open ones, and the world closed after its last commit. */
function stopOnSignal(server: Server, worlds: WorldRegistry, directory: DataDirectory, log: Log): void {
  const stop = async () => {
    process.removeListener("SIGINT", stop).removeListener("SIGTERM", stop);
    log.info("stopping");
    worlds.beginShutdown();
    const closed = new Promise((done) => server.close(done));
    server.closeIdleConnections();
    const force = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    await closed;
    clearTimeout(force);
    await worlds.close();
    removeServerFile(directory.path);
    directory.release();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
}

/** Keeps the default world as a snapshot every so often, by the wall; only the newest stay. */
function scheduleBackups(everyMs: number, retainCount: number, worlds: WorldRegistry, log: Log): void {
  let isRunning = false;
  const takeBackup = async () => {
    // One that takes longer than the interval is not overtaken.
    if (isRunning) return;
    isRunning = true;
    try {
      const backup = await worlds.backUp(DEFAULT_WORLD, retainCount);
      if (backup.ok && backup.value !== undefined) log.info(`backup ${backup.value.name}`);
    } catch (error) {
      log.error(error, "a backup failed; the next one is tried in its time");
    } finally {
      isRunning = false;
    }
  };
  setInterval(takeBackup, everyMs).unref();
}

/** One line when it can answer; on the first start, the key, for the only time, and what to try. */
function printReadyLine(
  { world, apiKey, settings, isNew }: OpenedWorlds,
  origin: string,
  options: ServeOptions,
): void {
  const apiUrl = `${origin}/api/v2`;
  if (options.json === true) {
    const ready = {
      event: "ready",
      pid: process.pid,
      api_url: apiUrl,
      control_url: `${origin}/_sim`,
      world: world.name,
      ...(apiKey === undefined ? {} : { api_key: apiKey }),
    };
    process.stdout.write(`${JSON.stringify(ready)}\n`);
    return;
  }
  process.stdout.write(
    `standin is ready: ${apiUrl} (control API: ${origin}/_sim, world: ${world.name}, seed: ${settings.seed})\n`,
  );
  if (!isNew || apiKey === undefined) return;
  const where = options.data === DEFAULT_DATA ? "" : ` --data ${options.data}`;
  const key = options.apiKey === undefined ? `\nYour API key, shown this once:\n\n  ${apiKey}\n` : "";
  process.stdout.write(`${key}
Three commands to try:

  curl -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"project":{"name":"shop"}}' ${apiUrl}/projects
  npx standin status${where}
  npx standin clock advance 5m${where}

`);
}

function originOf(address: AddressInfo, host: string): string {
  const name =
    host === "localhost" ? host : isIPv6(address.address) ? `[${address.address}]` : address.address;
  return `http://${name === "0.0.0.0" ? "127.0.0.1" : name === "[::]" ? "[::1]" : name}:${address.port}`;
}

function describeListenError(error: NodeJS.ErrnoException, { host, port }: ServeOptions): string {
  if (error.code === "EADDRINUSE")
    return `port ${port} of ${host} is in use; choose another --port, or 0 for a free one`;
  return `cannot listen on ${host}:${port}: ${error.message}`;
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export type ServeOptions = {
  data: string;
  port: number;
  host: string;
  clock?: ClockSetting;
  startAt?: number;
  seed?: number;
  profile?: "2024" | "2026";
  plan?: "paid" | "free";
  operations?: "timed" | "immediate";
  startDelay?: DurationDistribution | "profile";
  projectsLimit?: number | "plan";
  branchesLimit?: number | "plan";
  endpointsLimit?: number | "plan";
  snapshotsLimit?: number | "plan";
  hostDomain?: string;
  seedFile?: string;
  apiKey?: string;
  controlToken?: string;
  rateLimit?: boolean;
  backupEvery?: number;
  keepBackups?: number;
  keepHistory: number;
  keepOperations: number;
  requestsLimit: number;
  maxWorlds: number;
  maxWorldSize: number;
  logLevel: string;
  json?: boolean;
};
