import { type Column, type PageTable, pageTable, type RowMark } from "../../page/page-table.ts";
import type { ComputeDistribution, ComputeDistributions } from "../../replay/starts-by-compute.ts";
import { amount, millisText } from "../../units/number-format.ts";

/** How the computes differ under one policy or delay. */
export type NamedDistributions = {
  readonly name: string;
  readonly mark: RowMark | undefined;
  readonly over_computes: ComputeDistributions;
};

type TableNames = {
  /** Heading of the first column: policy or delay. */
  readonly heading: string;
  /** Title of the table of quartiles. */
  readonly quartiles: string;
};

/**
 * Quartiles of each row, and the highest values under the best one, or the first. Empty with less than two computes.
 */
export function distributionTables(
  rows: readonly NamedDistributions[],
  computesUsed: number,
  names: TableNames,
): PageTable[] {
  const [first] = rows;
  if (computesUsed < 2 || first === undefined) return [];
  return [quartileTable(rows, names), highestTable(rows.find(({ mark }) => mark === "best") ?? first)];
}

function quartileTable(
  rows: readonly NamedDistributions[],
  { heading, quartiles: name }: TableNames,
): PageTable {
  return pageTable<NamedDistributions>({
    name,
    title: "How computes differ: share of requests that start them, and p99 wait (quartiles over computes)",
    columns: [
      { heading, cell: (row) => row.name },
      ...quartiles(
        ["cold % p25", "highest"],
        amount,
        ({ over_computes }) => over_computes.cold_start_percent,
      ),
      ...quartiles(["wait p25", "longest"], millisText, ({ over_computes }) => over_computes.wait_p99_ms),
    ],
    rows,
    mark: ({ mark }) => mark,
    records: rows.map((row) => ({ [heading]: row.name, ...row.over_computes })),
  });
}

function quartiles(
  [lowest, highest]: readonly [string, string],
  show: (value: number) => string,
  of: (row: NamedDistributions) => ComputeDistribution,
): Column<NamedDistributions>[] {
  return [
    { heading: lowest, cell: (row) => show(of(row).p25) },
    { heading: "p50", cell: (row) => show(of(row).p50) },
    { heading: "p75", cell: (row) => show(of(row).p75) },
    { heading: highest, cell: (row) => show(of(row).highest[0]?.value ?? 0) },
  ];
}

function highestTable({ name, over_computes }: NamedDistributions): PageTable {
  const { cold_start_percent: cold, wait_p99_ms: wait } = over_computes;
  const rows = cold.highest.map(({ compute, value }, index) => ({
    cold_start_percent_of: compute,
    cold_start_percent: value,
    wait_p99_of: wait.highest[index]?.compute,
    wait_p99_ms: wait.highest[index]?.value,
  }));
  return pageTable<(typeof rows)[number]>({
    name: "highest",
    title: `Computes with the highest values under ${name}`,
    columns: [
      { heading: "most cold starts", cell: (row) => row.cold_start_percent_of },
      { heading: "% of requests", cell: (row) => amount(row.cold_start_percent) },
      { heading: "longest p99 wait", cell: (row) => row.wait_p99_of ?? "" },
      { heading: "wait", cell: (row) => millisText(row.wait_p99_ms ?? 0) },
    ],
    rows,
    records: rows,
  });
}
