import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { valueAtPath } from "../file/references.ts";
import type { SqlStep } from "../file/sql-step.ts";
import { STEP_SOURCE } from "../measure/event-causes.ts";
import { type Mismatch, matchesJson } from "./step-outcome.ts";

/** The response of the control API to a statement. */
export type SqlAnswer =
  | {
      readonly outcome: "done";
      readonly command: string;
      readonly row_count: number | null;
      readonly rows: readonly unknown[];
    }
  | {
      readonly outcome: "refused";
      readonly error: { readonly code: string | null; readonly message: string };
    };

/** `query`, `params`: those of the step, with its references filled in. */
export function sqlRequestBody(
  { database, role, pooled, timeout }: SqlStep,
  query: string,
  params: SqlStep["params"],
): object {
  return {
    query,
    params,
    ...omitUndefined({ database, role }),
    pooled,
    source: STEP_SOURCE,
    timeout: `${timeout}ms`,
  };
}

/** `expected`: the rows of the step, with its references filled in. */
export function sqlMismatches(
  { row_count, error, capture = {} }: SqlStep,
  answer: SqlAnswer,
  expected: SqlStep["rows"],
): Mismatch[] {
  if (answer.outcome === "refused") {
    const { code, message } = answer.error;
    if (error !== undefined && code === error) return [];
    return [
      {
        expected: error === undefined ? "no error" : `error ${error}`,
        actual: `error ${code ?? "without a SQLSTATE"}: ${message}`,
      },
    ];
  }
  if (error !== undefined) return [{ expected: `error ${error}`, actual: "no error" }];
  const { rows, row_count: rowCount } = answer;
  const mismatches: Mismatch[] = [];
  if (row_count !== undefined && rowCount !== row_count)
    mismatches.push({ expected: rowsText(row_count), actual: rowsText(rowCount ?? 0) });
  if (expected !== undefined && expected.length !== rows.length)
    mismatches.push({ expected: rowsText(expected.length), actual: rowsText(rows.length) });
  else
    for (const [index, row] of (expected ?? []).entries())
      if (!matchesJson(rows[index], row))
        mismatches.push({
          expected: `row ${index + 1}: ${JSON.stringify(row)}`,
          actual: `row ${index + 1}: ${JSON.stringify(rows[index])}`,
        });
  for (const [name, path] of Object.entries(capture))
    if (valueAtPath(rows, path) === undefined)
      mismatches.push({
        expected: `a value at ${path} of the rows, to capture as ${name}`,
        actual: "no value",
      });
  return mismatches;
}

export function describeSql(answer: SqlAnswer): string {
  if (answer.outcome === "refused") return `error ${answer.error.code}: ${answer.error.message}`;
  return answer.row_count === null ? answer.command : `${answer.command}, ${rowsText(answer.row_count)}`;
}

function rowsText(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}
