import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import pg from "pg";
import { SUPERUSER } from "../../src/engine/engine.ts";
import { writeExtension } from "../../src/engine/extension.ts";
import { findInstallations } from "../../src/engine/installation.ts";
import { engineUser } from "../../src/engine/os-user.ts";
import { PostgresEngine } from "../../src/engine/postgres-engine.ts";

const VERSION = 17;
const MAX_CONNECTIONS = 112;
const MAX_LOG_BYTES = 32 * 1024 ** 2;

/** Postgres without a server: copies a cluster, starts it and connects to it. */
export async function bareWake(directory: string) {
  mkdirSync(directory, { mode: 0o711 });
  const user = engineUser();
  const engine = new PostgresEngine({
    installations: await findInstallations(undefined, user),
    templateDirectory: join(directory, "templates"),
    extension: writeExtension(directory, "platform"),
    user,
    maxLogBytes: MAX_LOG_BYTES,
  });
  let clusters = 0;
  const measure = async (): Promise<number> => {
    clusters += 1;
    const dataDirectory = join(directory, String(clusters), "data");
    const began = performance.now();
    const archive = join(directory, String(clusters), "archive");
    mkdirSync(archive, { recursive: true, mode: 0o711 });
    await engine.copyCluster({ base: await engine.emptyCluster(VERSION), to: dataDirectory, archive });
    const running = await engine.start({
      dataDirectory,
      maxConnections: MAX_CONNECTIONS,
      logicalReplication: false,
    });
    const host = running.address.path.slice(0, running.address.path.lastIndexOf("/"));
    const client = new pg.Client({ host, port: 5432, user: SUPERUSER, database: "postgres" });
    await client.connect();
    const elapsed = performance.now() - began;
    await client.end();
    await running.stop();
    return elapsed;
  };
  // The first one also runs initdb.
  await measure();
  return { measure, close: async () => engine.close() };
}
