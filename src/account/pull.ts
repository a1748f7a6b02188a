import * as z from "zod";
import { DAY, HOUR, type SimTime } from "../kernel/time.ts";
import { mismatch, type ServerApi } from "../ports/server-api.ts";
import { UserError } from "../ports/user-error.ts";
import { bodyOf, listAll, listProjects } from "../remote/client/read-lists.ts";
import {
  consumptionPage,
  endpointAnswer,
  operationAnswer,
  operationsPage,
  type ProjectAnswer,
  planAnswer,
  projectAnswer,
} from "./account-answers.ts";
import type { UnreadPart } from "./account-file.ts";
import type { AccountWriter } from "./account-writer.ts";

/** D: the longest page of operations. */
const OPERATIONS_PER_PAGE = 1_000;
/** D: the most projects in one answer about consumption. */
const PROJECTS_PER_CONSUMPTION = 100;
/** D: how far back each granularity is kept. */
const RETAINED = { hourly: 167 * HOUR, daily: 59 * DAY } as const;
/** Projects that are read at the same time, so at most this many calls at once. */
export const CALLS_AT_ONCE = 4;
/** A project whose list of operations never ends. */
const MAX_PAGES = 100_000;

export type PullRequest = {
  /** Oldest operation to read; all that the platform has if omitted. */
  readonly since?: SimTime | undefined;
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
  checkSince(writer, request.since);
  const counted = new CountedApi(api);
  const projects = await readProjects(counted, request);
  const at = counted.serverTime;
  writer.addPull(api.url, at, request.since);
  writer.addProjects(projects, at, request.projects === undefined && request.organization === undefined);
  announce(
    projects.length,
    1 + 2 * projects.length + 2 * Math.ceil(projects.length / PROJECTS_PER_CONSUMPTION),
  );
  let [done, operations] = [0, 0];
  const queue = [...projects];
  const readNext = async (): Promise<void> => {
    for (let project = queue.shift(); project !== undefined; project = queue.shift()) {
      const own = await readProject(counted, writer, project.id, request.since);
      // Other projects are read meanwhile, so the sum is read after the wait.
      operations += own;
      done += 1;
      await progress(done, projects.length);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, readNext));
  const notes = [...(await readPlan(counted, writer)), ...(await readConsumption(counted, writer, projects))];
  return { projects: projects.length, calls: counted.calls, operations, notes };
}

/** Counts the calls, and knows the time of the server. */
class CountedApi implements ServerApi {
  readonly url: string;
  calls = 0;
  #serverTime: SimTime | undefined;
  readonly #api: ServerApi;

  constructor(api: ServerApi) {
    this.#api = api;
    this.url = api.url;
  }

  get serverTime(): SimTime {
    if (this.#serverTime === undefined)
      throw new UserError(
        `GET ${this.url}: the answer has no Date header, so the time of the server is unknown`,
      );
    return this.#serverTime;
  }

  async get(path: string) {
    this.calls += 1;
    const response = await this.#api.get(path);
    this.#serverTime = response.serverTime ?? this.#serverTime;
    return response;
  }

  getWithoutKey(path: string) {
    return this.#api.getWithoutKey(path);
  }

  call(): never {
    throw new Error("a pull only reads");
  }

  pause(ms: number) {
    return this.#api.pause(ms);
  }

  sanitize(text: string) {
    return this.#api.sanitize(text);
  }
}

/** A file that ends at one instant cannot be extended to an earlier one, because its oldest operations are not marked. */
function checkSince(writer: AccountWriter, since: SimTime | undefined): void {
  const first = writer.since();
  if (first === undefined || first.since === null) return;
  if (since === undefined || since < first.since)
    throw new UserError(
      `--since: the file begins at ${new Date(first.since).toISOString()}; give that or a later instant, or another --out`,
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

/** Returns notes about what the plan does not allow to read. */
async function readConsumption(
  api: CountedApi,
  writer: AccountWriter,
  projects: readonly ProjectAnswer[],
): Promise<readonly string[]> {
  const notes: string[] = [];
  const byOrganization = new Map<string, string[]>();
  for (const { id, org_id } of projects) {
    const organization = org_id ?? "";
    byOrganization.set(organization, [...(byOrganization.get(organization) ?? []), id]);
  }
  for (const granularity of ["hourly", "daily"] as const) {
    for (const [organization, ids] of byOrganization) {
      for (let from = 0; from < ids.length; from += PROJECTS_PER_CONSUMPTION) {
        const note = await readConsumptionOf(
          api,
          writer,
          granularity,
          organization,
          ids.slice(from, from + PROJECTS_PER_CONSUMPTION),
        );
        if (note !== undefined && !notes.includes(note)) notes.push(note);
      }
    }
  }
  return notes;
}

async function readConsumptionOf(
  api: CountedApi,
  writer: AccountWriter,
  granularity: keyof typeof RETAINED,
  organization: string,
  ids: readonly string[],
): Promise<string | undefined> {
  const now = api.serverTime;
  const unit = granularity === "hourly" ? HOUR : DAY;
  const from = Math.ceil((now - RETAINED[granularity]) / unit) * unit;
  const query = new URLSearchParams({
    ...{ granularity, limit: String(PROJECTS_PER_CONSUMPTION), project_ids: ids.join(",") },
    ...{ from: new Date(from).toISOString(), to: new Date(Math.floor(now / unit) * unit).toISOString() },
    ...(organization === "" ? {} : { org_id: organization }),
  });
  const path = `/consumption_history/projects?${query}`;
  const response = await api.get(path);
  if (response.status === 401) bodyOf(api, path, response);
  // R: only some plans have a history of consumption.
  if (response.status !== 200)
    return `no ${granularity} consumption: the server answered with status ${response.status}`;
  const { projects } = checked(api, path, response.body, consumptionPage);
  writer.addConsumption(
    projects.flatMap(({ project_id: project, periods }) =>
      periods.flatMap(({ consumption }) =>
        consumption.map((frame) => ({
          ...{ project, granularity, start_at: frame.timeframe_start, end_at: frame.timeframe_end },
          ...{ active_s: frame.active_time_seconds, compute_s: frame.compute_time_seconds },
        })),
      ),
    ),
  );
  return undefined;
}

/** The value with its type. Throws a `UserError` for a value of another type; `path` names the call. */
function checked<T extends z.ZodType>(api: ServerApi, path: string, value: unknown, schema: T): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw mismatch(api, path, result.error.issues[0]);
}
