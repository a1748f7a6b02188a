import type { PageRow, PageTable } from "../../page/page-layout.ts";
import { amount, millisText } from "../../units/number-format.ts";
import type { ComparedPolicy, Comparison } from "./comparison.ts";

/** How computes differ: quartiles of each policy, and the highest values under one of them. */
export function computeTables(
  { policies, traffic }: Comparison,
  markOf: (policy: ComparedPolicy) => PageRow["mark"],
): PageTable[] {
  const [current] = policies;
  if (traffic.computes_used < 2 || current === undefined) return [];
  const best = policies.find((policy) => markOf(policy) === "best") ?? current;
  return [quartileTable(policies, markOf), highestTable(best)];
}

function quartileTable(
  policies: readonly ComparedPolicy[],
  markOf: (policy: ComparedPolicy) => PageRow["mark"],
): PageTable {
  return {
    name: "computes",
    title: "How computes differ: share of requests that start them, and p99 wait (quartiles over computes)",
    headings: ["policy", "cold % p25", "p50", "p75", "highest", "wait p25", "p50", "p75", "longest"],
    records: policies.map(({ policy, over_computes }) => ({ policy, ...over_computes })),
    rows: policies.map((policy) => {
      const { cold_start_percent: cold, wait_p99_ms: wait } = policy.over_computes;
      return {
        cells: [
          policy.policy,
          ...[cold.p25, cold.p50, cold.p75, cold.highest[0]?.value ?? 0].map(amount),
          ...[wait.p25, wait.p50, wait.p75, wait.highest[0]?.value ?? 0].map(millisText),
        ],
        mark: markOf(policy),
      };
    }),
  };
}

function highestTable({ policy, over_computes }: ComparedPolicy): PageTable {
  const { cold_start_percent: cold, wait_p99_ms: wait } = over_computes;
  return {
    name: "highest",
    title: `Computes with the highest values under ${policy}`,
    headings: ["most cold starts", "% of requests", "longest p99 wait", "wait"],
    records: cold.highest.map(({ compute, value }, index) => ({
      cold_start_percent_of: compute,
      cold_start_percent: value,
      wait_p99_of: wait.highest[index]?.compute,
      wait_p99_ms: wait.highest[index]?.value,
    })),
    rows: cold.highest.map(({ compute, value }, index) => ({
      cells: [
        compute,
        amount(value),
        wait.highest[index]?.compute ?? "",
        millisText(wait.highest[index]?.value ?? 0),
      ],
      mark: undefined,
    })),
  };
}
