import type * as public_ from "@neondatabase/api-client";
import type { Account } from "../../platform/model/account.ts";
import type { Branch } from "../../platform/model/branch.ts";
import type { Project } from "../../platform/model/project.ts";
import { canRead, type Principal } from "../../platform/rules/account/access.ts";
import type { World } from "../../platform/world/world.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import {
  accountQuery,
  branchesV2Query,
  LIST_PARAMETERS,
  projectsQuery,
  projectsV2Query,
} from "../http/consumption-query.ts";
import { consumptionWindow, PlanChangeCache } from "../http/consumption-window.ts";
import { LaterBody } from "../http/later-body.ts";
import { encodeCursor } from "../http/paging.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { listSteps, ofBranch, ofProject, sumSteps, timeframesOf } from "../render/consumption-steps.ts";
import { subscriptionTypeOf } from "../render/render-account.ts";
import { billingPeriods, renderFrame, renderV1Frame } from "../render/render-consumption.ts";

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
      const plan = subscriptionTypeOf(world, account);
      const optionalMetrics = requestedMetrics(query);
      const page = pageOfProjects(world, principal, account, query, 1);
      return later(transaction, (then) =>
        listSteps("projects", page, window, now, paginationAfter("consumption", page), (project) => {
          const frames = timeframesOf(then, project, ofProject(then, project.id), window, now);
          return {
            project_id: project.id,
            periods: billingPeriods(plan, project.id, frames, now, (frame) =>
              renderV1Frame(frame, optionalMetrics, now),
            ),
          } satisfies public_.ConsumptionHistoryPerProjectResponse["projects"][number];
        }),
      );
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
      const plan = subscriptionTypeOf(world, account);
      const optionalMetrics = requestedMetrics(query);
      return later(transaction, function* (then) {
        const frames = yield* sumSteps(then, principal, account, window, now);
        return {
          periods: billingPeriods(plan, account.id, frames, now, (frame) =>
            renderV1Frame(frame, optionalMetrics, now),
          ),
        };
      });
    },
  );

const getConsumptionHistoryPerProjectV2 = (planChanges: PlanChangeCache) =>
  route(
    "GET /consumption_history/v2/projects",
    { permission: "view", query: projectsV2Query, listParameters: LIST_PARAMETERS },
    ({ account, principal, query, transaction }) => {
      const { world, now } = transaction;
      const window = consumptionWindow(transaction, account, query, planChanges);
      const plan = subscriptionTypeOf(world, account);
      const page = pageOfProjects(world, principal, account, query, -1);
      return later(transaction, (then) =>
        listSteps("projects", page, window, now, paginationAfter("consumption-v2", page), (project) => {
          const frames = timeframesOf(then, project, ofProject(then, project.id), window, now);
          return {
            project_id: project.id,
            periods: billingPeriods(plan, project.id, frames, now, (frame) =>
              renderFrame(frame, query.metrics),
            ),
          } satisfies public_.ConsumptionHistoryPerProjectV2Response["projects"][number];
        }),
      );
    },
  );

const getConsumptionHistoryPerBranchV2 = (planChanges: PlanChangeCache) =>
  route(
    "GET /consumption_history/v2/branches",
    { permission: "view", query: branchesV2Query, listParameters: LIST_PARAMETERS },
    ({ account, principal, query, transaction }) => {
      const { world, now } = transaction;
      const window = consumptionWindow(transaction, account, query, planChanges);
      const plan = subscriptionTypeOf(world, account);
      const { cursor, limit, metrics } = query;
      const page = projectsOf(world, principal, account, query.project_ids)
        .flatMap((project) => branchesOf(world, project, query.branch_ids))
        .filter(
          (branch) =>
            cursor === undefined || compareIds([cursor[0], cursor[1]], [branch.projectId, branch.id]) < 0,
        )
        .sort((a, b) => compareIds([a.projectId, a.id], [b.projectId, b.id]))
        .slice(0, limit);
      const last = page.at(-1);
      const pagination = last && { cursor: encodeCursor("consumption-branches", [last.projectId, last.id]) };
      return later(transaction, (then) =>
        listSteps("branches", page, window, now, pagination, (branch) => {
          const frames = timeframesOf(then, branch, ofBranch(then, branch), window, now);
          const periods = billingPeriods(plan, branch.projectId, frames, now, (frame) =>
            renderFrame(frame, metrics),
          );
          return {
            project_id: branch.projectId,
            branch_id: branch.id,
            periods,
          } satisfies public_.ConsumptionHistoryPerBranchV2Response["branches"][number];
        }),
      );
    },
  );

/** A body of which much usage is read and rendered: in steps, as of the instant of the transaction. */
function later(
  transaction: Transaction,
  stepsIn: (then: World) => Generator<undefined, object | string>,
): LaterBody {
  const read = transaction.readInSteps(stepsIn);
  return new LaterBody(() => read);
}

type ProjectsQuery = {
  readonly cursor?: readonly [number, ...unknown[]] | undefined;
  readonly limit: number;
  readonly project_ids?: readonly string[] | undefined;
};

/**
 * The projects of the organization that the caller may see, in the order of their creation, or newest first. A
 * collaborator sees the shared ones. Deleted projects are included while they can be recovered. An empty list of ids
 * selects everything.
 */
function pageOfProjects(
  world: World,
  principal: Principal,
  account: Account,
  { cursor, limit, project_ids }: ProjectsQuery,
  direction: 1 | -1,
): Project[] {
  const after = cursor?.[0] ?? (direction === 1 ? 0 : Number.POSITIVE_INFINITY);
  if (project_ids !== undefined && project_ids.length > 0)
    return projectsOf(world, principal, account, project_ids)
      .filter(({ number }) => direction * (number - after) > 0)
      .sort((one, other) => direction * (one.number - other.number))
      .slice(0, limit);
  const owned = world.projects.ordered("owner", account.id);
  const page: Project[] = [];
  for (const project of direction === 1 ? owned.after(after) : owned.before(after)) {
    if (page.length === limit) break;
    if (canRead(world, principal, project)) page.push(project);
  }
  return page;
}

/** The projects with these ids, each once. */
function projectsOf(
  world: World,
  principal: Principal,
  account: Account,
  ids: readonly string[],
): readonly Project[] {
  return [...new Set(ids)].flatMap((id) => {
    const project = world.projects.get(id);
    if (project?.accountId !== account.id) return [];
    return canRead(world, principal, project) ? [project] : [];
  });
}

/** An empty list of ids selects everything. */
function branchesOf(world: World, { id }: Project, ids: readonly string[] = []): readonly Branch[] {
  const branches = [...world.branches.by("project", id).values()];
  const idSet = new Set(ids);
  return ids.length === 0 ? branches : branches.filter((branch) => idSet.has(branch.id));
}

function paginationAfter(list: "consumption" | "consumption-v2", page: readonly Project[]) {
  const last = page.at(-1);
  return last && { cursor: encodeCursor(list, [last.number]) };
}

function compareIds(one: readonly [string, string], other: readonly [string, string]): number {
  const index = one[0] === other[0] ? 1 : 0;
  return one[index] < other[index] ? -1 : one[index] > other[index] ? 1 : 0;
}

/** The optional metrics of the first version. The metrics that the document requires are always present. */
function requestedMetrics(query: {
  readonly metrics?: readonly string[] | undefined;
  readonly include_v1_metrics?: boolean | undefined;
}): readonly string[] {
  return query.metrics ?? (query.include_v1_metrics === true ? ["data_storage_bytes_hour"] : []);
}
