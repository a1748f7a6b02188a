import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import pg from "pg";
import { generate } from "selfsigned";
import { DEFAULT_PROFILE, PROFILES } from "../../src/platform/catalog/defaults-and-limits.ts";
import { SUPERUSER } from "../../src/postgres/engine/engine.ts";
import { chooseInstallation, findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser, spawnOptions } from "../../src/postgres/machine/os-user.ts";
import { PostgresEngine } from "../../src/postgres/processes/postgres-engine.ts";
import { writeExtension } from "../../src/postgres/rights/extension.ts";

const VERSION = PROFILES[DEFAULT_PROFILE].defaultPgVersion;
const MAX_CONNECTIONS = 112;
const PASSWORD = "bench";
const MAX_LOG_BYTES = 32 * 1024 ** 2;

async function openEngine(directory: string) {
  mkdirSync(directory, { mode: 0o711 });
  const user = engineUser();
  const installations = await findInstallations(undefined, user);
  const engine = new PostgresEngine({
    installations,
    templateDirectory: join(directory, "templates"),
    extension: writeExtension(directory, "platform"),
    user,
    maxLogBytes: MAX_LOG_BYTES,
    // Same value as the server's default: both have the same version.
    replacesVersions: true,
    maxSlotLogBytes: MAX_LOG_BYTES,
  });
  return { engine, user, installation: chooseInstallation(installations, VERSION) };
}

/** Postgres that listens on TCP itself, with TLS and passwords. */
export async function startTlsPostgres(directory: string) {
  const { engine, user, installation } = await openEngine(directory);
  if (installation === undefined) throw new Error("no Postgres is installed");
  const dataDirectory = join(directory, "tls", "data");
  const archive = join(directory, "tls", "archive");
  mkdirSync(archive, { recursive: true, mode: 0o711 });
  await engine.copyCluster({ base: await engine.emptyCluster(VERSION), to: dataDirectory, archive });
  const running = await engine.start({
    dataDirectory,
    maxConnections: MAX_CONNECTIONS,
    logicalReplication: false,
  });
  await running.query(`ALTER ROLE ${SUPERUSER} PASSWORD '${PASSWORD}'`);
  await running.stop();
  engine.close();
  const { private: key, cert } = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    algorithm: "sha256",
  });
  const files = {
    "server.key": key,
    "server.crt": cert,
    "bench_hba.conf": "hostssl all all 127.0.0.1/32 scram-sha-256\n",
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(dataDirectory, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (user !== undefined) chownSync(path, user.uid, user.gid);
  }
  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    ssl: "on",
    hba_file: join(dataDirectory, "bench_hba.conf"),
    max_connections: MAX_CONNECTIONS,
    fsync: "off",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(join(installation.binDirectory, "postgres"), ["-D", dataDirectory, ...args], {
    ...spawnOptions(user),
    cwd: dataDirectory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    log += chunk;
    if (log.includes("ready to accept connections")) break;
  }
  if (child.exitCode !== null) throw new Error(log);
  child.stderr.resume();
  return {
    uri: `postgresql://${SUPERUSER}:${PASSWORD}@127.0.0.1:${port}/postgres?sslmode=require`,
    close: () => {
      child.kill("SIGINT");
      return once(child, "exit");
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Postgres without a server: copies a cluster, starts it and connects to it. */
export async function bareWake(directory: string) {
  const { engine } = await openEngine(directory);
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
