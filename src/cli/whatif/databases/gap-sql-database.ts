import { InvalidArgumentError } from "commander";
import { messageOf } from "../../../kernel/message-of.ts";
import type { SimTime } from "../../../kernel/time.ts";
import { TextCells } from "../../../traffic/recorded/rows/cells.ts";
import { gapRowSink } from "../../../whatif/trace/gap-row-reader.ts";
import { type ComputePart, gapQuery } from "../../../whatif/trace/gap-sql.ts";
import { GapTable } from "../../../whatif/trace/gap-table.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { parseInstantOption } from "../../terminal/option-parsers.ts";
import { showProgress } from "../../terminal/progress-display.ts";
import { openGapTable } from "../gap-files.ts";
import type { InputOptions } from "../import-options.ts";
import type { OpenedTraces } from "../open-traffic.ts";
import type { PeriodOptions } from "../question-options.ts";
import type { GapQueryRun } from "./gap-sql-run.ts";

/** A database that counts gaps, as `--from` names it. */
export type DatabaseAddress = { readonly kind: "duckdb" | "postgres" | "clickhouse"; readonly url: string };

/** The bounds and the database that values of `--from` name. */
export type FromOption = { readonly from?: SimTime; readonly database?: DatabaseAddress };

const KINDS: readonly (readonly [RegExp, DatabaseAddress["kind"]])[] = [
  [/^duckdb:/, "duckdb"],
  [/^postgres(ql)?:\/\//, "postgres"],
  [/^clickhouses?:\/\//, "clickhouse"],
];

/** An instant or a database; one of each may be given. */
export function parseFromOption(text: string, previous: FromOption | undefined): FromOption {
  const kind = KINDS.find(([pattern]) => pattern.test(text))?.[1];
  if (kind === undefined) return { ...previous, from: parseInstantOption(text) };
  if (previous?.database !== undefined)
    throw new InvalidArgumentError("expected one database, got a second one");
  return { ...previous, database: { kind, url: text } };
}

/** How to count the gaps of a table. */
export type DatabaseOptions = PeriodOptions & {
  readonly table?: string;
  readonly memory?: number;
  readonly compute?: readonly string[];
} & Pick<InputOptions, "map" | "endpoint" | "timeUnit" | "durationUnit">;

/** Lets the database count the gaps. */
export async function openDatabase(
  address: DatabaseAddress,
  options: DatabaseOptions,
  signal: AbortSignal,
): Promise<OpenedTraces> {
  const { table: name, map: columns, endpoint, timeUnit, durationUnit, from, to, compute, memory } = options;
  const example = "--table calls --map endpoint=db,at=started_at,duration=ms";
  if (name === undefined || columns === undefined)
    throw new CliError(`--from: name the table and its columns, such as ${example}`, true);
  const input = { dialect: address.kind, table: name, columns, endpoint, timeUnit, durationUnit, from, to };
  const queryOf = (part?: ComputePart) => gapQuery({ ...input, part });
  try {
    queryOf();
  } catch (error) {
    throw error instanceof RangeError ? new CliError(error.message, true) : error;
  }
  const table = await gapTableOf(
    address,
    { queryOf, table: name, memory, only: compute && new Set(compute) },
    signal,
  );
  if (table.rows === 0) throw new CliError(`--table ${name}: no request in it, or none in the period`);
  return openGapTable(
    table,
    [{ database: withoutPassword(address.url), table: name, gap_rows: table.rows }],
    {
      ...(compute === undefined ? {} : { compute }),
      // The query has omitted the requests before it; without them, the period begins with the first one.
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    },
  );
}

/** Runs the query in the database, and collects its rows. */
async function gapTableOf(
  { kind, url }: DatabaseAddress,
  {
    only,
    ...question
  }: Pick<GapQueryRun, "queryOf" | "table" | "memory"> & { readonly only: ReadonlySet<string> | undefined },
  signal: AbortSignal,
): Promise<GapTable> {
  const table = new GapTable();
  const sink = gapRowSink(table, only);
  const progress = showProgress("querying");
  let [line, cells, reader] = [1, new TextCells(0), { read: (_line: number, _cells: TextCells) => {} }];
  const run: GapQueryRun = {
    ...question,
    signal,
    onProgress: (percent) => void progress.report(percent, 100),
    onColumns(names) {
      cells = new TextCells(names.length);
      reader = sink.open(names, (name) => names.indexOf(name));
    },
    onRow(values) {
      line += 1;
      cells.fill((column) => String(values[column] ?? ""));
      reader.read(line, cells);
    },
  };
  try {
    await (await RUNNERS[kind]())(url, run);
    return table;
  } catch (error) {
    if (signal.aborted) throw new CliError("interrupted");
    if (error instanceof CliError) throw error;
    throw new CliError(`--from ${withoutPassword(url)}: ${messageOf(error)}`);
  } finally {
    progress.end();
  }
}

type Runner = (url: string, run: GapQueryRun) => Promise<void>;

const RUNNERS: Readonly<Record<DatabaseAddress["kind"], () => Promise<Runner>>> = {
  duckdb: async () => (await import("./duckdb-runner.ts")).runInDuckdb,
  postgres: async () => (await import("./postgres-runner.ts")).runInPostgres,
  clickhouse: async () => (await import("./clickhouse-runner.ts")).runInClickhouse,
};

function withoutPassword(url: string): string {
  return url.replace(/:\/\/([^:/@]*):[^@]*@/, "://$1@");
}
