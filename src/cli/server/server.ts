import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { resolve } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import {
  type AskedLimits,
  createApp,
  type LayOut,
  MIGRATIONS_FOLDER,
  type OpenedWorlds,
  openWorlds,
  WorldMismatch,
} from "../../app/compose.ts";
import type { DurationMs } from "../../platform/core/time.ts";
import { DataDirectory, DEFAULT_WORLD, DirectoryInUse } from "../../worlds/data-directory.ts";
import { StoreUnavailable } from "../../worlds/world-handle.ts";
import type { Worlds } from "../../worlds/world-registry.ts";
import type { ServeOptions } from "../commands/serve.ts";
import { CliError } from "../terminal/cli-error.ts";
import { DEFAULT_DATA } from "../terminal/option-parsers.ts";
import { createLog, type Log } from "./log.ts";
import { forgetServer, rememberServer } from "./server-file.ts";
import { VERSION } from "./version.ts";

const DEFAULT_BACKUPS = 24;
/** How long open requests may take to end after Ctrl-C. */
const GRACE_MS = 2_000;

/** Runs the server until it is told to stop. */
export async function serve(options: ServeOptions): Promise<void> {
  checkExposure(options);
  const layOut = options.seedFile === undefined ? undefined : await readLayout(options.seedFile);
  const log = createLog(options.logLevel);
  const directory = openDirectory(options.data, log);
  let listening: Listening | undefined;
  try {
    // The port comes first: a world whose key nobody could be told must not be made.
    listening = await listen(options);
    const opened = await open(directory, options, layOut, log);
    log.follow(opened.world);
    listening.answerWith(appOf(opened, options, log));
    const origin = originOf(listening.server.address() as AddressInfo, options.host);
    rememberServer(directory.path, {
      pid: process.pid,
      control_url: `${origin}/_sim`,
      api_url: `${origin}/api/v2`,
      control_token: options.controlToken,
    });
    // Before the ready line: whoever has read it may end this server at once.
    stopOnSignal(listening.server, opened.worlds, directory, log);
    if (options.backupEvery !== undefined) backUpEvery(options.backupEvery, options.keepBackups ?? DEFAULT_BACKUPS, opened.worlds, log);
    announce(opened, origin, options);
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
  throw new CliError(`--host ${host} is beyond loopback: whoever reaches it could move the clock. Set STANDIN_CONTROL_TOKEN first.`, true);
}

function openDirectory(path: string, log: Log): DataDirectory {
  try {
    return new DataDirectory(resolve(path), MIGRATIONS_FOLDER, (world, former) =>
      log.info(
        `the file of world ${world} was of an older release; it is brought up to date, and the former one kept as snapshot ${former}`,
      ),
    );
  } catch (error) {
    if (error instanceof DirectoryInUse) throw new CliError(error.message);
    throw new CliError(`--data ${path} cannot be used: ${messageOf(error)}`);
  }
}

/** What the file lays out; its reader is loaded only where there is a file to read. */
async function readLayout(path: string): Promise<LayOut> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError(`--seed-file ${path} cannot be read: ${messageOf(error)}`);
  }
  const { parseWorldFile, layOut, WorldFileError } = await import("../../scenario/file/seed-file.ts");
  const explain = <T>(step: string, work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof WorldFileError) throw new CliError(`--seed-file cannot be ${step}: ${error.message}`);
      throw error;
    }
  };
  const file = explain("used", () => parseWorldFile(text, path));
  return (stage) => explain("laid out", () => layOut(file, stage));
}

/** What is kept for ever is never looked at. */
function endOf(keep: DurationMs): DurationMs | undefined {
  return Number.isFinite(keep) ? keep : undefined;
}

async function open(directory: DataDirectory, options: ServeOptions, layOut: LayOut | undefined, log: Log): Promise<OpenedWorlds> {
  try {
    const limits = { maxWorlds: options.maxWorlds, maxWorldBytes: options.maxWorldSize };
    const retention = { history: endOf(options.keepHistory), operations: endOf(options.keepOperations) };
    return await openWorlds(directory, { ...options, planLimits: planLimits(options), layOut, limits, retention }, (error) =>
      log.error(error, "a commit failed; the world is opened again from its file"),
    );
  } catch (error) {
    if (error instanceof WorldMismatch || error instanceof StoreUnavailable) throw new CliError(error.message);
    throw error;
  }
}

function planLimits({ projectsLimit, branchesLimit, endpointsLimit, snapshotsLimit }: ServeOptions): AskedLimits | undefined {
  const limits = {
    ...(projectsLimit === undefined ? {} : { projects: projectsLimit }),
    ...(branchesLimit === undefined ? {} : { branches: branchesLimit }),
    ...(endpointsLimit === undefined ? {} : { endpoints: endpointsLimit }),
    ...(snapshotsLimit === undefined ? {} : { snapshots: snapshotsLimit }),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}

type Fetch = ReturnType<typeof createApp>["fetch"];
type Listening = { readonly server: Server; readonly answerWith: (fetch: Fetch) => void };

/** Takes the port; requests that come before the world is open wait for it. */
async function listen(options: ServeOptions): Promise<Listening> {
  let answerWith: (fetch: Fetch) => void = () => undefined;
  const opened = new Promise<Fetch>((resolve) => {
    answerWith = resolve;
  });
  let fetch: Fetch | undefined;
  opened.then((answering) => {
    fetch = answering;
  });
  // Plain HTTP/1.1, which is what this adaptor makes unless it is told otherwise.
  const server = createAdaptorServer({
    fetch: (request, env) => (fetch === undefined ? opened.then((answering) => answering(request, env)) : fetch(request, env)),
  }) as Server;
  await new Promise<void>((listening, failed) => {
    server.once("error", (error: NodeJS.ErrnoException) => failed(new CliError(describeListenError(error, options))));
    server.listen(options.port, options.host, listening);
  });
  return { server, answerWith };
}

function appOf({ worlds }: OpenedWorlds, options: ServeOptions, log: Log): Fetch {
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
function stopOnSignal(server: Server, worlds: Worlds, directory: DataDirectory, log: Log): void {
  const stop = async () => {
    process.removeListener("SIGINT", stop).removeListener("SIGTERM", stop);
    log.info("stopping");
    worlds.end();
    const closed = new Promise((done) => server.close(done));
    server.closeIdleConnections();
    const force = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    await closed;
    clearTimeout(force);
    await worlds.close();
    forgetServer(directory.path);
    directory.release();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
}

/** Keeps the default world as a snapshot every so often, by the wall; only the newest stay. */
function backUpEvery(everyMs: number, keep: number, worlds: Worlds, log: Log): void {
  let underWay = false;
  const backUp = async () => {
    // One that takes longer than the interval is not overtaken.
    if (underWay) return;
    underWay = true;
    try {
      const taken = await worlds.backUp(DEFAULT_WORLD, keep);
      if (taken.ok && taken.value !== undefined) log.info(`backup ${taken.value.name}`);
    } catch (error) {
      log.error(error, "a backup failed; the next one is tried in its time");
    } finally {
      underWay = false;
    }
  };
  setInterval(backUp, everyMs).unref();
}

/** One line when it can answer; on the first start, the key, for the only time, and what to try. */
function announce({ world, apiKey, settings, isNew }: OpenedWorlds, origin: string, options: ServeOptions): void {
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
  process.stdout.write(`standin is ready: ${apiUrl} (control API: ${origin}/_sim, world: ${world.name}, seed: ${settings.seed})\n`);
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
  const name = host === "localhost" ? host : isIPv6(address.address) ? `[${address.address}]` : address.address;
  return `http://${name === "0.0.0.0" ? "127.0.0.1" : name === "[::]" ? "[::1]" : name}:${address.port}`;
}

function describeListenError(error: NodeJS.ErrnoException, { host, port }: ServeOptions): string {
  if (error.code === "EADDRINUSE") return `port ${port} of ${host} is in use; choose another --port, or 0 for a free one`;
  return `cannot listen on ${host}:${port}: ${error.message}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
