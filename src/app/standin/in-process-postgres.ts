import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { PostgresAddress } from "../../api/render/connection-uri.ts";
import { EngineError } from "../../engine/engine.ts";
import type { ClientOrigin } from "../../gateway/client-session.ts";
import type { WorldsHandle } from "../../worlds/world-handle.ts";

import { DEFAULT_MAX_BRANCH_HISTORY, PostgresPort } from "../open-gateway.ts";
import type { RunSql } from "../sql-route.ts";

import type { StandinPostgresOptions } from "./create-options.ts";
import { StandinError } from "./standin-world.ts";

const MAX_ENGINES = 32;
const EXTENSION_NAME = "platform";

export type InProcessPostgres = {
  readonly address: PostgresAddress;
  readonly runSql: RunSql;
  /** Serves a connection that is within a WebSocket. */
  readonly acceptStream: (stream: Duplex, origin: ClientOrigin) => void;
  /** Deletes the data of worlds and branches that do not exist any more. */
  removeLeftovers(): Promise<void>;
  /** Called before a world is copied whose data may have changed since its position was stored. */
  prepareCopy(world: string): Promise<void>;
  readonly close: () => Promise<void>;
};

/**
 * Opens a port for Postgres clients of this machine. Rejects with a `StandinError` if no Postgres is installed.
 * `data`: the directory of the worlds; `undefined`: the data of the branches is deleted by `close`.
 */
export async function openInProcessPostgres(
  worlds: WorldsHandle,
  data: string | undefined,
  host: string,
  { engineBin }: StandinPostgresOptions,
): Promise<InProcessPostgres> {
  const directory = data ?? mkdtempSync(join(tmpdir(), "standin-data-"));
  const options = {
    dataDirectory: directory,
    volumes: join(directory, "volumes"),
    tlsDirectory: join(directory, "tls"),
    engine: "auto" as const,
    engineBin,
    maxEngines: MAX_ENGINES,
    maxBranchHistory: DEFAULT_MAX_BRANCH_HISTORY,
    requireTls: false,
    proxyProtocol: false,
    extensionName: EXTENSION_NAME,
  };
  const warn = (message: string) => process.emitWarning(`standin: ${message}`);
  const port = new PostgresPort(worlds, options, {
    error: (error, message) => warn(`${message}: ${error instanceof Error ? error.message : String(error)}`),
    warn,
  });
  const close = async () => {
    await port.close();
    if (data === undefined) rmSync(directory, { recursive: true, force: true });
  };
  try {
    await port.openEngine();
    const address = await port.listen(0, host);
    return {
      // URIs with an address need no name resolution, and are the same on every machine but for the port.
      address: { host, port: address.port, hostNamesResolve: false },
      runSql: (request) => port.sql(request),
      acceptStream: (stream, origin) => port.accept(stream, origin),
      removeLeftovers: () => port.removeLeftovers(),
      prepareCopy: (world) => port.prepareCopy(world),
      close,
    };
  } catch (error) {
    await close();
    if (error instanceof EngineError) throw new StandinError("POSTGRES_NOT_FOUND", error.message, 501);
    throw error;
  }
}
