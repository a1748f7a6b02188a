import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { PostgresPort } from "../../../src/app/postgres-port.ts";
import type { RecordedEvent } from "../../../src/platform/model/events.ts";
import type { RunningEngine, StartRequest } from "../../../src/postgres/engine/engine.ts";
import { PostgresEngine } from "../../../src/postgres/processes/postgres-engine.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { createDouble } from "../double/double.ts";
import { SMALL_BLOCKS } from "../store/small-blocks.ts";
import type { WalkScene } from "./walk.ts";

export type InProcessScene = WalkScene & {
  /** Connections of the gateway to engines that are open. */
  openEngineSockets(): number;
  close(): Promise<void>;
};

/** A channel of `net`. */
const CREATED_SOCKETS = "net.client.socket";

/**
 * A world in files with a port for Postgres clients, in this process: each write to an engine is compared with
 * the published state of its compute at that moment.
 */
export async function openInProcessScene(
  data: string,
  volumes: string,
  clock: "manual" | "scaled",
  operations: "timed" | "immediate",
  maxBranchHistory = 2 ** 28,
): Promise<InProcessScene> {
  const storage = new DataDirectory(data, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  const double = await createDouble({
    storage,
    operations,
    ...(clock === "scaled" ? { clock: { mode: "scaled", factor: 600 } } : {}),
  });
  const errors: Error[] = [];
  const port = new PostgresPort(
    double.worlds,
    {
      dataDirectory: data,
      volumes,
      tlsDirectory: join(volumes, "..", "tls"),
      engine: "auto",
      engineVersion: "nearest",
      maxEngines: 32,
      maxBranchHistory,
      maxData: "none",
      requireTls: false,
      proxyProtocol: false,
      extensionName: "platform",
      sqlClock: "machine",
    },
    {
      error: (error, message) => {
        if (!message.endsWith("has exited")) errors.push(new Error(message, { cause: error }));
      },
      warn: () => undefined,
      info: () => undefined,
    },
  );
  const engines = new Map<string, RunningEngine>();
  const states = new ComputeStates();
  const unsubscribeWorld = double.world.subscribe((events) => states.note(events));
  const stopFollowing = followEngines(engines);
  const sockets = new EngineSockets((path) => {
    for (const [branchId, { address }] of engines)
      if (address.path === path && states.isAsleep(branchId))
        errors.push(new Error(`bytes were sent to the engine of ${branchId}, whose compute is not active`));
  });
  const address = await port.listen(0, "127.0.0.1");
  return {
    api: double.api,
    sim: double.sim,
    clock,
    address(uri) {
      const url = new URL(uri);
      const [endpoint] = url.hostname.split(".");
      url.host = `127.0.0.1:${address.port}`;
      url.search = new URLSearchParams({ options: `endpoint=${endpoint}`, sslmode: "disable" }).toString();
      return url.href;
    },
    killEngine(branchId) {
      const engine = engines.get(branchId);
      if (engine === undefined) return false;
      process.kill(engine.pid, "SIGKILL");
      return true;
    },
    check() {
      if (errors[0] !== undefined) throw errors[0];
    },
    openEngineSockets: () => sockets.open,
    async close() {
      sockets.close();
      stopFollowing();
      unsubscribeWorld();
      await port.close();
      await double.close();
      storage.release();
    },
  };
}

/** Adds each engine that starts to the map, by its branch, and removes it when its process has exited. */
function followEngines(engines: Map<string, RunningEngine>): () => void {
  const { start } = PostgresEngine.prototype;
  PostgresEngine.prototype.start = async function (this: PostgresEngine, request: StartRequest) {
    const engine = await start.call(this, request);
    const branchId = branchOf(request);
    engines.set(branchId, engine);
    void engine.exited.then(() => {
      if (engines.get(branchId) === engine) engines.delete(branchId);
    });
    return engine;
  };
  return () => {
    PostgresEngine.prototype.start = start;
  };
}

/** The name of a volume is the id of its branch and a random part. */
function branchOf({ dataDirectory }: StartRequest): string {
  return basename(dirname(dataDirectory)).replace(/-[0-9a-f]{8}$/, "");
}

/** Which computes must get no work, by the events that the world has published. */
class ComputeStates {
  readonly #branchOf = new Map<string, string>();
  readonly #asleep = new Set<string>();

  isAsleep(branchId: string): boolean {
    return this.#asleep.has(branchId);
  }

  note(events: readonly RecordedEvent[]): void {
    for (const event of events)
      switch (event.type) {
        case "ComputeCreated":
          this.#branchOf.set(event.compute.id, event.compute.branchId);
          break;
        case "ComputeSuspending":
        case "ComputeSuspended":
        case "ComputeDeleted":
          this.#asleep.add(this.#branchOf.get(event.endpointId) ?? "");
          break;
        case "ComputeActivated":
        case "ComputeSuspendFailed":
          this.#asleep.delete(this.#branchOf.get(event.endpointId) ?? "");
          break;
        default:
      }
  }
}

/** The sockets of this process to engines. Only the gateway creates such sockets with `net.connect`. */
class EngineSockets {
  readonly #onWrite: (path: string) => void;
  readonly #onSocket = (message: unknown) => this.#follow((message as { socket: Socket }).socket);
  open = 0;

  constructor(onWrite: (path: string) => void) {
    this.#onWrite = onWrite;
    subscribe(CREATED_SOCKETS, this.#onSocket);
  }

  close(): void {
    unsubscribe(CREATED_SOCKETS, this.#onSocket);
  }

  #follow(socket: Socket): void {
    const connect = socket.connect.bind(socket) as (...args: unknown[]) => Socket;
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.connect = ((...args: unknown[]) => {
      const [[options] = []] = args as [[{ path?: string }]?];
      const path = options?.path;
      if (path !== undefined) {
        this.open += 1;
        socket.once("close", () => {
          this.open -= 1;
        });
        socket.write = ((...chunks: unknown[]) => {
          this.#onWrite(path);
          return write(...chunks);
        }) as Socket["write"];
      }
      return connect(...args);
    }) as Socket["connect"];
  }
}
