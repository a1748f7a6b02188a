import type { ServerClient } from "../server/running-server.ts";

/** The paths of both APIs that together return everything in a world. */
export type WorldQueries = { readonly api: readonly string[]; readonly sim: readonly string[] };

/** Everything that a world returns. An error counts with its status and code. */
export type WorldResponses = Readonly<Record<string, { readonly status: number; readonly text: string }>>;

/**
 * Fills a new world on a manual clock at 2026-01-01: about a hundred events, rows in every table, finished
 * and unfinished operations, open connections and scheduled activities. Returns the paths to read.
 */
export async function fillWorld(client: ServerClient): Promise<WorldQueries> {
  const request = async (surface: "api" | "sim", method: string, path: string, body?: unknown) => {
    const response = await client[surface](method, path, body);
    if (response.status >= 300)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  };
  const advance = (by: string) => request("sim", "POST", "/clock/advance", { by });
  const api = ["/projects", "/api_keys"];
  await request("sim", "POST", "/accounts", {
    name: "second",
    id: "second",
    plan: "free",
    api_key: "second-key-of-the-world",
  });
  const spare = await request("sim", "POST", "/api_keys", { key_name: "spare" });
  await request("sim", "DELETE", `/api_keys/${spare.id}`);
  for (const name of ["shop", "blog", "gone"]) {
    const { project, branch, roles, endpoints } = await request("api", "POST", "/projects", {
      project: { name },
    });
    const [endpoint] = endpoints;
    const path = `/projects/${project.id}`;
    await advance("10s");
    if (name === "gone") {
      await request("api", "DELETE", path);
      continue;
    }
    api.push(
      `${path}/operations?limit=1000`,
      `${path}/branches/${branch.id}/roles/${roles[0].name}/reveal_password`,
    );
    await request("api", "PATCH", `${path}/endpoints/${endpoint.id}`, {
      endpoint: { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 120 },
    });
    await advance("20s");
    const activity = (fields: object) =>
      request("sim", "POST", "/activity", { endpoint_id: endpoint.id, ...fields });
    for (let round = 0; round < 12; round += 1) {
      await activity({
        duration_ms: 30_000,
        load: 1.5,
        blocks: { hits: 10, misses: round, writes: 3 },
        source: `app ${name} ${round}`,
      });
      await advance("9m");
    }
    const dev = await request("api", "POST", `${path}/branches`, {
      branch: { name: "dev", parent_id: branch.id },
      endpoints: [{ type: "read_write" }],
    });
    await advance("10s");
    await request("api", "PATCH", `${path}/endpoints/${dev.endpoints[0].id}`, {
      endpoint: { name: "of the branch" },
    });
    await advance("10s");
    await activity({ kind: "connect", connection_id: "pool", pooled: true });
    await activity({ kind: "transaction", connection_id: "transaction" });
    for (let number = 1; number <= 8; number += 1) {
      await activity({
        at: `2026-02-0${number}T00:00:00.000Z`,
        duration_ms: 1_000,
        source: `to come ${number}`,
      });
    }
  }
  const { project } = await request("api", "POST", "/projects", { project: { name: "left in the middle" } });
  api.push(`/projects/${project.id}/operations?limit=1000`);
  return { api, sim: ["/state", "/clock", "/events?limit=10000", "/endpoints"] };
}

export async function queryAll(client: ServerClient, queries: WorldQueries): Promise<WorldResponses> {
  const responses: Record<string, { status: number; text: string }> = {};
  for (const surface of ["sim", "api"] as const) {
    for (const path of queries[surface]) {
      const { status, body } = await client[surface]("GET", path);
      responses[`${surface} ${path}`] = { status, text: status < 300 ? JSON.stringify(body) : body.code };
    }
  }
  return responses;
}
