import { Hono } from "hono";
import * as z from "zod";
import { notImitated } from "../http/errors.ts";
import { fail, found } from "../http/request.ts";
import type { Branch } from "../platform/branch.ts";
import { branchesOf, findBranch, findDatabase, findProject } from "../platform/lookup.ts";
import type { Call, Caller } from "./call.ts";
import { computeFields, computeOptions, computeType, flag, id, name } from "./fields.ts";
import { cursorOf, encodeCursor, limitOf } from "./paging.ts";
import { PASSWORDS_NOT_STORED, roleOf } from "./projects.ts";
import {
  renderAnnotation,
  renderBranch,
  renderChangedEndpoint,
  renderConnectionUris,
  renderDatabase,
  renderRole,
  renderScheduled,
} from "./render.ts";

const MAX_PAGE = 10_000; // S
const SORTS = ["name", "created_at", "updated_at"] as const; // S
const ORDERS = ["asc", "desc"] as const; // S

const inProject = z.object({ project_id: id });
const onBranch = z.object({ project_id: id, branch_id: id });
type OnBranch = Call<z.output<typeof onBranch>, unknown, unknown>;

const instant = z.iso.datetime({ offset: true, message: "must be an ISO 8601 timestamp like 2026-01-31T12:00:00Z" });

const createBody = z
  .object({
    endpoints: z
      .array(z.object({ type: computeType, ...computeFields }))
      .max(100)
      .optional(),
    branch: z
      .object({
        name: name.optional(),
        parent_id: id.optional(),
        parent_lsn: z
          .string()
          .regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/i, "must be a log sequence number like 0/1E88838")
          .optional(),
        parent_timestamp: instant.optional(),
        protected: z.boolean().optional(),
        archived: z.boolean().optional(),
        init_source: z.enum(["parent-data", "schema-only"]).optional(),
        expires_at: z.string().optional(),
      })
      .optional(),
    annotation_value: z.record(z.string(), z.string()).optional(),
  })
  .optional();

const listQuery = z.object({
  search: z.string().optional(),
  sort_by: z.enum(SORTS).optional(),
  sort_order: z.enum(ORDERS).optional(),
  limit: limitOf(MAX_PAGE, MAX_PAGE),
  cursor: cursorOf("branches", z.tuple([z.enum(SORTS), z.enum(ORDERS), z.union([z.string(), z.number()]), z.int()])),
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
      if (asked?.expires_at !== undefined) return fail(notImitated("branch.expires_at is not imitated"));
      if (asked?.archived === true) return fail(notImitated("branch.archived is not imitated"));
      const events = execute({
        type: "CreateBranch",
        accountId: account.id,
        projectId: params.project_id,
        name: asked?.name,
        parentId: asked?.parent_id,
        parentLsn: asked?.parent_lsn,
        parentTimestamp: asked?.parent_timestamp === undefined ? undefined : Date.parse(asked.parent_timestamp),
        protected: asked?.protected,
        initSource: asked?.init_source,
        annotations: body?.annotation_value,
        computes: body?.endpoints?.map((endpoint) => ({ computeType: endpoint.type, options: computeOptions(endpoint) })),
      });
      const created = events.find((event) => event.type === "BranchCreated");
      if (created === undefined) throw new Error("CreateBranch created none");
      const { branch } = created;
      const computes = events.flatMap((event) => (event.type === "ComputeCreated" ? [event.compute] : []));
      const uris = computes
        .slice(0, 1)
        .flatMap((compute) => renderConnectionUris(branch, compute, (secretId) => world.secrets.get(secretId)?.value));
      return {
        branch: renderBranch(world, branch, now),
        endpoints: computes.map((compute) => renderChangedEndpoint(world, compute, now)),
        operations: renderScheduled(events, now),
        roles: branch.roles.map((role) => renderRole(branch, role)),
        databases: branch.databases.map((database) => renderDatabase(branch, database)),
        ...(uris.length === 0 ? {} : { connection_uris: uris }),
      };
    }),
  );

  app.get(
    "/projects/:project_id/branches",
    caller.route({ params: inProject, query: listQuery }, ({ account, params, query, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      const { page, next } = pageOf(searched(branchesOf(turn.world, project.id), query.search), query);
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
      return { count: searched(branchesOf(turn.world, project.id), query.search).length };
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
          branch: z.object({ name: name.optional(), protected: z.boolean().optional(), expires_at: z.string().nullable().optional() }),
        }),
      },
      (call) => {
        const { name: newName, protected: isProtected, expires_at } = call.body.branch;
        if (typeof expires_at === "string") return fail(notImitated("branch.expires_at is not imitated"));
        return changed(call, { type: "UpdateBranch", name: newName, protected: isProtected });
      },
    ),
  );

  app.delete(
    "/projects/:project_id/branches/:branch_id",
    caller.route({ params: onBranch, query: z.object({ hard_delete: flag.optional() }) }, (call) => {
      const branch = branchOf(call);
      const events = call.execute({ type: "DeleteBranch", ...targetOf(call) });
      return { branch: renderBranch(call.turn.world, branch, call.turn.now), operations: renderScheduled(events, call.turn.now) };
    }),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/set_as_default",
    caller.route({ params: onBranch }, (call) => changed(call, { type: "SetDefaultBranch" })),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/roles",
    caller.route({ params: onBranch }, (call) => {
      const branch = branchOf(call);
      return { roles: branch.roles.map((role) => renderRole(branch, role)) };
    }),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/roles/:role_name",
    caller.route({ params: onBranch.extend({ role_name: z.string() }) }, (call) => {
      const branch = branchOf(call);
      return { role: renderRole(branch, roleOf(branch, call.params.role_name)) };
    }),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/roles/:role_name/reveal_password",
    caller.route({ params: onBranch.extend({ role_name: z.string() }) }, (call) => {
      const branch = branchOf(call);
      const password = call.turn.world.secrets.get(roleOf(branch, call.params.role_name).secretId)?.value;
      return password === undefined ? fail(PASSWORDS_NOT_STORED) : { password };
    }),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/databases",
    caller.route({ params: onBranch }, (call) => {
      const branch = branchOf(call);
      return { databases: branch.databases.map((database) => renderDatabase(branch, database)) };
    }),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/databases/:database_name",
    caller.route({ params: onBranch.extend({ database_name: z.string() }) }, (call) => {
      const branch = branchOf(call);
      const database = findDatabase(branch, call.params.database_name);
      if (database !== undefined) return { database: renderDatabase(branch, database) };
      return fail({ status: 404, code: "DATABASE_NOT_FOUND", message: `database "${call.params.database_name}" not found` });
    }),
  );

  return app;
}

function targetOf({ account, params }: OnBranch) {
  return { accountId: account.id, projectId: params.project_id, branchId: params.branch_id };
}

function branchOf(call: OnBranch): Branch {
  const { account, params, turn } = call;
  return found(findBranch(turn.world, found(findProject(turn.world, account.id, params.project_id)), params.branch_id));
}

function changed(
  call: OnBranch,
  command:
    | { readonly type: "SetDefaultBranch" }
    | { readonly type: "UpdateBranch"; readonly name: string | undefined; readonly protected: boolean | undefined },
) {
  const events = call.execute({ ...targetOf(call), ...command });
  return { branch: renderBranch(call.turn.world, branchOf(call), call.turn.now), operations: renderScheduled(events, call.turn.now) };
}

/** S: by name or id, whatever the case. */
function searched(branches: Branch[], search: string | undefined): Branch[] {
  if (search === undefined) return branches;
  const wanted = search.toLowerCase();
  return branches.filter((branch) => branch.name.toLowerCase().includes(wanted) || branch.id.includes(wanted));
}

type Query = z.output<typeof listQuery>;

/** Sorted by the chosen key and, where that ties, by age; a cursor carries its sort, so a walk stays in it. */
function pageOf(branches: Branch[], query: Query) {
  const sortBy = query.cursor?.[0] ?? query.sort_by ?? "updated_at";
  const sortOrder = query.cursor?.[1] ?? query.sort_order ?? "desc";
  const keyOf = (branch: Branch) => (sortBy === "name" ? branch.name : sortBy === "created_at" ? branch.createdAt : branch.updatedAt);
  const direction = sortOrder === "asc" ? 1 : -1;
  const compare = (key: string | number, number: number, otherKey: string | number, otherNumber: number) =>
    direction * (key < otherKey ? -1 : key > otherKey ? 1 : number - otherNumber);
  const sorted = branches.sort((a, b) => compare(keyOf(a), a.number, keyOf(b), b.number));
  const { cursor } = query;
  const rest = cursor === undefined ? sorted : sorted.filter((branch) => compare(keyOf(branch), branch.number, cursor[2], cursor[3]) > 0);
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  const more = last !== undefined && rest.length > page.length;
  return {
    page,
    next: {
      sort_by: sortBy,
      sort_order: sortOrder.toUpperCase(),
      ...(more ? { next: encodeCursor("branches", [sortBy, sortOrder, keyOf(last), last.number]) } : {}),
    },
  };
}
