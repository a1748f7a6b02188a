import * as z from "zod";
import { fail, unwrap } from "../../http/request.ts";
import { MAX } from "../../input-limits/limits.ts";
import { findRole } from "../../platform/rules/branch/role.ts";
import { findReachableCompute } from "../../platform/rules/compute/decide-activity.ts";
import { findDatabase } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import { duration } from "../http/control-fields.ts";
import { runTransaction } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import type { SqlStatement } from "../http/sql-fields.ts";
import { strict } from "../http/strict-fields.ts";

/** Longest name in Postgres. */
const MAX_NAME = 63;
const text = z.string().refine((value) => !value.includes("\0"), "must not contain a NUL character");
const name = text.min(1).max(MAX_NAME);

const sqlBody = strict({
  query: text,
  params: z.array(z.json()).max(MAX.sqlParameters).default([]),
  database: name.optional(),
  role: name.optional(),
  pooled: z.boolean().default(false),
  source: name.optional(),
  timeout: duration
    .refine((ms) => ms > 0 && ms <= MAX.statementMs, "must be longer than 0 and not longer than 1h")
    .default(60_000),
});

/** SQL on a compute, without the password of a role. */
export function sqlRoutes(): readonly ControlApiRoute[] {
  return [executeSql];
}

const executeSql = route(
  "POST /endpoints/:endpoint_id/sql",
  { body: sqlBody },
  async ({ world, params, body, server }, { req }) => {
    const { runStatement } = server;
    const endpointId = params["endpoint_id"] ?? "";
    const login = await runTransaction(world, (view) => loginOf(view.world, endpointId, body));
    if (runStatement === undefined)
      fail({
        status: 501,
        code: "NOT_IMITATED",
        message: "this server accepts no Postgres clients; start it without --pg-port none",
      });
    const { query, params: values, pooled, source, timeout } = body;
    const statement = { endpointId, ...login, query, params: values, pooled, source, timeoutMs: timeout };
    const outcome = await runStatement(world, statement, req.raw.signal);
    const now = formatInstant(world.now());
    if ("error" in outcome) return { now, outcome: "refused", error: outcome.error };
    const { command, rowCount, rows } = outcome;
    return { now, outcome: "done", command, row_count: rowCount, rows };
  },
);

/** Only roles of the world: a superuser of Postgres could execute programs of this machine. */
function loginOf(
  world: World,
  endpointId: string,
  { database, role }: Pick<z.output<typeof sqlBody>, "database" | "role">,
): Pick<SqlStatement, "role" | "database"> {
  const { branchId } = unwrap(findReachableCompute(world, endpointId));
  const branch = world.branches.get(branchId);
  const chosen = database ?? branch?.databases[0]?.name;
  if (branch === undefined || chosen === undefined)
    fail({
      status: 422,
      code: "DATABASE_NOT_FOUND",
      message: `database: branch "${branchId}" has no database; create one first`,
    });
  const { name: found, ownerName } = unwrap(findDatabase(branch, chosen));
  return { database: found, role: unwrap(findRole(branch, role ?? ownerName)).name };
}
