import { Hono } from "hono";
import * as z from "zod";
import { unwrap } from "../../http/request.ts";
import { findDatabase } from "../../platform/world/lookup.ts";
import { branchParams, branchTarget, requestedBranch } from "../http/branch-request.ts";
import type { RouteHandlers } from "../http/request-context.ts";
import { postgresName } from "../http/request-fields.ts";
import { renderDatabase } from "../render/render-branch.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";

const databaseParams = branchParams.extend({ database_name: z.string() });

/** S: databases of a branch. */
export function databaseRoutes(handlers: RouteHandlers): Hono {
  const app = new Hono();

  app.get(
    "/projects/:project_id/branches/:branch_id/databases",
    handlers.route({ params: branchParams }, (request) => {
      const branch = requestedBranch(request);
      return { databases: branch.databases.map((database) => renderDatabase(branch, database)) };
    }),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/databases",
    handlers.route(
      {
        status: 201,
        params: branchParams,
        body: z.object({ database: z.object({ name: postgresName, owner_name: z.string().min(1) }) }),
      },
      (request) => {
        const { name, owner_name } = request.body.database;
        const events = request.execute({
          type: "CreateDatabase",
          ...branchTarget(request),
          name,
          ownerName: owner_name,
        });
        const branch = requestedBranch(request);
        return {
          database: renderDatabase(branch, unwrap(findDatabase(branch, name))),
          operations: renderScheduledOperations(events, request.transaction.now),
        };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/databases/:database_name",
    handlers.route({ params: databaseParams }, (request) => {
      const branch = requestedBranch(request);
      return { database: renderDatabase(branch, unwrap(findDatabase(branch, request.params.database_name))) };
    }),
  );

  app.patch(
    "/projects/:project_id/branches/:branch_id/databases/:database_name",
    handlers.route(
      {
        params: databaseParams,
        body: z.object({
          database: z.object({ name: postgresName.optional(), owner_name: z.string().min(1).optional() }),
        }),
      },
      (request) => {
        const { name: newName, owner_name: ownerName } = request.body.database;
        const name = request.params.database_name;
        const events = request.execute({
          type: "UpdateDatabase",
          ...branchTarget(request),
          name,
          newName,
          ownerName,
        });
        const branch = requestedBranch(request);
        return {
          database: renderDatabase(branch, unwrap(findDatabase(branch, newName ?? name))),
          operations: renderScheduledOperations(events, request.transaction.now),
        };
      },
    ),
  );

  app.delete(
    "/projects/:project_id/branches/:branch_id/databases/:database_name",
    handlers.route({ params: databaseParams }, (request) => {
      const branch = requestedBranch(request);
      const database = unwrap(findDatabase(branch, request.params.database_name));
      const events = request.execute({
        type: "DeleteDatabase",
        ...branchTarget(request),
        name: database.name,
      });
      return {
        database: renderDatabase(branch, database),
        operations: renderScheduledOperations(events, request.transaction.now),
      };
    }),
  );

  return app;
}
