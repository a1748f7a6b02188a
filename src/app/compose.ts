import { randomInt, randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { createApi } from "../api/app.ts";
import { coverage } from "../api/coverage/coverage.ts";
import { PUBLIC_OPERATIONS } from "../api/coverage/public-operations.ts";
import { pathOf } from "../api/http/request-note.ts";
import { createControl } from "../control/app.ts";
import { guard } from "../control/http/guard.ts";
import type { AskWhatIf } from "../control/routes/whatif.ts";
import { ConnectionLost } from "../http/connection-lost.ts";
import { failureFrom, found, requestIdOf, respondFailure, type WorldOf } from "../http/request.ts";
import { findApiKeyByHash } from "../platform/account/api-key.ts";
import type { LimitSettings, PlanName } from "../platform/catalog/plan.ts";
import type { ProfileName } from "../platform/catalog/profile.ts";
import type { DurationDistribution } from "../platform/core/distribution.ts";
import { HOST_DOMAIN } from "../platform/core/hosts.ts";
import type { SimTime } from "../platform/core/time.ts";
import type { SettingsChanges, WorldSettings } from "../platform/core/world.ts";
import type { LayoutStage } from "../scenario/file/seed-file.ts";
import type { MemoryJournal } from "../simulation/journal.ts";
import type { ClockSetting } from "../simulation/world-clock.ts";
import { DEFAULT_WORLD } from "../worlds/data-directory.ts";
import type { HostedWorld } from "../worlds/hosted-world.ts";
import { MemoryShelf } from "../worlds/memory-shelf.ts";
import type { Retention } from "../worlds/retention.ts";
import { hashSecret, newApiKeySecret, newPassword } from "../worlds/secrets.ts";
import type { Shelf } from "../worlds/shelf.ts";
import type { Turn, WorldsHandle } from "../worlds/world-handle.ts";
import { Worlds, type WorldsLimits } from "../worlds/world-registry.ts";
import { PACKAGE_ROOT } from "./package-root.ts";

/** Where drizzle-kit's output lies. */
export const MIGRATIONS_FOLDER = join(PACKAGE_ROOT, "migrations");

export type LayOut = (stage: LayoutStage) => void;

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
  readonly planLimits?: AskedLimits | undefined;
  /** What the host names of computes end in. */
  readonly hostDomain?: string | undefined;
  /** A key that must be valid, of the first account. */
  readonly apiKey?: string | undefined;
  /** Lays out what the world must have, before anybody is served. */
  readonly layOut?: LayOut | undefined;
};

/** Each a number, or the plan's own. */
export type AskedLimits = { readonly [Name in keyof LimitSettings]: LimitSettings[Name] | "plan" };

/** A flag that shapes a world contradicts the world that is there. */
export class WorldMismatch extends Error {
  override readonly name = "WorldMismatch";
}

export type ServerOptions = WorldOptions & {
  readonly limits?: Partial<WorldsLimits>;
  readonly retention?: Retention;
  /** So many requests are kept of each world; 0: none. */
  readonly requestsLimit?: number | undefined;
};

const DEFAULT_REQUESTS_LIMIT = 10_000;

const DEFAULT_LIMITS: WorldsLimits = { maxWorlds: 500, maxWorldBytes: 4 * 1024 ** 3 };

export type OpenedWorlds = {
  readonly worlds: Worlds;
  /** The default one. */
  readonly world: HostedWorld;
  /** The first account's key, where it was made or given now: nobody can tell it later. */
  readonly apiKey: string | undefined;
  readonly isNew: boolean;
  readonly settings: WorldSettings;
};

/** Opens the worlds of a shelf: the default one, which is made with its first account and key if need be, and others on demand. */
export async function openWorlds(shelf: Shelf, options: ServerOptions, onFailure: (error: unknown) => void): Promise<OpenedWorlds> {
  const wallNow = Date.now();
  const clock = options.clock ?? { mode: "real", factor: 1 };
  const worlds = new Worlds({
    shelf,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    retention: options.retention ?? {},
    requestsLimit: options.requestsLimit ?? DEFAULT_REQUESTS_LIMIT,
    wall: Date.now,
    newId: randomUUID,
    firstClock: { ...clock, simAnchor: options.startAt ?? wallNow, wallAnchor: wallNow },
    onFailure,
  });
  try {
    const world = worlds.open(DEFAULT_WORLD);
    const isNew = !world.isMade;
    const apiKey = await world.turn((turn) => prepare(turn, isNew, options));
    if (!isNew && options.clock !== undefined) await world.setClock(options.clock.mode, options.clock.factor);
    const settings = await world.turn((turn) => turn.world.settings);
    return { worlds, world, apiKey, isNew, settings };
  } catch (error) {
    await worlds.close();
    throw error;
  }
}

/** Worlds that end with this process. */
export function memoryShelf(newJournal?: () => MemoryJournal): Shelf {
  return new MemoryShelf(Date.now, randomUUID, newJournal);
}

/** Makes the world or checks that it is the one that was asked for; lays out what it must have. Gives the key to be told. */
function prepare(turn: Turn, isNew: boolean, options: WorldOptions): string | undefined {
  if (isNew) {
    const { startDelay, limits } = changesTo({}, options);
    turn.execute({
      type: "CreateWorld",
      settings: {
        seed: options.seed ?? randomInt(2 ** 32),
        profile: options.profile ?? "2024",
        plan: options.plan ?? "paid",
        operations: options.operations ?? "timed",
        startAt: options.startAt ?? turn.now,
        ...(startDelay && { startDelay }),
        ...(options.hostDomain === undefined ? {} : { hostDomain: options.hostDomain }),
        ...(limits && { limits }),
      },
    });
  } else {
    checkShape(turn.world.settings, options);
    const settings = changesTo(turn.world.settings, options);
    if (Object.keys(settings).length > 0) turn.execute({ type: "ConfigureWorld", settings });
  }
  options.layOut?.({ ...turn, newPassword, hashSecret });
  return ensureKey(turn, options.apiKey);
}

/** Flags that shape a world act when it is made; given later and different, they would be a lie. */
function checkShape(settings: WorldSettings, options: WorldOptions): void {
  const { seed, profile, plan, startAt, hostDomain = HOST_DOMAIN } = settings;
  const has = { seed, profile, plan, startAt, hostDomain };
  const flags = {
    seed: "--seed",
    profile: "--profile",
    plan: "--plan",
    startAt: "--start-at",
    hostDomain: "--host-domain",
  } as const;
  for (const key of ["seed", "profile", "plan", "startAt", "hostDomain"] as const) {
    const asked = options[key];
    if (asked === undefined || asked === has[key]) continue;
    const shown = (value: unknown) => (key === "startAt" ? new Date(Number(value)).toISOString() : String(value));
    throw new WorldMismatch(
      `this world was made with ${flags[key]} ${shown(has[key])}, not ${shown(asked)}; leave the flag out, or use another --data directory`,
    );
  }
}

/** What these options change; what they would leave as it is, is none of it. */
function changesTo(settings: Partial<WorldSettings>, { operations, startDelay, planLimits }: WorldOptions): SettingsChanges {
  const limits = Object.entries({ ...settings.limits, ...planLimits }).filter(([, limit]) => limit !== "plan");
  const wanted = {
    operations: operations ?? settings.operations,
    startDelay: startDelay === "profile" ? undefined : (startDelay ?? settings.startDelay),
    limits: limits.length === 0 ? undefined : Object.fromEntries(limits),
  };
  const changed = Object.entries(wanted).filter(([name, value]) => !isDeepStrictEqual(value, settings[name as keyof typeof wanted]));
  return Object.fromEntries(changed.map(([name, value]) => [name, value ?? null]));
}

/** R: the first key comes from the console; that is us. A key that is given is always there; one is made where there is none. */
function ensureKey(turn: Turn, given: string | undefined): string | undefined {
  const { world } = turn;
  let [account] = world.accounts.values();
  if (account === undefined) {
    turn.execute({ type: "CreateAccount", name: "standin" });
    [account] = world.accounts.values();
  }
  if (account === undefined) throw new Error("CreateAccount created none");
  if (given === undefined && world.apiKeys.size > 0) return undefined;
  const known = given === undefined ? undefined : findApiKeyByHash(world, hashSecret(given));
  if (known?.revokedAt !== undefined)
    throw new WorldMismatch("the key given by --api-key has been revoked in this world; give another one");
  if (known !== undefined) return given;
  const key = given ?? newApiKeySecret();
  turn.execute({
    type: "CreateApiKey",
    accountId: account.id,
    name: given === undefined ? "first key" : "given key",
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
const askWhatIf: AskWhatIf = async (world, question) => (await import("./world-whatif.ts")).answerWhatIf(world, question);

/** The ids of all operations of the public document, which faults may name. */
export const OPERATION_IDS = PUBLIC_OPERATIONS.map(({ operationId }) => operationId);

/** Everything that one server answers: the imitated API at /api/v2, ours at /_sim, and both again for every world at /w/<name>. */
export function createApp(options: AppOptions): Hono {
  const ofDefault: WorldOf = () => found(options.worlds.world(DEFAULT_WORLD));
  const app = surfaces(options, "", ofDefault);
  // Made when the first one asks for it: most servers have one world.
  let others: Hono | undefined;
  app.all("/w/:world/*", (context) => {
    others ??= surfaces(options, "/w/:world", ({ req }) => found(options.worlds.world(req.param("world") ?? "")));
    return others.fetch(context.req.raw, context.env);
  });
  app.all("*", unknownPath(ofDefault));
  return app;
}

function surfaces({ worlds, version, rateLimit, hosts, controlToken, onBug }: AppOptions, base: string, worldOf: WorldOf): Hono {
  const app = new Hono();
  app.route(`${base}/api/v2`, createApi({ worldOf, rateLimit, onBug }));
  app.use(`${base}/_sim/*`, guard({ hosts, token: controlToken }));
  app.route(`${base}/_sim`, createControl({ worlds, worldOf, version, coverage, operationIds: OPERATION_IDS, askWhatIf, onBug }));
  if (base !== "") app.all("*", unknownPath(worldOf));
  app.onError((error, context) => {
    if (error instanceof ConnectionLost) return loseConnection(error, context);
    return respondFailure(context, failureFrom(error, onBug));
  });
  return app;
}

/** Over a socket nobody gets an answer; without one, whoever has called learns it as a fetch tells it. */
function loseConnection(error: ConnectionLost, { env }: Context): Response {
  const socket = (env as { incoming?: { socket?: Socket } } | undefined)?.incoming?.socket;
  if (socket === undefined) throw error;
  socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/** What matched no path is in the journal of requests too: it is what clients with a wrong base URL are looking for there. */
function unknownPath(worldOf: WorldOf): (context: Context) => Promise<Response> {
  return async (context) => {
    const requestId = requestIdOf(context);
    try {
      const { method, url } = context.req;
      const note = { requestId, method, path: pathOf(url), status: 404, code: "UNKNOWN_PATH" };
      await worldOf(context).turn(({ noteRequest }) => noteRequest?.(note));
    } catch {
      // It is of no world, or of one that cannot be opened.
    }
    return respondUnknownPath(context, requestId);
  };
}

function respondUnknownPath(context: Context, requestId: string): Response {
  const { path } = context.req;
  const [, base = ""] = /^(\/w\/[^/]+)(?=\/|$)/.exec(path) ?? [];
  const rest = path.slice(base.length);
  const hint =
    rest === "/" || rest === ""
      ? `the API is at ${base}/api/v2, the control API at ${base}/_sim`
      : `did you mean ${base}/api/v2${rest.replace(/^(\/api)?(\/v\d+)?(?=\/|$)/, "")}?`;
  return respondFailure(context, { status: 404, code: "UNKNOWN_PATH", message: `there is no path ${path} here; ${hint}` }, requestId);
}
