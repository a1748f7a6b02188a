import { drawUuid } from "../../../kernel/ids.ts";
import { PLANS, refuseByPlan } from "../../catalog/plan.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Account, AccountCommand, ChangePlan, CreateAccount } from "../../model/account.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findAccount } from "../../world/lookup.ts";
import { nextNumber, type World } from "../../world/world.ts";

export const accountDeciders = {
  CreateAccount: decideCreateAccount,
  ChangePlan: decideChangePlan,
} satisfies Deciders<AccountCommand>;

function decideCreateAccount(
  world: World,
  command: CreateAccount,
  { now, random }: Context,
): Result<Event[]> {
  const number = nextNumber(world, "account");
  const id = command.id ?? drawUuid(random, "account-id", number);
  if (world.accounts.get(id) !== undefined)
    return refuse("ID_EXISTS", `an account with id "${id}" exists already`);
  const account: Account = {
    id,
    number,
    name: command.name,
    email: command.email ?? `account-${number}@standin.example`,
    plan: command.plan ?? world.settings.plan,
    organizationId: `org-${id.replaceAll(/[^a-z0-9]/g, "").slice(0, 12)}-${number}`,
    createdAt: now,
  };
  return accept([{ type: "AccountCreated", at: now, account }]);
}

function decideChangePlan(
  world: World,
  { accountId, plan: name }: ChangePlan,
  { now }: Context,
): Result<Event[]> {
  const account = findAccount(world, accountId);
  if (!account.ok) return account;
  if (account.value.plan === name) return accept([]);
  const plan = PLANS[name];
  for (const projectId of world.projects.by("owner", accountId).keys()) {
    for (const { id, type, range } of world.computes.by("project", projectId).values()) {
      const isOtherSize =
        plan.onlySizeCu !== undefined && (range.minCu !== plan.onlySizeCu || range.maxCu !== plan.onlySizeCu);
      if (isOtherSize) return refuseByPlan(plan, `the size of ${id}, ${range.minCu} to ${range.maxCu} CU,`);
      if (type === "read_only" && !plan.readReplicas) return refuseByPlan(plan, `the read replica ${id}`);
    }
  }
  return accept([{ type: "AccountPlanChanged", at: now, accountId, plan: name }]);
}
