import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import type { ServerClient } from "../server/running-server.ts";
import { WalkClients } from "./walk-clients.ts";

/** A server, or the same parts of it in this process. */
export type WalkScene = ServerClient & {
  readonly clock: "manual" | "scaled";
  /** The URI of the API with the address of this server. */
  address(uri: string): string;
  /** Kills the Postgres process of a branch. Returns false if it has none. */
  killEngine(branchId: string): boolean;
  /** Kills the server and starts another one on its files; absent if it runs in this process. */
  readonly restartServer?: () => Promise<void>;
  /** Throws if the scene has seen a violation. */
  check(): void;
};

export type WalkBranch = {
  readonly projectId: string;
  readonly branchId: string;
  readonly endpointId: string;
  readonly uri: string;
  /** Counts the beginnings and the ends of requests and kills that may end open work. */
  disturbances: number;
  isDeleted: boolean;
  readonly acknowledged: Set<number>;
  /** Numbers of transactions that were rolled back. */
  readonly rolledBack: Set<number>;
};

/** A client that waits longer is considered to wait forever: nothing of a walk takes a hundredth of it. */
const LONGEST_WAIT_MS = 60_000;
const CLIENTS = 5;
const MAX_BRANCHES = 3;
/** Answers of the API to a request that the state of the world does not allow. */
const EXPECTED_STATUSES = [200, 201, 202, 404, 409, 412, 422, 423];

/** Clients that query at random, while the world is changed at random. Throws at the first violation. */
export async function walk(scene: WalkScene, seed: number, steps: number): Promise<void> {
  const random = randomFrom(seed);
  const branches: WalkBranch[] = [];
  await addBranch(scene, branches);
  const clients = new WalkClients(branches, random);
  const running = clients.run(CLIENTS);
  const draw = random.stream("world", 1);
  try {
    for (let step = 0; step < steps && !clients.hasFailed; step += 1) {
      await disturb(scene, branches, draw);
      // Lets the clients work for a few turns, or for a while.
      await sleep(draw() % 4 === 0 ? draw() % 120 : draw() % 15);
      scene.check();
    }
  } finally {
    clients.stop();
    await running;
  }
  scene.check();
  for (const branch of branches.filter(({ isDeleted }) => !isDeleted)) await checkBranch(scene, branch);
  const { body } = await scene.sim("GET", "/invariants");
  expect(body.violations).toEqual([]);
}

/** Rejects if `work` takes so long that it must be considered to hang. */
export async function bounded<T>(work: Promise<T>, what: string): Promise<T> {
  const timeout = new AbortController();
  const waited = sleep(LONGEST_WAIT_MS, undefined, { signal: timeout.signal }).then(() => {
    throw new Error(`waits forever: ${what}`);
  });
  try {
    return await Promise.race([work, waited]);
  } finally {
    timeout.abort();
    waited.catch(() => undefined);
  }
}

async function disturb(scene: WalkScene, branches: WalkBranch[], draw: () => number): Promise<void> {
  const living = branches.filter(({ isDeleted }) => !isDeleted);
  const branch = living[draw() % living.length] as WalkBranch;
  const path = `/projects/${branch.projectId}/endpoints/${branch.endpointId}`;
  const kind = draw() % 20;
  if (kind < 9) {
    const seconds = draw() % 3 === 0 ? 301 + (draw() % 300) : 1 + (draw() % 60);
    if (scene.clock === "manual") await scene.sim("POST", "/clock/advance", { by: `${seconds}s` });
    else await sleep(seconds);
  } else if (kind < 12) {
    branch.disturbances += 1;
    await request(scene, "POST", `${path}/suspend`);
    branch.disturbances += 1;
  } else if (kind < 14) {
    branch.disturbances += 1;
    await request(scene, "POST", `${path}/restart`);
    branch.disturbances += 1;
  } else if (kind < 16) {
    branch.disturbances += 1;
    scene.killEngine(branch.branchId);
  } else if (kind < 17) {
    await request(scene, "POST", `${path}/start`);
  } else if (kind < 18 && living.length < MAX_BRANCHES) {
    await addBranch(scene, branches);
  } else if (kind < 19 && living.length > 1 && branch !== branches[0]) {
    branch.disturbances += 1;
    const { status } = await request(
      scene,
      "DELETE",
      `/projects/${branch.projectId}/branches/${branch.branchId}`,
    );
    branch.isDeleted = status === 200;
    branch.disturbances += 1;
  } else if (scene.restartServer !== undefined) {
    for (const each of branches) each.disturbances += 1;
    await scene.restartServer();
    for (const each of branches) each.disturbances += 1;
  }
}

async function request(scene: WalkScene, method: string, path: string, body?: unknown) {
  const answer = await bounded(scene.api(method, path, body), `${method} ${path}`);
  expect(EXPECTED_STATUSES, `${method} ${path}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
  return answer;
}

/** The first branch is the default one of a new project. */
async function addBranch(scene: WalkScene, branches: WalkBranch[]): Promise<void> {
  const [first] = branches;
  const created =
    first === undefined
      ? await request(scene, "POST", "/projects", { project: { name: "walk" } })
      : await request(scene, "POST", `/projects/${first.projectId}/branches`, {
          endpoints: [{ type: "read_write" }],
        });
  if (created.status !== 201) return;
  const { branch, endpoints } = created.body;
  const query = `branch_id=${branch.id}&database_name=neondb&role_name=neondb_owner`;
  const { body } = await request(scene, "GET", `/projects/${branch.project_id}/connection_uri?${query}`);
  branches.push({
    projectId: branch.project_id,
    branchId: branch.id,
    endpointId: endpoints[0].id,
    uri: scene.address(body.uri),
    disturbances: 0,
    isDeleted: false,
    acknowledged: new Set(),
    rolledBack: new Set(),
  });
}

/** All acknowledged rows exist, and the world, the sessions of the engine and the clients agree. */
async function checkBranch(scene: WalkScene, branch: WalkBranch): Promise<void> {
  const opened: pg.Client[] = [];
  const clientCount = 3;
  try {
    while (opened.length < clientCount) {
      const client = new pg.Client(branch.uri);
      client.on("error", () => undefined);
      await bounded(client.connect(), `a client of ${branch.branchId} after the walk`);
      opened.push(client);
    }
    const [client] = opened as [pg.Client];
    await client.query("create table if not exists numbers (number int)");
    const { rows } = await client.query("select number from numbers");
    const stored = new Set<number>(rows.map(({ number }) => number));
    expect([...branch.acknowledged].filter((number) => !stored.has(number))).toEqual([]);
    expect([...branch.rolledBack].filter((number) => stored.has(number))).toEqual([]);
    const { body } = await scene.sim("GET", `/endpoints/${branch.endpointId}/stats`);
    const sessions = await client.query(
      "select count(*)::int as count from pg_stat_activity where backend_type = 'client backend'",
    );
    expect({ world: body.connections.direct, engine: sessions.rows[0].count }).toEqual({
      world: clientCount,
      engine: clientCount,
    });
  } finally {
    await Promise.all(opened.map((client) => client.end().catch(() => undefined)));
  }
  const countOf = async () =>
    (await scene.sim("GET", `/endpoints/${branch.endpointId}/stats`)).body.connections.direct;
  await expect.poll(countOf, { timeout: LONGEST_WAIT_MS }).toBe(0);
}
