import { PG_SETTINGS, type SettingValues } from "./pg-setting-values.ts";
import { ACCEPTED, type Result, refuse } from "./refusal-codes.ts";

/** The settings of Postgres that a customer chose, by name. */
export type PgSettings = Readonly<Record<string, string>>;

/**
 * The reason why a compute cannot have a setting, for the error message; `undefined` if it can. Names are
 * case-insensitive, as in Postgres.
 */
export function problemOfPgSetting(name: string, value: string): string | undefined {
  const owner = OWNERS.get(name.toLowerCase());
  if (owner !== undefined) return `must be omitted: ${owner}`;
  const values = valuesOf(name);
  if (values === undefined)
    return `cannot be set for a compute; set it with ALTER ROLE or ALTER DATABASE if Postgres allows that. Settable are ${SETTABLE}`;
  return accepts(values, value) ? undefined : `must be ${describeValues(values)}, got "${value}"`;
}

/** A: 422, the status for preload libraries that the project's version of Postgres does not have. */
export function checkPgSettings(
  { pgVersion }: { readonly pgVersion: number },
  field: string,
  settings: PgSettings | undefined,
): Result<undefined> {
  for (const name of Object.keys(settings ?? {})) {
    const since = valuesOf(name)?.since;
    if (since !== undefined && pgVersion < since)
      return refuse(
        "PG_SETTING_NOT_AVAILABLE",
        `${field}.${name}: needs Postgres ${since} or newer, and the project has ${pgVersion}`,
      );
  }
  return ACCEPTED;
}

/**
 * The settings that this version of Postgres accepts. Earlier releases stored any setting, and a world may run another
 * version than its project has.
 */
export function applicablePgSettings(settings: PgSettings, pgVersion: number): PgSettings {
  return Object.fromEntries(
    Object.entries(settings).filter(
      ([name, value]) =>
        problemOfPgSetting(name, value) === undefined && pgVersion >= (valuesOf(name)?.since ?? 0),
    ),
  );
}

/**
 * Settings that the customer cannot set, with the reason. R: the two sizes. S: libraries and replication have fields.
 */
const OWNERS: ReadonlyMap<string, string> = new Map([
  ["max_connections", "the platform sets it from the minimum size of the compute"],
  ["shared_buffers", "the platform sets it, to 128MB"],
  ["wal_level", "it follows the project's settings.enable_logical_replication"],
  ["shared_preload_libraries", "libraries are chosen by preload_libraries"],
  // D: the platform's formula sets it.
  ["max_worker_processes", "the platform sets it from the maximum size of the compute"],
]);

const TABLE: ReadonlyMap<string, SettingValues> = new Map(
  Object.entries(PG_SETTINGS).map(([name, values]) => [name.toLowerCase(), values]),
);

const SETTABLE = Object.keys(PG_SETTINGS).join(", ");

function valuesOf(name: string): SettingValues | undefined {
  return TABLE.get(name.toLowerCase());
}

const FLAGS = ["on", "off", "true", "false", "yes", "no", "1", "0"];
const NUMBER = /^([+-]?\d{1,30}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?) ?([A-Za-z]{1,3})?$/;

/** Factors from the units of Postgres to each base unit of the table. */
const UNITS: Readonly<Record<"kB" | "8kB" | "ms", Readonly<Record<string, number>>>> = {
  kB: { B: 1 / 1024, kB: 1, MB: 1024, GB: 1024 ** 2, TB: 1024 ** 3 },
  "8kB": { B: 1 / 8192, kB: 1 / 8, MB: 128, GB: 128 * 1024, TB: 128 * 1024 ** 2 },
  ms: { us: 1 / 1000, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 },
};

function accepts(values: SettingValues, value: string): boolean {
  if ("isFlag" in values) return FLAGS.includes(value.toLowerCase());
  if ("oneOf" in values) return values.oneOf.includes(value.toLowerCase());
  const [, digits, unit] = NUMBER.exec(value.trim()) ?? [];
  if (digits === undefined) return false;
  const factor = unit === undefined ? 1 : factorOf(values.unit, unit);
  if (factor === undefined) return false;
  const number = Number(digits) * factor;
  return number >= values.min && number <= values.max && (values.isReal === true || isWhole(number, unit));
}

/** Postgres rounds a size or duration in another unit. */
function isWhole(number: number, unit: string | undefined): boolean {
  return unit !== undefined || Number.isInteger(number);
}

function factorOf(base: "kB" | "8kB" | "ms" | undefined, unit: string): number | undefined {
  const units = base === undefined ? {} : UNITS[base];
  return Object.hasOwn(units, unit) ? units[unit] : undefined;
}

function describeValues(values: SettingValues): string {
  if ("isFlag" in values) return "on or off";
  if ("oneOf" in values) return `one of ${values.oneOf.join(", ")}`;
  const { min, max, unit, isReal } = values;
  const kind = isReal === true ? "a number" : "an integer";
  const units =
    unit === undefined ? "" : `, in units of ${unit} or with one of ${Object.keys(UNITS[unit]).join(", ")}`;
  return `${kind} from ${min} to ${max}${units}`;
}
