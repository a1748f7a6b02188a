import { errorResponseOf } from "../../http/errors.ts";
import { fail } from "../../http/request.ts";
import type { SimTime } from "../../kernel/time.ts";
import { refuseWithoutConsumptionHistory } from "../../platform/catalog/plan.ts";
import { type Account, planOf } from "../../platform/model/account.ts";
import { type ConsumptionWindow, checkConsumptionWindow } from "../../platform/rules/usage/consumption.ts";
import type { Transaction } from "../../worlds/world-handle.ts";

/** The part of the requested window that has a history. S: "History begins at the time of upgrade". */
export function consumptionWindow(
  transaction: Transaction,
  account: Account,
  query: ConsumptionWindow & { readonly org_id?: string | undefined },
  planChanges: PlanChangeCache,
): ConsumptionWindow {
  checkOrganization(account, query.org_id);
  const refusal =
    refuseWithoutConsumptionHistory(planOf(account)) ?? checkConsumptionWindow(query, transaction.now);
  if (refusal !== undefined) fail(errorResponseOf(refusal));
  const upgradedAt = planChanges.latestFor(transaction, account);
  return upgradedAt === undefined ? query : { ...query, from: Math.max(query.from, upgradedAt) };
}

/** The instants at which accounts changed to their current plan, as far as history has them. */
export class PlanChangeCache {
  /**
   * Accounts without a plan change. Rows are replaced, never edited, so an entry stays valid. Finding nothing
   * is slowest.
   */
  readonly #unchanged = new WeakSet<Account>();

  latestFor(transaction: Transaction, account: Account): SimTime | undefined {
    if (this.#unchanged.has(account)) return undefined;
    const [latest] = transaction.eventsAbout(account.id, 1, "AccountPlanChanged");
    if (latest === undefined) this.#unchanged.add(account);
    return latest?.at;
  }
}

/** An account sees only its own organization. */
function checkOrganization(account: Account, organizationId: string | undefined): void {
  if (organizationId === undefined || organizationId === account.organizationId) return;
  fail({
    status: 404,
    code: "ORGANIZATION_NOT_FOUND",
    message: `organization "${organizationId}" not found`,
  });
}
