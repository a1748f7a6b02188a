import type { PublicResponse, ServerApi } from "@standin/standin/ports/server-api";
import { UserError } from "@standin/standin/ports/user-error";

/** A GET call. Its path has placeholders such as `{project_id}` for ids. */
export type ReadCall = { readonly template: string; readonly withoutKey?: true };

const PROJECT = "/projects/{project_id}";
const BRANCH = `${PROJECT}/branches/{branch_id}`;

/** An account from the outside in, then two calls that fail. */
export const DEFAULT_CALLS: readonly ReadCall[] = [
  { template: "/users/me" },
  { template: "/users/me/organizations" },
  { template: "/regions" },
  { template: "/api_keys" },
  { template: "/projects" },
  { template: PROJECT },
  { template: `${PROJECT}/branches` },
  { template: `${PROJECT}/endpoints` },
  { template: `${PROJECT}/operations` },
  { template: BRANCH },
  { template: `${BRANCH}/endpoints` },
  { template: `${BRANCH}/databases` },
  { template: `${BRANCH}/roles` },
  { template: "/projects/no-such-project-00000000" },
  { template: "/projects", withoutKey: true },
];

type PlaceholderSource = { readonly list: string; readonly listKey: string; readonly field: string };

/** Source of the values of placeholders: a list, and the field of its elements. */
const PLACEHOLDER_SOURCES: Readonly<Record<string, PlaceholderSource>> = {
  project_id: { list: "/projects", listKey: "projects", field: "id" },
  branch_id: { list: `${PROJECT}/branches`, listKey: "branches", field: "id" },
  endpoint_id: { list: `${PROJECT}/endpoints`, listKey: "endpoints", field: "id" },
  operation_id: { list: `${PROJECT}/operations`, listKey: "operations", field: "id" },
  snapshot_id: { list: `${PROJECT}/snapshots`, listKey: "snapshots", field: "id" },
  database_name: { list: `${BRANCH}/databases`, listKey: "databases", field: "name" },
  role_name: { list: `${BRANCH}/roles`, listKey: "roles", field: "name" },
  org_id: { list: "/users/me/organizations", listKey: "organizations", field: "id" },
  member_id: { list: "/organizations/{org_id}/members", listKey: "members", field: "member.id" },
  region_id: { list: "/regions", listKey: "regions", field: "region_id" },
};

/**
 * Parses a list of calls: `GET /path` or `/path` per line, comments after `#`. Reports all mistakes at once.
 */
export function parseCallList(text: string, fileName: string): ReadCall[] {
  const problems: string[] = [];
  const calls: ReadCall[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const content = line.replace(/(^|\s)#.*$/, "").trim();
    if (content === "") continue;
    const [, method = "GET", template = ""] = /^(?:(\w+)\s+)?(\S+)$/.exec(content) ?? [];
    const problem = callProblem(method, template);
    if (problem === undefined) calls.push({ template });
    else problems.push(`${fileName}:${index + 1}: ${problem}`);
  }
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  if (calls.length === 0)
    throw new UserError(
      `${fileName}: contains no calls; write one path per line, such as /projects/{project_id}/branches`,
    );
  return calls;
}

function callProblem(method: string, template: string): string | undefined {
  if (method.toUpperCase() !== "GET") return `${method} is not allowed; only GET is sent`;
  if (!/^\/[\x21-\x7e]*$/.test(template))
    return "expected a path such as /projects/{project_id}/branches, optionally with GET before it";
  if (/^\/api\/v2(\/|$)/.test(template)) return "remove /api/v2 from the path; the base URL contains it";
  const unknown = placeholdersOf(template).find((name) => PLACEHOLDER_SOURCES[name] === undefined);
  return (
    unknown && `unknown placeholder {${unknown}}; known are ${Object.keys(PLACEHOLDER_SOURCES).join(", ")}`
  );
}

/** Whether a list exists for each of its placeholders. */
export function canBeFilled(template: string): boolean {
  return placeholdersOf(template).every((name) => PLACEHOLDER_SOURCES[name] !== undefined);
}

function placeholdersOf(template: string): string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

type FilledPaths = { readonly paths: readonly string[] } | { readonly lacks: string };

/** One of the two servers. Fills placeholders with its own ids; caches what it read. */
export class ComparedServer {
  readonly #api: ServerApi;
  readonly #projects: number;
  readonly #responses = new Map<string, PublicResponse>();

  /** `projects`: for how many projects a call inside a project is made. */
  constructor(api: ServerApi, projects: number) {
    this.#api = api;
    this.#projects = projects;
  }

  /**
   * The answers to a call, one per project if it is inside a project, or the placeholder for which the
   * account has no id.
   */
  async read({
    template,
    withoutKey,
  }: ReadCall): Promise<readonly PublicResponse[] | { readonly lacks: string }> {
    const filled = await this.#fill(template);
    if ("lacks" in filled) return filled;
    const responses: PublicResponse[] = [];
    for (const path of filled.paths)
      responses.push(await (withoutKey === true ? this.#api.getWithoutKey(path) : this.#getCached(path)));
    return responses;
  }

  async #getCached(path: string): Promise<PublicResponse> {
    const response = this.#responses.get(path) ?? (await this.#api.get(path));
    this.#responses.set(path, response);
    return response;
  }

  async #fill(template: string): Promise<FilledPaths> {
    if (!placeholdersOf(template).includes("project_id")) return this.#fillOne(template, {});
    const projects = await this.#idsOf("project_id", {});
    if (projects.length === 0) return { lacks: "project_id" };
    const filled = [];
    for (const project_id of projects.slice(0, this.#projects))
      filled.push(await this.#fillOne(template, { project_id }));
    const paths = filled.flatMap((one) => ("paths" in one ? one.paths : []));
    return paths.length > 0 ? { paths } : (filled[0] ?? { lacks: "project_id" });
  }

  async #fillOne(template: string, known: Readonly<Record<string, string>>): Promise<FilledPaths> {
    const ids = { ...known };
    for (const name of placeholdersOf(template)) {
      ids[name] ??= (await this.#idsOf(name, ids))[0] ?? "";
      if (ids[name] === "") return { lacks: name };
    }
    return {
      paths: [template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ""))],
    };
  }

  async #idsOf(name: string, known: Readonly<Record<string, string>>): Promise<string[]> {
    const source = PLACEHOLDER_SOURCES[name];
    if (source === undefined) return [];
    const ids = await this.#listIds(source, known);
    if (name !== "project_id" || ids.length > 0) return ids;
    // A key that may only list projects of an organization needs `org_id`.
    return this.#listIds({ ...source, list: `${source.list}?org_id={org_id}` }, known);
  }

  async #listIds(source: PlaceholderSource, known: Readonly<Record<string, string>>): Promise<string[]> {
    const filled = await this.#fillOne(source.list, known);
    if ("lacks" in filled) return [];
    const ids: string[] = [];
    for (const path of filled.paths) ids.push(...idsInList(await this.#getCached(path), source));
    return ids;
  }
}

function idsInList({ status, body }: PublicResponse, { listKey, field }: PlaceholderSource): string[] {
  if (status !== 200 || typeof body !== "object" || body === null) return [];
  const elements = (body as Record<string, unknown>)[listKey];
  if (!Array.isArray(elements)) return [];
  return elements.flatMap((element) => {
    const id = field
      .split(".")
      .reduce<unknown>(
        (inner, name) => (inner as Record<string, unknown> | null | undefined)?.[name],
        element,
      );
    return typeof id === "string" && id !== "" ? [id] : [];
  });
}
