import * as z from "zod";
import { id } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Project } from "../../platform/model/project.ts";
import { canRead, type Principal, sharedProjects } from "../../platform/rules/account/access.ts";
import { limitsOf } from "../../platform/rules/project/project-limits.ts";
import { recoverableProjectsOf } from "../../platform/rules/project/recovery.ts";
import {
  branchesOf,
  computesOnBranch,
  defaultBranchOf,
  findProject,
  projectsOf,
} from "../../platform/world/lookup.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { cursorOf, decodeCursor, integerParameter, invalidCursor, limitParameter } from "../http/paging.ts";
import { issuePassword } from "../http/passwords.ts";
import { createProjectBody, endpointDefaultsFrom, updateProjectBody } from "../http/project-fields.ts";
import { flag } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { listBody, objectBody } from "../render/body-of-rows.ts";
import { renderBranch, renderDatabase, renderRole } from "../render/render-branch.ts";
import { renderChangedEndpoint } from "../render/render-endpoint.ts";
import { renderProjectLimits } from "../render/render-limits.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";
import {
  listedProject,
  projectWithOwner,
  renderProject,
  renderProjectListItem,
  renderProjectWithOwner,
} from "../render/render-project.ts";

const MAX_PAGE = 400; // S
const DEFAULT_PAGE = 10; // S

const projectParams = z.object({ project_id: id });

type Caller = { readonly principal: Principal; readonly transaction: Transaction };

const listQuery = z.object({
  limit: limitParameter(MAX_PAGE, DEFAULT_PAGE),
  cursor: cursorOf(projectCursor),
  search: z.string().optional(),
  org_id: id.optional(),
  // How long the platform may search; accepted and ignored.
  timeout: integerParameter(100, 30_000).optional(),
  recoverable: flag.optional(),
});

/** C: a cursor is the id of the last project of a page. Up to release 0.4 it held the project's number. */
function projectCursor(text: string): { readonly id: string } | { readonly number: number } | undefined {
  const [number] = decodeCursor("projects", z.tuple([z.int()]), text) ?? [];
  if (number !== undefined) return { number };
  return id.safeParse(text).success ? { id: text } : undefined;
}

/**
 * The number of the project after which a page begins; 0 for the first page. A project that the caller may not see is
 * rejected like one that does not exist.
 */
function pageStart(
  { principal, transaction: { world } }: Caller,
  cursor: z.output<typeof listQuery>["cursor"],
): number {
  if (cursor === undefined) return 0;
  if ("number" in cursor) return cursor.number;
  const project = world.projects.get(cursor.id);
  return project !== undefined && canRead(world, principal, project) ? project.number : invalidCursor();
}

/** R for the list; S for the others. */
export function projectRoutes(): readonly ApiRoute[] {
  return [
    listProjects,
    listSharedProjects,
    createProject,
    getProject,
    getProjectLimits,
    updateProject,
    deleteProject,
    recoverProject,
  ];
}

const listProjects = route(
  "GET /projects",
  { query: listQuery },
  ({ account, principal, query, transaction }) => {
    const { world, now } = transaction;
    const caller = { principal, transaction };
    const listed =
      query.recoverable === true
        ? recoverableProjectsOf(world, account.id, now)
        : projectsOf(world, account.id).after(pageStart(caller, query.cursor));
    const others = { applications: {}, integrations: {} };
    return projectPage(caller, listed, query, {
      isVisible: (project) => canRead(world, principal, project),
      others,
      // When the first of them cannot be recovered any more is not looked at.
      until: query.recoverable === true ? now + 1 : undefined,
    });
  },
);

// S: projects of other accounts that are shared with the caller.
const listSharedProjects = route(
  "GET /projects/shared",
  { query: listQuery.omit({ org_id: true, recoverable: true }) },
  ({ principal, query, transaction }) =>
    projectPage({ principal, transaction }, sharedProjects(transaction.world, principal), query),
);

const createProject = route(
  "POST /projects",
  {
    status: 201,
    permission: "create",
    organizationIn: ({ project }) => project.org_id,
    body: createProjectBody,
  },
  ({ account, body: { project: input }, transaction, connectionUris, execute }) => {
    const events = execute({
      type: "CreateProject",
      accountId: account.id,
      name: input.name,
      regionId: input.region_id,
      provisioner: input.provisioner,
      pgVersion: input.pg_version,
      storePasswords: input.store_passwords,
      historyRetentionSeconds: input.history_retention_seconds,
      settings: input.settings,
      defaultEndpointSettings: endpointDefaultsFrom({
        ...input.default_endpoint_settings,
        ...omitUndefined({
          autoscaling_limit_min_cu: input.autoscaling_limit_min_cu,
          autoscaling_limit_max_cu: input.autoscaling_limit_max_cu,
        }),
      }),
      branch: {
        name: input.branch?.name,
        roleName: input.branch?.role_name,
        databaseName: input.branch?.database_name,
        annotations: input.branch?.annotations,
      },
    });
    const { world, now } = transaction;
    const created = events.find((event) => event.type === "ProjectCreated");
    const branch = created === undefined ? undefined : defaultBranchOf(world, created.project.id);
    if (created === undefined || branch === undefined) throw new Error("CreateProject created no project");
    const passwords = new Map(
      branch.roles.map((role) => [role.secretId, issuePassword(transaction, created.project, role)]),
    );
    const computes = computesOnBranch(world, branch.id);
    return {
      project: renderProject(world, created.project, now),
      connection_uris: computes.flatMap((compute) =>
        connectionUris.ofBranch(world, branch, compute, (secretId) => passwords.get(secretId)),
      ),
      roles: branch.roles.map((role) => renderRole(branch, role, passwords.get(role.secretId))),
      databases: branch.databases.map((database) => renderDatabase(branch, database)),
      operations: renderScheduledOperations(events, now),
      branch: renderBranch(world, branch, now),
      endpoints: computes.map((compute) => renderChangedEndpoint(world, compute, now)),
    };
  },
);

const getProject = route(
  "GET /projects/:project_id",
  { params: projectParams },
  ({ account, params, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    const { world, now } = transaction;
    return objectBody(transaction, "project", project, {
      json: projectWithOwner,
      render: (row) => renderProjectWithOwner(world, row, now),
    });
  },
);

// C: not in the public document.
const getProjectLimits = route(
  "GET /projects/:project_id/limits",
  { params: projectParams },
  ({ account, params, transaction: { world } }) => {
    const project = unwrap(findProject(world, account.id, params.project_id));
    return renderProjectLimits(unwrap(limitsOf(world, project)));
  },
);

const updateProject = route(
  "PATCH /projects/:project_id",
  { params: projectParams, body: updateProjectBody },
  ({ account, params, body, transaction, execute }) => {
    const { project: input } = body;
    const events = execute({
      type: "UpdateProject",
      accountId: account.id,
      projectId: params.project_id,
      name: input.name,
      settings: input.settings,
      defaultEndpointSettings:
        input.default_endpoint_settings && endpointDefaultsFrom(input.default_endpoint_settings),
      historyRetentionSeconds: input.history_retention_seconds,
    });
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    return {
      project: renderProject(transaction.world, project, transaction.now),
      operations: renderScheduledOperations(events, transaction.now),
    };
  },
);

const deleteProject = route(
  "DELETE /projects/:project_id",
  { params: projectParams, permission: "admin" },
  ({ account, params, transaction, execute }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    execute({ type: "DeleteProject", accountId: account.id, projectId: project.id });
    return { project: renderProject(transaction.world, project, transaction.now) };
  },
);

const recoverProject = route(
  "POST /projects/:project_id/recover",
  { params: projectParams, permission: "admin" },
  ({ account, params, transaction, execute }) => {
    execute({ type: "RecoverProject", accountId: account.id, projectId: params.project_id });
    const { world, now } = transaction;
    const project = unwrap(findProject(world, account.id, params.project_id));
    return {
      project: renderProject(world, project, now),
      branches: branchesOf(world, project.id).map((branch) => renderBranch(world, branch, now)),
    };
  },
);

/** One page of `projects`, which are sorted oldest first. */
function projectPage(
  caller: Caller,
  projects: Iterable<Project>,
  query: Pick<z.output<typeof listQuery>, "limit" | "cursor" | "search">,
  {
    isVisible = () => true,
    others = {},
    until,
  }: {
    readonly isVisible?: (project: Project) => boolean;
    readonly others?: object;
    readonly until?: SimTime | undefined;
  } = {},
) {
  const { transaction } = caller;
  const { world, now } = transaction;
  const start = pageStart(caller, query.cursor);
  const page: Project[] = [];
  for (const project of projects) {
    if (page.length === query.limit) break;
    if (project.number <= start || !isVisible(project)) continue;
    if (
      query.search !== undefined &&
      !`${project.name} ${project.id}`.toLowerCase().includes(query.search.toLowerCase())
    )
      continue;
    page.push(project);
  }
  const last = page.at(-1);
  const fields = last === undefined ? others : { pagination: { cursor: last.id }, ...others };
  return listBody(transaction, "projects", page, {
    json: listedProject,
    render: (project) => renderProjectListItem(world, project, now),
    fields,
    until,
  });
}
