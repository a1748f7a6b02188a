import { SECOND, type SimTime } from "../../../kernel/time.ts";
import type { Role } from "../../model/branch-content.ts";
import { isServiceRecord } from "../../model/settings-record.ts";
import type { World } from "../../world/world.ts";

const VERIFIER_SUFFIX = ":verifier";

/**
 * The ids of the secrets that this world needs at `at`, or can need again: those of its branches (until they
 * are removed, and with their content within the history retention), of snapshots and of service records.
 */
export function secretIdsOf(world: World, at: SimTime): ReadonlySet<string> {
  const ids = new Set<string>();
  const add = (roles: readonly Role[]) => {
    for (const { secretId } of roles) ids.add(secretId).add(verifierId(secretId));
  };
  for (const { projectId, roles, past = [] } of world.branches.values()) {
    add(roles);
    const retention = world.projects.get(projectId)?.historyRetentionSeconds ?? 0;
    for (const content of past) if (content.until > at - retention * SECOND) add(content.roles);
  }
  for (const { content } of world.branchSnapshots.values()) add(content.roles);
  for (const record of world.records.values())
    if (isServiceRecord(record) && record.fields.secretId !== undefined) ids.add(record.fields.secretId);
  return ids;
}

/**
 * The id of the SCRAM verifier of a password. It is stored even if the password is not, and is all that is
 * stored of a password that was set by SQL.
 */
export function verifierId(secretId: string): string {
  return `${secretId}${VERIFIER_SUFFIX}`;
}

/**
 * Whether a secret was created between two worlds of one history, without a reset between them. Ids of
 * passwords end in the number of their role, ids of other secrets in the number of their event. A verifier
 * counts as created with its password.
 */
export function isSecretCreatedBetween(from: World, to: World, secretId: string): boolean {
  const [kind, digits] = secretId.replace(VERIFIER_SUFFIX, "").split("-");
  const number = Number(digits);
  return kind === "role"
    ? number > from.numbers.role && number <= to.numbers.role
    : number > from.seq && number <= to.seq;
}
