import { BlockList, isIPv6 } from "node:net";
import { effectiveSettings } from "../../platform/rules/project/project-settings.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { addressNotAllowed, CLIENT_ERRORS } from "../protocol/errors.ts";
import type { ClientError } from "../protocol/messages.ts";

/** Why the project does not allow connections from this address; `undefined` if it does. */
export function networkRejection(
  { world }: Transaction,
  endpointId: string,
  address: string,
): ClientError | undefined {
  const compute = world.computes.get(endpointId);
  const project = compute && world.projects.get(compute.projectId);
  if (compute === undefined || project === undefined) return undefined;
  const settings = effectiveSettings(project) as {
    readonly block_public_connections: boolean;
    readonly allowed_ips: { readonly ips: readonly string[]; readonly protected_branches_only: boolean };
  };
  if (settings.block_public_connections) return CLIENT_ERRORS.blockedNetwork;
  const { ips, protected_branches_only: isProtectedOnly } = settings.allowed_ips;
  const applies = !isProtectedOnly || world.branches.get(compute.branchId)?.protected === true;
  if (ips.length === 0 || !applies || isAllowed(ips, address)) return undefined;
  return addressNotAllowed(address);
}

function isAllowed(ips: readonly string[], address: string): boolean {
  const allowed = new BlockList();
  for (const entry of ips) {
    const family = entry.includes(":") ? "ipv6" : "ipv4";
    const [first = "", last] = entry.split("-").map((part) => part.trim());
    const [network = "", bits] = entry.split("/");
    if (last !== undefined) allowed.addRange(first, last, family);
    else if (bits !== undefined) allowed.addSubnet(network, Number(bits), family);
    else allowed.addAddress(entry, family);
  }
  return allowed.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/** A client of IPv4 that has connected to a socket of IPv6 has a mapped address. */
export function plainAddress(address: string | undefined): string {
  return address?.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "") ?? "";
}
