import { Hono } from "hono";
import * as z from "zod";
import { fail, unwrap } from "../../http/request.ts";
import { canRead, sharedProjects } from "../../platform/account/access.ts";
import type { Account } from "../../platform/account/account.ts";
import { findDatabase } from "../../platform/branch/database.ts";
import { findRole } from "../../platform/branch/role.ts";
import type { Compute } from "../../platform/compute/compute.ts";
import type { World } from "../../platform/core/world.ts";
import {
  branchesOf,
  computesOnBranch,
  defaultBranchOf,
  findBranch,
  findCompute,
  findProject,
  primaryComputeOf,
  projectsOf,
} from "../../platform/lookup.ts";
import type { DefaultEndpointSettings, Project } from "../../platform/project/project.ts";
import { recoverableProjectsOf } from "../../platform/project/recovery.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { cursorParameter, encodeCursor, integerParameter, limitParameter } from "../http/paging.ts";
import { issuePassword, PASSWORDS_NOT_STORED } from "../http/passwords.ts";
import type { RouteHandlers } from "../http/request-context.ts";
import {
  defaultEndpointSettings,
  flag,
  id,
  name,
  postgresName,
  preloadLibraries,
} from "../http/request-fields.ts";
import { renderBranch, renderDatabase, renderRole } from "../render/render-branch.ts";
import { connectionUri, renderChangedEndpoint, renderConnectionUris } from "../render/render-endpoint.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";
import { renderProject, renderProjectListItem } from "../render/render-project.ts";
import { IP_RANGE_RULE, isIpRange } from "./ip-ranges.ts";

const MAX_PAGE = 400; // S
const DEFAULT_PAGE = 10; // S
const MAX_HISTORY_RETENTION_S = 2_592_000; // S

const projectParams = z.object({ project_id: id });

/** S: 0 is none (see platform/quota.ts for those that can be reached here). */
const quota = z.object({
  active_time_seconds: z.int().min(0).optional(),
  compute_time_seconds: z.int().min(0).optional(),
  written_data_bytes: z.int().min(0).optional(),
  data_transfer_bytes: z.int().min(0).optional(),
  logical_size_bytes: z.int().min(0).optional(),
});

/** S: in UTC. */
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day like 09:00 or 17:30");

/** S: settings that a project keeps. */
const settings = z.object({
  quota: quota.optional(),
  allowed_ips: z
    .object({
      ips: z.array(z.string().refine(isIpRange, IP_RANGE_RULE)).optional(),
      protected_branches_only: z.boolean().optional(),
    })
    .optional(),
  enable_logical_replication: z.boolean().optional(),
  maintenance_window: z
    .object({ weekdays: z.array(z.int().min(1).max(7)), start_time: timeOfDay, end_time: timeOfDay })
    .optional(),
  block_public_connections: z.boolean().optional(),
  block_vpc_connections: z.boolean().optional(),
  audit_log_level: z.enum(["base", "extended", "full"]).optional(),
  hipaa: z.boolean().optional(),
  preload_libraries: preloadLibraries.optional(),
});

const sharedFields = {
  name: name.optional(),
  settings: settings.optional(),
  default_endpoint_settings: defaultEndpointSettings.optional(),
  history_retention_seconds: z.int().min(0).max(MAX_HISTORY_RETENTION_S).optional(),
};

const createBody = z.object({
  project: z.object({
    ...sharedFields,
    branch: z
      .object({
        name: name.optional(),
        role_name: postgresName.optional(),
        database_name: postgresName.optional(),
        annotations: z.record(z.string(), z.string()).optional(),
      })
      .optional(),
    autoscaling_limit_min_cu: z.number().optional(),
    autoscaling_limit_max_cu: z.number().optional(),
    provisioner: z.string().min(1).max(64).optional(),
    region_id: z.string().optional(),
    pg_version: z.int().min(14).max(18).optional(),
    store_passwords: z.boolean().optional(),
    org_id: id.optional(),
  }),
});

const listQuery = z.object({
  limit: limitParameter(MAX_PAGE, DEFAULT_PAGE),
  cursor: cursorParameter("projects", z.tuple([z.int()])),
  search: z.string().optional(),
  org_id: id.optional(),
  // How long the platform may search; here, searching takes no time.
  timeout: integerParameter(100, 30_000).optional(),
  recoverable: flag.optional(),
});

const createRouteOptions = {
  status: 201,
  permission: "create",
  organizationIn: (body: z.output<typeof createBody>) => body.project.org_id,
  body: createBody,
} as const;

/** R for the list; S for the rest. */
export function projectRoutes(handlers: RouteHandlers): Hono {
  const app = new Hono();

  app.get(
    "/projects",
    handlers.route({ query: listQuery }, ({ account, principal, query, transaction }) => {
      const { world, now } = transaction;
      const listed =
        query.recoverable === true
          ? recoverableProjectsOf(world, account.id, now)
          : projectsOf(world, account.id);
      return {
        ...projectPage(transaction, listed, query, (project) => canRead(world, principal, project)),
        applications: {},
        integrations: {},
      };
    }),
  );

  // S: projects of others that were shared with the caller.
  app.get(
    "/projects/shared",
    handlers.route(
      { query: listQuery.omit({ org_id: true, recoverable: true }) },
      ({ principal, query, transaction }) =>
        projectPage(transaction, sharedProjects(transaction.world, principal), query),
    ),
  );

  app.post(
    "/projects",
    handlers.route(createRouteOptions, ({ account, body: { project: input }, transaction, execute }) => {
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
          ...(input.autoscaling_limit_min_cu === undefined
            ? {}
            : { autoscaling_limit_min_cu: input.autoscaling_limit_min_cu }),
          ...(input.autoscaling_limit_max_cu === undefined
            ? {}
            : { autoscaling_limit_max_cu: input.autoscaling_limit_max_cu }),
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
      if (created === undefined || branch === undefined) throw new Error("CreateProject created none");
      const passwords = new Map(
        branch.roles.map((role) => [role.secretId, issuePassword(transaction, created.project, role)]),
      );
      const computes = computesOnBranch(world, branch.id);
      return {
        project: renderProject(world, created.project, now),
        connection_uris: computes.flatMap((compute) =>
          renderConnectionUris(world, branch, compute, (secretId) => passwords.get(secretId)),
        ),
        roles: branch.roles.map((role) => renderRole(branch, role, passwords.get(role.secretId))),
        databases: branch.databases.map((database) => renderDatabase(branch, database)),
        operations: renderScheduledOperations(events, now),
        branch: renderBranch(world, branch, now),
        endpoints: computes.map((compute) => renderChangedEndpoint(world, compute, now)),
      };
    }),
  );

  app.get(
    "/projects/:project_id",
    handlers.route({ params: projectParams }, ({ account, params, transaction }) => {
      const project = unwrap(findProject(transaction.world, account.id, params.project_id));
      return { project: renderProject(transaction.world, project, transaction.now) };
    }),
  );

  app.patch(
    "/projects/:project_id",
    handlers.route(
      { params: projectParams, body: z.object({ project: z.object(sharedFields) }) },
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
    ),
  );

  app.delete(
    "/projects/:project_id",
    handlers.route(
      { params: projectParams, permission: "admin" },
      ({ account, params, transaction, execute }) => {
        const project = unwrap(findProject(transaction.world, account.id, params.project_id));
        execute({ type: "DeleteProject", accountId: account.id, projectId: project.id });
        return { project: renderProject(transaction.world, project, transaction.now) };
      },
    ),
  );

  app.post(
    "/projects/:project_id/recover",
    handlers.route(
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
    ),
  );

  app.get(
    "/projects/:project_id/connection_uri",
    handlers.route(
      {
        params: projectParams,
        query: z.object({
          branch_id: id.optional(),
          endpoint_id: id.optional(),
          database_name: z.string().min(1),
          role_name: z.string().min(1),
          pooled: flag.optional(),
        }),
      },
      ({ account, params, query, transaction }) => {
        const { world } = transaction;
        const project = unwrap(findProject(world, account.id, params.project_id));
        const compute = computeForConnection(world, project, account, query);
        const branch = unwrap(findBranch(world, project, compute.branchId));
        const password = world.secrets.get(unwrap(findRole(branch, query.role_name)).secretId)?.value;
        unwrap(findDatabase(branch, query.database_name));
        if (password === undefined) return fail(PASSWORDS_NOT_STORED);
        return {
          uri: connectionUri(
            world,
            compute,
            query.role_name,
            password,
            query.database_name,
            query.pooled ?? false,
          ),
        };
      },
    ),
  );

  return app;
}

/** S: the named endpoint, or the primary of the named or the default branch. R: a branch is reached only through a compute of its own. */
function computeForConnection(
  world: World,
  project: Project,
  account: Account,
  query: { branch_id?: string | undefined; endpoint_id?: string | undefined },
): Compute {
  const { branch_id, endpoint_id } = query;
  const requested =
    endpoint_id === undefined
      ? undefined
      : unwrap(findCompute(world, { accountId: account.id, projectId: project.id, computeId: endpoint_id }));
  if (requested !== undefined && (branch_id === undefined || requested.branchId === branch_id))
    return requested;
  const branch =
    branch_id === undefined
      ? defaultBranchOf(world, project.id)
      : unwrap(findBranch(world, project, branch_id));
  const primary =
    requested === undefined && branch !== undefined ? primaryComputeOf(world, branch.id) : undefined;
  return (
    primary ??
    fail({
      status: 404,
      code: "ENDPOINT_NOT_FOUND",
      message: `branch "${branch?.id ?? ""}" has no such endpoint to connect through`,
    })
  );
}

/** A page of these projects, which come oldest first. */
function projectPage(
  { world, now }: Transaction,
  projects: Iterable<Project>,
  query: Pick<z.output<typeof listQuery>, "limit" | "cursor" | "search">,
  isVisible: (project: Project) => boolean = () => true,
) {
  const page: Project[] = [];
  for (const project of projects) {
    if (page.length === query.limit) break;
    if (project.number <= (query.cursor?.[0] ?? 0) || !isVisible(project)) continue;
    if (
      query.search !== undefined &&
      !`${project.name} ${project.id}`.toLowerCase().includes(query.search.toLowerCase())
    )
      continue;
    page.push(project);
  }
  const last = page.at(-1);
  return {
    projects: page.map((project) => renderProjectListItem(world, project, now)),
    ...(last === undefined ? {} : { pagination: { cursor: encodeCursor("projects", [last.number]) } }),
  };
}

/** An account sees its own organization and no other. */
export function checkOrganization(account: Account, organizationId: string | undefined): void {
  if (organizationId === undefined || organizationId === account.organizationId) return;
  fail({
    status: 404,
    code: "ORGANIZATION_NOT_FOUND",
    message: `organization "${organizationId}" not found`,
  });
}

function endpointDefaultsFrom(fields: z.output<typeof defaultEndpointSettings>): DefaultEndpointSettings {
  return {
    ...(fields.pg_settings === undefined ? {} : { pg_settings: fields.pg_settings }),
    ...(fields.pgbouncer_settings === undefined ? {} : { pgbouncer_settings: fields.pgbouncer_settings }),
    ...(fields.autoscaling_limit_min_cu === undefined ? {} : { minCu: fields.autoscaling_limit_min_cu }),
    ...(fields.autoscaling_limit_max_cu === undefined ? {} : { maxCu: fields.autoscaling_limit_max_cu }),
    ...(fields.suspend_timeout_seconds === undefined
      ? {}
      : { suspendTimeoutSeconds: fields.suspend_timeout_seconds }),
  };
}
