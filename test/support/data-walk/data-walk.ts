import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { expect } from "vitest";
import type { InProcessScene } from "../postgres-walk/in-process-scene.ts";

const CONNECT_TRIES = 5;
const CONNECT_PAUSE_MS = 100;
const KILLED = /Couldn't connect to compute node|terminating connection/;

/** Expected content of a branch: the acknowledged numbers. */
type ModelBranch = {
  readonly id: string;
  readonly uri: string;
  rows: ReadonlySet<number>;
  /** The rows at the instants when the clock was left, since the branch exists. */
  past: { readonly at: string; readonly rows: ReadonlySet<number> }[];
  hasChildren: boolean;
};

/** At most this number of branches, so that a walk ends soon. */
const MAX_BRANCHES = 6;

/**
 * Writes to branches, creates branches of now and of the past, restores, kills engines and moves the clock at
 * random, and compares all branches with a model: a list of committed rows.
 */
export async function walkData(scene: InProcessScene, seed: number, steps: number): Promise<void> {
  const random = xoroshiro128plus(seed);
  const draw = (below: number) => (random.next() >>> 0) % below;
  const { body } = await scene.api("POST", "/projects", { project: { name: `data-${seed}` } });
  const projectId: string = body.project.id;
  const branches: ModelBranch[] = [
    newBranch(body.branch.id, scene.address(body.connection_uris[0].connection_uri), new Set()),
  ];
  let lastRow = 0;
  await write(branches[0] as ModelBranch, "create table numbers (number int)");
  for (let step = 0; step < steps; step += 1) {
    const branch = branches[draw(branches.length)] as ModelBranch;
    const kind = draw(12);
    if (kind < 4) {
      lastRow += 1;
      await write(branch, `insert into numbers values (${lastRow})`);
      branch.rows = new Set([...branch.rows, lastRow]);
    } else if (kind < 6) {
      const { now } = (await scene.sim("GET", "/clock")).body;
      for (const each of branches) each.past.push({ at: now, rows: each.rows });
      await scene.sim("POST", "/clock/advance", { by: kind === 4 ? "7s" : "10m" });
    } else if (kind === 6) {
      scene.killEngine(branch.id);
    } else if (kind < 10 && branches.length < MAX_BRANCHES) {
      const point = kind === 9 ? branch.past[draw(Math.max(1, branch.past.length))] : undefined;
      branches.push(await createChild(scene, projectId, branch, point));
      branch.hasChildren = true;
    } else if (kind === 10) {
      await restore(scene, projectId, branch, draw);
    } else {
      expect(await read(branch), `branch ${branch.id} at step ${step}`).toEqual(sorted(branch.rows));
    }
  }
  for (const branch of branches)
    expect(await read(branch), `branch ${branch.id}`).toEqual(sorted(branch.rows));
}

function newBranch(id: string, uri: string, rows: ReadonlySet<number>): ModelBranch {
  return { id, uri, rows, past: [], hasChildren: false };
}

async function createChild(
  scene: InProcessScene,
  projectId: string,
  parent: ModelBranch,
  point: ModelBranch["past"][number] | undefined,
): Promise<ModelBranch> {
  const timestamp = point === undefined ? {} : { parent_timestamp: point.at };
  const { status, body } = await scene.api("POST", `/projects/${projectId}/branches`, {
    branch: { parent_id: parent.id, ...timestamp },
    endpoints: [{ type: "read_write" }],
  });
  expect(status, JSON.stringify(body)).toBe(201);
  const uri = scene.address(body.connection_uris[0].connection_uri);
  return newBranch(body.branch.id, uri, point?.rows ?? parent.rows);
}

/** Restores the branch to an instant of its own. Its computes stay. */
async function restore(
  scene: InProcessScene,
  projectId: string,
  branch: ModelBranch,
  draw: (below: number) => number,
): Promise<void> {
  const point = branch.past[draw(Math.max(1, branch.past.length))];
  if (point === undefined) return;
  const { status, body } = await scene.api("POST", `/projects/${projectId}/branches/${branch.id}/restore`, {
    source_branch_id: branch.id,
    source_timestamp: point.at,
    preserve_under_name: `before-${draw(1e9)}`,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  branch.rows = point.rows;
}

/** Acknowledged when it resolves. */
async function write({ uri }: ModelBranch, sql: string): Promise<void> {
  await withClient(uri, (client) => client.query(sql));
}

function read({ uri }: ModelBranch): Promise<number[]> {
  return withClient(uri, async (client) => {
    const { rows } = await client.query("select number from numbers order by number");
    return rows.map(({ number }) => number);
  });
}

/** While the server has not noticed that Postgres was killed, it rejects a connection. */
async function connected(uri: string): Promise<pg.Client> {
  for (let tries = 1; ; tries += 1) {
    const client = new pg.Client(uri.replace("sslmode=disable", ""));
    client.on("error", () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (tries === CONNECT_TRIES || !KILLED.test(String(error))) throw error;
      await sleep(tries * CONNECT_PAUSE_MS);
    }
  }
}

async function withClient<T>(uri: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connected(uri);
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function sorted(rows: ReadonlySet<number>): number[] {
  return [...rows].sort((a, b) => a - b);
}
