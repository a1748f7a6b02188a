import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { defaultBranchOf } from "../../platform/world/lookup.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import { writeAppliedContent } from "../content/applied-content.ts";
import { applyContent } from "../content/cluster-content.ts";
import { asApplied, type Content } from "../content/content.ts";
import type { Engine } from "../engine/engine.ts";
import { ensureRights } from "../rights/cluster-rights.ts";
import type { Volumes } from "../volumes/volumes.ts";

/** SQL that fills the database of a project. */
export type DatabaseSeed = {
  readonly projectId: string;
  /** Absent: the first database of the default branch. */
  readonly database?: string | undefined;
  readonly sql: string;
};

/** Part of the hash, so that clusters of another form are created again. */
const FORM = 2;
const SEEDED = "seeded-";
const HASH_CHARACTERS = 24;
const DATA = "data";
const LOG = "wal";
/** Another server may have created a cluster that no volume refers to yet. */
const UNUSED_AFTER_MS = 60 * 60_000;

type Target = {
  readonly branches: readonly string[];
  readonly pgVersion: number;
  readonly content: Content;
  readonly database: { readonly name: string; readonly owner: string };
};

/**
 * Gives the branches of a project data in which the SQL has been run, unless the default branch has data.
 * Clusters are stored by the hash of what they are created from, so that each SQL runs once.
 */
export async function seedData(
  world: WorldHandle,
  engine: Engine,
  volumes: Volumes,
  { projectId, database, sql }: DatabaseSeed,
): Promise<void> {
  const target = await targetOf(world, projectId, database);
  if (target === undefined) return;
  const base = await seededCluster(engine, target, sql);
  await volumes.makeBaseDurable(base);
  // Nobody writes to this volume. Each branch copies it when its first client connects.
  const { volume, release } = await volumes.create(world.history().id, projectId, async () => ({
    bases: [{ path: base }],
  }));
  try {
    await world.transact((transaction) => {
      for (const id of target.branches)
        if (transaction.world.branchData.get(id) === undefined)
          transaction.storeBranchData({ id, volumeId: volume.id, at: transaction.now });
    });
  } finally {
    release();
  }
  removeUnused(dirname(dirname(base)), volumes.bases());
}

async function targetOf(
  world: WorldHandle,
  projectId: string,
  database: string | undefined,
): Promise<Target | undefined> {
  return world.transact((transaction) => {
    const project = transaction.world.projects.get(projectId);
    if (project === undefined) return undefined;
    const branch = defaultBranchOf(transaction.world, projectId);
    if (branch === undefined || transaction.world.branchData.get(branch.id) !== undefined) return undefined;
    const databases = branch.databases.map(({ name, ownerName }) => ({ id: 0, name, owner: ownerName }));
    const chosen = databases.find(({ name }) => database === undefined || name === database);
    if (chosen === undefined) throw new Error(`project ${projectId} has no database "${database}"`);
    return {
      branches: transaction.world.branches
        .by("project", projectId)
        .toArray()
        .map(({ id }) => id),
      pgVersion: project.pgVersion,
      content: {
        // Passwords are those of the world, which are applied by the first start.
        roles: branch.roles.map(({ name, noLogin }) => ({
          name,
          verifier: noLogin === true ? undefined : "",
        })),
        databases,
      },
      database: chosen,
    };
  });
}

/** The data directory of a cluster in which the SQL was run. It never changes. */
async function seededCluster(engine: Engine, target: Target, sql: string): Promise<string> {
  const { pgVersion, content, database } = target;
  const empty = await engine.emptyCluster(pgVersion);
  const templates = dirname(empty);
  const hash = createHash("sha256")
    .update(JSON.stringify([FORM, basename(empty), content, database, sql]))
    .digest("hex")
    .slice(0, HASH_CHARACTERS);
  const seeded = join(templates, `${SEEDED}${hash}`);
  if (existsSync(seeded)) return join(seeded, DATA);
  const unfinished = `${seeded}.${randomBytes(4).toString("hex")}.unfinished`;
  const dataDirectory = join(unfinished, DATA);
  mkdirSync(join(unfinished, LOG), { recursive: true, mode: 0o711 });
  try {
    await engine.copyCluster({ base: empty, to: dataDirectory, archive: join(unfinished, LOG) });
    const running = await engine.start({ dataDirectory, maxConnections: 1, logicalReplication: false });
    try {
      await ensureRights(running);
      await applyContent(running, { roles: [], databases: [] }, content);
      await writeAppliedContent(running, asApplied(content));
      await running.runScript(sql, database.name, database.owner);
    } finally {
      await running.stop();
    }
    // The stopped cluster does not need it.
    rmSync(join(unfinished, LOG), { recursive: true });
    renameSync(unfinished, seeded);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another server with the same directory was faster.
    if (!existsSync(seeded)) throw error;
  }
  return join(seeded, DATA);
}

/** Removes clusters of SQL that has changed, and unfinished ones of a killed server. */
function removeUnused(templates: string, used: ReadonlySet<string>): void {
  for (const name of readdirSync(templates)) {
    const directory = join(templates, name);
    if (!name.startsWith(SEEDED) || used.has(join(directory, DATA))) continue;
    if (Date.now() - statSync(directory).mtimeMs > UNUSED_AFTER_MS)
      rmSync(directory, { recursive: true, force: true });
  }
}
