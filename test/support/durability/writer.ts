import type { ApiResponse } from "../answers/api-response.ts";
import type { ServerClient } from "../server/running-server.ts";

type RandomDraw = () => number;
type Key = { readonly id: number; readonly name: string; readonly secret: string };

/**
 * A client that changes the world as fast as it can over many connections, and remembers every acknowledged
 * change.
 */
export class Writer {
  readonly keys: Key[] = [];
  readonly revokedKeys: Key[] = [];
  /** Names by id. */
  readonly projects = new Map<string, string>();
  readonly deletedProjects: string[] = [];
  /** The marks of the acknowledged activities. */
  readonly activities: string[] = [];
  /**
   * Keys and projects whose deletion was requested, acknowledged or not: the latest instant by then, by id.
   */
  readonly deletionsRequested = new Map<number | string, string>();
  /** The latest instant in an answer. */
  latestInstant = "";
  acknowledged = 0;
  #number = 0;

  /** Writes over `lanes` connections until `enough` returns true or the server is gone. */
  async write(
    client: ServerClient,
    connections: number,
    draw: RandomDraw,
    isDone: () => boolean,
  ): Promise<void> {
    await Promise.all(Array.from({ length: connections }, () => this.#writeOver(client, draw, isDone)));
  }

  async #writeOver(client: ServerClient, draw: RandomDraw, isDone: () => boolean): Promise<void> {
    const own: { id: string; endpointId: string }[] = [];
    const keys: Key[] = [];
    while (!isDone()) {
      try {
        await this.#step(client, draw, own, keys);
      } catch (error) {
        // The connection is lost: whether the last call took effect is unknown.
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  }

  async #step(
    client: ServerClient,
    draw: RandomDraw,
    own: { id: string; endpointId: string }[],
    keys: Key[],
  ): Promise<void> {
    const name = `written-${++this.#number}`;
    const project = own[draw() % Math.max(1, own.length)];
    const kind = draw() % 10;
    if (kind < 3) {
      const { body } = this.#acknowledge(await client.api("POST", "/api_keys", { key_name: name }), 200);
      const key = { id: body.id, name, secret: body.key };
      this.keys.push(key);
      keys.push(key);
    } else if (kind < 4 && keys.length > 0) {
      const key = keys.pop() as Key;
      this.deletionsRequested.set(key.id, this.latestInstant);
      this.#acknowledge(await client.api("DELETE", `/api_keys/${key.id}`), 200);
      this.revokedKeys.push(key);
    } else if (kind < 6 || project === undefined) {
      const { body } = this.#acknowledge(await client.api("POST", "/projects", { project: { name } }), 201);
      own.push({ id: body.project.id, endpointId: body.endpoints[0].id });
      this.projects.set(body.project.id, name);
    } else if (kind < 7) {
      this.deletionsRequested.set(project.id, this.latestInstant);
      this.#acknowledge(await client.api("DELETE", `/projects/${project.id}`), 200);
      own.splice(own.indexOf(project), 1);
      this.deletedProjects.push(project.id);
    } else if (kind < 9) {
      this.#acknowledge(
        await client.sim("POST", "/activity", {
          endpoint_id: project.endpointId,
          duration_ms: 700,
          source: name,
        }),
        200,
      );
      this.activities.push(name);
    } else {
      const { body } = this.#acknowledge(
        await client.sim("POST", "/clock/advance", { by: `${1 + (draw() % 60_000)}ms` }),
        200,
      );
      if (body.now > this.latestInstant) this.latestInstant = body.now;
    }
  }

  #acknowledge<Response extends ApiResponse<unknown>>(response: Response, ...expected: number[]): Response {
    if (!expected.includes(response.status))
      throw new Error(`answered ${response.status}: ${JSON.stringify(response.body)}`);
    this.acknowledged += 1;
    return response;
  }
}
