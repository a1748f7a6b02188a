import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { HostsFile } from "../../app/hosts-file.ts";
import type { OpenedWorlds } from "../../app/open-worlds.ts";
import { hostNamesResolve, PostgresPort } from "../../app/postgres-port.ts";
import { messageOf } from "../../kernel/message-of.ts";
import type { PostgresAddress } from "../../platform-api/render/connection-uri.ts";
import { volumesFolder } from "../../worlds/directory-layout.ts";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import type { Log } from "./log.ts";
import { DEFAULT_POSTGRES_PORTS, type PostgresServeOptions } from "./options/postgres-options.ts";

export type OpenPostgresPort = {
  readonly port: PostgresPort;
  readonly address: PostgresAddress;
  readonly url: string;
  /** Absent if the operator gave a certificate. */
  readonly authorityDirectory: string | undefined;
};

/** Throws a `CliError` for options that cannot be used, before a world is created. */
export function checkPostgresOptions(options: PostgresServeOptions): void {
  if (options.engine === "none" && options.engineBin !== undefined)
    throw new CliError("--engine-bin cannot be combined with --engine none", true);
  if (options.pgPort !== "none") readTlsFiles(options);
}

/** Opens the port for Postgres clients; `undefined` for `--pg-port none`. */
export async function openPostgresPort(
  { worlds, settings }: OpenedWorlds,
  options: PostgresServeOptions & { readonly data: string; readonly host: string },
  log: Log,
): Promise<OpenPostgresPort | undefined> {
  const { engine, engineBin } = options;
  if (options.pgPort === "none") return undefined;
  if (engine !== "none" && options.sqlClock === "world") await checkTimeLibrary();
  const { data, volumes = volumesFolder(data), requireTls = false, proxyProtocol = false } = options;
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
      engineVersion: options.engineVersion,
      maxEngines,
      maxBranchHistory,
      maxData,
      requireTls,
      proxyProtocol,
      tlsFiles,
      extensionName: options.extensionName,
      sqlClock: options.sqlClock,
    },
    log,
  );
  const address = await listen(port, options);
  void port.removeLeftovers();
  const host = address.address === "0.0.0.0" || address.address === "::" ? "127.0.0.1" : address.address;
  const urlHost = host.includes(":") ? `[${host}]` : host;
  return {
    port,
    address: { host: urlHost, port: address.port, resolves: await resolverFor(options, settings.hostDomain) },
    url: `postgresql://${urlHost}:${address.port}`,
    authorityDirectory: tlsFiles === undefined ? tlsDirectory : undefined,
  };
}

async function checkTimeLibrary(): Promise<void> {
  const { findTimeLibrary } = await import("../../postgres/installations/time-library.ts");
  try {
    findTimeLibrary();
  } catch (error) {
    throw new CliError(messageOf(error));
  }
}

/** For `auto`, names that `standin hosts install` writes later count from then on. */
async function resolverFor(
  { connectionUris, hostsFile }: PostgresServeOptions,
  hostDomain: string | undefined,
): Promise<PostgresAddress["resolves"]> {
  if (connectionUris !== "auto") return () => connectionUris === "host";
  if (await hostNamesResolve(hostDomain)) return () => true;
  const file = new HostsFile(hostsFile);
  return (hostName) => file.leadsHere(hostName);
}

/** The default ports may be used by other servers; a port that was asked for must be free. */
async function listen(
  port: PostgresPort,
  { pgPort, host }: { readonly pgPort?: number | "none"; readonly host: string },
): Promise<AddressInfo> {
  const wanted = typeof pgPort === "number" ? [pgPort] : [...DEFAULT_POSTGRES_PORTS, 0];
  let taken = 0;
  for (const candidate of wanted) {
    try {
      return await port.listen(candidate, host);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE")
        throw new CliError(`cannot listen on ${host}:${candidate}: ${message}; check --host and --pg-port`);
      taken = candidate;
    }
  }
  throw new CliError(`port ${taken} on ${host} is in use; choose another --pg-port, or 0 for a free port`);
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
      throw new CliError(`${option}: ${path} ${fileProblem(error)}`, true);
    }
  };
  const files = { cert: read("--tls-cert", tlsCert), key: read("--tls-key", tlsKey) };
  try {
    // The port of Postgres opens later, and only its clients would report a wrong file.
    createSecureContext(files);
  } catch {
    throw new CliError(
      `--tls-cert, --tls-key: expected a certificate and its private key in PEM format, got ${tlsCert} and ${tlsKey}`,
      true,
    );
  }
  return files;
}
