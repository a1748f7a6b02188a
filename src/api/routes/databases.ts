import { Hono } from "hono";
import * as z from "zod";
import { found } from "../../http/request.ts";
import { findDatabase } from "../../platform/branch/database.ts";
import { postgresName } from "../http/query-fields.ts";
import type { Caller } from "../http/request-context.ts";
import { renderDatabase } from "../render/render-branch.ts";
import { renderScheduled } from "../render/render-objects.ts";
import { branchOf, onBranch, targetOf } from "./branches.ts";

const onDatabase = onBranch.extend({ database_name: z.string() });

/** S. */
export function databaseRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.get(
    "/projects/:project_id/branches/:branch_id/databases",
    caller.route({ params: onBranch }, (call) => {
      const branch = branchOf(call);
      return { databases: branch.databases.map((database) => renderDatabase(branch, database)) };
    }),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/databases",
    caller.route(
      { status: 201, params: onBranch, body: z.object({ database: z.object({ name: postgresName, owner_name: z.string().min(1) }) }) },
      (call) => {
        const { name, owner_name } = call.body.database;
        const events = call.execute({ type: "CreateDatabase", ...targetOf(call), name, ownerName: owner_name });
        const branch = branchOf(call);
        return { database: renderDatabase(branch, found(findDatabase(branch, name))), operations: renderScheduled(events, call.turn.now) };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/databases/:database_name",
    caller.route({ params: onDatabase }, (call) => {
      const branch = branchOf(call);
      return { database: renderDatabase(branch, found(findDatabase(branch, call.params.database_name))) };
    }),
  );

  app.patch(
    "/projects/:project_id/branches/:branch_id/databases/:database_name",
    caller.route(
      {
        params: onDatabase,
        body: z.object({ database: z.object({ name: postgresName.optional(), owner_name: z.string().min(1).optional() }) }),
      },
      (call) => {
        const { name: newName, owner_name: ownerName } = call.body.database;
        const name = call.params.database_name;
        const events = call.execute({ type: "UpdateDatabase", ...targetOf(call), name, newName, ownerName });
        const branch = branchOf(call);
        return {
          database: renderDatabase(branch, found(findDatabase(branch, newName ?? name))),
          operations: renderScheduled(events, call.turn.now),
        };
      },
    ),
  );

  app.delete(
    "/projects/:project_id/branches/:branch_id/databases/:database_name",
    caller.route({ params: onDatabase }, (call) => {
      const branch = branchOf(call);
      const database = found(findDatabase(branch, call.params.database_name));
      const events = call.execute({ type: "DeleteDatabase", ...targetOf(call), name: database.name });
      return { database: renderDatabase(branch, database), operations: renderScheduled(events, call.turn.now) };
    }),
  );

  return app;
}
