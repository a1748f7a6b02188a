import type { Compute } from "../../model/compute.ts";
import type { World } from "../../world/world.ts";

/**
 * S: `ep-dawn-king-a527wlyu.us-east-2.aws.neon.tech`. Ours end in a name that only resolves locally (RFC
 * 6761).
 */
export const HOST_DOMAIN = "standin.localhost";

/** Valid domains for the host names of computes. */
export const HOST_DOMAIN_PATTERN =
  /^(?=.{1,160}$)(?!(.*\.)?\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;
export const HOST_DOMAIN_RULE =
  "must be a host name such as localhost or db.test, whose last part is not a number";

export function proxyHost({ settings }: World, regionId: string): string {
  const [cloud, ...regionParts] = regionId.split("-");
  return `${regionParts.join("-")}.${cloud}.${settings.hostDomain ?? HOST_DOMAIN}`;
}

export function computeHost(world: World, compute: Compute): string {
  return `${compute.id}.${proxyHost(world, compute.regionId)}`;
}

/** In a named world, `.<name>.w` follows the region, because forks have computes with the same ids. */
export function hostInWorld(host: string, namedWorld: string): string {
  const [endpoint, region, cloud, ...domain] = host.split(".");
  return [endpoint, region, cloud, namedWorld, "w", ...domain].join(".");
}

/** D: with `-pooler` after the id, connections go through the connection pooler. */
export function poolerHost(world: World, compute: Compute): string {
  return `${compute.id}-pooler.${proxyHost(world, compute.regionId)}`;
}
