import { refuseByPlan } from "../../catalog/plan.ts";
import { accept, type Result } from "../../catalog/refusal-codes.ts";
import { planOf } from "../../model/account.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { SettingsRecordOf } from "../../model/settings-record.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findOrganization } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import {
  recordCreated,
  recordDeleted,
  recordsOf,
  recordUpdated,
} from "../settings/evolve-settings-record.ts";

export type SpendingLimitCommand = SetSpendingLimit | ClearSpendingLimit;

export const spendingLimitDeciders = {
  SetSpendingLimit: decideSetSpendingLimit,
  ClearSpendingLimit: decideClearSpendingLimit,
} satisfies Deciders<SpendingLimitCommand>;

type SetSpendingLimit = {
  readonly type: "SetSpendingLimit";
  readonly organizationId: string;
  readonly cents: number;
};
type ClearSpendingLimit = { readonly type: "ClearSpendingLimit"; readonly organizationId: string };

/** S: reaching it only sends a warning; paid plans have it. */
function decideSetSpendingLimit(world: World, command: SetSpendingLimit, context: Context): Result<Event[]> {
  const existing = findSpendingLimit(world, command.organizationId);
  if (!existing.ok) return existing;
  const { organizationId, cents } = command;
  return accept([
    existing.value === undefined
      ? recordCreated(world, context, organizationId, "spendingLimit", { cents })
      : recordUpdated(existing.value, { cents }, context.now),
  ]);
}

/** S: succeeds even if no limit is set. */
function decideClearSpendingLimit(
  world: World,
  command: ClearSpendingLimit,
  { now }: Context,
): Result<Event[]> {
  const existing = findSpendingLimit(world, command.organizationId);
  if (!existing.ok) return existing;
  return accept(existing.value === undefined ? [] : [recordDeleted(existing.value, now)]);
}

export function findSpendingLimit(
  world: World,
  organizationId: string,
): Result<SettingsRecordOf<"spendingLimit"> | undefined> {
  const owner = findOrganization(world, organizationId);
  if (!owner.ok) return owner;
  const plan = planOf(owner.value);
  if (plan.name === "free") return refuseByPlan(plan, "a spending limit");
  return accept(recordsOf(world, organizationId, "spendingLimit")[0]);
}
