import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { HostedWorld } from "./hosted-world.ts";
import type { WorldStorage } from "./world-storage.ts";

const PROJECTS_PER_TURN = 500;

/**
 * The Postgres version of each project of all worlds. Worlds that are closed are not opened, and requests are served
 * between two of them. A world that cannot be read has none: what opens it reports why.
 */
export async function allProjectVersions(
  storage: Pick<WorldStorage, "worlds" | "projectVersions">,
  open: ReadonlyMap<string, Pick<HostedWorld, "isDormant" | "peek">>,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of storage.worlds()) {
    await yieldToOthers();
    const world = open.get(name);
    try {
      const ofWorld =
        world === undefined || world.isDormant
          ? storage.projectVersions(name)
          : await openProjectVersions(world);
      for (const version of ofWorld) found.push(version);
    } catch {}
  }
  return found;
}

async function openProjectVersions(world: Pick<HostedWorld, "peek">): Promise<readonly number[]> {
  const found: number[] = [];
  let count = 0;
  for (const { pgVersion, deletedAt } of world.peek().world.projects.values()) {
    if (deletedAt === undefined) found.push(pgVersion);
    count += 1;
    // Most rows may be in the file.
    if (count % PROJECTS_PER_TURN === 0) await yieldToOthers();
  }
  return found;
}
