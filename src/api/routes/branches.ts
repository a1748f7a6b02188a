import { Hono } from "hono";
import * as z from "zod";
import { badRequest, notImitated } from "../../http/errors.ts";
import { fail, unwrap } from "../../http/request.ts";
import type { Branch } from "../../platform/branch/branch.ts";
import { contentAt } from "../../platform/branch/branch-content.ts";
import { findDatabase } from "../../platform/branch/database.ts";
import { type PointInTime, resolvePointInTime } from "../../platform/branch/point-in-time.ts";
import { rolesWithSecretAfter } from "../../platform/branch/role.ts";
import type { Command } from "../../platform/commands.ts";
import { branchesOf, computesOnBranch, findBranch, findProject } from "../../platform/lookup.ts";
import { recoverableBranchesOf } from "../../platform/project/recovery.ts";
import { checkCursor, cursorParameter, encodeCursor, limitParameter } from "../http/paging.ts";
import { issuePassword } from "../http/passwords.ts";
import type { RequestContext, RouteHandlers } from "../http/request-context.ts";
import {
  atMostOne,
  computeFields,
  computeOptions,
  computeType,
  flag,
  id,
  instant,
  lsn,
  name,
} from "../http/request-fields.ts";
import { renderAnnotation, renderBranch, renderDatabase, renderRole } from "../render/render-branch.ts";
import {
  renderChangedEndpoint,
  renderConnectionUris,
  renderPendingEndpoint,
} from "../render/render-endpoint.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";

const MAX_PAGE = 10_000; // S
const SORT_KEYS = ["name", "created_at", "updated_at"] as const; // S
const SORT_ORDERS = ["asc", "desc"] as const; // S

const projectParams = z.object({ project_id: id });
export const branchParams = z.object({ project_id: id, branch_id: id });
export type BranchRequest = RequestContext<z.output<typeof branchParams>, unknown, unknown>;

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

const listQuery = z.object({
  search: z.string().optional(),
  sort_by: z.enum(SORT_KEYS).optional(),
  sort_order: z.enum(SORT_ORDERS).optional(),
  limit: limitParameter(MAX_PAGE, MAX_PAGE),
  cursor: cursorParameter(
    "branches",
    z.tuple([id, z.enum(SORT_KEYS), z.enum(SORT_ORDERS), z.union([z.string(), z.number()]), z.int()]),
  ),
  include_deleted: flag.optional(),
});

/** S. */
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
        if (created === undefined) throw new Error("CreateBranch created none");
        const { branch } = created;
        const project = unwrap(findProject(world, account.id, branch.projectId));
        const passwords = new Map(
          rolesWithSecretAfter(branch.roles, lastRoleNumber).map((role) => [
            role.secretId,
            issuePassword(transaction, project, role),
          ]),
        );
        const passwordOf = (secretId: string) =>
          passwords.get(secretId) ?? world.secrets.get(secretId)?.value;
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
          ...(uris.length === 0 ? {} : { connection_uris: uris }),
        };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches",
    handlers.route({ params: projectParams, query: listQuery }, ({ account, params, query, transaction }) => {
      checkCursor(query.cursor, [params.project_id, query.sort_by, query.sort_order]);
      const project = unwrap(findProject(transaction.world, account.id, params.project_id));
      // S: "to list deleted branches available for recovery": they come beside the others.
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
    }),
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

  app.post(
    "/projects/:project_id/branches/:branch_id/restore",
    handlers.route(
      {
        params: branchParams,
        body: z
          .object({
            source_branch_id: id,
            source_lsn: lsn.optional(),
            source_timestamp: instant.optional(),
            preserve_under_name: name.optional(),
          })
          .refine(...atMostOne("source_lsn", "source_timestamp")),
      },
      (request) => {
        const { source_branch_id, source_lsn, source_timestamp, preserve_under_name } = request.body;
        return changeBranch(request, {
          type: "RestoreBranch",
          sourceBranchId: source_branch_id,
          sourceLsn: source_lsn,
          sourceTimestamp: source_timestamp,
          preserveUnderName: preserve_under_name,
        });
      },
    ),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/recover",
    handlers.route({ params: branchParams }, (request) => {
      const { world, now } = request.transaction;
      request.execute({ type: "RecoverBranch", ...branchTarget(request) });
      const branch = requestedBranch(request);
      return {
        branch: renderBranch(world, branch, now),
        endpoints: computesOnBranch(world, branch.id).map((compute) =>
          renderPendingEndpoint(world, compute, now),
        ),
      };
    }),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/finalize_restore",
    handlers.route(
      { params: branchParams, body: z.object({ name: name.optional() }).optional() },
      (request) => {
        const events = request.execute({
          type: "FinalizeRestore",
          ...branchTarget(request),
          replacedName: request.body?.name,
        });
        return { operations: renderScheduledOperations(events, request.transaction.now) };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/schema",
    handlers.route(
      {
        params: branchParams,
        query: z
          .object({
            db_name: z.string(),
            lsn: lsn.optional(),
            timestamp: instant.optional(),
            format: z.enum(["sql", "json"]).optional(),
          })
          .refine(...atMostOne("lsn", "timestamp")),
      },
      (request) => {
        const { db_name, timestamp, lsn } = request.query;
        checkDatabaseExists(request, requestedBranch(request), db_name, { prefix: "", timestamp, lsn });
        // A control plane holds no data, so every database is as empty as on its first day.
        return request.query.format === "json" ? { json: { tables: [] } } : { sql: "" };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/compare_schema",
    handlers.route(
      {
        params: branchParams,
        query: z
          .object({
            base_branch_id: id.optional(),
            db_name: z.string(),
            lsn: lsn.optional(),
            timestamp: instant.optional(),
            base_lsn: lsn.optional(),
            base_timestamp: instant.optional(),
          })
          .refine(...atMostOne("lsn", "timestamp"))
          .refine(...atMostOne("base_lsn", "base_timestamp")),
      },
      (request) => {
        const { account, params, query, transaction } = request;
        const branch = requestedBranch(request);
        const baseId = query.base_branch_id ?? branch.parentId;
        if (baseId === undefined)
          return fail(badRequest("base_branch_id: is needed for a branch that has no parent"));
        const base = unwrap(
          findBranch(
            transaction.world,
            unwrap(findProject(transaction.world, account.id, params.project_id)),
            baseId,
          ),
        );
        checkDatabaseExists(request, branch, query.db_name, {
          prefix: "",
          timestamp: query.timestamp,
          lsn: query.lsn,
        });
        checkDatabaseExists(request, base, query.db_name, {
          prefix: "base_",
          timestamp: query.base_timestamp,
          lsn: query.base_lsn,
        });
        return { diff: "" };
      },
    ),
  );

  return app;
}

export function branchTarget({ account, params }: BranchRequest) {
  return { accountId: account.id, projectId: params.project_id, branchId: params.branch_id };
}

export function requestedBranch(request: BranchRequest): Branch {
  const { account, params, transaction } = request;
  return unwrap(
    findBranch(
      transaction.world,
      unwrap(findProject(transaction.world, account.id, params.project_id)),
      params.branch_id,
    ),
  );
}

type BranchChange = Extract<Command, { type: "SetDefaultBranch" | "UpdateBranch" | "RestoreBranch" }>;
type WithoutTarget<C> = C extends BranchChange ? Omit<C, "accountId" | "projectId" | "branchId"> : never;

function changeBranch(request: BranchRequest, command: WithoutTarget<BranchChange>) {
  const events = request.execute({ ...branchTarget(request), ...command } as BranchChange);
  return {
    branch: renderBranch(request.transaction.world, requestedBranch(request), request.transaction.now),
    operations: renderScheduledOperations(events, request.transaction.now),
  };
}

/** A database that the branch held at a point of its history, or holds now. */
function checkDatabaseExists(
  { account, transaction }: BranchRequest,
  branch: Branch,
  databaseName: string,
  point: PointInTime,
): void {
  const project = unwrap(findProject(transaction.world, account.id, branch.projectId));
  const at = unwrap(resolvePointInTime(branch, project, point, transaction.now));
  unwrap(findDatabase(contentAt(branch, at), databaseName));
}

/** S: by name or id, whatever the case. */
function filterBySearch(branches: Branch[], search: string | undefined): Branch[] {
  if (search === undefined) return branches;
  return branches.filter((branch) => nameMatches(branch, search) || branch.id.includes(search.toLowerCase()));
}

/** S: a count goes by the name alone. */
function nameMatches(branch: Branch, search: string): boolean {
  return branch.name.toLowerCase().includes(search.toLowerCase());
}

type BranchListQuery = z.output<typeof listQuery>;

/** Sorted by the chosen key and, where that ties, by age; a cursor carries its sort, so a walk stays in it. */
function branchPage(projectId: string, branches: Branch[], query: BranchListQuery) {
  const { cursor } = query;
  const sortBy = cursor?.[1] ?? query.sort_by ?? "updated_at";
  const sortOrder = cursor?.[2] ?? query.sort_order ?? "desc";
  const sortKeyOf = (branch: Branch) =>
    sortBy === "name" ? branch.name : sortBy === "created_at" ? branch.createdAt : branch.updatedAt;
  const direction = sortOrder === "asc" ? 1 : -1;
  const compare = (key: string | number, number: number, otherKey: string | number, otherNumber: number) =>
    direction * (key < otherKey ? -1 : key > otherKey ? 1 : number - otherNumber);
  const sorted = branches.sort((a, b) => compare(sortKeyOf(a), a.number, sortKeyOf(b), b.number));
  const rest =
    cursor === undefined
      ? sorted
      : sorted.filter((branch) => compare(sortKeyOf(branch), branch.number, cursor[3], cursor[4]) > 0);
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && rest.length > page.length;
  return {
    page,
    next: {
      sort_by: sortBy,
      sort_order: sortOrder.toUpperCase(),
      ...(hasMore
        ? { next: encodeCursor("branches", [projectId, sortBy, sortOrder, sortKeyOf(last), last.number]) }
        : {}),
    },
  };
}
