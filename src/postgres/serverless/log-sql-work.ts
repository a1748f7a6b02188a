import type { ServedWorld } from "../admission/served-world.ts";
import { cutStatement, type StatementLog, type StatementOutcome } from "../statements/statement-log.ts";
import { SqlError } from "./sql-error.ts";
import type { SqlLogin, SqlWork } from "./sql-request.ts";
import type { SqlResultJson } from "./sql-result.ts";
import type { Json } from "./sql-values.ts";

/** Executes the statements of a request for SQL over HTTP, and logs each with its outcome. */
export async function logSqlWork(
  log: StatementLog | undefined,
  { world }: ServedWorld,
  { route, role, database }: SqlLogin,
  work: SqlWork,
  execute: () => Promise<Json>,
): Promise<Json> {
  if (log === undefined) return execute();
  const add = (outcomeOf: (index: number) => StatementOutcome) => {
    for (const [index, { text, parameters }] of work.statements.entries())
      log.add(world.name, {
        ...{ at: world.now(), endpointId: route.endpointId, role, database },
        ...{ text: cutStatement(text), parameters: parameters.length, outcome: outcomeOf(index) },
      });
  };
  try {
    const result = await execute();
    const results = (work.begin === undefined ? [result] : (result as { results: Json[] }).results) as Pick<
      SqlResultJson,
      "command" | "rowCount"
    >[];
    add((index) => {
      const { command = "", rowCount = null } = results[index] ?? {};
      return { done: rowCount === null ? command : `${command} ${rowCount}` };
    });
    return result;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof SqlError ? (error.code ?? "") : "";
    // It is unknown which statement of a transaction failed.
    const prefix = work.statements.length > 1 ? "the transaction failed: " : "";
    add(() => ({ failed: { code, message: `${prefix}${message}` } }));
    throw error;
  }
}
