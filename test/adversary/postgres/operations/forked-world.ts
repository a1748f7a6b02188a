import { pathOf, type Scene, type SceneApi } from "../../../support/document/contract-scene.ts";
import type { Example } from "../../../support/document/operation-examples.ts";
import { type clientOfWorld, forkWorldOn } from "../../../support/server/worlds.ts";
import { openClient } from "../clients.ts";
import { type HostileServer, sceneApi } from "../hostile-server.ts";
import { findingsOf } from "../judge.ts";
import type { ControlCall } from "./control-operations.ts";
import type { PlatformOperation } from "./platform-operations.ts";

type Client = ReturnType<typeof clientOfWorld>;
type Compute = { readonly id: string; readonly project_id: string; readonly branch_id: string };

let forks = 0;

/** A fork of the hostile scene, with the data of its branches, for one operation. */
export class ForkedWorld {
  readonly scene: Scene<SceneApi>;
  readonly #hostile: HostileServer;
  readonly #name: string;
  readonly #client: Client;
  readonly #before: ReadonlySet<string>;

  private constructor(hostile: HostileServer, name: string, client: Client, before: ReadonlySet<string>) {
    this.#hostile = hostile;
    this.#name = name;
    this.#client = client;
    this.#before = before;
    this.scene = { ...hostile.scene, double: sceneApi(client) };
  }

  static async open(hostile: HostileServer): Promise<ForkedWorld> {
    forks += 1;
    const name = `fork-${forks}`;
    const client = await forkWorldOn(hostile.server, { name });
    const { objects, computes } = await objectsOf(client);
    return new ForkedWorld(hostile, name, client, new Set([...objects, ...computes].map(({ id }) => id)));
  }

  async remove(): Promise<void> {
    await this.#hostile.server.sim("DELETE", `/worlds/${this.#name}`);
  }

  /** Sends the request of an example, which must succeed. Returns the ids of its path. */
  async call({ method, path, operationId }: PlatformOperation, example: Example): Promise<string[]> {
    await example.before?.(this.scene);
    const ids = { ...this.scene.ids, ...example.ids?.(this.scene) };
    const url = pathOf({ operationId, method, path }, ids, example.query?.(this.scene));
    const { status, body } = await this.#client.api(method, url, example.body?.(this.scene));
    if (status >= 300) throw new Error(`${operationId}: ${status} ${JSON.stringify(body)}`);
    await this.scene.double.advance("10s");
    return Object.values(ids);
  }

  /** Calls a route of the control API, which must succeed. */
  async callControl(route: string, { params = [], body, query = "" }: ControlCall): Promise<void> {
    const [method = "", path = ""] = route.split(" ");
    let index = 0;
    const url = path.replaceAll(/:\w+/g, () => encodeURIComponent(params[index++] ?? ""));
    const { status, body: answer } = await this.#client.sim(method, url + query, body);
    if (status >= 300 || answer.outcome === "refused")
      throw new Error(`${route}: ${status} ${JSON.stringify(answer)}`);
  }

  /** Connects to the compute with the hostile code. */
  async wake(): Promise<string[]> {
    const { project_id, branch_id, endpoint_id } = this.scene.ids;
    return this.#judge({ id: endpoint_id, project_id, branch_id });
  }

  /**
   * Connects to the compute with the hostile code, to those that are new, to those of the ids, and to new branches
   * that have none yet.
   */
  async findings(ids: readonly string[]): Promise<string[]> {
    const { endpoint_id } = this.scene.ids;
    const findings: string[] = [];
    for (const compute of await this.#computes()) {
      const isNew = !this.#before.has(compute.id);
      if (isNew || compute.id === endpoint_id || ids.includes(compute.id))
        findings.push(...(await this.#judge(compute)));
    }
    return [...this.#hostile.observer.traces(), ...findings];
  }

  /** Also gives a primary compute to each new branch that has none. */
  async #computes(): Promise<Compute[]> {
    const { objects, computes } = await objectsOf(this.#client);
    const used = new Set(computes.map(({ branch_id }) => branch_id));
    for (const { id, project_id } of objects) {
      if (this.#before.has(id) || used.has(id)) continue;
      const endpoint = { branch_id: id, type: "read_write" };
      const { status, body } = await this.#client.api("POST", `/projects/${project_id}/endpoints`, {
        endpoint,
      });
      if (status === 201) computes.push(body.endpoint);
    }
    return computes;
  }

  async #judge({ id, project_id, branch_id }: Compute): Promise<string[]> {
    const path = `/projects/${project_id}/branches/${branch_id}/databases`;
    const { databases = [] } = (await this.#client.api("GET", path)).body;
    const findings: string[] = [];
    for (const { name, owner_name } of databases) {
      const client = await openClient(this.#client, {
        project_id,
        branch_id,
        endpoint_id: id,
        database: name,
        role: owner_name,
        world: this.#name,
      });
      const { rows } = await client.query("select to_regclass('adversary.sightings') is not null as hostile");
      if (rows[0].hostile) findings.push(...(await findingsOf(client)));
      await client.end();
    }
    return findings.map((finding) => `${finding} (${id})`);
  }
}

/** The branches and the enabled computes of all projects. */
async function objectsOf({ api }: Client) {
  const { projects } = (await api("GET", "/projects?limit=400")).body;
  const objects: { readonly id: string; readonly project_id: string }[] = [];
  const computes: Compute[] = [];
  for (const { id } of projects) {
    objects.push(...(await api("GET", `/projects/${id}/branches`)).body.branches);
    const { endpoints } = (await api("GET", `/projects/${id}/endpoints`)).body;
    computes.push(...endpoints.filter(({ disabled }: { disabled: boolean }) => !disabled));
  }
  return { objects, computes };
}
