import { type LimitSettings, PLANS, type Plan, type PlanName, refuseByPlan } from "../catalog/plan.ts";
import type { Context } from "../core/context.ts";
import { drawUuid } from "../core/ids.ts";
import type { SimTime } from "../core/time.ts";
import { nextNumber, type World } from "../core/world.ts";
import type { Event } from "../events.ts";
import { accept, type Result, refuse } from "../refusals.ts";

/** Who owns projects and keys. Accounts of one world are blind to each other. */
export type Account = {
  readonly id: string;
  readonly number: number;
  readonly name: string;
  readonly email: string;
  readonly plan: PlanName;
  /** S: every account has one organization of its own, to which its projects belong. */
  readonly organizationId: string;
  readonly createdAt: SimTime;
};

export type CreateAccount = {
  readonly type: "CreateAccount";
  readonly id?: string | undefined;
  readonly name: string;
  readonly email?: string | undefined;
  readonly plan?: PlanName | undefined;
};

export function decideCreateAccount(
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

/** The console's part. A: what the new plan does not offer must be given up first, so that no world is beyond its plan. */
export type ChangePlan = { readonly type: "ChangePlan"; readonly accountId: string; readonly plan: PlanName };

export function decideChangePlan(
  world: World,
  { accountId, plan: name }: ChangePlan,
  { now }: Context,
): Result<Event[]> {
  const account = findAccount(world, accountId);
  if (!account.ok) return account;
  if (account.value.plan === name) return accept([]);
  const plan = PLANS[name];
  for (const { id: projectId } of world.projects.values()) {
    if (world.projects.get(projectId)?.accountId !== accountId) continue;
    for (const { id, type, range } of world.computes.by("project", projectId).values()) {
      const isOtherSize =
        plan.onlySizeCu !== undefined && (range.minCu !== plan.onlySizeCu || range.maxCu !== plan.onlySizeCu);
      if (isOtherSize) return refuseByPlan(plan, `the size of ${id}, ${range.minCu} to ${range.maxCu} CU,`);
      if (type === "read_only" && !plan.readReplicas) return refuseByPlan(plan, `the read replica ${id}`);
    }
  }
  return accept([{ type: "AccountPlanChanged", at: now, accountId, plan: name }]);
}

export function findAccount(world: World, accountId: string): Result<Account> {
  const account = world.accounts.get(accountId);
  return account === undefined ? refuse("ACCOUNT_NOT_FOUND", "account not found") : accept(account);
}

export function planOf(account: Account): Plan {
  return PLANS[account.plan];
}

/** Who says so: the plan, or the world where it has a limit of its own. */
export function describeLimitSource({ settings }: World, plan: Plan, limit: keyof LimitSettings): string {
  return settings.limits?.[limit] === undefined ? `the ${plan.name} plan` : "this world";
}

/** What a plan allows in this world, where a limit may be another one. `branches` are of a project. */
export function effectiveLimits({ settings }: World, plan: Plan): Required<LimitSettings> {
  const {
    projectsLimit: projects,
    branchesLimit: branches,
    endpointsLimit: endpoints,
    snapshotsLimit: snapshots,
  } = plan;
  return { projects, branches, endpoints, snapshots, ...settings.limits };
}
