import { isoInstant } from "../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import type { ColumnMapping } from "../../traffic/recorded/rows/column-mapping.ts";
import { durationUnitOf } from "../../traffic/recorded/rows/column-names.ts";
import type { NumberUnit } from "../../traffic/recorded/rows/decimal.ts";
import { LONGER_THAN_ANY_DELAY_S, SHORT_GAP_S } from "./gap-row.ts";

/** The SQL of a dialect for operations that standard SQL lacks. */
type DialectForms = {
  /** Quotient of whole numbers, rounded down; both are at least 0. */
  readonly quotient: (dividend: string, divisor: number) => string;
  /** A whole number of 64 bits from a number, rounded down. */
  readonly whole: (value: string) => string;
  /** A number as a type that `round(value, places)` accepts, where doubles are not accepted. */
  readonly roundable?: (value: string) => string;
  /** Milliseconds since 1970 of a timestamp in UTC. */
  readonly milliseconds: (timestamp: string) => string;
  /** Undefined where a timestamp with a zone and one without one have no literal in common. */
  readonly timestamp?: (iso: string) => string;
  /** Quotes a name that may be an SQL keyword, such as "end", if quotes do not change which column it names. */
  readonly name: (name: string) => string;
};

const inQuotes = (name: string) => `"${name}"`;
const inBackticks = (name: string) => `\`${name}\``;
/** The database converts unquoted names to lower case. */
const lowerInQuotes = (name: string) => (name === name.toLowerCase() ? inQuotes(name) : name);

const bigint = (value: string) => `cast(floor(${value}) as bigint)`;
const byDiv = (dividend: string, divisor: number) => `div(${dividend}, ${divisor})`;
/** `2026-01-31 12:00:00.000` */
const withoutZone = (iso: string) => iso.replace("T", " ").replace("Z", "");

const FORMS = {
  duckdb: {
    quotient: (dividend, divisor) => `(${dividend}) // ${divisor}`,
    whole: bigint,
    milliseconds: (timestamp) => `epoch_ms(${timestamp})`,
    timestamp: (iso) => `timestamp '${withoutZone(iso)}'`,
    name: inQuotes,
  },
  clickhouse: {
    quotient: (dividend, divisor) => `intDiv(${dividend}, ${divisor})`,
    whole: (value) => `toInt64(floor(${value}))`,
    milliseconds: (timestamp) => `toUnixTimestamp64Milli(toDateTime64(${timestamp}, 3, 'UTC'))`,
    timestamp: (iso) => `toDateTime64('${withoutZone(iso)}', 3, 'UTC')`,
    name: inBackticks,
  },
  spark: {
    quotient: (dividend, divisor) => bigint(`(${dividend}) / ${divisor}`),
    whole: bigint,
    milliseconds: (timestamp) => `unix_millis(${timestamp})`,
    timestamp: (iso) => `timestamp '${iso}'`,
    name: inBackticks,
  },
  bigquery: {
    quotient: byDiv,
    whole: (value) => `cast(floor(${value}) as int64)`,
    milliseconds: (timestamp) => `unix_millis(${timestamp})`,
    timestamp: (iso) => `timestamp '${iso}'`,
    name: inBackticks,
  },
  snowflake: {
    quotient: (dividend, divisor) => `floor((${dividend}) / ${divisor})`,
    whole: bigint,
    milliseconds: (timestamp) => `date_part(epoch_millisecond, ${timestamp})`,
    timestamp: (iso) => `to_timestamp_ntz('${withoutZone(iso)}')`,
    // The database converts unquoted names to upper case and leaves quoted ones as they are.
    name: (name) => name,
  },
  redshift: {
    quotient: (dividend, divisor) => `(${dividend}) / ${divisor}`,
    whole: bigint,
    milliseconds: (timestamp) => `datediff(millisecond, timestamp '1970-01-01 00:00:00', ${timestamp})`,
    timestamp: (iso) => `timestamp '${withoutZone(iso)}'`,
    name: lowerInQuotes,
  },
  postgres: {
    quotient: (dividend, divisor) => `(${dividend}) / ${divisor}`,
    whole: bigint,
    roundable: (value) => `cast(${value} as numeric)`,
    milliseconds: (timestamp) => `cast(floor(extract(epoch from ${timestamp}) * 1000) as bigint)`,
    name: lowerInQuotes,
  },
} as const satisfies Readonly<Record<string, DialectForms>>;

export type Dialect = keyof typeof FORMS;
export const DIALECTS = Object.keys(FORMS) as readonly Dialect[];

/** One of `of` parts of the computes: those whose hash gives `index`. */
export type ComputePart = { readonly index: number; readonly of: number };

export type GapQueryInput = {
  readonly dialect: Dialect;
  /** A table or anything else that may follow `from`; not quoted. */
  readonly table: string;
  /** Columns; anything else is an expression and stays as it is. */
  readonly columns: ColumnMapping;
  /** Name of the compute if no column names it. */
  readonly endpoint?: string | undefined;
  /** Unit of instants that are numbers. Undefined if they are timestamps. */
  readonly timeUnit?: NumberUnit | undefined;
  readonly durationUnit?: NumberUnit | undefined;
  /** Bounds of the arrivals, inclusive and exclusive. */
  readonly from?: SimTime | undefined;
  readonly to?: SimTime | undefined;
  /** Only these computes; for DuckDB. */
  readonly part?: ComputePart | undefined;
};

type Input = GapQueryInput & {
  /** Unquoted name of the duration column, which may state its unit. */
  readonly duration: string | undefined;
};

const NAME = /^[A-Za-z_]\w*$/;

/** Names, or a sum of names. */
function quotedNames(text: string, { name }: DialectForms): string {
  const parts = text.split("+").map((part) => part.trim());
  return parts.every((part) => NAME.test(part)) ? parts.map(name).join(" + ") : text;
}

/** Factors to milliseconds. */
const PER_MS: Readonly<Record<NumberUnit, { readonly times: number; readonly by: number }>> = {
  s: { times: 1_000, by: 1 },
  ms: { times: 1, by: 1 },
  us: { times: 1, by: 1_000 },
  ns: { times: 1, by: 1_000_000 },
};

/**
 * A query whose rows are gap rows (see `GapRow`) of the requests in a table. Throws a RangeError for a column that
 * is missing.
 */
export function gapQuery(given: GapQueryInput): string {
  const { dialect, table, endpoint } = given;
  const forms: DialectForms = FORMS[dialect];
  const columns: ColumnMapping = Object.fromEntries(
    Object.entries(given.columns).map(([field, text]) => [field, quotedNames(text, forms)]),
  );
  const input: Input = { ...given, columns, duration: given.columns.duration };
  if (columns.endpoint === undefined && endpoint === undefined)
    throw new RangeError(
      "--map: name the column of the compute, such as endpoint=database_id, or set --endpoint",
    );
  const compute =
    columns.endpoint === undefined ? `'${(endpoint ?? "").replaceAll("'", "''")}'` : columns.endpoint;
  const { at, durationMs, isKnown } = requestTimes(input);
  const conditions = [isKnown, ...boundsOf(input)];
  if (columns.kind !== undefined)
    conditions.push(`(${columns.kind} is null or ${columns.kind} <> 'disconnect')`);
  const { part } = given;
  if (part !== undefined) conditions.push(`hash(${compute}) % ${part.of} = ${part.index}`);
  return `with requests as (
  select ${compute} as compute, ${at} as at_ms, ${durationMs} as duration_ms
  from ${table}
  where ${conditions.join(" and ")}
),
spans as (
  select compute, at_ms, at_ms + duration_ms as end_ms,
    max(at_ms + duration_ms) over (
      partition by compute order by at_ms, duration_ms rows between unbounded preceding and 1 preceding
    ) as busy_until_ms,
    row_number() over (partition by compute order by at_ms, duration_ms) as number
  from requests
),
gaps as (
  select compute, at_ms, end_ms,
    case when number > 1 and at_ms > busy_until_ms then at_ms - busy_until_ms else 0 end as gap_ms,
    case
      when number = 1 or at_ms > busy_until_ms then end_ms - at_ms
      when end_ms > busy_until_ms then end_ms - busy_until_ms
      else 0
    end as busy_ms
  from spans
),
keyed as (
  select compute, at_ms, end_ms, gap_ms, busy_ms,
    ${forms.quotient("at_ms", DAY)} as day,
    case
      when gap_ms > ${(LONGER_THAN_ANY_DELAY_S - 1) * 1_000} then ${LONGER_THAN_ANY_DELAY_S}
      else ${forms.quotient("gap_ms + 999", 1_000)}
    end as gap_s,
    case
      when gap_ms > ${SHORT_GAP_S * 1_000} and ${forms.quotient("at_ms - gap_ms", DAY)} < ${forms.quotient("at_ms", DAY)} then 1
      else 0
    end as over_midnight
  from gaps
)
select compute, day, gap_s, over_midnight, count(*) as requests, sum(gap_ms) as gap_ms, sum(busy_ms) as busy_ms,
  min(at_ms) as first_at_ms, max(at_ms) as last_at_ms, max(end_ms) as last_end_ms
from keyed
group by compute, day, gap_s, over_midnight
order by compute, day, gap_s, over_midnight`;
}

/** Arrival and duration in whole milliseconds, and the condition that the arrival is known. */
function requestTimes({ dialect, columns, timeUnit, durationUnit, duration: named }: Input): {
  readonly at: string;
  readonly durationMs: string;
  readonly isKnown: string;
} {
  const forms = FORMS[dialect];
  const instant = (column: string) =>
    timeUnit === undefined ? forms.milliseconds(column) : inMilliseconds(forms, column, timeUnit, 3);
  const { at, end, duration } = columns;
  const start = at ?? end;
  if (start === undefined)
    throw new RangeError("--map: name the column of the arrivals, such as at=started_at");
  if (at !== undefined && end !== undefined && duration === undefined)
    return {
      at: instant(at),
      durationMs: `coalesce(${instant(end)} - ${instant(at)}, 0)`,
      isKnown: `${at} is not null`,
    };
  const unit = durationUnit ?? durationUnitOf(named?.split("+")[0]?.trim());
  const durationMs =
    duration === undefined
      ? "0"
      : duration
          .split("+")
          .map((part) => part.trim())
          .map((part) => `coalesce(${inMilliseconds(forms, part, unit)}, 0)`)
          .join(" + ");
  const arrival = at === undefined ? `${instant(start)} - (${durationMs})` : instant(at);
  return { at: arrival, durationMs, isKnown: `${start} is not null` };
}

/**
 * Whole milliseconds. Seconds are rounded to nanoseconds first, because 16.304 s as a double is less than
 * 16,304 ms. Instants are rounded to microseconds, which is what a double of seconds since 1970 holds.
 */
function inMilliseconds(forms: DialectForms, column: string, unit: NumberUnit, places = 6): string {
  const { times, by } = PER_MS[unit];
  if (times > 1) {
    const scaled = `${column} * ${times}`;
    return forms.whole(`round(${forms.roundable?.(scaled) ?? scaled}, ${places})`);
  }
  return forms.whole(by > 1 ? `${column} / ${by}.0` : column);
}

/** Compares the unconverted column if possible, so that the database can skip partitions. */
function boundsOf({ dialect, columns, timeUnit, from, to }: GapQueryInput): readonly string[] {
  const { timestamp, milliseconds }: DialectForms = FORMS[dialect];
  const column = columns.at ?? columns.end ?? "";
  const compared = timeUnit === undefined && timestamp === undefined ? milliseconds(column) : column;
  const value = (at: SimTime) => {
    if (timeUnit === undefined) return timestamp?.(isoInstant(at)) ?? String(at);
    const { times, by } = PER_MS[timeUnit];
    return times > 1 ? `${at} / ${times}.0` : by > 1 ? `${at} * ${by}` : String(at);
  };
  return [
    ...(from === undefined ? [] : [`${compared} >= ${value(from)}`]),
    ...(to === undefined ? [] : [`${compared} < ${value(to)}`]),
  ];
}
