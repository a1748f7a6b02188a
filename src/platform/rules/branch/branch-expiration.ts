import { DAY, SECOND, type SimTime } from "../../../kernel/time.ts";
import { ACCEPTED, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Branch } from "../../model/branch.ts";
import type { Event } from "../../model/events.ts";
import type { World } from "../../world/world.ts";

const MAX_EXPIRATION = 30 * DAY; // D

/**
 * D: the default branch, protected branches and branches with children cannot expire; a branch that expires
 * cannot get children; an expiration is at most 30 days ahead. `parent` is the parent of a branch to be
 * created.
 */
export function checkExpiration(
  parent: Branch | undefined,
  expiresAt: SimTime | undefined | null,
  branch: {
    readonly default?: boolean;
    readonly protected?: boolean | undefined;
    readonly hasChildren?: boolean;
  },
  now: SimTime,
): Result<undefined> {
  const refuseExpiration = (why: string) => refuse("BRANCH_EXPIRATION_NOT_ALLOWED", why);
  if (parent?.expiresAt !== undefined)
    return refuseExpiration(`branch "${parent.name}" has an expiration and cannot have child branches`);
  if (expiresAt === undefined || expiresAt === null) return ACCEPTED;
  if (expiresAt <= now || expiresAt > now + MAX_EXPIRATION)
    return refuseExpiration("expires_at must be in the future, at most 30 days from now");
  if (branch.default) return refuseExpiration("the default branch cannot expire");
  if (branch.protected) return refuseExpiration("a protected branch cannot expire");
  if (branch.hasChildren) return refuseExpiration("a branch with child branches cannot expire");
  return ACCEPTED;
}

/**
 * Whether an update repeats the expiration, exactly or as the API returns it, in whole seconds. Then the time
 * to live is not set again.
 */
export function repeatsExpiration(branch: Branch, expiresAt: SimTime | undefined | null): boolean {
  if (branch.expiresAt === undefined) return expiresAt === null;
  return expiresAt === branch.expiresAt || expiresAt === branch.expiresAt - (branch.expiresAt % SECOND);
}

/** S: the time to live stays what it was when the expiration was set. */
export function expirationFrom(
  expiresAt: SimTime | undefined,
  now: SimTime,
): Pick<Branch, "expiresAt" | "ttlSeconds"> {
  return expiresAt === undefined ? {} : { expiresAt, ttlSeconds: Math.floor((expiresAt - now) / SECOND) };
}

export function expirationDueAt(world: World, branchId: string): SimTime | undefined {
  const branch = world.branches.get(branchId);
  if (branch?.deletedAt !== undefined || branch === undefined) return undefined;
  return world.projects.get(branch.projectId)?.deletedAt === undefined ? branch.expiresAt : undefined;
}

/** Without `expiresAt`, the event ends the expiration. */
export function expirationSet(branchId: string, expiresAt: SimTime | undefined, at: SimTime): Event {
  return { type: "BranchExpirationSet", at, branchId, ...(expiresAt === undefined ? {} : { expiresAt }) };
}

/** D: the default branch does not expire. */
export function checkNeverExpires({ name, expiresAt }: Branch): Result<undefined> {
  if (expiresAt === undefined) return ACCEPTED;
  return refuse(
    "BRANCH_EXPIRATION_NOT_ALLOWED",
    `branch "${name}" has an expiration and cannot be the default branch`,
  );
}
