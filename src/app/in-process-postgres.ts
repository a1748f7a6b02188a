import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { messageOf } from "../kernel/message-of.ts";
import type { PostgresAddress } from "../platform-api/render/connection-uri.ts";
import { DEFAULT_MAX_DATA } from "../postgres/data/data-limit.ts";
import { claimDirectory } from "../postgres/machine/claimed-directories.ts";
import type { ClientOrigin } from "../postgres/sessions/client-session.ts";
import { DEFAULT_DATA, volumesFolder } from "../worlds/directory-layout.ts";
import type { WorldsHandle } from "../worlds/world-handle.ts";

import { DEFAULT_ENGINE_VERSION, type PostgresOptions } from "./open-gateway.ts";
import { DEFAULT_MAX_BRANCH_HISTORY, PostgresPort } from "./postgres-port.ts";
import type { PostgresServices } from "./postgres-services.ts";

const HOST = "127.0.0.1";
const MAX_ENGINES = 32;
const EXTENSION_NAME = "platform";

export type InProcessPostgres = {
  /** Opens a free port of this machine for Postgres clients. */
  listen(): Promise<PostgresAddress>;
  readonly services: PostgresServices;
  /** Serves a connection that is within a WebSocket. */
  readonly acceptStream: (stream: Duplex, origin: ClientOrigin) => void;
  /** The data of branches may be needed no more. It is removed soon. */
  dataReleased(): void;
  /** Called before a world is copied whose data may have changed since its position was stored. */
  prepareCopy(world: string): Promise<void>;
  readonly close: () => Promise<void>;
};

/**
 * Runs Postgres for the computes of these worlds. Rejects with an `EngineError` if none is installed. `data`: the
 * directory of the worlds; `undefined`: the data of the branches is deleted by `close`.
 */
export async function openInProcessPostgres(
  worlds: WorldsHandle,
  data: string | undefined,
  {
    engineBin,
    enginesData = data ?? DEFAULT_DATA,
    engineVersion = DEFAULT_ENGINE_VERSION,
    ignoresLoad,
    sqlClock = "machine",
    statements,
  }: Partial<
    Pick<PostgresOptions, "engineBin" | "enginesData" | "engineVersion" | "sqlClock" | "statements">
  > &
    Pick<PostgresOptions, "ignoresLoad">,
): Promise<InProcessPostgres> {
  const directory = data ?? mkdtempSync(join(tmpdir(), "standin-data-"));
  const claim = data === undefined ? claimDirectory(directory) : undefined;
  const options = {
    dataDirectory: directory,
    isTemporary: data === undefined,
    volumes: volumesFolder(directory),
    tlsDirectory: join(directory, "tls"),
    engine: "auto" as const,
    engineVersion,
    enginesData,
    engineBin,
    maxEngines: MAX_ENGINES,
    maxBranchHistory: DEFAULT_MAX_BRANCH_HISTORY,
    maxData: DEFAULT_MAX_DATA,
    requireTls: false,
    proxyProtocol: false,
    extensionName: EXTENSION_NAME,
    ignoresLoad,
    sqlClock,
    statements,
  };
  const warn = (message: string) => process.emitWarning(`standin: ${message}`);
  const port = new PostgresPort(worlds, options, {
    error: (error, message) => warn(`${message}: ${messageOf(error)}`),
    warn,
    info: () => undefined,
  });
  const close = async () => {
    await port.close();
    claim?.close();
    if (data === undefined) rmSync(directory, { recursive: true, force: true });
  };
  try {
    await port.openEngine();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async listen() {
      const { port: number } = await port.listen(0, HOST);
      // URIs with an address need no name resolution, and are the same on every machine but for the port.
      return { host: HOST, port: number, resolves: () => false };
    },
    services: port.services,
    acceptStream: (stream, origin) => port.accept(stream, origin),
    dataReleased: () => port.dataReleased(),
    prepareCopy: (world) => port.prepareCopy(world),
    close,
  };
}
