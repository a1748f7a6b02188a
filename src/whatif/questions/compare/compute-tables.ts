import { type Column, type PageTable, pageTable, type RowMark } from "../../page/page-table.ts";
import { amount, millisText } from "../../units/number-format.ts";
import type { ComparedPolicy, Comparison } from "./comparison.ts";

type MarkOf = (policy: ComparedPolicy) => RowMark | undefined;
type Distribution = ComparedPolicy["over_computes"]["cold_start_percent"];

/** How computes differ: quartiles of each policy, and the highest values under one of them. */
export function computeTables({ policies, traffic }: Comparison, markOf: MarkOf): PageTable[] {
  const [current] = policies;
  if (traffic.computes_used < 2 || current === undefined) return [];
  const best = policies.find((policy) => markOf(policy) === "best") ?? current;
  return [quartileTable(policies, markOf), highestTable(best)];
}

function quartileTable(policies: readonly ComparedPolicy[], markOf: MarkOf): PageTable {
  return pageTable<ComparedPolicy>({
    name: "computes",
    title: "How computes differ: share of requests that start them, and p99 wait (quartiles over computes)",
    columns: [
      { heading: "policy", cell: ({ policy }) => policy },
      ...quartiles(
        ["cold % p25", "highest"],
        amount,
        ({ over_computes }) => over_computes.cold_start_percent,
      ),
      ...quartiles(["wait p25", "longest"], millisText, ({ over_computes }) => over_computes.wait_p99_ms),
    ],
    rows: policies,
    mark: markOf,
    records: policies.map(({ policy, over_computes }) => ({ policy, ...over_computes })),
  });
}

function quartiles(
  [lowest, highest]: readonly [string, string],
  show: (value: number) => string,
  of: (policy: ComparedPolicy) => Distribution,
): Column<ComparedPolicy>[] {
  return [
    { heading: lowest, cell: (policy) => show(of(policy).p25) },
    { heading: "p50", cell: (policy) => show(of(policy).p50) },
    { heading: "p75", cell: (policy) => show(of(policy).p75) },
    { heading: highest, cell: (policy) => show(of(policy).highest[0]?.value ?? 0) },
  ];
}

function highestTable({ policy, over_computes }: ComparedPolicy): PageTable {
  const { cold_start_percent: cold, wait_p99_ms: wait } = over_computes;
  const rows = cold.highest.map(({ compute, value }, index) => ({
    cold_start_percent_of: compute,
    cold_start_percent: value,
    wait_p99_of: wait.highest[index]?.compute,
    wait_p99_ms: wait.highest[index]?.value,
  }));
  return pageTable<(typeof rows)[number]>({
    name: "highest",
    title: `Computes with the highest values under ${policy}`,
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
