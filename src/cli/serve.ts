import { readFileSync } from "node:fs";
import { type AddressInfo, isIPv6 } from "node:net";
import { resolve } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { Command } from "commander";
import { type ClockSetting, createApp, MIGRATIONS_FOLDER, type OpenedWorld, openWorld, WorldMismatch } from "../compose.ts";
import type { DurationDistribution } from "../platform/distribution.ts";
import { parseWorldFile, type WorldFile, WorldFileError } from "../scenario/world-file.ts";
import { DataDirectory, DEFAULT_WORLD, DirectoryInUse } from "../worlds/data-directory.ts";
import { StoreUnavailable } from "../worlds/world-handle.ts";
import { CliError } from "./cli-error.ts";
import { createLog, type Log } from "./log.ts";
import { clockSetting, dataOption, instant, integer, jsonOption, option, startDelay } from "./options.ts";
import { forgetServer, rememberServer } from "./server-file.ts";
import { VERSION } from "./version.ts";

type ServeOptions = {
  data: string;
  port: number;
  host: string;
  clock?: ClockSetting;
  startAt?: number;
  seed?: number;
  profile?: "2024" | "2026";
  plan?: "paid" | "free";
  operations?: "timed" | "immediate";
  startDelay?: DurationDistribution;
  seedFile?: string;
  apiKey?: string;
  controlToken?: string;
  rateLimit?: boolean;
  logLevel: string;
  json?: boolean;
};

/** How long open requests may take to end after Ctrl-C. */
const GRACE_MS = 2_000;

export function serveCommand(): Command {
  return new Command("serve")
    .description("run the double: the imitated API, its state in SQLite, on a clock that you hold")
    .addOption(dataOption())
    .addOption(option("--port <n>", "port to listen on, 0 for a free one").argParser(integer(0, 65_535)).default(4620))
    .addOption(option("--host <address>", "address to listen on; beyond loopback a control token is needed").default("127.0.0.1"))
    .addOption(option("--clock <mode>", "real, manual, or a factor like 60x (new worlds: real)").argParser(clockSetting))
    .addOption(option("--start-at <instant>", "where the clock of a new world begins (ISO 8601; default: now)").argParser(instant))
    .addOption(
      option("--seed <n>", "seed of a new world (default: a random one, which is printed)").argParser(integer(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(option("--profile <year>", "the platform's numbers of this year (new worlds: 2024)").choices(["2024", "2026"]))
    .addOption(option("--plan <plan>", "plan of a new world's accounts (new worlds: paid)").choices(["paid", "free"]))
    .addOption(option("--operations <mode>", "whether operations take their time (new worlds: timed)").choices(["timed", "immediate"]))
    .addOption(
      option("--start-delay <duration>", "how long a start takes: 3s, 1s..5s, or 3s~0.5 (default: the profile's)").argParser(startDelay),
    )
    .addOption(option("--seed-file <file>", "YAML file of accounts, keys, projects, branches and endpoints to lay out"))
    .addOption(option("--api-key <key>", "a key that must be valid, for CI; prefer the environment variable"))
    .addOption(option("--control-token <token>", "what calls to /_sim must bring; prefer the environment variable"))
    .addOption(option("--rate-limit", "answer 429 beyond 700 requests a minute or 40 a second per route and account"))
    .addOption(
      option("--log-level <level>", "what goes to stderr; debug shows every request")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("info"),
    )
    .addOption(jsonOption().env("STANDIN_JSON"))
    .addHelpText(
      "after",
      `
Examples:
  $ standin serve                                  # ./.standin, port 4620, the real clock
  $ standin serve --clock manual --seed 7 --start-at 2026-01-01T00:00:00Z
  $ STANDIN_API_KEY=$KEY standin serve --port 0 --data /tmp/ci --json
  $ standin serve --clock 60x --operations immediate`,
    )
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  checkExposure(options);
  const worldFile = options.seedFile === undefined ? undefined : readWorldFile(options.seedFile);
  const log = createLog(options.logLevel);
  const directory = openDirectory(options.data);
  try {
    const opened = await open(directory, options, worldFile, log);
    log.follow(opened.world);
    await listen(opened, directory, options, log);
  } catch (error) {
    directory.release();
    throw error;
  }
}

function checkExposure({ host, controlToken }: ServeOptions): void {
  const isLoopback = host === "localhost" || host === "::1" || /^127\./.test(host);
  if (isLoopback || controlToken !== undefined) return;
  throw new CliError(`--host ${host} is beyond loopback: whoever reaches it could move the clock. Set STANDIN_CONTROL_TOKEN first.`, true);
}

function openDirectory(path: string): DataDirectory {
  try {
    return new DataDirectory(resolve(path), MIGRATIONS_FOLDER);
  } catch (error) {
    if (error instanceof DirectoryInUse) throw new CliError(error.message);
    throw new CliError(`--data ${path} cannot be used: ${messageOf(error)}`);
  }
}

function readWorldFile(path: string): WorldFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError(`--seed-file ${path} cannot be read: ${messageOf(error)}`);
  }
  try {
    return parseWorldFile(text, path);
  } catch (error) {
    if (error instanceof WorldFileError) throw new CliError(`--seed-file cannot be used:\n${error.message}`);
    throw error;
  }
}

async function open(directory: DataDirectory, options: ServeOptions, worldFile: WorldFile | undefined, log: Log): Promise<OpenedWorld> {
  try {
    return await openWorld(DEFAULT_WORLD, directory.history(DEFAULT_WORLD), { ...options, worldFile }, (error) =>
      log.error(error, "a commit failed; the world is opened again from its file"),
    );
  } catch (error) {
    if (error instanceof WorldMismatch || error instanceof StoreUnavailable) throw new CliError(error.message);
    if (error instanceof WorldFileError) throw new CliError(`--seed-file cannot be laid out: ${error.message}`);
    throw error;
  }
}

async function listen(opened: OpenedWorld, directory: DataDirectory, options: ServeOptions, log: Log): Promise<void> {
  const { world } = opened;
  const app = createApp({
    world,
    version: VERSION,
    rateLimit: options.rateLimit ?? false,
    hosts: [options.host],
    controlToken: options.controlToken,
    onBug: (error) => log.error(error, "a request met a bug"),
  });
  const server = createAdaptorServer({ fetch: log.requests(app.fetch) });
  await new Promise<void>((listening, failed) => {
    server.once("error", (error: NodeJS.ErrnoException) => failed(new CliError(describeListenError(error, options))));
    server.listen(options.port, options.host, listening);
  }).catch(async (error) => {
    await world.close();
    throw error;
  });
  const origin = originOf(server.address() as AddressInfo, options.host);
  rememberServer(directory.path, {
    pid: process.pid,
    control_url: `${origin}/_sim`,
    api_url: `${origin}/api/v2`,
    control_token: options.controlToken,
  });
  announce(opened, origin, options);
  log.info(`serving world ${world.name}`);

  const stop = async () => {
    process.removeListener("SIGINT", stop).removeListener("SIGTERM", stop);
    log.info("stopping");
    const closed = new Promise((done) => server.close(done));
    if ("closeIdleConnections" in server) server.closeIdleConnections();
    const force = setTimeout(() => "closeAllConnections" in server && server.closeAllConnections(), GRACE_MS);
    await closed;
    clearTimeout(force);
    await world.close();
    forgetServer(directory.path);
    directory.release();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
}

/** One line when it can answer; on the first start, the key, for the only time, and what to try. */
function announce({ world, apiKey, settings, isNew }: OpenedWorld, origin: string, options: ServeOptions): void {
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
  const key = options.apiKey === undefined ? `\nYour API key, shown this once:\n\n  ${apiKey}\n` : "";
  process.stdout.write(`${key}
Three commands to try:

  curl -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"project":{"name":"shop"}}' ${apiUrl}/projects
  npx standin status
  npx standin clock advance 5m

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
