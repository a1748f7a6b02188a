import * as z from "zod";
import { bySettingField } from "../../platform/model/compute.ts";
import { apiErrorOf, type PublicApi, type PublicResponse } from "../client/public-api.ts";
import { UserError } from "../client/user-error.ts";

// The fields that are copied. Parsing drops all other fields of an answer, in particular secrets.

const anyRecord = z.record(z.string(), z.unknown());

/** The provisioner is that of the other server. */
const { provisioner: _, ...copiedSettings } = bySettingField({
  flag: z.boolean().nullish(),
  text: z.string().nullish(),
});
export const COPIED_SETTINGS = Object.keys(copiedSettings) as readonly (keyof typeof copiedSettings)[];

const endpointSchema = z.object({
  id: z.string(),
  branch_id: z.string(),
  type: z.string(),
  autoscaling_limit_min_cu: z.number().nullish(),
  autoscaling_limit_max_cu: z.number().nullish(),
  suspend_timeout_seconds: z.number().nullish(),
  ...copiedSettings,
  settings: anyRecord.nullish(),
});

const branchSchema = z.object({
  id: z.string(),
  name: z.string(),
  parent_id: z.string().nullish(),
  init_source: z.string().nullish(),
  default: z.boolean().nullish(),
  primary: z.boolean().nullish(),
  protected: z.boolean().nullish(),
  current_state: z.string().nullish(),
  expires_at: z.string().nullish(),
});

const projectSchema = z.object({
  id: z.string(),
  name: z.string(),
  region_id: z.string(),
  pg_version: z.number(),
  store_passwords: z.boolean().nullish(),
  history_retention_seconds: z.number().nullish(),
  settings: anyRecord.nullish(),
  default_endpoint_settings: anyRecord.nullish(),
});

const roleSchema = z.object({ name: z.string(), authentication_method: z.string().nullish() });
const databaseSchema = z.object({ name: z.string(), owner_name: z.string() });

export type EndpointCopy = z.output<typeof endpointSchema>;
export type BranchCopy = z.output<typeof branchSchema> & {
  readonly roles: readonly z.output<typeof roleSchema>[];
  readonly databases: readonly z.output<typeof databaseSchema>[];
  /** The primary compute first. */
  readonly endpoints: readonly EndpointCopy[];
};
export type ProjectCopy = z.output<typeof projectSchema> & {
  /** Parents before their children; the first one has no parent. */
  readonly branches: readonly BranchCopy[];
};

/** The projects of an account, without data and secrets. */
export type Inventory = {
  readonly account: { readonly id: string; readonly plan: string | undefined };
  readonly projects: readonly ProjectCopy[];
};

/** Something that is not copied, and why. */
export type Omission = { readonly what: string; readonly because: string };

const PROJECTS_PER_PAGE = 400;
const BRANCHES_PER_PAGE = 1_000;
/** Bound for servers whose lists never end. */
const MAX_PAGES = 10_000;

/** Reads an account through its public API, with GET only. Omits projects that are deleted meanwhile. */
export async function readInventory(
  api: PublicApi,
  omissions: Omission[],
  onProgress: (done: number, of: number) => Promise<void>,
): Promise<Inventory> {
  const account = await readAccount(api);
  const projectList = await listProjects(api);
  const projects: ProjectCopy[] = [];
  for (const [index, { id, name }] of projectList.entries()) {
    await onProgress(index, projectList.length);
    const what = `project ${name} (${id})`;
    const copy = await readProject(api, id, what, omissions);
    if (copy === undefined)
      omissions.push({ what, because: "it was deleted during the read, or has no branches" });
    else projects.push(copy);
  }
  await onProgress(projectList.length, projectList.length);
  return { account, projects };
}

/** A key of an organization cannot read `/users/me`; the account then gets a fixed id. */
async function readAccount(api: PublicApi): Promise<Inventory["account"]> {
  const response = await api.get("/users/me");
  if (response.status === 401)
    throw new UserError(`${api.url} rejected the key of --from-key or STANDIN_FROM_KEY (401)`);
  const { data } = z.object({ id: z.string(), plan: z.string().nullish() }).safeParse(response.body);
  return { id: data?.id ?? "mirrored", plan: data?.plan ?? undefined };
}

/** Lists the projects of all organizations if the server requires an organization. */
export async function listProjects(api: PublicApi): Promise<z.output<typeof projectSchema>[]> {
  const response = await api.get(`/projects?limit=${PROJECTS_PER_PAGE}`);
  if (response.status !== 400)
    return fetchAllPages(api, `/projects?limit=${PROJECTS_PER_PAGE}`, "projects", projectSchema);
  const organizations = await fetchAllPages(
    api,
    "/users/me/organizations",
    "organizations",
    z.object({ id: z.string() }),
  );
  const projects = [];
  for (const { id } of organizations) {
    projects.push(
      ...(await fetchAllPages(
        api,
        `/projects?limit=${PROJECTS_PER_PAGE}&org_id=${encodeURIComponent(id)}`,
        "projects",
        projectSchema,
      )),
    );
  }
  return projects;
}

/** Lists the computes of a project. */
export function listEndpoints(api: PublicApi, projectId: string): Promise<EndpointCopy[]> {
  return fetchAllPages(
    api,
    `/projects/${encodeURIComponent(projectId)}/endpoints`,
    "endpoints",
    endpointSchema,
  );
}

async function readProject(
  api: PublicApi,
  id: string,
  what: string,
  omissions: Omission[],
): Promise<ProjectCopy | undefined> {
  const path = `/projects/${encodeURIComponent(id)}`;
  const response = await api.get(path);
  if (response.status === 404) return undefined;
  const projectDetails = parseResponse(api, path, response, z.object({ project: projectSchema })).project;
  const branches = orderParentsFirst(
    await fetchAllPages(
      api,
      `${path}/branches?limit=${BRANCHES_PER_PAGE}&sort_by=created_at&sort_order=asc`,
      "branches",
      branchSchema,
    ),
    what,
    omissions,
  );
  const endpoints = await listEndpoints(api, id);
  const copies: BranchCopy[] = [];
  for (const one of branches) {
    const branchPath = `${path}/branches/${encodeURIComponent(one.id)}`;
    copies.push({
      ...one,
      roles: await fetchAllPages(api, `${branchPath}/roles`, "roles", roleSchema),
      databases: await fetchAllPages(api, `${branchPath}/databases`, "databases", databaseSchema),
      endpoints: endpoints
        .filter(({ branch_id }) => branch_id === one.id)
        .sort((a, b) => rankOf(a) - rankOf(b)),
    });
  }
  return copies.length === 0 ? undefined : { ...projectDetails, branches: copies };
}

function rankOf({ type }: EndpointCopy): number {
  return type === "read_write" ? 0 : 1;
}

/** Parents before children, the default branch first among those without a parent. */
function orderParentsFirst(
  branches: readonly z.output<typeof branchSchema>[],
  what: string,
  omissions: Omission[],
): z.output<typeof branchSchema>[] {
  const known = new Set(branches.map(({ id }) => id));
  const isRoot = ({ parent_id }: z.output<typeof branchSchema>) =>
    typeof parent_id !== "string" || !known.has(parent_id);
  const roots = branches.filter(isRoot).sort((a, b) => Number(isDefault(b)) - Number(isDefault(a)));
  for (const root of roots.slice(1)) {
    if (!isSchemaOnly(root))
      omissions.push({
        what: `${what}, branch ${root.name}: no parent`,
        because: "it is created from the default branch",
      });
  }
  const ordered = [...roots];
  // Grows during the loop: each branch adds its children.
  for (const { id } of ordered)
    ordered.push(...branches.filter((child) => child.parent_id === id && !isRoot(child)));
  return ordered;
}

/** S: `schema-only` creates another branch without a parent, with the schema of an existing one. */
export function isSchemaOnly({
  init_source,
  parent_id,
}: Pick<z.output<typeof branchSchema>, "init_source" | "parent_id">): boolean {
  return init_source === "schema-only" && parent_id == null;
}

/** R, S: older servers call the default branch primary. */
export function isDefault({
  default: isMarkedDefault,
  primary,
}: Pick<z.output<typeof branchSchema>, "default" | "primary">): boolean {
  return isMarkedDefault ?? primary ?? false;
}

/**
 * All pages of a list. S: the cursor is `pagination.cursor` or, for branches, `pagination.next`; the last
 * page has none or is empty.
 */
async function fetchAllPages<T extends z.ZodType>(
  api: PublicApi,
  path: string,
  listKey: string,
  element: T,
): Promise<z.output<T>[]> {
  const page = z.object({
    [listKey]: z.array(element),
    pagination: z.object({ cursor: z.string().nullish(), next: z.string().nullish() }).nullish(),
  });
  const all: z.output<T>[] = [];
  let cursor: string | undefined;
  for (let pageCount = 0; pageCount < MAX_PAGES; pageCount += 1) {
    const pagePath =
      cursor === undefined
        ? path
        : `${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`;
    const response = parseResponse(api, pagePath, await api.get(pagePath), page) as Record<string, unknown>;
    const elements = response[listKey] as z.output<T>[];
    const pagination = response["pagination"] as
      | { cursor?: string | null; next?: string | null }
      | null
      | undefined;
    const next = pagination?.next ?? pagination?.cursor ?? undefined;
    all.push(...elements);
    if (elements.length === 0 || next === undefined || next === cursor) return all;
    cursor = next;
  }
  throw new UserError(`GET ${api.url}${path}: the list has more than ${MAX_PAGES} pages`);
}

/** The parsed answer, or an error that names the call and the problem. */
function parseResponse<T extends z.ZodType>(
  api: PublicApi,
  path: string,
  response: PublicResponse,
  schema: T,
): z.output<T> {
  if (response.status !== 200) {
    const { message } = apiErrorOf(response);
    throw new UserError(
      `GET ${api.url}${path}: ${response.status}${message === undefined ? "" : ` ${api.sanitize(message)}`}`,
    );
  }
  const parsed = schema.safeParse(response.body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UserError(
    `GET ${api.url}${path}: the answer does not match the public document: ${issue?.path.join(".")}: ${issue?.message}`,
  );
}
