import type { SimTime } from "../../kernel/time.ts";
import type { PreloadLibraries } from "../catalog/preload-libraries.ts";
import type { SizeRange } from "../catalog/sizes.ts";
import type { PendingLoad } from "./activity.ts";
import type { CacheStatistics } from "./cache.ts";
import type { LoadAverageState } from "./load-average.ts";

/** R: `read_write` for the primary compute; S: `read_only` for a read replica. */
export type ComputeType = "read_write" | "read_only";

/** Settings of the compute's Postgres. Only `pg_settings` have an effect. */
type ComputeSettings = {
  readonly pg_settings?: Readonly<Record<string, string>> | undefined;
  readonly pgbouncer_settings?: Readonly<Record<string, string>> | undefined;
  readonly preload_libraries?: PreloadLibraries | undefined;
};

/** The state that only an active compute has. */
export type ActivePhase = {
  readonly state: "active";
  readonly startedAt: SimTime;
  /** The size limits at its start. An update of the limits takes effect with the restart that it causes. */
  readonly range: SizeRange;
  readonly sizeCu: number;
  /** Up to when its usage is booked. */
  readonly meteredAt: SimTime;
  /** The compute release that it runs until its next start. */
  readonly release: number;
  readonly openTransactions: number;
  /** Queries served since the start. */
  readonly queries: number;
  /** Present if its size follows its load average. */
  readonly scaling?: ScalingState | undefined;
  /** Loads by the rule of earlier releases. */
  readonly readings: readonly LoadReading[];
  readonly cache: CacheStatistics;
  /** When the open span of its clients began; absent while they are idle. */
  readonly spanSince?: SimTime | undefined;
  /** A suspend is in progress: connections are closed, and arrivals wait for the next start. */
  readonly suspending: boolean;
};

type ComputePhase = { readonly state: "init" } | { readonly state: "idle" } | ActivePhase;

/** How a setting is given and stored: a boolean, or a text of at most 64 characters. */
type Values = { readonly flag: boolean; readonly text: string };

type ComputeSetting = {
  /** The name in requests and answers. */
  readonly field: string;
  readonly kind: keyof Values;
  /** Value of a new compute that is created without the setting. Absent if the setting is optional. */
  readonly default?: boolean | string;
  /** Whether a change restarts an active compute. Disabling suspends it instead. */
  readonly restarts: boolean;
};

/**
 * The settings of a compute that are stored and returned as they were given: one row each. Types, commands, events,
 * requests, answers and copies by `standin mirror` follow from this table; in addition, a setting has a column in
 * `store/tables/schema.ts`. The size limits, the autosuspend delay and the settings of Postgres have rules of their own.
 */
export const COMPUTE_SETTINGS = {
  name: { field: "name", kind: "text", restarts: false },
  poolerEnabled: { field: "pooler_enabled", kind: "flag", default: false, restarts: true },
  passwordlessAccess: { field: "passwordless_access", kind: "flag", default: true, restarts: true },
  disabled: { field: "disabled", kind: "flag", default: false, restarts: false },
  // S: the default; a new compute has the provisioner of its project.
  provisioner: { field: "provisioner", kind: "text", default: "k8s-neonvm", restarts: true },
} as const satisfies Readonly<Record<string, ComputeSetting>>;

type Table = typeof COMPUTE_SETTINGS;
export type SettingName = keyof Table;
type ValueOf<Name extends SettingName> = Values[Table[Name]["kind"]];
type NameWithDefault = {
  [Name in SettingName]: Table[Name] extends { readonly default: unknown } ? Name : never;
}[SettingName];

/** The settings as a compute has them. */
export type StoredSettings = { readonly [Name in NameWithDefault]: ValueOf<Name> } & {
  readonly [Name in Exclude<SettingName, NameWithDefault>]?: ValueOf<Name> | undefined;
};

/** The settings as a caller chooses them. */
export type ChosenSettings = { readonly [Name in SettingName]?: ValueOf<Name> | undefined };

/** The settings by their names in requests and answers. */
export type SettingFields = {
  readonly [Name in SettingName as Table[Name]["field"]]?: ValueOf<Name> | undefined;
};

/** The process that runs Postgres for one branch; the API calls it an endpoint. */
export type Compute = StoredSettings & {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
  readonly branchId: string;
  readonly regionId: string;
  readonly type: ComputeType;
  readonly range: SizeRange;
  /** In seconds; 0 is the default, -1 never (S). */
  readonly suspendTimeoutSeconds: number;
  readonly settings: ComputeSettings;
  readonly phase: ComputePhase;
  /** Arrivals while it was not active, served from the end of its start. */
  readonly waiting?: PendingLoad | undefined;
  /** R: the end of the last activity, in the future while a query runs; absent before the first. */
  readonly lastActiveAt?: SimTime | undefined;
  readonly startedAt?: SimTime | undefined;
  readonly suspendedAt?: SimTime | undefined;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

/** The settings of a compute that a caller may choose. */
export type ComputeOptions = ChosenSettings & {
  readonly minCu?: number | undefined;
  readonly maxCu?: number | undefined;
  readonly suspendTimeoutSeconds?: number | undefined;
  readonly settings?: ComputeSettings | undefined;
};

/** Fields that an update may change. Other fields change only as the compute runs. */
export type ComputeChanges = Partial<
  Pick<Compute, "branchId" | "range" | "suspendTimeoutSeconds" | "settings" | SettingName>
>;

/** State from which the size of an active compute with size limits follows. */
export type ScalingState = {
  readonly average: LoadAverageState;
  /** Loads that a later reading will see, in order of arrival. */
  readonly running: readonly RunningLoad[];
  readonly resizedAt: SimTime;
  /** Copied from the event of the start. */
  readonly readingSeed?: number;
};

/** A load, in load units, up to an instant (exclusive), or until its connection is closed. */
export type RunningLoad = {
  readonly load: number;
  readonly until: SimTime;
  readonly connectionId?: string;
};

/** The number of busy vCPUs, by the rule of earlier releases valid until an instant (exclusive). */
export type LoadReading = { readonly load: number; readonly until: SimTime };

/**
 * The fields that change while a compute runs. All optional fields are listed, so a new one cannot be missed.
 */
type ComputeRuntime = { readonly [Key in "phase" | "updatedAt"]: Compute[Key] } & {
  readonly [Key in Exclude<OptionalKey<Compute>, SettingName>]: Compute[Key];
};
type OptionalKey<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? Key : never }[keyof T];

/**
 * The row with new runtime fields. Written out field by field, because these rows are replaced most often: a
 * spread of rows with different shapes is ten times as slow.
 */
export function withRuntime(
  compute: Compute,
  { phase, waiting, lastActiveAt, startedAt, suspendedAt, updatedAt }: ComputeRuntime,
): Compute {
  // Each key is required here, so that a field that is forgotten does not compile.
  const row: { readonly [Key in keyof Required<Compute>]: Compute[Key] } = {
    id: compute.id,
    number: compute.number,
    projectId: compute.projectId,
    branchId: compute.branchId,
    regionId: compute.regionId,
    type: compute.type,
    name: compute.name,
    range: compute.range,
    suspendTimeoutSeconds: compute.suspendTimeoutSeconds,
    settings: compute.settings,
    poolerEnabled: compute.poolerEnabled,
    passwordlessAccess: compute.passwordlessAccess,
    disabled: compute.disabled,
    provisioner: compute.provisioner,
    phase,
    waiting,
    lastActiveAt,
    startedAt,
    suspendedAt,
    createdAt: compute.createdAt,
    updatedAt,
  };
  return row;
}

/** The runtime fields of a row. */
export function runtimeOf({
  phase,
  waiting,
  lastActiveAt,
  startedAt,
  suspendedAt,
  updatedAt,
}: Compute): ComputeRuntime {
  return { phase, waiting, lastActiveAt, startedAt, suspendedAt, updatedAt };
}

const SETTING_NAMES = Object.keys(COMPUTE_SETTINGS) as readonly SettingName[];

/** Maps each setting, by its name in requests and answers, to the value of `kinds` for its kind. */
export function bySettingField<Kinds extends { readonly [Kind in keyof Values]: unknown }>(
  kinds: Kinds,
): { readonly [Name in SettingName as Table[Name]["field"]]: Kinds[Table[Name]["kind"]] } {
  const settings = Object.values(COMPUTE_SETTINGS);
  return Object.fromEntries(settings.map(({ field, kind }) => [field, kinds[kind]])) as never;
}

/** The settings of a new compute. `defaults` replaces the defaults of the table. */
export function newSettings(chosen: ChosenSettings, defaults: ChosenSettings): StoredSettings {
  const entries = SETTING_NAMES.flatMap((name) => {
    const { default: fallback }: ComputeSetting = COMPUTE_SETTINGS[name];
    const value = chosen[name] ?? defaults[name] ?? fallback;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries) as unknown as StoredSettings;
}

/** The defaults, by the names in requests and answers. */
export function defaultSettingFields(): SettingFields {
  return renderSettings(newSettings({}, {}));
}

/** The settings that a request contains; undefined where it contains none. */
export function chosenSettings(fields: SettingFields): ChosenSettings {
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, fields[COMPUTE_SETTINGS[name].field]]));
}

/** The settings of an update that are not undefined. */
export function givenSettings(chosen: ChosenSettings): ChosenSettings {
  return Object.fromEntries(
    SETTING_NAMES.filter((name) => chosen[name] !== undefined).map((name) => [name, chosen[name]]),
  );
}

/** The settings of a compute as answers contain them. */
export function renderSettings(settings: StoredSettings): SettingFields {
  return Object.fromEntries(SETTING_NAMES.map((name) => [COMPUTE_SETTINGS[name].field, settings[name]]));
}
