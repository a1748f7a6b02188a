import { randomInt, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { DurationDistribution } from "../kernel/distribution.ts";
import { omitUndefined } from "../kernel/omit-undefined.ts";
import type { SimTime } from "../kernel/time.ts";
import type { Calibration } from "../platform/catalog/calibration.ts";
import { DEFAULT_PROFILE, type ProfileName } from "../platform/catalog/defaults-and-limits.ts";
import type { LimitSettings, PlanName } from "../platform/catalog/plan.ts";
import {
  DEFAULT_DURATIONS,
  type SettingsChanges,
  type WorldSettings,
} from "../platform/model/world-settings.ts";
import { findApiKeyByHash, isRevokedHash } from "../platform/rules/account/decide-api-key.ts";
import { HOST_DOMAIN } from "../platform/rules/compute/host-name.ts";
import type { SeedTarget } from "../scenario/file/seed-file.ts";
import { type ClockStep, HostClock } from "../simulation/host-clock.ts";
import type { MemoryJournal } from "../simulation/memory-journal.ts";
import type { ClockSetting } from "../simulation/world-clock.ts";
import { DEFAULT_WORLD } from "../worlds/directory-layout.ts";
import type { FailureReport } from "../worlds/hosted/store-failure.ts";
import type { HostedWorld } from "../worlds/hosted-world.ts";
import { MemoryWorldStorage } from "../worlds/memory-world-storage.ts";
import type { Retention } from "../worlds/retention.ts";
import { hashSecret, newApiKeySecret, newPassword } from "../worlds/secrets.ts";
import type { Transaction } from "../worlds/world-handle.ts";
import { type WorldLimits, WorldRegistry } from "../worlds/world-registry.ts";
import type { WorldStorage } from "../worlds/world-storage.ts";

export type Populate = (target: SeedTarget) => void;

/** Options of the default world. An omitted option keeps the stored value; a new world takes the default. */
type WorldOptions = {
  readonly seed?: number | undefined;
  readonly startAt?: SimTime | undefined;
  readonly profile?: ProfileName | undefined;
  /** Figures of a profile file; `profile` is then the year that the file names. */
  readonly calibration?: Calibration | undefined;
  readonly plan?: PlanName | undefined;
  readonly clock?: ClockSetting | undefined;
  readonly operations?: WorldSettings["operations"] | undefined;
  readonly locks?: WorldSettings["locks"] | undefined;
  /** Default of a new world: `varied`. */
  readonly durations?: WorldSettings["durations"] | undefined;
  readonly answers?: WorldSettings["answers"] | undefined;
  readonly startDelay?: DurationDistribution | "profile" | undefined;
  /** Override the limits of the plan. */
  readonly planLimits?: PlanLimitOverrides | undefined;
  /** The domain of the host names of computes. */
  readonly hostDomain?: string | undefined;
  /** A key of the first account; created if it does not exist. */
  readonly apiKey?: string | undefined;
  /**
   * Called if `apiKey` has been revoked in this world: it stays invalid, and the world is opened without it.
   * Without this, that is a `WorldMismatch`.
   */
  readonly onRevokedKey?: ((message: string) => void) | undefined;
  /** Creates the content that the world must have, before the first request is served. */
  readonly populate?: Populate | undefined;
};

/** A number overrides the limit of the plan; `plan` restores it. */
export type PlanLimitOverrides = { readonly [Name in keyof LimitSettings]: LimitSettings[Name] | "plan" };

/** An option that applies only when a world is created contradicts the stored world. */
export class WorldMismatch extends Error {
  override readonly name = "WorldMismatch";
}

export type ServerOptions = WorldOptions & {
  readonly limits?: Partial<WorldLimits>;
  readonly retention?: Retention;
  /** Number of requests that the request log of each world keeps; 0 turns it off. */
  readonly requestsLimit?: number | undefined;
  /** The clock of this process, with which it reports steps. */
  readonly hostClock?: HostClock;
  /** Called with the name of each world that was deleted because it expired. */
  readonly onExpired?: ((world: string) => void) | undefined;
  /** Called when a history cannot be used any more: its world was deleted, or a restore has replaced it. */
  readonly onDataReleased?: (() => void) | undefined;
  /** Called before a world is copied in which the position of some data is not stored: a server was killed. */
  readonly beforeCopy?: ((world: string) => Promise<void>) | undefined;
  /** Ends what reads the files of worlds in the background. */
  readonly beforeRestore?: (() => Promise<void>) | undefined;
};

const DEFAULT_REQUESTS_LIMIT = 10_000;

const DEFAULT_LIMITS: WorldLimits = {
  maxWorlds: 500,
  maxWorldBytes: 4 * 1024 ** 3,
  maxAutomaticSnapshots: 10,
};

export type OpenedWorlds = {
  readonly worlds: WorldRegistry;
  /** The default one. */
  readonly world: HostedWorld;
  /**
   * A key of the first account, if one was created or given now. Only its hash is stored, so it cannot be
   * shown later.
   */
  readonly apiKey: string | undefined;
  readonly isNew: boolean;
  readonly settings: WorldSettings;
};

/**
 * Opens the default world, and the others on demand. Creates the default world with its first account and key
 * if it does not exist.
 */
export async function openWorlds(
  storage: WorldStorage,
  options: ServerOptions,
  onFailure: FailureReport,
): Promise<OpenedWorlds> {
  const hostClock = options.hostClock ?? newHostClock();
  const wallNow = hostClock.now();
  const clock = options.clock ?? { mode: "real", factor: 1 };
  const worlds = new WorldRegistry({
    storage,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    retention: options.retention ?? {},
    requestsLimit: options.requestsLimit ?? DEFAULT_REQUESTS_LIMIT,
    hostClock,
    newId: randomUUID,
    initialClock: { ...clock, simAnchor: options.startAt ?? wallNow, wallAnchor: wallNow },
    onFailure,
    onExpired: options.onExpired,
    onDataReleased: options.onDataReleased,
    beforeCopy: options.beforeCopy,
    beforeRestore: options.beforeRestore,
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

/** The clock of this process. */
export function newHostClock(onStep?: (step: ClockStep) => void): HostClock {
  return new HostClock(
    () => Date.now(),
    () => performance.now(),
    onStep,
  );
}

/** Storage in memory: its worlds end with this process. */
export function memoryStorage(newJournal?: () => MemoryJournal): WorldStorage {
  return new MemoryWorldStorage(Date.now, randomUUID, newJournal);
}

/** Creates the world, or checks that the options fit it. Returns the key to show. */
function createOrConfigureWorld(
  transaction: Transaction,
  isNew: boolean,
  options: WorldOptions,
): string | undefined {
  if (isNew) {
    const { locks, answers, startDelay, limits } = settingsChanges({}, options);
    transaction.execute({
      type: "CreateWorld",
      settings: {
        seed: options.seed ?? randomInt(2 ** 32),
        profile: options.profile ?? DEFAULT_PROFILE,
        plan: options.plan ?? "paid",
        operations: options.operations ?? "timed",
        durations: options.durations ?? "varied",
        startAt: options.startAt ?? transaction.now,
        ...omitUndefined({
          calibration: options.calibration,
          locks,
          answers,
          startDelay: startDelay ?? undefined,
          hostDomain: options.hostDomain,
          limits: limits ?? undefined,
        }),
      },
    });
  } else {
    checkCreationOptions(transaction.world.settings, options);
    const settings = settingsChanges(transaction.world.settings, options);
    if (Object.keys(settings).length > 0) transaction.execute({ type: "ConfigureWorld", settings });
  }
  options.populate?.({
    world: transaction.world,
    execute: (command) => transaction.execute(command),
    storeSecret: (id, value) => transaction.storeSecret(id, value),
    ...{ newPassword, hashSecret },
  });
  const { apiKey, onRevokedKey } = options;
  if (apiKey === undefined || !isRevokedHash(transaction.world, hashSecret(apiKey)))
    return ensureApiKey(transaction, apiKey);
  if (onRevokedKey === undefined)
    throw new WorldMismatch("--api-key: this key has been revoked in this world; use another one");
  onRevokedKey("the key of --api-key has been revoked in this world and stays invalid; use another one");
  return ensureApiKey(transaction, undefined);
}

/** These options apply only when the world is created. A different value later is an error. */
function checkCreationOptions(settings: WorldSettings, options: WorldOptions): void {
  const { seed, plan, startAt, hostDomain = HOST_DOMAIN } = settings;
  const current = { seed, plan, startAt, hostDomain };
  const flags = {
    seed: "--seed",
    plan: "--plan",
    startAt: "--start-at",
    hostDomain: "--host-domain",
  } as const;
  checkProfile(settings, options);
  for (const key of ["seed", "plan", "startAt", "hostDomain"] as const) {
    const requested = options[key];
    if (requested === undefined || requested === current[key]) continue;
    const format = (value: unknown) =>
      key === "startAt" ? new Date(Number(value)).toISOString() : String(value);
    throw new WorldMismatch(
      `${flags[key]} ${format(requested)}: this world was created with ${flags[key]} ${format(current[key])}; omit the flag, or use another --data directory`,
    );
  }
}

/** A profile file must have the figures that the world was created with. */
function checkProfile(settings: WorldSettings, { profile, calibration }: WorldOptions): void {
  if (profile === undefined) return;
  if (profile === settings.profile && isDeepStrictEqual(calibration, settings.calibration)) return;
  const requested = calibration?.name ?? profile;
  const stored = settings.calibration?.name ?? settings.profile;
  throw new WorldMismatch(
    `--profile ${requested}: this world was created with ${requested === stored ? "other figures of that profile" : `--profile ${stored}`}; omit the flag, or use another --data directory`,
  );
}

/** The settings that these options change; `null` restores the default. */
function settingsChanges(
  settings: Partial<WorldSettings>,
  { operations, locks, durations, answers, startDelay, planLimits }: WorldOptions,
): SettingsChanges {
  const limits = Object.entries({ ...settings.limits, ...planLimits }).filter(
    ([, limit]) => limit !== "plan",
  );
  // A world that does not state its durations is not changed by an option that states them.
  const isCurrent = durations === undefined || durations === (settings.durations ?? DEFAULT_DURATIONS);
  const effective = {
    operations: operations ?? settings.operations,
    locks: locks ?? settings.locks,
    answers: answers ?? settings.answers,
    durations: isCurrent ? settings.durations : durations,
    startDelay: startDelay === "profile" ? undefined : (startDelay ?? settings.startDelay),
    limits: limits.length === 0 ? undefined : Object.fromEntries(limits),
  };
  const changed = Object.entries(effective).filter(
    ([name, value]) => !isDeepStrictEqual(value, settings[name as keyof typeof effective]),
  );
  return Object.fromEntries(changed.map(([name, value]) => [name, value ?? null]));
}

/**
 * R: on the platform, the console creates the first key. Creates the requested key, or a first one if the
 * world has none.
 */
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
  if (existing !== undefined) return requestedKey;
  const key = requestedKey ?? newApiKeySecret(world);
  transaction.execute({
    type: "CreateApiKey",
    accountId: account.id,
    name: requestedKey === undefined ? "first key" : "given key",
    hash: hashSecret(key),
  });
  return key;
}
