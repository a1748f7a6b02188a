import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { createApp } from "../app/create-app.ts";
import { createHttpServer } from "../app/http-server.ts";
import type { InProcessPostgres } from "../app/in-process-postgres.ts";
import { memoryStorage, openWorlds, type ServerOptions, WorldMismatch } from "../app/open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../app/package-root.ts";
import type { WorldProfile } from "../app/profile-file.ts";
import { readText } from "../app/read-text.ts";
import { acceptWebSockets } from "../app/web-sockets.ts";
import { MAX } from "../input-limits/limits.ts";
import { isProfileName, PROFILE_NAMES } from "../platform/catalog/defaults-and-limits.ts";
import { isUserError } from "../ports/user-error.ts";
import { EngineError } from "../postgres/engine/engine.ts";
import type { StatementLog } from "../postgres/statements/statement-log.ts";
import { DataDirectory } from "../worlds/data-directory.ts";
import { DEFAULT_WORLD } from "../worlds/directory-layout.ts";
import { DirectoryInUse } from "../worlds/lock.ts";
import type { StandinOptions } from "./create-options.ts";
import { InProcessStandin } from "./in-process-standin.ts";
import { parseStandinOptions } from "./standin-options.ts";
import { type Standin, StandinError } from "./standin-world.ts";

export type { StandinOptions, StandinPostgresOptions } from "./create-options.ts";
export type {
  ActivityOutcome,
  ConnectionUriOptions,
  Explanation,
  ForkOptions,
  HistoryPoint,
  Invariants,
  RequestFilter,
  Standin,
  StandinActivity,
  StandinEndpoint,
  StandinEvent,
  StandinFault,
  StandinFaultInForce,
  StandinOperation,
  StandinRequest,
  StandinSnapshot,
  StandinStatement,
  WaitCondition,
} from "./standin-world.ts";
export { StandinError } from "./standin-world.ts";

/** Fixed, so that a test finds the same world on every run. */
const NEW_WORLD_DEFAULTS = {
  seed: 1,
  clock: { mode: "manual", factor: 0 },
  startAt: Date.UTC(2026, 0, 1),
} as const satisfies ServerOptions;

const HOST = "127.0.0.1";
/** The origin without a socket: a name that no server has. */
const IN_PROCESS_ORIGIN = "http://standin.localhost";
const VERSION_IN_PROCESS = "in-process";

/**
 * Creates a stand-in in this process, or opens one from its files. Rejects with a `StandinError` if an option
 * is invalid.
 */
export async function createStandin(input: StandinOptions = {}): Promise<Standin> {
  const {
    data,
    port,
    postgres: postgresOptions,
    rateLimit,
    limits: planLimits,
    profile: requestedProfile,
    ...rest
  } = parseOptions(input);
  const profile = requestedProfile === undefined ? undefined : await readProfile(requestedProfile);
  const worldOptions = {
    ...rest,
    ...profile,
    plan: rest.plan ?? profile?.plan,
    planLimits: { ...profile?.planLimits, ...planLimits },
  };
  const directory = data === undefined ? undefined : openDirectory(resolve(data));
  const isNew = directory?.worlds().includes(DEFAULT_WORLD) !== true;
  const bugs: unknown[] = [];
  const cleanups: (() => unknown)[] = directory === undefined ? [] : [() => directory.release()];
  let postgres: InProcessPostgres | undefined;
  let statements: StatementLog | undefined;
  const onDataReleased = () => postgres?.dataReleased();
  const beforeCopy = async (world: string) => postgres?.prepareCopy(world);
  try {
    const opened = await openWorlds(
      directory ?? memoryStorage(),
      { ...(isNew ? NEW_WORLD_DEFAULTS : {}), ...worldOptions, onDataReleased, beforeCopy },
      (error) => bugs.push(error),
    );
    cleanups.unshift(() => opened.worlds.close());
    if (postgresOptions !== undefined) {
      const { openInProcessPostgres } = await import("../app/in-process-postgres.ts");
      const { StatementLog } = await import("../postgres/statements/statement-log.ts");
      statements = new StatementLog();
      postgres = await openInProcessPostgres(opened.worlds, directory?.path, {
        ...postgresOptions,
        statements,
      });
      cleanups.unshift(postgres.close);
    }
    const app = createApp({
      worlds: opened.worlds,
      version: VERSION_IN_PROCESS,
      rateLimit,
      hosts: [new URL(IN_PROCESS_ORIGIN).hostname],
      controlToken: undefined,
      postgres: postgres?.services,
      postgresAddress: await postgres?.listen(),
      onBug: (error) => bugs.push(error),
    });
    const fetchInProcess = async (request: Request): Promise<Response> => {
      const response = await app.fetch(request);
      // In process, a bug can reject with its own stack instead of a 500.
      if (response.status === 500 && bugs.length > 0) throw bugs[0];
      return response;
    };
    let origin = IN_PROCESS_ORIGIN;
    if (port !== false) {
      const listening = await listen(app.fetch, port, postgres);
      origin = listening.origin;
      cleanups.unshift(listening.close);
    }
    const apiKey = opened.apiKey ?? (await createApiKey(fetchInProcess, origin));
    const server = { fetch: fetchInProcess, statements };
    return new InProcessStandin(origin, "", apiKey, server, async () => {
      for (const close of cleanups.splice(0)) await close();
    });
  } catch (error) {
    for (const close of cleanups) await close();
    throw toStandinError(error);
  }
}

/** Serves requests, and with Postgres also WebSockets, on this machine. */
async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  port: number,
  postgres: InProcessPostgres | undefined,
): Promise<{ readonly origin: string; readonly close: () => Promise<void> }> {
  const server = createHttpServer(fetch);
  if (postgres !== undefined) acceptWebSockets(server, postgres.acceptStream);
  await new Promise<void>((listening, failed) => server.once("error", failed).listen(port, HOST, listening));
  return {
    origin: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise((done) => server.close(done));
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}

function openDirectory(path: string): DataDirectory {
  try {
    return new DataDirectory(path, MIGRATIONS_FOLDER);
  } catch (error) {
    throw toStandinError(error);
  }
}

/** Gives errors of the directory and of its world a code, like those of the control API. */
function toStandinError(error: unknown): unknown {
  if (error instanceof DirectoryInUse) return new StandinError("DIRECTORY_IN_USE", error.message, 409);
  if (error instanceof EngineError) return new StandinError("POSTGRES_NOT_FOUND", error.message, 501);
  return error instanceof WorldMismatch ? new StandinError("WORLD_MISMATCH", error.message, 409) : error;
}

function parseOptions(input: StandinOptions) {
  const { options, problem } = parseStandinOptions(input);
  if (options === undefined) throw new StandinError("BAD_REQUEST", problem, 400);
  return options;
}

/** A year, or the file of a profile. The parser of files is loaded on demand. */
async function readProfile(text: string): Promise<WorldProfile> {
  if (isProfileName(text)) return { profile: text };
  try {
    const content = readText(text, MAX.settingsFile);
    const { parseProfileFile, worldProfileOf } = await import("../app/profile-file.ts");
    return worldProfileOf(parseProfileFile(content, text));
  } catch (error) {
    if (!(error instanceof Error && ("code" in error || isUserError(error)))) throw error;
    const problem = isUserError(error)
      ? error.message
      : `expected ${PROFILE_NAMES.join(", ")} or a readable file, got "${text}"`;
    throw new StandinError("BAD_REQUEST", `profile: ${problem}`, 400);
  }
}

/** A stored world has only hashes of its keys, so it gets a new key. */
async function createApiKey(
  fetchInProcess: (request: Request) => Promise<Response>,
  origin: string,
): Promise<string> {
  const request = new Request(`${origin}/_sim/api_keys`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key_name: "createStandin" }),
  });
  return ((await (await fetchInProcess(request)).json()) as { key: string }).key;
}
