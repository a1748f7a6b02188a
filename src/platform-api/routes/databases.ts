import * as z from "zod";
import { unwrap } from "../../http/request.ts";
import { findDatabase } from "../../platform/world/lookup.ts";
import { branchParams, branchTarget, requestedBranch } from "../http/branch-request.ts";
import { postgresName } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { renderDatabase } from "../render/render-branch.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";

const databaseParams = branchParams.extend({ database_name: z.string() });

/** S: databases of a branch. */
export function databaseRoutes(): readonly ApiRoute[] {
  return [
    listProjectBranchDatabases,
    createProjectBranchDatabase,
    getProjectBranchDatabase,
    updateProjectBranchDatabase,
    deleteProjectBranchDatabase,
  ];
}

const listProjectBranchDatabases = route(
  "GET /projects/:project_id/branches/:branch_id/databases",
  { params: branchParams },
  (request) => {
    const branch = requestedBranch(request);
    return { databases: branch.databases.map((database) => renderDatabase(branch, database)) };
  },
);

const createProjectBranchDatabase = route(
  "POST /projects/:project_id/branches/:branch_id/databases",
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
);

const getProjectBranchDatabase = route(
  "GET /projects/:project_id/branches/:branch_id/databases/:database_name",
  { params: databaseParams },
  (request) => {
    const branch = requestedBranch(request);
    return { database: renderDatabase(branch, unwrap(findDatabase(branch, request.params.database_name))) };
  },
);

const updateProjectBranchDatabase = route(
  "PATCH /projects/:project_id/branches/:branch_id/databases/:database_name",
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
);

const deleteProjectBranchDatabase = route(
  "DELETE /projects/:project_id/branches/:branch_id/databases/:database_name",
  { params: databaseParams },
  (request) => {
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
  },
);
