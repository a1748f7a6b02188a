import { BlockList, isIPv6 } from "node:net";
import type { Branch } from "../../platform/model/branch.ts";
import { effectiveSettings } from "../../platform/rules/project/project-settings.ts";
import { profileOfWorld } from "../../platform/world/world.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { addressNotAllowed, CLIENT_ERRORS } from "../protocol/errors.ts";
import type { ClientError } from "../protocol/messages.ts";

type AllowedIps = {
  readonly ips: readonly string[];
  readonly protected_branches_only: boolean;
  readonly primary_branch_only?: boolean;
};

/** Why the project does not allow connections from this address; `undefined` if it does. */
export function networkRejection(
  { world }: Transaction,
  endpointId: string,
  address: string,
): ClientError | undefined {
  const compute = world.computes.get(endpointId);
  const project = compute && world.projects.get(compute.projectId);
  if (compute === undefined || project === undefined) return undefined;
  const settings = effectiveSettings(project, profileOfWorld(world)) as {
    readonly block_public_connections: boolean;
    readonly allowed_ips: AllowedIps;
  };
  if (settings.block_public_connections) return CLIENT_ERRORS.blockedNetwork;
  const { allowed_ips: allowedIps } = settings;
  const branch = world.branches.get(compute.branchId);
  if (allowedIps.ips.length === 0 || !appliesTo(allowedIps, branch)) return undefined;
  return isAllowed(allowedIps.ips, address) ? undefined : addressNotAllowed(address);
}

/** S: both flags restrict the list to some branches. A: with both, a branch must be protected and the primary one. */
function appliesTo(allowedIps: AllowedIps, branch: Branch | undefined): boolean {
  const { protected_branches_only: isProtectedOnly, primary_branch_only: isPrimaryOnly = false } = allowedIps;
  return (!isProtectedOnly || branch?.protected === true) && (!isPrimaryOnly || branch?.default === true);
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
