import { Command, Option } from "commander";
import type { SimTime } from "../../../kernel/time.ts";
import type { ColumnMapping } from "../../../traffic/recorded/rows/column-mapping.ts";
import { NUMBER_UNITS, type NumberUnit } from "../../../traffic/recorded/rows/decimal.ts";
import { GAP_COLUMNS } from "../../../whatif/trace/gap-row.ts";
import { DIALECTS, type Dialect, gapQuery } from "../../../whatif/trace/gap-sql.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { parseInstantOption } from "../../terminal/option-parsers.ts";
import { jsonOption } from "../../terminal/options.ts";
import { print } from "../../terminal/print.ts";
import { durationUnitOption, parseMappingOption } from "../../whatif/import-options.ts";

type SqlOptions = {
  readonly dialect: Dialect;
  readonly table: string;
  readonly map: ColumnMapping;
  readonly endpoint?: string;
  readonly timeUnit?: NumberUnit;
  readonly durationUnit?: NumberUnit;
  readonly from?: SimTime;
  readonly to?: SimTime;
  readonly json?: boolean;
};

/** 418 rows: k gaps of different lengths in whole seconds take at least k (k − 1) / 2 seconds, and a day has 86,400. */
const SIZE =
  "one row for each compute, UTC day and length of gap in whole seconds: never more than requests, and at most 418 for a day of a compute; about 70 bytes each as CSV";

export function sqlCommand(): Command {
  return new Command("sql")
    .description("print a query for a database of requests; whatif curve --gaps reads its result")
    .addOption(new Option("--dialect <name>", "SQL of this database").choices(DIALECTS).makeOptionMandatory())
    .addOption(
      new Option(
        "--table <name>",
        "table of the requests, or any expression that may follow FROM; not quoted",
      ).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--map <fields>",
        "column of each field, such as endpoint=database_id,at=started_at,duration=elapsed_ms; not quoted",
      )
        .argParser(parseMappingOption)
        .makeOptionMandatory(),
    )
    .addOption(new Option("--endpoint <name>", "compute of all requests, if no column names it"))
    .addOption(
      new Option(
        "--time-unit <unit>",
        "unit of instants that are numbers (default: they are timestamps in UTC)",
      ).choices(NUMBER_UNITS),
    )
    .addOption(durationUnitOption())
    .addOption(
      new Option("--from <instant>", "omit requests that arrive before this instant").argParser(
        parseInstantOption,
      ),
    )
    .addOption(
      new Option("--to <instant>", "omit requests that arrive at this instant or later").argParser(
        parseInstantOption,
      ),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The result has ${SIZE}.

A field of --map may be a column or an expression of the database without commas.
Several machines can run it for a part of the computes each; whatif merge joins
the results. Do not divide by time: a gap may begin in one part and end in
another.

Examples:
  $ standin whatif sql --dialect postgres --table calls --map endpoint=db,at=started_at,duration=ms > gaps.sql
  $ psql --csv -f gaps.sql > gaps.csv && standin whatif curve --gaps gaps.csv --cu 0.25
  $ standin whatif sql --dialect duckdb --table "'calls/*.parquet'" --map endpoint=db,at=at,duration=ms |
      duckdb -csv | standin whatif curve --gaps -
  $ standin whatif sql --dialect bigquery --table logs.calls --map endpoint=db,end=finished,duration=seconds \\
      --duration-unit s --from 2026-01-01T00:00:00Z`,
    )
    .action((options: SqlOptions) => runSql(options));
}

function runSql({ map: columns, json, ...rest }: SqlOptions): void {
  let query: string;
  try {
    query = gapQuery({ ...rest, columns });
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(error.message, true);
    throw error;
  }
  print(
    json === true
      ? `${JSON.stringify({ dialect: rest.dialect, query, columns: GAP_COLUMNS.map(([column]) => column), size: SIZE }, null, 2)}\n`
      : `-- Gaps between requests, for: standin whatif curve --gaps\n-- Result: ${SIZE}.\n${query};\n`,
  );
}
