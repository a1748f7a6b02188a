import { CONSOLE_MODES } from "../../../app/console-mode.ts";
import { integerParser, secretParser } from "../../terminal/option-parsers.ts";
import { parseWorldNameOption } from "../../terminal/options.ts";
import type { OptionRow } from "./option-table.ts";

export const DEFAULT_API_PORT = 4620;

/** Options for the address and the port of HTTP. */
export const ADDRESS_OPTIONS = [
  {
    flags: "--port <n>",
    description: "port to listen on; 0 selects a free port",
    parse: integerParser(0, 65_535),
    default: DEFAULT_API_PORT,
  },
  {
    flags: "--host <address>",
    description: "address to listen on; a non-loopback address requires --control-token",
    default: "127.0.0.1",
    defaultText: "127.0.0.1",
  },
] as const satisfies readonly OptionRow[];

/** Options for tokens and rate limits of HTTP. */
export const ACCESS_OPTIONS = [
  {
    flags: "--control-token <token>",
    description: "token that calls to /_sim must send; prefer the environment variable",
    parse: secretParser("--control-token or STANDIN_CONTROL_TOKEN"),
  },
  {
    flags: "--team-tokens <file>",
    description:
      "YAML file of further tokens for calls to /_sim, each for some worlds and rights; requires --control-token",
  },
  {
    flags: "--cell <name>",
    description:
      "name of this server among several behind a router, whose headers X-Forwarded-Host and X-Forwarded-Proto it trusts; requires --control-token",
    parse: parseWorldNameOption,
  },
  {
    flags: "--rate-limit",
    description: "answer 429 beyond 700 requests per minute or 40 per second, per route and account",
  },
  {
    flags: "--console <mode>",
    description: "whether browsers get the web console at /, and whether it offers changes",
    choices: CONSOLE_MODES,
    default: "on",
  },
] as const satisfies readonly OptionRow[];
