import { Hono } from "hono";
import * as z from "zod";
import { notImitated } from "../../http/errors.ts";
import { id, instant } from "../../http/fields.ts";
import { fail, unwrap } from "../../http/request.ts";
import { rolesWithSecretAfter } from "../../platform/branch/role.ts";
import { branchesOf, findProject } from "../../platform/lookup.ts";
import { recoverableBranchesOf } from "../../platform/project/recovery.ts";
import { branchListQuery, branchPage, filterBySearch, nameMatches } from "../http/branch-page.ts";
import { branchParams, branchTarget, changeBranch, requestedBranch } from "../http/branch-request.ts";
import { checkCursor } from "../http/paging.ts";
import { issuePassword } from "../http/passwords.ts";
import type { RouteHandlers } from "../http/request-context.ts";
import {
  atMostOne,
  computeFields,
  computeOptions,
  computeType,
  flag,
  lsn,
  name,
} from "../http/request-fields.ts";
import { renderAnnotation, renderBranch, renderDatabase, renderRole } from "../render/render-branch.ts";
import { renderChangedEndpoint, renderConnectionUris } from "../render/render-endpoint.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";

const projectParams = z.object({ project_id: id });
const createBody = z
  .object({
    endpoints: z
      .array(z.object({ type: computeType, ...computeFields }))
      .max(100)
      .optional(),
    branch: z
      .object({
        name: name.optional(),
        // S: "if omitted or empty, the branch will be created from the project's default branch".
        parent_id: z.union([id, z.literal("")], "must be 1 to 60 of a-z, 0-9 and -, or empty").optional(),
        parent_lsn: lsn.optional(),
        parent_timestamp: instant.optional(),
        protected: z.boolean().optional(),
        archived: z.boolean().optional(),
        init_source: z.enum(["parent-data", "schema-only"]).optional(),
        expires_at: instant.optional(),
      })
      .refine(...atMostOne("parent_lsn", "parent_timestamp"))
      .optional(),
    annotation_value: z.record(z.string(), z.string()).optional(),
  })
  .optional();

/** S: branches of a project. */
export function branchRoutes(handlers: RouteHandlers): Hono {
  const app = new Hono();

  app.post(
    "/projects/:project_id/branches",
    handlers.route(
      { status: 201, params: projectParams, body: createBody },
      ({ account, params, body, transaction, execute }) => {
        const { world, now } = transaction;
        const input = body?.branch;
        if (input?.archived === true) return fail(notImitated("branch.archived is not imitated"));
        const lastRoleNumber = world.numbers.role;
        const events = execute({
          type: "CreateBranch",
          accountId: account.id,
          projectId: params.project_id,
          name: input?.name,
          parentId: input?.parent_id === "" ? undefined : input?.parent_id,
          parentLsn: input?.parent_lsn,
          parentTimestamp: input?.parent_timestamp,
          expiresAt: input?.expires_at,
          protected: input?.protected,
          initSource: input?.init_source,
          annotations: body?.annotation_value,
          computes: body?.endpoints?.map((endpoint) => ({
            computeType: endpoint.type,
            options: computeOptions(endpoint),
          })),
        });
        const created = events.find((event) => event.type === "BranchCreated");
        if (created === undefined) throw new Error("CreateBranch created no branch");
        const { branch } = created;
        const project = unwrap(findProject(world, account.id, branch.projectId));
        const passwords = new Map(
          rolesWithSecretAfter(branch.roles, lastRoleNumber).map((role) => [
            role.secretId,
            issuePassword(transaction, project, role),
          ]),
        );
        const passwordOf = (secretId: string) => passwords.get(secretId) ?? transaction.readSecret(secretId);
        const computes = events.flatMap((event) => (event.type === "ComputeCreated" ? [event.compute] : []));
        const uris = computes
          .slice(0, 1)
          .flatMap((compute) => renderConnectionUris(world, branch, compute, passwordOf));
        return {
          branch: renderBranch(world, branch, now),
          endpoints: computes.map((compute) => renderChangedEndpoint(world, compute, now)),
          operations: renderScheduledOperations(events, now),
          roles: branch.roles.map((role) => renderRole(branch, role, passwords.get(role.secretId))),
          databases: branch.databases.map((database) => renderDatabase(branch, database)),
          connection_uris: uris.length === 0 ? undefined : uris,
        };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches",
    handlers.route(
      { params: projectParams, query: branchListQuery },
      ({ account, params, query, transaction }) => {
        checkCursor(query.cursor, [params.project_id, query.sort_by, query.sort_order]);
        const project = unwrap(findProject(transaction.world, account.id, params.project_id));
        // S: "to list deleted branches available for recovery": they are added to the others.
        const deleted =
          query.include_deleted === true
            ? recoverableBranchesOf(transaction.world, project.id, transaction.now)
            : [];
        const { page, next } = branchPage(
          project.id,
          filterBySearch([...branchesOf(transaction.world, project.id), ...deleted], query.search),
          query,
        );
        const annotated = page.filter((branch) => Object.keys(branch.annotations).length > 0);
        return {
          branches: page.map((branch) => renderBranch(transaction.world, branch, transaction.now)),
          annotations: Object.fromEntries(annotated.map((branch) => [branch.id, renderAnnotation(branch)])),
          pagination: next,
        };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches/count",
    handlers.route(
      { params: projectParams, query: z.object({ search: z.string().optional() }) },
      ({ account, params, query, transaction }) => {
        const project = unwrap(findProject(transaction.world, account.id, params.project_id));
        const { search = "" } = query;
        return {
          count: branchesOf(transaction.world, project.id).filter((branch) => nameMatches(branch, search))
            .length,
        };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id",
    handlers.route({ params: branchParams }, (request) => {
      const branch = requestedBranch(request);
      return {
        branch: renderBranch(request.transaction.world, branch, request.transaction.now),
        annotation: renderAnnotation(branch),
      };
    }),
  );

  app.patch(
    "/projects/:project_id/branches/:branch_id",
    handlers.route(
      {
        params: branchParams,
        body: z.object({
          branch: z.object({
            name: name.optional(),
            protected: z.boolean().optional(),
            expires_at: instant.nullable().optional(),
          }),
        }),
      },
      (request) => {
        const { name: newName, protected: isProtected, expires_at } = request.body.branch;
        return changeBranch(request, {
          type: "UpdateBranch",
          name: newName,
          protected: isProtected,
          expiresAt: expires_at,
        });
      },
    ),
  );

  app.delete(
    "/projects/:project_id/branches/:branch_id",
    handlers.route({ params: branchParams, query: z.object({ hard_delete: flag.optional() }) }, (request) => {
      const branch = requestedBranch(request);
      const events = request.execute({
        type: "DeleteBranch",
        ...branchTarget(request),
        hard: request.query.hard_delete,
      });
      return {
        branch: renderBranch(request.transaction.world, branch, request.transaction.now),
        operations: renderScheduledOperations(events, request.transaction.now),
      };
    }),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/set_as_default",
    handlers.route({ params: branchParams }, (request) =>
      changeBranch(request, { type: "SetDefaultBranch" }),
    ),
  );

  return app;
}
