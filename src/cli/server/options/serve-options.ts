import { HOSTING_OPTIONS } from "./hosting-options.ts";
import { ACCESS_OPTIONS, ADDRESS_OPTIONS } from "./http-options.ts";
import type { OptionRow, OptionValues } from "./option-table.ts";
import { POSTGRES_OPTIONS } from "./postgres-options.ts";
import { RETENTION_OPTIONS } from "./retention-options.ts";
import { WORLD_OPTIONS } from "./world-options.ts";

/** Options for the output of the server. */
const OUTPUT_OPTIONS = [
  {
    flags: "--log-level <level>",
    description: "level of log messages on stderr; debug includes every request",
    choices: ["debug", "info", "warn", "error", "silent"],
    default: "info",
    defaultText: "info",
  },
  { flags: "--json", description: "print the ready line as JSON" },
] as const satisfies readonly OptionRow[];

/** The options of `standin serve` by the heading of the help, except for `--data`, which other commands have, too. */
export const SERVE_OPTION_GROUPS = {
  "Server:": [...ADDRESS_OPTIONS, ...ACCESS_OPTIONS, ...OUTPUT_OPTIONS],
  "World (platform, clock, limits):": WORLD_OPTIONS,
  "Postgres:": POSTGRES_OPTIONS,
  "History and files:": [...RETENTION_OPTIONS, ...HOSTING_OPTIONS],
} as const satisfies Readonly<Record<string, readonly OptionRow[]>>;

type ServeOptionRow = (typeof SERVE_OPTION_GROUPS)[keyof typeof SERVE_OPTION_GROUPS][number];

/** The parsed options of `standin serve`. */
export type ServeOptions = { data: string } & OptionValues<readonly ServeOptionRow[]>;
