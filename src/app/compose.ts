import { randomInt, randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { createApi } from "../api/app.ts";
import { coverage } from "../api/coverage/coverage.ts";
import { PUBLIC_OPERATIONS } from "../api/coverage/public-operations.ts";
import { redactedPath } from "../api/http/request-journal.ts";
import { createControl } from "../control/app.ts";
import { guard } from "../control/http/guard.ts";
import type { AskWhatIf } from "../control/http/whatif-fields.ts";
import { ConnectionLost } from "../http/connection-lost.ts";
import {
  errorResponseFrom,
  requestIdOf,
  respondWithError,
  unwrap,
  type WorldResolver,
} from "../http/request.ts";
import { findApiKeyByHash } from "../platform/account/decide-api-key.ts";
import type { LimitSettings, PlanName } from "../platform/catalog/plan.ts";
import type { ProfileName } from "../platform/catalog/profile.ts";
import type { DurationDistribution } from "../platform/core/distribution.ts";
import { HOST_DOMAIN } from "../platform/core/hosts.ts";
import type { SimTime } from "../platform/core/time.ts";
import type { SettingsChanges, WorldSettings } from "../platform/core/world-settings.ts";
import type { SeedTarget } from "../scenario/file/seed-file.ts";
import type { MemoryJournal } from "../simulation/journal.ts";
import type { ClockSetting } from "../simulation/world-clock.ts";
import { DEFAULT_WORLD } from "../worlds/data-directory.ts";
import type { HostedWorld } from "../worlds/hosted-world.ts";
import { MemoryWorldStorage } from "../worlds/memory-world-storage.ts";
import type { Retention } from "../worlds/retention.ts";
import { hashSecret, newApiKeySecret, newPassword } from "../worlds/secrets.ts";
import type { Transaction, WorldsHandle } from "../worlds/world-handle.ts";
import { type WorldLimits, WorldRegistry } from "../worlds/world-registry.ts";
import type { WorldStorage } from "../worlds/world-storage.ts";
import { PACKAGE_ROOT } from "./package-root.ts";

/** Where drizzle-kit's output lies. */
export const MIGRATIONS_FOLDER = join(PACKAGE_ROOT, "migrations");

export type Populate = (target: SeedTarget) => void;

/** What is asked of a world at its opening; what is left out stays as it is, or takes its default in a new world. */
type WorldOptions = {
  readonly seed?: number | undefined;
  readonly startAt?: SimTime | undefined;
  readonly profile?: ProfileName | undefined;
  readonly plan?: PlanName | undefined;
  readonly clock?: ClockSetting | undefined;
  readonly operations?: WorldSettings["operations"] | undefined;
  readonly startDelay?: DurationDistribution | "profile" | undefined;
  /** In the place of the plan's limits. */
  readonly planLimits?: PlanLimitOverrides | undefined;
  /** What the host names of computes end in. */
  readonly hostDomain?: string | undefined;
  /** A key that must be valid, of the first account. */
  readonly apiKey?: string | undefined;
  /** Lays out what the world must have, before anybody is served. */
  readonly populate?: Populate | undefined;
};

/** Each a number, or the plan's own. */
export type PlanLimitOverrides = { readonly [Name in keyof LimitSettings]: LimitSettings[Name] | "plan" };

/** A flag that shapes a world contradicts the world that is there. */
export class WorldMismatch extends Error {
  override readonly name = "WorldMismatch";
}

export type ServerOptions = WorldOptions & {
  readonly limits?: Partial<WorldLimits>;
  readonly retention?: Retention;
  /** So many requests are kept of each world; 0: none. */
  readonly requestsLimit?: number | undefined;
};

const DEFAULT_REQUESTS_LIMIT = 10_000;

const DEFAULT_LIMITS: WorldLimits = { maxWorlds: 500, maxWorldBytes: 4 * 1024 ** 3 };

export type OpenedWorlds = {
  readonly worlds: WorldRegistry;
  /** The default one. */
  readonly world: HostedWorld;
  /** The first account's key, where it was made or given now: nobody can tell it later. */
  readonly apiKey: string | undefined;
  readonly isNew: boolean;
  readonly settings: WorldSettings;
};

/** Opens the worlds of a shelf: the default one, which is made with its first account and key if need be, and others on demand. */
export async function openWorlds(
  storage: WorldStorage,
  options: ServerOptions,
  onFailure: (error: unknown) => void,
): Promise<OpenedWorlds> {
  const wallNow = Date.now();
  const clock = options.clock ?? { mode: "real", factor: 1 };
  const worlds = new WorldRegistry({
    storage,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    retention: options.retention ?? {},
    requestsLimit: options.requestsLimit ?? DEFAULT_REQUESTS_LIMIT,
    wallClock: Date.now,
    newId: randomUUID,
    initialClock: { ...clock, simAnchor: options.startAt ?? wallNow, wallAnchor: wallNow },
    onFailure,
  });
  try {
    const world = worlds.open(DEFAULT_WORLD);
    const isNew = !world.isCreated;
    const apiKey = await world.transact((transaction) => createOrConfigureWorld(transaction, isNew, options));
    if (!isNew && options.clock !== undefined) await world.setClock(options.clock.mode, options.clock.factor);
    const settings = await world.transact((transaction) => transaction.world.settings);
    return { worlds, world, apiKey, isNew, settings };
  } catch (error) {
    await worlds.close();
    throw error;
  }
}

/** Worlds that end with this process. */
export function memoryStorage(newJournal?: () => MemoryJournal): WorldStorage {
  return new MemoryWorldStorage(Date.now, randomUUID, newJournal);
}

/** Makes the world or checks that it is the one that was asked for; lays out what it must have. Gives the key to be told. */
function createOrConfigureWorld(
  transaction: Transaction,
  isNew: boolean,
  options: WorldOptions,
): string | undefined {
  if (isNew) {
    const { startDelay, limits } = settingsChanges({}, options);
    transaction.execute({
      type: "CreateWorld",
      settings: {
        seed: options.seed ?? randomInt(2 ** 32),
        profile: options.profile ?? "2024",
        plan: options.plan ?? "paid",
        operations: options.operations ?? "timed",
        startAt: options.startAt ?? transaction.now,
        ...(startDelay && { startDelay }),
        ...(options.hostDomain === undefined ? {} : { hostDomain: options.hostDomain }),
        ...(limits && { limits }),
      },
    });
  } else {
    checkCreationOptions(transaction.world.settings, options);
    const settings = settingsChanges(transaction.world.settings, options);
    if (Object.keys(settings).length > 0) transaction.execute({ type: "ConfigureWorld", settings });
  }
  options.populate?.({ ...transaction, newPassword, hashSecret });
  return ensureApiKey(transaction, options.apiKey);
}

/** Flags that shape a world act when it is made; given later and different, they would be a lie. */
function checkCreationOptions(settings: WorldSettings, options: WorldOptions): void {
  const { seed, profile, plan, startAt, hostDomain = HOST_DOMAIN } = settings;
  const current = { seed, profile, plan, startAt, hostDomain };
  const flags = {
    seed: "--seed",
    profile: "--profile",
    plan: "--plan",
    startAt: "--start-at",
    hostDomain: "--host-domain",
  } as const;
  for (const key of ["seed", "profile", "plan", "startAt", "hostDomain"] as const) {
    const requested = options[key];
    if (requested === undefined || requested === current[key]) continue;
    const format = (value: unknown) =>
      key === "startAt" ? new Date(Number(value)).toISOString() : String(value);
    throw new WorldMismatch(
      `this world was made with ${flags[key]} ${format(current[key])}, not ${format(requested)}; leave the flag out, or use another --data directory`,
    );
  }
}

/** What these options change; what they would leave as it is, is none of it. */
function settingsChanges(
  settings: Partial<WorldSettings>,
  { operations, startDelay, planLimits }: WorldOptions,
): SettingsChanges {
  const limits = Object.entries({ ...settings.limits, ...planLimits }).filter(
    ([, limit]) => limit !== "plan",
  );
  const effective = {
    operations: operations ?? settings.operations,
    startDelay: startDelay === "profile" ? undefined : (startDelay ?? settings.startDelay),
    limits: limits.length === 0 ? undefined : Object.fromEntries(limits),
  };
  const changed = Object.entries(effective).filter(
    ([name, value]) => !isDeepStrictEqual(value, settings[name as keyof typeof effective]),
  );
  return Object.fromEntries(changed.map(([name, value]) => [name, value ?? null]));
}

/** R: the first key comes from the console; that is us. A key that is given is always there; one is made where there is none. */
function ensureApiKey(transaction: Transaction, requestedKey: string | undefined): string | undefined {
  const { world } = transaction;
  let [account] = world.accounts.values();
  if (account === undefined) {
    transaction.execute({ type: "CreateAccount", name: "standin" });
    [account] = world.accounts.values();
  }
  if (account === undefined) throw new Error("CreateAccount created none");
  if (requestedKey === undefined && world.apiKeys.size > 0) return undefined;
  const existing = requestedKey === undefined ? undefined : findApiKeyByHash(world, hashSecret(requestedKey));
  if (existing?.revokedAt !== undefined)
    throw new WorldMismatch("the key given by --api-key has been revoked in this world; give another one");
  if (existing !== undefined) return requestedKey;
  const key = requestedKey ?? newApiKeySecret();
  transaction.execute({
    type: "CreateApiKey",
    accountId: account.id,
    name: requestedKey === undefined ? "first key" : "given key",
    hash: hashSecret(key),
  });
  return key;
}

export type AppOptions = {
  readonly worlds: WorldsHandle;
  readonly version: string;
  readonly rateLimit: boolean;
  readonly hosts: readonly string[];
  readonly controlToken: string | undefined;
  readonly onBug: (error: unknown) => void;
};

/** The engine is read in when the first one asks. */
const lazyWhatIf: AskWhatIf = async (world, question) =>
  (await import("./world-whatif.ts")).answerWhatIf(world, question);

/** The ids of all operations of the public document, which faults may name. */
export const OPERATION_IDS = PUBLIC_OPERATIONS.map(({ operationId }) => operationId);

/** Everything that one server answers: the imitated API at /api/v2, ours at /_sim, and both again for every world at /w/<name>. */
export function createApp(options: AppOptions): Hono {
  const defaultWorld: WorldResolver = () => unwrap(options.worlds.world(DEFAULT_WORLD));
  const app = createSurfaces(options, "", defaultWorld);
  // Made when the first one asks for it: most servers have one world.
  let namedWorldsApp: Hono | undefined;
  app.all("/w/:world/*", (context) => {
    namedWorldsApp ??= createSurfaces(options, "/w/:world", ({ req }) =>
      unwrap(options.worlds.world(req.param("world") ?? "")),
    );
    return namedWorldsApp.fetch(context.req.raw, context.env);
  });
  app.all("*", unknownPath(defaultWorld));
  return app;
}

function createSurfaces(
  { worlds, version, rateLimit, hosts, controlToken, onBug }: AppOptions,
  base: string,
  worldOf: WorldResolver,
): Hono {
  const app = new Hono();
  app.route(`${base}/api/v2`, createApi({ worldOf, rateLimit, onBug }));
  app.use(`${base}/_sim/*`, guard({ hosts, token: controlToken }));
  app.route(
    `${base}/_sim`,
    createControl({
      worlds,
      worldOf,
      version,
      coverage,
      operationIds: OPERATION_IDS,
      askWhatIf: lazyWhatIf,
      onBug,
    }),
  );
  if (base !== "") app.all("*", unknownPath(worldOf));
  app.onError((error, context) => {
    if (error instanceof ConnectionLost) return dropConnection(error, context);
    return respondWithError(context, errorResponseFrom(error, onBug));
  });
  return app;
}

/** Over a socket nobody gets an answer; without one, whoever has called learns it as a fetch tells it. */
function dropConnection(error: ConnectionLost, { env }: Context): Response {
  const socket = (env as { incoming?: { socket?: Socket } } | undefined)?.incoming?.socket;
  if (socket === undefined) throw error;
  socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/** What matched no path is in the journal of requests too: it is what clients with a wrong base URL are looking for there. */
function unknownPath(worldOf: WorldResolver): (context: Context) => Promise<Response> {
  return async (context) => {
    const requestId = requestIdOf(context);
    try {
      const { method, url } = context.req;
      const entry = { requestId, method, path: redactedPath(url), status: 404, code: "UNKNOWN_PATH" };
      await worldOf(context).transact(({ logRequest: append }) => append?.(entry));
    } catch {
      // It is of no world, or of one that cannot be opened.
    }
    return respondUnknownPath(context, requestId);
  };
}

function respondUnknownPath(context: Context, requestId: string): Response {
  const { path } = context.req;
  const [, base = ""] = /^(\/w\/[^/]+)(?=\/|$)/.exec(path) ?? [];
  const pathInWorld = path.slice(base.length);
  const hint =
    pathInWorld === "/" || pathInWorld === ""
      ? `the API is at ${base}/api/v2, the control API at ${base}/_sim`
      : `did you mean ${base}/api/v2${pathInWorld.replace(/^(\/api)?(\/v\d+)?(?=\/|$)/, "")}?`;
  return respondWithError(
    context,
    { status: 404, code: "UNKNOWN_PATH", message: `there is no path ${path} here; ${hint}` },
    requestId,
  );
}
