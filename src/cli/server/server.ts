import type { Server } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { closeHttpServer, createHttpServer, type HttpServer } from "../../app/http-server.ts";
import type { OpenedWorlds } from "../../app/open-worlds.ts";
import type { PostgresPort } from "../../app/postgres-port.ts";
import { createServedApp, type ServedApp } from "../../app/served-app.ts";
import type { Tracing } from "../../app/tracing/tracing.ts";
import { acceptWebSockets } from "../../app/web-sockets.ts";
import type { TeamToken } from "../../control-api/http/team-token.ts";
import type { DataDirectory } from "../../worlds/data-directory.ts";
import type { WorldRegistry } from "../../worlds/world-registry.ts";
import { openDataDirectory } from "../history/open-data-directory.ts";
import { wrapFileErrors } from "../history/world-database.ts";
import { CliError } from "../terminal/cli-error.ts";
import { readWorldProfile } from "../terminal/profile-option.ts";
import { createLog, type Log } from "./log.ts";
import { openServedWorlds } from "./open-served-worlds.ts";
import { type OpenTracing, openTracing } from "./open-tracing.ts";
import type { ServeOptions } from "./options/serve-options.ts";
import { checkPostgresOptions, type OpenPostgresPort, openPostgresPort } from "./postgres-port.ts";
import { printReadyLine } from "./ready-line.ts";
import { scenarioRecorder } from "./scenario-recorder.ts";
import {
  reportScrub,
  scheduleBackups,
  scheduleScrubs,
  scheduleTidying,
  scheduleVolumeRemovals,
} from "./schedules.ts";
import { Scrubber } from "./scrubber.ts";
import { readSeedFile } from "./seed-file.ts";
import { removeServerFile, writeServerFile } from "./server-file.ts";
import { reportStalledClients } from "./stalled-clients.ts";
import { VERSION } from "./version.ts";

const DEFAULT_BACKUPS = 24;
/** How long open requests may take to finish after Ctrl-C. */
const GRACE_MS = 2_000;
/** The search for versions of Postgres starts processes, which would delay the first answers. */
const REPORT_AFTER_MS = 500;
/** At most this number of worlds is named in one message. */
const MAX_NAMED_WORLDS = 10;

/** Runs the server until SIGINT or SIGTERM. */
export async function serve(options: ServeOptions): Promise<void> {
  checkExposure(options);
  checkPostgresOptions(options);
  const seed = options.seedFile === undefined ? undefined : await readSeedFile(options.seedFile);
  const profile = options.profile === undefined ? undefined : await readWorldProfile(options.profile);
  const teamTokens = await teamTokensOf(options);
  const log = createLog(options.logLevel);
  const traces = await openTracing(process.env, (message) => log.warn(message));
  const directory = openDataDirectory(options.data, {
    onUpgrade: (world, previousSnapshot) =>
      log.info(
        `upgraded the file of world ${world} from an older release; the previous file is stored as snapshot ${previousSnapshot}`,
      ),
    acceptLossOf: options.acceptLoss === undefined ? [] : [options.acceptLoss],
    leavesLogs: options.wal === "external",
    onAcceptedLoss: (world, missing) =>
      log.warn(`acknowledged changes of world ${world} are missing, as accepted: ${missing.join("; ")}`),
    onUnmarked: (unmarked) => log.warn(unmarkedMessage(unmarked)),
  });
  let listening: ListeningServer | undefined;
  let postgres: OpenPostgresPort | undefined;
  try {
    // Take the port before creating the world: its API key is printed only once, on the ready line.
    listening = await listen(options);
    let worlds: WorldRegistry | undefined;
    const scrubber = new Scrubber(directory.path, (result) => {
      if (worlds !== undefined) reportScrub(result, worlds, log);
    });
    const dataHooks = {
      onDataReleased: () => postgres?.port.dataReleased(),
      beforeCopy: async (world: string) => postgres?.port.prepareCopy(world),
    };
    const opened = await openServedWorlds(
      directory,
      options,
      profile,
      seed?.populate,
      scrubber,
      dataHooks,
      log,
    );
    worlds = opened.worlds;
    log.follow(opened.world);
    postgres = await openPostgresPort(opened, options, log);
    await seed?.fillDatabases(postgres?.port, log);
    listening.setApp(appOf(opened, { ...options, teamTokens }, log, postgres, traces?.tracing));
    if (postgres !== undefined) {
      const { port } = postgres;
      acceptWebSockets(listening.server, (stream, origin) => port.accept(stream, origin));
    }
    const origin = originOf(listening.server.address() as AddressInfo, options.host);
    wrapFileErrors(directory.path, () =>
      writeServerFile(directory.path, {
        pid: process.pid,
        control_url: `${origin}/_sim`,
        api_url: `${origin}/api/v2`,
        postgres_url: postgres?.url,
        postgres_tls: postgres?.authorityDirectory,
        control_token: options.controlToken,
      }),
    );
    const clock = await opened.world.clock();
    // Before the ready line: a reader of that line may stop the server at once.
    stopOnSignal(listening.server, postgres?.port, opened.worlds, scrubber, directory, log, traces);
    if (options.scrubEvery !== undefined) scheduleScrubs(options.scrubEvery, scrubber, log);
    if (options.backupEvery !== undefined)
      scheduleBackups(options.backupEvery, options.keepBackups ?? DEFAULT_BACKUPS, opened.worlds, log);
    scheduleTidying(options, opened.worlds, log);
    if (postgres !== undefined) scheduleVolumeRemovals(postgres.port);
    printReadyLine(opened, clock, origin, postgres?.url, options);
    log.info(`serving world ${opened.world.name}`);
    setTimeout(() => void postgres?.port.reportInstallations(), REPORT_AFTER_MS).unref();
  } catch (error) {
    listening?.server.close();
    await postgres?.port.close();
    await traces?.close();
    directory.release();
    await log.close();
    throw error;
  }
}

function checkExposure({ host, controlToken, cell }: ServeOptions): void {
  if (cell !== undefined && controlToken === undefined)
    throw new CliError(
      `--cell ${cell}: behind a router, anyone who reaches it could change the worlds; set a token with --control-token or STANDIN_CONTROL_TOKEN`,
      true,
    );
  const isLoopback = host === "localhost" || host === "::1" || /^127\./.test(host);
  if (isLoopback || controlToken !== undefined) return;
  throw new CliError(
    `--host ${host}: not a loopback address, so anyone on the network could change the world; set a token with --control-token or STANDIN_CONTROL_TOKEN`,
    true,
  );
}

/** The parser of the file is loaded on demand. */
async function teamTokensOf({ teamTokens, controlToken }: ServeOptions): Promise<readonly TeamToken[]> {
  if (teamTokens === undefined) return [];
  if (controlToken === undefined)
    throw new CliError(
      "--team-tokens: without a control token, every client has all rights; set one with --control-token or STANDIN_CONTROL_TOKEN",
      true,
    );
  return (await import("./team-tokens.ts")).readTeamTokens(teamTokens, process.env);
}

type ListeningServer = { readonly server: HttpServer; readonly setApp: (app: ServedApp) => void };

/** Takes the port. Requests that arrive before the world is open wait for it. */
async function listen(options: ServeOptions): Promise<ListeningServer> {
  let setApp: (app: ServedApp) => void = () => undefined;
  const appReady = new Promise<ServedApp>((resolve) => {
    setApp = resolve;
  });
  let app: ServedApp | undefined;
  appReady.then((ready) => {
    app = ready;
  });
  const server = createHttpServer(
    (request, env) =>
      app === undefined ? appReady.then((ready) => ready.fetch(request, env)) : app.fetch(request, env),
    () => app?.repeated,
  );
  await new Promise<void>((onListening, onError) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      onError(new CliError(describeListenError(error, options))),
    );
    server.listen(options.port, options.host, onListening);
  });
  return { server, setApp };
}

function appOf(
  { worlds }: OpenedWorlds,
  options: Omit<ServeOptions, "teamTokens"> & { readonly teamTokens: readonly TeamToken[] },
  log: Log,
  postgres: OpenPostgresPort | undefined,
  tracing: Tracing | undefined,
): ServedApp {
  const app = createServedApp({
    worlds,
    version: VERSION,
    cell: options.cell,
    rateLimit: options.rateLimit ?? false,
    console: options.console,
    hosts: [options.host],
    controlToken: options.controlToken,
    teamTokens: options.teamTokens,
    postgres: postgres?.port.services,
    postgresAddress: postgres?.address,
    recordScenario: scenarioRecorder(options.data),
    tracing,
    fetchesAll: tracing !== undefined || log.hasRequests,
    onBug: (error) => log.error(error, "internal error in a request"),
  });
  const fetch = tracing === undefined ? app.fetch : tracing.requests(app.fetch);
  return { ...app, fetch: log.requests(reportStalledClients(fetch, log)) };
}

/**
 * On a signal: accepts no new requests, gives open ones a grace period, and closes the worlds after the last
 * commit.
 */
function stopOnSignal(
  server: Server,
  postgres: PostgresPort | undefined,
  worlds: WorldRegistry,
  scrubber: Scrubber,
  directory: DataDirectory,
  log: Log,
  traces: OpenTracing | undefined,
): void {
  const stop = async () => {
    process.removeListener("SIGINT", stop).removeListener("SIGTERM", stop);
    log.info("stopping");
    // Clients of Postgres are closed while the world can still record it.
    await postgres?.close();
    worlds.beginShutdown();
    await closeHttpServer(server, GRACE_MS);
    await scrubber.stop();
    await worlds.close();
    await traces?.close();
    removeServerFile(directory.path);
    directory.release();
    await log.close();
    // An export that the collector does not answer would keep the process alive until its timeout.
    if (traces !== undefined) process.exit();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
}

function originOf(address: AddressInfo, host: string): string {
  const name =
    host === "localhost" ? host : isIPv6(address.address) ? `[${address.address}]` : address.address;
  return `http://${name === "0.0.0.0" ? "127.0.0.1" : name === "[::]" ? "[::1]" : name}:${address.port}`;
}

function describeListenError(error: NodeJS.ErrnoException, { host, port }: ServeOptions): string {
  if (error.code === "EADDRINUSE")
    return `port ${port} on ${host} is in use; choose another --port, or 0 for a free port`;
  return `cannot listen on ${host}:${port}: ${error.message}; check --host and --port`;
}

function unmarkedMessage(worlds: readonly string[]): string {
  const missing = worlds.slice(0, MAX_NAMED_WORLDS).map((world) => `worlds/${world}.sqlite-head`);
  const others = worlds.length > missing.length ? ` and ${worlds.length - missing.length} others` : "";
  return `missing or damaged: ${missing.join(", ")}${others}, which record the last acknowledged change. This is normal if a world was copied without it, or comes from an older release. Otherwise standin cannot tell whether changes were lost`;
}
