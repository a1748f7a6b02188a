import type { Branch } from "../../platform/model/branch.ts";
import { proxyHost } from "../../platform/rules/compute/host-name.ts";
import { primaryComputeOf } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";

/** S: the id of the branch, in front of `storage`. */
export function storageUrl(world: World, branch: Branch): string {
  return `https://${branch.id}.storage.${proxyHost(world, regionOf(world, branch))}`;
}

/** S: the id of the branch and the slug, as one label. */
export function functionUrl(world: World, branch: Branch, slug: string): string {
  return `https://${branch.id}-${slug}.functions.${proxyHost(world, regionOf(world, branch))}/`;
}

/** S: the region without its cloud, such as `us-east-2`. */
export function storageRegion(world: World, branch: Branch): string {
  return regionOf(world, branch).split("-").slice(1).join("-");
}

/** D: the address of a service names the primary compute of its branch. A: without one, the branch. */
function serviceUrl(world: World, branch: Branch, service: string, path: string): string {
  const owner = primaryComputeOf(world, branch.id)?.id ?? branch.id;
  return `https://${owner}.${service}.${proxyHost(world, regionOf(world, branch))}/${path}`;
}

export function authBaseUrl(world: World, branch: Branch, database: string): string {
  return serviceUrl(world, branch, "neonauth", `${encodeURIComponent(database)}/auth`);
}

export function dataApiUrl(world: World, branch: Branch, database: string): string {
  return serviceUrl(world, branch, "apirest", `${encodeURIComponent(database)}/rest/v1`);
}

function regionOf(world: World, { projectId }: Branch): string {
  return world.projects.get(projectId)?.regionId ?? "";
}
