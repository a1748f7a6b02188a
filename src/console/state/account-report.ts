import { signal } from "@preact/signals";
import { get } from "../client/request.ts";
import type { AccountReport } from "../client/types.ts";

/** What-if report of the account whose past this world has; `undefined` for other worlds. */
export const accountReport = signal<AccountReport | undefined>(undefined);

/** Only commands that no server may run beside change it: it is read when a server has been reached. */
export async function readAccountReport(): Promise<void> {
  accountReport.value =
    (await get<{ readonly report: AccountReport | null }>("/account-report")).report ?? undefined;
}
