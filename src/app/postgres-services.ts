import type { ControlOptions } from "../control-api/http/handler.ts";
import type { ApiOptions } from "../platform-api/http/route-handlers.ts";
import type { RunSql } from "./sql-route.ts";

/** What requests need of Postgres, by the surface that answers them. */
export type PostgresServices = {
  readonly sql: RunSql;
  readonly api: Pick<ApiOptions, "findWritten" | "readSchema" | "settleContent" | "dataProblem">;
  readonly control: Pick<
    ControlOptions,
    "postgresFigures" | "dataUsage" | "describeBranchData" | "findDataVersion" | "runStatement"
  >;
};
