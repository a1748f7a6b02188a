import type { Project, ProjectEvent } from "../../model/project.ts";
import type { Evolvers } from "../../world/handlers.ts";
import type { World } from "../../world/world.ts";
import { snapshotsOf } from "../branch/decide-snapshot.ts";
import { deleteProjectRecords } from "../settings/evolve-settings-record.ts";
import { deleteUsage } from "../usage/meter.ts";
import { beginChildBranches, meterChildBranches } from "../usage/meter-child-branches.ts";
import { beginSnapshots, meterSnapshots } from "../usage/meter-snapshots.ts";
import { beginProjectStorage, meterProjectStorage } from "../usage/meter-storage.ts";

export const projectEvolvers = {
  ProjectCreated(world, { project }) {
    world.numbers.project = project.number;
    world.projects.set(project);
  },
  ProjectUpdated(world, event) {
    if (event.changes.historyRetentionSeconds !== undefined)
      meterProjectStorage(world, event.projectId, event.at);
    world.projects.set({ ...projectOf(world, event), ...event.changes, updatedAt: event.at });
  },
  ProjectTransferred(world, event) {
    world.projects.set({ ...projectOf(world, event), accountId: event.accountId, updatedAt: event.at });
  },
  ProjectDeleted(world, event) {
    const { recoverableUntil } = event;
    meterProjectStorage(world, event.projectId, event.at);
    meterChildBranches(world, event.projectId, event.at);
    meterSnapshots(world, event.projectId, event.at);
    world.projects.set({
      ...projectOf(world, event),
      deletedAt: event.at,
      ...(recoverableUntil === undefined ? {} : { recoverableUntil }),
    });
  },
  ProjectRecovered(world, event) {
    const { deletedAt: _, recoverableUntil: __, ...rest } = projectOf(world, event);
    world.projects.set({ ...rest, updatedAt: event.at });
    beginProjectStorage(world, event.projectId, event.at);
    beginChildBranches(world, event.projectId, event.at);
    beginSnapshots(world, event.projectId, event.at);
  },
  ProjectRemoved(world, event) {
    const { id } = projectOf(world, event);
    deleteUsage(world, id);
    for (const snapshot of snapshotsOf(world, id)) {
      world.branchData.delete(snapshot.id);
      world.branchSnapshots.delete(snapshot.id);
    }
    world.projects.delete(id);
    deleteProjectRecords(world, id, event.at);
  },
} satisfies Evolvers<ProjectEvent>;

function projectOf(
  world: World,
  { type, projectId }: Exclude<ProjectEvent, { type: "ProjectCreated" }>,
): Project {
  const project = world.projects.get(projectId);
  if (project === undefined) throw new Error(`${type}: there is no project ${projectId}`);
  return project;
}
