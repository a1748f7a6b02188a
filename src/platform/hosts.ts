import type { Compute } from "./compute.ts";

/** S: `ep-silent-smoke-806639.us-east-2.aws.neon.tech`; ours end in a name that never leaves the machine (RFC 6761). */
const DOMAIN = "standin.localhost";

export function proxyHost(regionId: string): string {
  const [cloud, ...place] = regionId.split("-");
  return `${place.join("-")}.${cloud}.${DOMAIN}`;
}

export function computeHost(compute: Compute): string {
  return `${compute.id}.${proxyHost(compute.regionId)}`;
}

/** D: `-pooler` behind the id leads through the connection pooler. */
export function poolerHost(compute: Compute): string {
  return `${compute.id}-pooler.${proxyHost(compute.regionId)}`;
}
