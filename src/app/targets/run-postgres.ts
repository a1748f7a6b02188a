import { EngineError } from "../../postgres/engine/engine.ts";
import { findTimeLibrary } from "../../postgres/installations/time-library.ts";
import { CannotRunError } from "../../scenario/run/target.ts";
import { DEFAULT_DATA } from "../../worlds/directory-layout.ts";
import type { WorldsHandle } from "../../worlds/world-handle.ts";
import { type InProcessPostgres, openInProcessPostgres } from "../in-process-postgres.ts";
import type { SqlClock } from "../open-gateway.ts";

/** Postgres for the steps of a scenario that execute SQL. `enginesData`: as of `PostgresOptions`. */
export async function openPostgresOfRun(
  worlds: WorldsHandle,
  data: string | undefined,
  {
    sqlClock,
    enginesData = DEFAULT_DATA,
  }: { readonly sqlClock: SqlClock; readonly enginesData?: string | undefined },
): Promise<InProcessPostgres> {
  let need = "world.sql_clock";
  try {
    if (sqlClock === "world") findTimeLibrary();
    need = "sql steps need Postgres";
    return await openInProcessPostgres(worlds, data, { ignoresLoad: true, enginesData, sqlClock });
  } catch (error) {
    if (error instanceof EngineError) throw new CannotRunError(`${need}: ${error.message}`);
    throw error;
  }
}
