import type * as public_ from "@neondatabase/api-client";
import type { SimTime } from "../../kernel/time.ts";
import type { Account } from "../../platform/model/account.ts";
import type { Branch } from "../../platform/model/branch.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { Project } from "../../platform/model/project.ts";
import { canRead, type Principal } from "../../platform/rules/account/access.ts";
import {
  type ConsumptionWindow,
  consumptionOf,
  type Timeframe,
} from "../../platform/rules/usage/consumption.ts";
import { computesOnBranch } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import {
  accountQuery,
  branchesV2Query,
  LIST_PARAMETERS,
  projectsQuery,
  projectsV2Query,
} from "../http/consumption-query.ts";
import { consumptionWindow, PlanChangeCache } from "../http/consumption-window.ts";
import { encodeCursor } from "../http/paging.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { subscriptionTypeOf } from "../render/render-account.ts";
import { billingPeriods, renderFrame, renderV1Frame, sumByStart } from "../render/render-consumption.ts";

// S, unless a comment says otherwise. Compute usage is metered to the millisecond, storage from what Postgres
// reports. There are no private networks, and snapshots are not charged, so their metrics are 0.

/** None of these calls starts a compute. Ids that name nothing in this account are ignored (A). */
export function consumptionRoutes(): readonly ApiRoute[] {
  const planChanges = new PlanChangeCache();
  return [
    getConsumptionHistoryPerProject(planChanges),
    getConsumptionHistoryPerAccount(planChanges),
    getConsumptionHistoryPerProjectV2(planChanges),
    getConsumptionHistoryPerBranchV2(planChanges),
  ];
}

const getConsumptionHistoryPerProject = (planChanges: PlanChangeCache) =>
  route(
    "GET /consumption_history/projects",
    { permission: "view", query: projectsQuery, listParameters: LIST_PARAMETERS },
    ({ account, principal, query, transaction }) => {
      const { world, now } = transaction;
      const window = consumptionWindow(transaction, account, query, planChanges);
      const { cursor, limit } = query;
      const optionalMetrics = requestedMetrics(query);
      const rest = world.projects.ordered("owner", account.id).after(cursor?.[0] ?? 0);
      const page = firstOf(limit, visible(world, principal, rest), query.project_ids);
      const last = page.at(-1);
      return {
        projects: page.map((project) => ({
          project_id: project.id,
          periods: billingPeriods(
            subscriptionTypeOf(world, account),
            project.id,
            timeframesOf(world, project, ofProject(world, project.id), window, now),
            now,
            (frame) => renderV1Frame(frame, optionalMetrics, now),
          ),
        })),
        ...(last === undefined ? {} : { pagination: { cursor: encodeCursor("consumption", [last.number]) } }),
      } satisfies public_.ConsumptionHistoryPerProjectResponse & public_.PaginationResponse;
    },
  );

// D: an operation of older documents: the sum of all projects, in the form of one project.
const getConsumptionHistoryPerAccount = (planChanges: PlanChangeCache) =>
  route(
    "GET /consumption_history/account",
    { permission: "view", query: accountQuery, listParameters: LIST_PARAMETERS },
    ({ account, principal, query, transaction }) => {
      const { world, now } = transaction;
      const window = consumptionWindow(transaction, account, query, planChanges);
      const byProject = allVisible(world, principal, account).map((project) =>
        timeframesOf(world, project, ofProject(world, project.id), window, now),
      );
      const optionalMetrics = requestedMetrics(query);
      return {
        periods: billingPeriods(
          subscriptionTypeOf(world, account),
          account.id,
          sumByStart(byProject),
          now,
          (frame) => renderV1Frame(frame, optionalMetrics, now),
        ),
      };
    },
  );

const getConsumptionHistoryPerProjectV2 = (planChanges: PlanChangeCache) =>
  route(
    "GET /consumption_history/v2/projects",
    { permission: "view", query: projectsV2Query, listParameters: LIST_PARAMETERS },
    ({ account, principal, query, transaction }) => {
      const { world, now } = transaction;
      const window = consumptionWindow(transaction, account, query, planChanges);
      const { cursor, limit, metrics } = query;
      const rest = world.projects
        .ordered("owner", account.id)
        .before(cursor?.[0] ?? Number.POSITIVE_INFINITY);
      const page = firstOf(limit, visible(world, principal, rest), query.project_ids);
      const last = page.at(-1);
      return {
        projects: page.map((project) => {
          const frames = timeframesOf(world, project, ofProject(world, project.id), window, now);
          return {
            project_id: project.id,
            periods: billingPeriods(subscriptionTypeOf(world, account), project.id, frames, now, (frame) =>
              renderFrame(frame, metrics),
            ),
          };
        }),
        ...(last === undefined
          ? {}
          : { pagination: { cursor: encodeCursor("consumption-v2", [last.number]) } }),
      } satisfies public_.ConsumptionHistoryPerProjectV2Response & public_.PaginationResponse;
    },
  );

const getConsumptionHistoryPerBranchV2 = (planChanges: PlanChangeCache) =>
  route(
    "GET /consumption_history/v2/branches",
    { permission: "view", query: branchesV2Query, listParameters: LIST_PARAMETERS },
    ({ account, principal, query, transaction }) => {
      const { world, now } = transaction;
      const window = consumptionWindow(transaction, account, query, planChanges);
      const { cursor, limit, metrics } = query;
      const branches = selectByIds(allVisible(world, principal, account), query.project_ids)
        .flatMap((project) =>
          selectByIds(world.branches.by("project", project.id).values(), query.branch_ids),
        )
        .filter(
          (branch) =>
            cursor === undefined || compareIds([cursor[0], cursor[1]], [branch.projectId, branch.id]) < 0,
        )
        .sort((a, b) => compareIds([a.projectId, a.id], [b.projectId, b.id]));
      const page = branches.slice(0, limit);
      const last = page.at(-1);
      return {
        branches: page.map((branch) => {
          const frames = timeframesOf(world, branch, ofBranch(world, branch), window, now);
          const periods = billingPeriods(
            subscriptionTypeOf(world, account),
            branch.projectId,
            frames,
            now,
            (frame) => renderFrame(frame, metrics),
          );
          return { project_id: branch.projectId, branch_id: branch.id, periods };
        }),
        ...(last === undefined
          ? {}
          : { pagination: { cursor: encodeCursor("consumption-branches", [last.projectId, last.id]) } }),
      } satisfies public_.ConsumptionHistoryPerBranchV2Response & public_.PaginationResponse;
    },
  );

/**
 * The projects of the organization that the caller may see, oldest first. A collaborator sees the shared
 * ones. Deleted projects are included while they can be recovered.
 */
function allVisible(world: World, principal: Principal, account: Account): Project[] {
  return [...visible(world, principal, world.projects.by("owner", account.id).values())];
}

function* visible(world: World, principal: Principal, projects: Iterable<Project>): Generator<Project> {
  for (const project of projects) if (canRead(world, principal, project)) yield project;
}

/** Keeps the order of `all`. An empty list of ids selects everything. */
function selectByIds<T extends { readonly id: string }>(
  all: Iterable<T>,
  ids: readonly string[] | undefined,
): T[] {
  return firstOf(Number.POSITIVE_INFINITY, all, ids);
}

/** The first rows that are selected; the others are not read. An empty list of ids selects everything. */
function firstOf<T extends { readonly id: string }>(
  limit: number,
  all: Iterable<T>,
  ids: readonly string[] | undefined,
): T[] {
  const idSet = ids === undefined || ids.length === 0 ? undefined : new Set(ids);
  const first: T[] = [];
  for (const one of all) {
    if (first.length === limit) break;
    if (idSet === undefined || idSet.has(one.id)) first.push(one);
  }
  return first;
}

function compareIds(one: readonly [string, string], other: readonly [string, string]): number {
  const index = one[0] === other[0] ? 1 : 0;
  return one[index] < other[index] ? -1 : one[index] > other[index] ? 1 : 0;
}

/** Whose usage is included. */
type Consumers = { readonly computes: Iterable<Compute>; readonly branches: Iterable<Branch> };

function ofProject(world: World, projectId: string): Consumers {
  return {
    computes: world.computes.by("project", projectId).values(),
    branches: world.branches.by("project", projectId).values(),
  };
}

function ofBranch(world: World, branch: Branch): Consumers {
  return { computes: computesOnBranch(world, branch.id), branches: [branch] };
}

/** A: timeframes begin at the creation of the project or branch. */
function timeframesOf(
  world: World,
  resource: { readonly id: string; readonly createdAt: SimTime },
  { computes, branches }: Consumers,
  { from, to, granularity }: ConsumptionWindow,
  now: SimTime,
): Timeframe[] {
  return consumptionOf(
    world,
    resource.id,
    computes,
    { from: Math.max(from, resource.createdAt), to, granularity },
    now,
    branches,
  );
}

/** The optional metrics of the first version. The metrics that the document requires are always present. */
function requestedMetrics(query: {
  readonly metrics?: readonly string[] | undefined;
  readonly include_v1_metrics?: boolean | undefined;
}): readonly string[] {
  return query.metrics ?? (query.include_v1_metrics === true ? ["data_storage_bytes_hour"] : []);
}
