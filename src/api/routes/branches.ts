import { Hono } from "hono";
import * as z from "zod";
import { badRequest, notImitated } from "../../http/errors.ts";
import { fail, found } from "../../http/request.ts";
import type { Branch } from "../../platform/branch/branch.ts";
import { contentAt } from "../../platform/branch/branch-content.ts";
import { findDatabase } from "../../platform/branch/database.ts";
import { type AskedPoint, findPoint } from "../../platform/branch/point-in-time.ts";
import { rolesNamedAfter } from "../../platform/branch/role.ts";
import type { Command } from "../../platform/commands.ts";
import { branchesOf, computesOnBranch, findBranch, findProject } from "../../platform/lookup.ts";
import { recoverableBranchesOf } from "../../platform/project/recovery.ts";
import { checkPlace, cursorOf, encodeCursor, limitOf } from "../http/paging.ts";
import { givePassword } from "../http/passwords.ts";
import { computeFields, computeOptions, computeType, flag, id, instant, lsn, name, notBoth } from "../http/query-fields.ts";
import type { Call, Caller } from "../http/request-context.ts";
import { renderAnnotation, renderBranch, renderDatabase, renderRole } from "../render/render-branch.ts";
import { renderChangedEndpoint, renderConnectionUris, renderScheduled, renderSettlingEndpoint } from "../render/render-objects.ts";

const MAX_PAGE = 10_000; // S
const SORTS = ["name", "created_at", "updated_at"] as const; // S
const ORDERS = ["asc", "desc"] as const; // S

const inProject = z.object({ project_id: id });
export const onBranch = z.object({ project_id: id, branch_id: id });
export type OnBranch = Call<z.output<typeof onBranch>, unknown, unknown>;

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
      .refine(...notBoth("parent_lsn", "parent_timestamp"))
      .optional(),
    annotation_value: z.record(z.string(), z.string()).optional(),
  })
  .optional();

const listQuery = z.object({
  search: z.string().optional(),
  sort_by: z.enum(SORTS).optional(),
  sort_order: z.enum(ORDERS).optional(),
  limit: limitOf(MAX_PAGE, MAX_PAGE),
  cursor: cursorOf("branches", z.tuple([id, z.enum(SORTS), z.enum(ORDERS), z.union([z.string(), z.number()]), z.int()])),
  include_deleted: flag.optional(),
});

/** S. */
export function branchRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.post(
    "/projects/:project_id/branches",
    caller.route({ status: 201, params: inProject, body: createBody }, ({ account, params, body, turn, execute }) => {
      const { world, now } = turn;
      const asked = body?.branch;
      if (asked?.archived === true) return fail(notImitated("branch.archived is not imitated"));
      const namedBefore = world.numbers.role;
      const events = execute({
        type: "CreateBranch",
        accountId: account.id,
        projectId: params.project_id,
        name: asked?.name,
        parentId: asked?.parent_id === "" ? undefined : asked?.parent_id,
        parentLsn: asked?.parent_lsn,
        parentTimestamp: asked?.parent_timestamp,
        expiresAt: asked?.expires_at,
        protected: asked?.protected,
        initSource: asked?.init_source,
        annotations: body?.annotation_value,
        computes: body?.endpoints?.map((endpoint) => ({ computeType: endpoint.type, options: computeOptions(endpoint) })),
      });
      const created = events.find((event) => event.type === "BranchCreated");
      if (created === undefined) throw new Error("CreateBranch created none");
      const { branch } = created;
      const project = found(findProject(world, account.id, branch.projectId));
      const passwords = new Map(
        rolesNamedAfter(branch.roles, namedBefore).map((role) => [role.secretId, givePassword(turn, project, role)]),
      );
      const passwordOf = (secretId: string) => passwords.get(secretId) ?? world.secrets.get(secretId)?.value;
      const computes = events.flatMap((event) => (event.type === "ComputeCreated" ? [event.compute] : []));
      const uris = computes.slice(0, 1).flatMap((compute) => renderConnectionUris(world, branch, compute, passwordOf));
      return {
        branch: renderBranch(world, branch, now),
        endpoints: computes.map((compute) => renderChangedEndpoint(world, compute, now)),
        operations: renderScheduled(events, now),
        roles: branch.roles.map((role) => renderRole(branch, role, passwords.get(role.secretId))),
        databases: branch.databases.map((database) => renderDatabase(branch, database)),
        ...(uris.length === 0 ? {} : { connection_uris: uris }),
      };
    }),
  );

  app.get(
    "/projects/:project_id/branches",
    caller.route({ params: inProject, query: listQuery }, ({ account, params, query, turn }) => {
      checkPlace(query.cursor, [params.project_id, query.sort_by, query.sort_order]);
      const project = found(findProject(turn.world, account.id, params.project_id));
      // S: "to list deleted branches available for recovery": they come beside the others.
      const deleted = query.include_deleted === true ? recoverableBranchesOf(turn.world, project.id, turn.now) : [];
      const { page, next } = pageOf(project.id, searched([...branchesOf(turn.world, project.id), ...deleted], query.search), query);
      const annotated = page.filter((branch) => Object.keys(branch.annotations).length > 0);
      return {
        branches: page.map((branch) => renderBranch(turn.world, branch, turn.now)),
        annotations: Object.fromEntries(annotated.map((branch) => [branch.id, renderAnnotation(branch)])),
        pagination: next,
      };
    }),
  );

  app.get(
    "/projects/:project_id/branches/count",
    caller.route({ params: inProject, query: z.object({ search: z.string().optional() }) }, ({ account, params, query, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      const { search = "" } = query;
      return { count: branchesOf(turn.world, project.id).filter((branch) => isNamed(branch, search)).length };
    }),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id",
    caller.route({ params: onBranch }, (call) => {
      const branch = branchOf(call);
      return { branch: renderBranch(call.turn.world, branch, call.turn.now), annotation: renderAnnotation(branch) };
    }),
  );

  app.patch(
    "/projects/:project_id/branches/:branch_id",
    caller.route(
      {
        params: onBranch,
        body: z.object({
          branch: z.object({ name: name.optional(), protected: z.boolean().optional(), expires_at: instant.nullable().optional() }),
        }),
      },
      (call) => {
        const { name: newName, protected: isProtected, expires_at } = call.body.branch;
        return changed(call, { type: "UpdateBranch", name: newName, protected: isProtected, expiresAt: expires_at });
      },
    ),
  );

  app.delete(
    "/projects/:project_id/branches/:branch_id",
    caller.route({ params: onBranch, query: z.object({ hard_delete: flag.optional() }) }, (call) => {
      const branch = branchOf(call);
      const events = call.execute({ type: "DeleteBranch", ...targetOf(call), hard: call.query.hard_delete });
      return { branch: renderBranch(call.turn.world, branch, call.turn.now), operations: renderScheduled(events, call.turn.now) };
    }),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/set_as_default",
    caller.route({ params: onBranch }, (call) => changed(call, { type: "SetDefaultBranch" })),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/restore",
    caller.route(
      {
        params: onBranch,
        body: z
          .object({
            source_branch_id: id,
            source_lsn: lsn.optional(),
            source_timestamp: instant.optional(),
            preserve_under_name: name.optional(),
          })
          .refine(...notBoth("source_lsn", "source_timestamp")),
      },
      (call) => {
        const { source_branch_id, source_lsn, source_timestamp, preserve_under_name } = call.body;
        return changed(call, {
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
    caller.route({ params: onBranch }, (call) => {
      const { world, now } = call.turn;
      call.execute({ type: "RecoverBranch", ...targetOf(call) });
      const branch = branchOf(call);
      return {
        branch: renderBranch(world, branch, now),
        endpoints: computesOnBranch(world, branch.id).map((compute) => renderSettlingEndpoint(world, compute, now)),
      };
    }),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/finalize_restore",
    caller.route({ params: onBranch, body: z.object({ name: name.optional() }).optional() }, (call) => {
      const events = call.execute({ type: "FinalizeRestore", ...targetOf(call), replacedName: call.body?.name });
      return { operations: renderScheduled(events, call.turn.now) };
    }),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/schema",
    caller.route(
      {
        params: onBranch,
        query: z
          .object({
            db_name: z.string(),
            lsn: lsn.optional(),
            timestamp: instant.optional(),
            format: z.enum(["sql", "json"]).optional(),
          })
          .refine(...notBoth("lsn", "timestamp")),
      },
      (call) => {
        const { db_name, timestamp, lsn } = call.query;
        checkHolds(call, branchOf(call), db_name, { prefix: "", timestamp, lsn });
        // A control plane holds no data, so every database is as empty as on its first day.
        return call.query.format === "json" ? { json: { tables: [] } } : { sql: "" };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/compare_schema",
    caller.route(
      {
        params: onBranch,
        query: z
          .object({
            base_branch_id: id.optional(),
            db_name: z.string(),
            lsn: lsn.optional(),
            timestamp: instant.optional(),
            base_lsn: lsn.optional(),
            base_timestamp: instant.optional(),
          })
          .refine(...notBoth("lsn", "timestamp"))
          .refine(...notBoth("base_lsn", "base_timestamp")),
      },
      (call) => {
        const { account, params, query, turn } = call;
        const branch = branchOf(call);
        const baseId = query.base_branch_id ?? branch.parentId;
        if (baseId === undefined) return fail(badRequest("base_branch_id: is needed for a branch that has no parent"));
        const base = found(findBranch(turn.world, found(findProject(turn.world, account.id, params.project_id)), baseId));
        checkHolds(call, branch, query.db_name, { prefix: "", timestamp: query.timestamp, lsn: query.lsn });
        checkHolds(call, base, query.db_name, { prefix: "base_", timestamp: query.base_timestamp, lsn: query.base_lsn });
        return { diff: "" };
      },
    ),
  );

  return app;
}

export function targetOf({ account, params }: OnBranch) {
  return { accountId: account.id, projectId: params.project_id, branchId: params.branch_id };
}

export function branchOf(call: OnBranch): Branch {
  const { account, params, turn } = call;
  return found(findBranch(turn.world, found(findProject(turn.world, account.id, params.project_id)), params.branch_id));
}

type Changing = Extract<Command, { type: "SetDefaultBranch" | "UpdateBranch" | "RestoreBranch" }>;
type Untargeted<C> = C extends Changing ? Omit<C, "accountId" | "projectId" | "branchId"> : never;

function changed(call: OnBranch, command: Untargeted<Changing>) {
  const events = call.execute({ ...targetOf(call), ...command } as Changing);
  return { branch: renderBranch(call.turn.world, branchOf(call), call.turn.now), operations: renderScheduled(events, call.turn.now) };
}

/** A database that the branch held at a point of its history, or holds now. */
function checkHolds({ account, turn }: OnBranch, branch: Branch, databaseName: string, point: AskedPoint): void {
  const project = found(findProject(turn.world, account.id, branch.projectId));
  const at = found(findPoint(branch, project, point, turn.now));
  found(findDatabase(contentAt(branch, at), databaseName));
}

/** S: by name or id, whatever the case. */
function searched(branches: Branch[], search: string | undefined): Branch[] {
  if (search === undefined) return branches;
  return branches.filter((branch) => isNamed(branch, search) || branch.id.includes(search.toLowerCase()));
}

/** S: a count goes by the name alone. */
function isNamed(branch: Branch, search: string): boolean {
  return branch.name.toLowerCase().includes(search.toLowerCase());
}

type Query = z.output<typeof listQuery>;

/** Sorted by the chosen key and, where that ties, by age; a cursor carries its sort, so a walk stays in it. */
function pageOf(projectId: string, branches: Branch[], query: Query) {
  const { cursor } = query;
  const sortBy = cursor?.[1] ?? query.sort_by ?? "updated_at";
  const sortOrder = cursor?.[2] ?? query.sort_order ?? "desc";
  const keyOf = (branch: Branch) => (sortBy === "name" ? branch.name : sortBy === "created_at" ? branch.createdAt : branch.updatedAt);
  const direction = sortOrder === "asc" ? 1 : -1;
  const compare = (key: string | number, number: number, otherKey: string | number, otherNumber: number) =>
    direction * (key < otherKey ? -1 : key > otherKey ? 1 : number - otherNumber);
  const sorted = branches.sort((a, b) => compare(keyOf(a), a.number, keyOf(b), b.number));
  const rest = cursor === undefined ? sorted : sorted.filter((branch) => compare(keyOf(branch), branch.number, cursor[3], cursor[4]) > 0);
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  const more = last !== undefined && rest.length > page.length;
  return {
    page,
    next: {
      sort_by: sortBy,
      sort_order: sortOrder.toUpperCase(),
      ...(more ? { next: encodeCursor("branches", [projectId, sortBy, sortOrder, keyOf(last), last.number]) } : {}),
    },
  };
}
