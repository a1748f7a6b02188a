import { setTimeout as sleep } from "node:timers/promises";
import { inWorld } from "../support/durability/crashes.ts";
import type { ReadyLine } from "../support/process/process.ts";
import type { ServerClient } from "../support/server/running-server.ts";

/** Between two steps of a lane, so that the load does not depend much on the speed of the machine. */
const PAUSE_MS = 20;
/** Projects of a lane; the oldest one is deleted when there are more. */
const MAX_PROJECTS = 5;
/** Each lane leaves one of this number of forks to `--expire-worlds`. */
const FORKS_PER_EXPIRY = 4;
const MANUAL_WORLD = "manual";

type World = Pick<ServerClient, "api" | "sim">;
export type SoakServer = World & { readonly ready: ReadyLine };
type Step = (number: number) => Promise<void>;

/** Mixed load, which stops for each sample. Every kind of object that it makes is deleted again. */
export class SoakLoad {
  readonly #server: SoakServer;
  readonly #default: World;
  readonly #manual: World;
  #lanes: readonly Step[] = [];
  #isStopping = false;
  #number = 0;
  #unexpected: string[] = [];
  requests = 0;

  constructor(server: SoakServer) {
    this.#server = server;
    this.#default = this.#counted(server);
    this.#manual = this.#counted(inWorld(server, MANUAL_WORLD));
  }

  async prepare(): Promise<void> {
    const { body } = await this.#default.api("POST", "/projects", { project: { name: "soak" } });
    const endpointId = body.endpoints[0].id;
    await this.#fork(MANUAL_WORLD, "manual");
    this.#lanes = [
      this.#projects(),
      this.#projects(),
      this.#keys(),
      this.#reads(this.#default),
      this.#reads(this.#manual),
      this.#traffic(this.#default, endpointId),
      this.#traffic(this.#manual, endpointId),
      this.#advances(),
      this.#snapshots(),
      this.#forks("manual"),
      this.#forks("1000x"),
    ];
  }

  /** Runs all lanes for a time, and resolves when their last requests are answered. */
  async runFor(ms: number): Promise<void> {
    this.#isStopping = false;
    const ended = Promise.allSettled(this.#lanes.map((step) => this.#lane(step)));
    await sleep(ms);
    this.#isStopping = true;
    const failed = (await ended).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    if (this.#unexpected.length > 0) throw new Error(this.#unexpected.join("\n"));
  }

  async #lane(step: Step): Promise<void> {
    while (!this.#isStopping) {
      this.#number += 1;
      await step(this.#number);
      await sleep(PAUSE_MS);
    }
  }

  /** Projects with branches, roles and traffic. */
  #projects(): Step {
    const world = this.#default;
    const projects: { id: string; endpointId: string }[] = [];
    return async (number) => {
      if (projects.length <= MAX_PROJECTS) {
        const { status, body } = await world.api("POST", "/projects", {
          project: { name: `soak ${number}` },
        });
        if (status === 201) projects.push({ id: body.project.id, endpointId: body.endpoints[0].id });
      }
      for (const { id, endpointId } of projects) {
        await world.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: number % 900 });
        await world.api("GET", `/projects/${id}/operations?limit=10`);
        await world.api("POST", `/projects/${id}/branches`, { branch: { name: `branch ${number}` } });
      }
      const oldest = projects.length > MAX_PROJECTS ? projects[0] : undefined;
      if (oldest === undefined) return;
      // Locked while an operation runs.
      const deleted = await world.api("DELETE", `/projects/${oldest.id}`);
      if (deleted.status === 200 || deleted.status === 404) projects.shift();
    };
  }

  #keys(): Step {
    const world = this.#default;
    return async (number) => {
      const { body } = await world.api("POST", "/api_keys", { key_name: `soak ${number}` });
      await world.api("GET", "/projects", undefined, body.key);
      await world.api("DELETE", `/api_keys/${body.id}`);
    };
  }

  #traffic(world: World, endpointId: string): Step {
    return async (number) => {
      await world.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: number % 900 });
    };
  }

  /** Reads, rejected requests, and requests without a valid key. */
  #reads(world: World): Step {
    return async () => {
      await world.api("GET", "/projects?limit=10");
      await world.api("POST", "/projects", { project: { name: 1 } });
      await world.api("GET", "/projects/no-such-project");
      await world.api("GET", "/projects", undefined, "invalid");
      await world.sim("GET", "/events?since=0&limit=100");
      await world.sim("GET", "/requests?since=0&limit=100");
      await this.#default.sim("GET", "/metrics");
    };
  }

  #advances(): Step {
    return async () => {
      await this.#manual.sim("POST", "/clock/advance", { by: "6h" });
    };
  }

  #snapshots(): Step {
    return async (number) => {
      const name = `soak-${number}`;
      await this.#manual.sim("POST", "/snapshots", { name });
      await sleep(10 * PAUSE_MS);
      await this.#manual.sim("POST", `/snapshots/${name}/restore`);
      await this.#manual.sim("DELETE", `/snapshots/${name}`);
    };
  }

  #forks(clock: string): Step {
    let forks = 0;
    return async (number) => {
      const name = `fork-${number}`;
      await this.#fork(name, clock);
      forks += 1;
      const fork = this.#counted(inWorld(this.#server, name));
      await fork.api("POST", "/projects", { project: { name } });
      await fork.sim("GET", "/state");
      if (forks % FORKS_PER_EXPIRY !== 0) await this.#default.sim("DELETE", `/worlds/${name}`);
    };
  }

  async #fork(name: string, clock: string): Promise<void> {
    const { status, body } = await this.#default.sim("POST", "/worlds", { name, clock });
    if (status !== 201) this.#unexpected.push(`POST /_sim/worlds: ${status} ${JSON.stringify(body)}`);
  }

  /** Counts requests, and notes each 5xx. A world that is being restored answers 503. */
  #counted({ api, sim }: World): World {
    const note = async <T extends { status: number; body: unknown }>(
      method: string,
      path: string,
      call: Promise<T>,
    ) => {
      const answer = await call;
      this.requests += 1;
      if (answer.status >= 500 && !JSON.stringify(answer.body).includes("restored"))
        this.#unexpected.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer;
    };
    return {
      api: (method, path, body, key) => note(method, path, api(method, path, body, key)),
      sim: (method, path, body) => note(method, path, sim(method, path, body)),
    };
  }
}
