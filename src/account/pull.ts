import * as z from "zod";
import { isoInstant } from "../kernel/calendar.ts";
import type { DurationMs, SimTime } from "../kernel/time.ts";
import type { ServerApi } from "../ports/server-api.ts";
import { UserError } from "../ports/user-error.ts";
import { bodyOf, listAll, listProjects } from "../remote/client/read-lists.ts";
import {
  endpointAnswer,
  operationAnswer,
  operationsPage,
  type ProjectAnswer,
  planAnswer,
  projectAnswer,
} from "./account-answers.ts";
import type { UnreadPart } from "./account-file.ts";
import type { AccountWriter } from "./account-writer.ts";
import { CountedApi, checked } from "./counted-api.ts";
import { PROJECTS_PER_CONSUMPTION, readConsumption } from "./pull-consumption.ts";

/** D: the longest page of operations. */
const OPERATIONS_PER_PAGE = 1_000;
/** Each reads a project, the plan or the consumption; each of these makes one call after another. */
export const CALLS_AT_ONCE = 4;
/** A project whose list of operations never ends. */
const MAX_PAGES = 100_000;

export type PullRequest = {
  /** Oldest operation to read; all that the platform has if omitted. */
  readonly since?: SimTime | undefined;
  /** Alternative to `since`: age of the oldest operation to read, by the server's clock. */
  readonly sinceAgoMs?: DurationMs | undefined;
  /** Ids; all projects of the key if omitted. */
  readonly projects?: readonly string[] | undefined;
  readonly organization?: string | undefined;
};

export type PullReport = {
  readonly projects: number;
  readonly calls: number;
  readonly operations: number;
  readonly notes: readonly string[];
};

export type PullProgress = (doneProjects: number, ofProjects: number) => Promise<void>;

/**
 * Reads an account with GET requests only. What was read stays in the file if it is interrupted, and the next pull
 * continues. `announce` is called before the first call for a project.
 */
export async function pullAccount(
  api: ServerApi,
  writer: AccountWriter,
  request: PullRequest,
  announce: (projects: number, leastCalls: number) => void,
  progress: PullProgress,
): Promise<PullReport> {
  const counted = new CountedApi(api);
  const projects = await readProjects(counted, request);
  const at = counted.serverTime;
  const since = sinceOf(request, at, writer.since()?.since ?? undefined);
  writer.addPull(api.url, at, since);
  writer.addProjects(projects, at, request.projects === undefined && request.organization === undefined);
  announce(
    projects.length,
    1 + 2 * projects.length + 2 * Math.ceil(projects.length / PROJECTS_PER_CONSUMPTION),
  );
  let [done, operations] = [0, 0];
  let planNotes: readonly string[] = [];
  let consumptionNotes: readonly string[] = [];
  const reads = projects.map(({ id }) => async () => {
    const own = await readProject(counted, writer, id, since);
    // Other projects are read in the meantime, so the sum is read after the wait.
    operations += own;
    done += 1;
    await progress(done, projects.length);
  });
  reads.push(
    async () => {
      planNotes = await readPlan(counted, writer);
    },
    async () => {
      consumptionNotes = await readConsumption(counted, writer, projects);
    },
  );
  const readNext = async (): Promise<void> => {
    for (let read = reads.shift(); read !== undefined; read = reads.shift()) await read();
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, readNext));
  const notes = [...planNotes, ...consumptionNotes];
  return { projects: projects.length, calls: counted.calls, operations, notes };
}

/** A file that ends at one instant cannot be extended to an earlier one, because its oldest operations are not marked. */
function sinceOf(
  { since, sinceAgoMs }: PullRequest,
  at: SimTime,
  ofFile: SimTime | undefined,
): SimTime | undefined {
  const wanted = sinceAgoMs === undefined ? since : at - sinceAgoMs;
  if (wanted === undefined || ofFile === undefined) return wanted ?? ofFile;
  if (wanted >= ofFile) return wanted;
  throw new UserError(
    `--since: the file begins at ${isoInstant(ofFile)}; omit it, give that or a later instant, or another --out`,
  );
}

async function readProjects(
  api: ServerApi,
  { projects, organization }: PullRequest,
): Promise<ProjectAnswer[]> {
  if (projects !== undefined) {
    const found: ProjectAnswer[] = [];
    for (const id of projects) {
      const path = `/projects/${encodeURIComponent(id)}`;
      const body = bodyOf(api, path, await api.get(path));
      found.push(checked(api, path, body, z.object({ project: projectAnswer })).project);
    }
    return found;
  }
  const path =
    organization === undefined ? undefined : `/projects?limit=400&org_id=${encodeURIComponent(organization)}`;
  const list = path === undefined ? await listProjects(api) : await listAll(api, path, "projects");
  return checked(api, "/projects", list, z.array(projectAnswer));
}

/** Resolves to the number of operations read. A project that was deleted meanwhile is marked as deleted. */
async function readProject(
  api: CountedApi,
  writer: AccountWriter,
  project: string,
  since: SimTime | undefined,
): Promise<number> {
  const path = `/projects/${encodeURIComponent(project)}`;
  const response = await api.get(`${path}/endpoints`);
  if (response.status === 404) {
    writer.markProjectDeleted(project, api.serverTime);
    return 0;
  }
  const body = bodyOf(api, `${path}/endpoints`, response);
  const { endpoints } = checked(
    api,
    `${path}/endpoints`,
    body,
    z.object({ endpoints: z.array(endpointAnswer) }),
  );
  writer.addEndpoints(project, endpoints, api.serverTime);
  for (const id of writer.unfinishedOperations(project)) await readOperation(api, writer, project, id);
  let operations = 0;
  for (const part of writer.unreadParts(project))
    operations += await readPart(api, writer, part, path, since);
  return operations;
}

async function readOperation(
  api: ServerApi,
  writer: AccountWriter,
  project: string,
  id: string,
): Promise<void> {
  const path = `/projects/${encodeURIComponent(project)}/operations/${encodeURIComponent(id)}`;
  const response = await api.get(path);
  if (response.status === 404) return;
  const { operation } = checked(
    api,
    path,
    bodyOf(api, path, response),
    z.object({ operation: operationAnswer }),
  );
  writer.addOperations(project, [operation]);
}

/** Pages from the newest operation to the oldest one that is not in the file. */
async function readPart(
  api: CountedApi,
  writer: AccountWriter,
  unread: UnreadPart,
  path: string,
  since: SimTime | undefined,
): Promise<number> {
  let part = unread;
  let count = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const cursor = part.cursor === null ? "" : `&cursor=${encodeURIComponent(part.cursor)}`;
    const pagePath = `${path}/operations?limit=${OPERATIONS_PER_PAGE}${cursor}`;
    const response = await api.get(pagePath);
    if (response.status === 404) {
      writer.markProjectDeleted(part.project, api.serverTime);
      return count;
    }
    const { operations, pagination } = checked(
      api,
      pagePath,
      bodyOf(api, pagePath, response),
      operationsPage,
    );
    const known = operations.findIndex(
      ({ id, created_at }) => id === part.until_operation || (since !== undefined && created_at < since),
    );
    const added = known === -1 ? operations : operations.slice(0, known);
    const next = pagination?.cursor ?? undefined;
    const isEnd = known !== -1 || operations.length === 0 || next === undefined || next === part.cursor;
    writer.addPage(part, added, isEnd ? undefined : next);
    count += added.length;
    if (isEnd) return count;
    part = { ...part, cursor: next };
  }
  throw new UserError(`GET ${api.url}${path}/operations: the list has more than ${MAX_PAGES} pages`);
}

/** S: a key of an organization or a project has no user, and so no limits that it can read. */
async function readPlan(api: CountedApi, writer: AccountWriter): Promise<readonly string[]> {
  const path = "/users/me";
  const response = await api.get(path);
  if (response.status === 401) bodyOf(api, path, response);
  if (response.status !== 200)
    return [`no plan: the server answered GET ${path} with status ${response.status}`];
  writer.addPlan(checked(api, path, response.body, planAnswer), api.serverTime);
  return [];
}
