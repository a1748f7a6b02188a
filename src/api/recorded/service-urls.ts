import type { Branch } from "../../platform/branch/branch.ts";
import { proxyHost } from "../../platform/compute/host-name.ts";
import type { World } from "../../platform/core/world.ts";
import { primaryComputeOf } from "../../platform/lookup.ts";

/** D: the address of a service names the primary compute of its branch. A: without one, the branch. */
function serviceUrl(world: World, branch: Branch, service: string, path: string): string {
  const regionId = world.projects.get(branch.projectId)?.regionId ?? "";
  const owner = primaryComputeOf(world, branch.id)?.id ?? branch.id;
  return `https://${owner}.${service}.${proxyHost(world, regionId)}/${path}`;
}

export function authBaseUrl(world: World, branch: Branch, database: string): string {
  return serviceUrl(world, branch, "neonauth", `${encodeURIComponent(database)}/auth`);
}

export function dataApiUrl(world: World, branch: Branch, database: string): string {
  return serviceUrl(world, branch, "apirest", `${encodeURIComponent(database)}/rest/v1`);
}
