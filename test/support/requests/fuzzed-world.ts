import type { Hono } from "hono";
import { createApp } from "../../../src/app/create-app.ts";
import { openWorlds } from "../../../src/app/open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import type { HostClock } from "../../../src/simulation/host-clock.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import type { WorldRegistry } from "../../../src/worlds/world-registry.ts";
import type { AnyBody } from "../answers/api-response.ts";
import { API_KEY, START } from "../double/double.ts";
import { SMALL_BLOCKS } from "../store/small-blocks.ts";

export const FREE_KEY = "f".repeat(64);

/** Existing objects that requests may name. */
export type ResourceNames = {
  readonly project: string;
  readonly branch: string;
  readonly endpoint: string;
  readonly replica: string;
  readonly operation: string;
  readonly organization: string;
};

export type FuzzedWorld = {
  readonly app: Hono;
  readonly names: ResourceNames;
  /** The errors that caused responses with status 500. */
  readonly bugs: unknown[];
  state(): Promise<string>;
  /** The number of the newest event, after all work that is due. */
  settledSeq(): Promise<number>;
  /** The number of the newest event. */
  seq(): number;
  close(): Promise<void>;
};

/** A complete app over SQLite with one of everything in its world. Identical for each call in an empty directory. */
export async function createFuzzedWorld(path: string, hostClock?: HostClock): Promise<FuzzedWorld> {
  const server = new FuzzedApp();
  const opened = await server.open(path, { seed: 1, startAt: START, ...(hostClock && { hostClock }) });
  return { ...opened, names: await createObjects(server.app) };
}

/** One app for worlds that are opened one after another. */
export class FuzzedApp {
  readonly app: Hono;
  readonly #bugs: unknown[] = [];
  #worlds: WorldRegistry | undefined;

  constructor() {
    const worlds = new Proxy({} as WorldRegistry, {
      get: (_, name) => {
        const value = Reflect.get(this.#worlds as WorldRegistry, name, this.#worlds);
        return typeof value === "function" ? value.bind(this.#worlds) : value;
      },
    });
    this.app = createApp({
      worlds,
      version: "test",
      rateLimit: false,
      hosts: [],
      controlToken: undefined,
      onBug: (error) => this.#bugs.push(error),
    });
  }

  /** Serves the world of a directory from now on. The previous one must be closed. */
  async open(
    path: string,
    options: Partial<Parameters<typeof openWorlds>[1]>,
  ): Promise<Omit<FuzzedWorld, "names">> {
    const { app } = this;
    const bugs = this.#bugs;
    const directory = new DataDirectory(path, MIGRATIONS_FOLDER, SMALL_BLOCKS);
    const { worlds, world } = await openWorlds(
      directory,
      { clock: { mode: "manual", factor: 0 }, apiKey: API_KEY, ...options },
      (error) => bugs.push(error),
    );
    this.#worlds = worlds;
    return {
      app,
      bugs,
      settledSeq: async () => world.settledSeq() ?? world.transact(({ world: { seq } }) => seq),
      seq: () => world.history().seq,
      state: async () => (await app.request("http://localhost/_sim/state")).text(),
      async close() {
        await worlds.close();
        directory.release();
      },
    };
  }
}

async function createObjects(app: Hono): Promise<ResourceNames> {
  const post = async (path: string, body: unknown) => {
    const headers = { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" };
    const response = await app.request(`http://localhost${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as AnyBody;
  };
  await post("/_sim/accounts", { id: "thrifty", name: "thrifty", plan: "free", api_key: FREE_KEY });
  const created = await post("/api/v2/projects", { project: {} });
  await post("/_sim/clock/advance", { by: "10s" });
  const replica = await post(`/api/v2/projects/${created.project.id}/endpoints`, {
    endpoint: { branch_id: created.branch.id, type: "read_only" },
  });
  await post("/_sim/clock/advance", { by: "10s" });
  await post(`/api/v2/projects/${created.project.id}/branches`, { branch: { name: "dev" } });
  await post("/_sim/clock/advance", { by: "10s" });
  return {
    project: created.project.id,
    branch: created.branch.id,
    endpoint: created.endpoints[0].id,
    replica: replica.endpoint.id,
    operation: created.operations[0].id,
    organization: created.project.org_id,
  };
}
