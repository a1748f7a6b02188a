import type { Context } from "./context.ts";
import type { Event } from "./events.ts";
import { drawUuid } from "./ids.ts";
import { type LimitSettings, PLANS, type Plan, type PlanName } from "./plan.ts";
import { accept, type Result, refuse } from "./refusals.ts";
import type { SimTime } from "./time.ts";
import { nextNumber, type World } from "./world.ts";

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

export function decideCreateAccount(world: World, command: CreateAccount, { now, chance }: Context): Result<Event[]> {
  const number = nextNumber(world, "account");
  const id = command.id ?? drawUuid(chance, "account-id", number);
  if (world.accounts.get(id) !== undefined) return refuse("ID_EXISTS", `an account with id "${id}" exists already`);
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

export function findAccount(world: World, accountId: string): Result<Account> {
  const account = world.accounts.get(accountId);
  return account === undefined ? refuse("ACCOUNT_NOT_FOUND", "account not found") : accept(account);
}

export function planOf(account: Account): Plan {
  return PLANS[account.plan];
}

/** What a plan allows in this world, where a limit may be another one. `branches` are of a project. */
export function limitsOf({ settings }: World, plan: Plan): Required<LimitSettings> {
  const { projectsLimit: projects, branchesLimit: branches, endpointsLimit: endpoints, snapshotsLimit: snapshots } = plan;
  return { projects, branches, endpoints, snapshots, ...settings.limits };
}
