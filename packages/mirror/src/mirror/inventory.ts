import type { MirrorHost, PlatformFacts, ReportProgress } from "@standin/standin/ports/mirror";
import { mismatch, type ServerApi } from "@standin/standin/ports/server-api";
import { UserError } from "@standin/standin/ports/user-error";
import * as z from "zod";

// The fields that are copied. Parsing drops all other fields of an answer, in particular secrets.

const anyRecord = z.record(z.string(), z.unknown());

const endpointSchema = z.object({
  id: z.string(),
  branch_id: z.string(),
  type: z.string(),
  autoscaling_limit_min_cu: z.number().nullish(),
  autoscaling_limit_max_cu: z.number().nullish(),
  suspend_timeout_seconds: z.number().nullish(),
  settings: anyRecord.nullish(),
});
const settingSchemas = { flag: z.boolean().nullish(), text: z.string().nullish() };

/** An endpoint of a list, with its settings in the order of the platform's. */
function endpointSchemaOf({ computeSettings }: PlatformFacts) {
  const fields = computeSettings.map(({ name, kind }) => [name, settingSchemas[kind]] as const);
  const chosenSchema = z.object(Object.fromEntries(fields));
  return z.unknown().transform((listed, context) => {
    const fixed = endpointSchema.safeParse(listed);
    const chosen = chosenSchema.safeParse(listed);
    for (const { error } of [fixed, chosen])
      for (const { path, message } of error?.issues ?? [])
        context.addIssue({ code: "custom", path: [...path], message });
    return { ...fixed.data, chosen: chosen.data ?? {} } as EndpointCopy;
  });
}

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

export type EndpointCopy = z.output<typeof endpointSchema> & {
  /** The settings of the compute that are copied, by their names in the API. */
  readonly chosen: Readonly<Record<string, string | boolean | null | undefined>>;
};
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

const BRANCHES_PER_PAGE = 1_000;

/** Reads an account through its public API, with GET only. Omits projects that are deleted in the meantime. */
export async function readInventory(
  host: MirrorHost,
  api: ServerApi,
  omissions: Omission[],
  onProgress: ReportProgress,
): Promise<Inventory> {
  const account = await readAccount(api);
  const projectList = await readProjectList(host, api);
  const projects: ProjectCopy[] = [];
  for (const [index, { id, name }] of projectList.entries()) {
    await onProgress(index, projectList.length);
    const what = `project ${name} (${id})`;
    const copy = await readProject(host, api, id, what, omissions);
    if (copy === undefined)
      omissions.push({ what, because: "it was deleted during the read, or has no branches" });
    else projects.push(copy);
  }
  await onProgress(projectList.length, projectList.length);
  return { account, projects };
}

/** A key of an organization cannot read `/users/me`; the account then gets a fixed id. */
async function readAccount(api: ServerApi): Promise<Inventory["account"]> {
  const response = await api.get("/users/me");
  if (response.status === 401)
    throw new UserError(`${api.url} rejected the key of --from-key or STANDIN_FROM_KEY (401)`);
  const { data } = z.object({ id: z.string(), plan: z.string().nullish() }).safeParse(response.body);
  return { id: data?.id ?? "mirrored", plan: data?.plan ?? undefined };
}

export async function readProjectList(
  host: MirrorHost,
  api: ServerApi,
): Promise<readonly z.output<typeof projectSchema>[]> {
  return parsed(api, "/projects", await host.listProjects(api), z.array(projectSchema));
}

async function readProject(
  host: MirrorHost,
  api: ServerApi,
  id: string,
  what: string,
  omissions: Omission[],
): Promise<ProjectCopy | undefined> {
  const path = `/projects/${encodeURIComponent(id)}`;
  const response = await api.get(path);
  if (response.status === 404) return undefined;
  const body = host.bodyOf(api, path, response);
  const projectDetails = parsed(api, path, body, z.object({ project: projectSchema })).project;
  const list = async <T extends z.ZodType>(at: string, listKey: string, element: T) =>
    parsed(api, at, await host.listAll(api, at, listKey), z.array(element));
  const branches = orderParentsFirst(
    await list(
      `${path}/branches?limit=${BRANCHES_PER_PAGE}&sort_by=created_at&sort_order=asc`,
      "branches",
      branchSchema,
    ),
    what,
    omissions,
  );
  const endpoints = await list(`${path}/endpoints`, "endpoints", endpointSchemaOf(host.platform));
  const copies: BranchCopy[] = [];
  for (const one of branches) {
    const branchPath = `${path}/branches/${encodeURIComponent(one.id)}`;
    copies.push({
      ...one,
      roles: await list(`${branchPath}/roles`, "roles", roleSchema),
      databases: await list(`${branchPath}/databases`, "databases", databaseSchema),
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

/** The value with its type. Throws a `UserError` for a value of another type; `path` names the call. */
function parsed<T extends z.ZodType>(api: ServerApi, path: string, value: unknown, schema: T): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw mismatch(api, path, result.error.issues[0]);
}
