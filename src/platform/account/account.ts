import { PLANS, type Plan, type PlanName } from "../catalog/plan.ts";
import type { SimTime } from "../core/time.ts";
import type { EventBase } from "../event-base.ts";

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

/** The console's part. A: what the new plan does not offer must be given up first, so that no world is beyond its plan. */
export type ChangePlan = { readonly type: "ChangePlan"; readonly accountId: string; readonly plan: PlanName };

export function planOf(account: Account): Plan {
  return PLANS[account.plan];
}

export type AccountCommand = CreateAccount | ChangePlan;

export type AccountEvent =
  | (EventBase & { readonly type: "AccountCreated"; readonly account: Account })
  | (EventBase & {
      readonly type: "AccountPlanChanged";
      readonly accountId: string;
      readonly plan: PlanName;
    });
