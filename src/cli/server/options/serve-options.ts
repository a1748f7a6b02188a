import { HOSTING_OPTIONS } from "./hosting-options.ts";
import { ACCESS_OPTIONS, ADDRESS_OPTIONS } from "./http-options.ts";
import type { OptionRow, OptionValues } from "./option-table.ts";
import { POSTGRES_OPTIONS } from "./postgres-options.ts";
import { RETENTION_OPTIONS } from "./retention-options.ts";
import { WORLD_OPTIONS } from "./world-options.ts";

/** What the server prints. */
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

/** The options of `standin serve`, except for `--data`, which other commands have, too. */
export const SERVE_OPTIONS = [
  ...POSTGRES_OPTIONS,
  ...ADDRESS_OPTIONS,
  ...WORLD_OPTIONS,
  ...ACCESS_OPTIONS,
  ...RETENTION_OPTIONS,
  ...HOSTING_OPTIONS,
  ...OUTPUT_OPTIONS,
] as const;

/** The parsed options of `standin serve`. */
export type ServeOptions = { data: string } & OptionValues<typeof SERVE_OPTIONS>;
