import type { SimTime } from "../../kernel/time.ts";
import { PLANS, type Plan, type PlanName } from "../catalog/plan.ts";
import type { EventBase } from "./event-base.ts";

/** The owner of projects and API keys. Accounts of one world cannot see each other. */
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

/** Done in the platform's console. A: rejected while the account uses what the new plan does not offer. */
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
