import type { SimTime } from "../../kernel/time.ts";
import type { FindWritten } from "../../platform/model/data-description.ts";
import type { Transaction } from "../../worlds/world-handle.ts";

/** Finds LSNs that SQL reports. Without `find`, there is no Postgres. */
export function writtenIn({ world, now }: Transaction, find: FindWritten | undefined) {
  return (branchId: string | undefined, lsn: string | undefined): SimTime | undefined => {
    const row = branchId === undefined ? undefined : world.branchData.get(branchId);
    return find === undefined || row === undefined || lsn === undefined ? undefined : find(row, lsn, now);
  };
}
