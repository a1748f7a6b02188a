import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createApp } from "../../../src/app/create-app.ts";
import { DataLimit } from "../../../src/postgres/data/data-limit.ts";
import { type Engine, EngineError } from "../../../src/postgres/engine/engine.ts";
import { Gateway } from "../../../src/postgres/gateway.ts";
import { TlsIdentity } from "../../../src/postgres/login/tls-identity.ts";
import { Volumes } from "../../../src/postgres/volumes/volumes.ts";
import { createDouble, createProject } from "../double/double.ts";
import { temporaryDirectory } from "../process/process.ts";

export type FuzzedGateway = Awaited<ReturnType<typeof openFuzzedGateway>>;

const NO_ENGINE: Engine = {
  versions: [17],
  emptyCluster: async () => {
    throw new EngineError("there is no Postgres in this test");
  },
  copyCluster: async () => {
    throw new EngineError("there is no Postgres in this test");
  },
  advanceCluster: async () => {
    throw new EngineError("there is no Postgres in this test");
  },
  logStart: () => 0,
  dropLog: async () => undefined,
  trimLog: async () => undefined,
  start: async () => {
    throw new EngineError("there is no Postgres in this test");
  },
  ensureExtension: () => Promise.resolve(),
  startStandby: () => Promise.reject(new EngineError("there is no Postgres in this test")),
  stopLeftover: async () => false,
  close: () => undefined,
};

/** A gateway with one compute and without Postgres, on a port of its own. */
export async function openFuzzedGateway({
  requireTls = false,
  proxyProtocol = false,
  controlToken,
  profile = "2024",
}: {
  readonly requireTls?: boolean;
  readonly proxyProtocol?: boolean;
  readonly controlToken?: string;
  readonly profile?: "2024" | "2026";
} = {}) {
  const { path, remove } = temporaryDirectory();
  const double = await createDouble({ operations: "immediate", profile });
  const { projectId, endpointId, created } = await createProject(double);
  const bugs: unknown[] = [];
  const volumes = new Volumes(join(path, "volumes"), path);
  const gateway = new Gateway({
    worlds: double.worlds,
    defaultWorld: "default",
    openEngine: async () => NO_ENGINE,
    volumes,
    dataLimit: new DataLimit(volumes, "none"),
    requestRemoval: () => undefined,
    tls: new TlsIdentity(join(path, "tls")),
    requireTls,
    proxyProtocol,
    maxEngines: 1,
    maxBranchHistory: 2 ** 28,
    onError: (error) => bugs.push(error),
  });
  const server = createServer((socket) => gateway.accept(socket, { address: "127.0.0.1" })).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const app = createApp({
    worlds: double.worlds,
    version: "test",
    rateLimit: false,
    hosts: [],
    controlToken,
    postgres: { sql: (request) => gateway.sqlOverHttp.respond(request), api: {}, control: {} },
    onBug: (error) => bugs.push(error),
  });
  return {
    double,
    projectId,
    endpointId,
    gateway,
    /** The HTTP surfaces of the same world, with SQL over HTTP. */
    app,
    /** A login that is correct. */
    connectionString: created.connection_uris[0].connection_uri as string,
    bugs,
    port,
    connect: () => connect(port, "127.0.0.1").on("error", () => undefined),
    async close() {
      server.close();
      await gateway.close();
      await double.close();
      remove();
    },
  };
}

/** All bytes that the gateway sends until it closes the connection. */
export async function answerOf(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  await once(socket, "close");
  return Buffer.concat(chunks);
}
