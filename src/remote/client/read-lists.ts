import * as z from "zod";
import { apiErrorOf, mismatch, type PublicResponse, type ServerApi } from "../../ports/server-api.ts";
import { UserError } from "../../ports/user-error.ts";

const PROJECTS_PER_PAGE = 400;
/** Bound for servers whose lists never end. */
const MAX_PAGES = 10_000;

/** The body of a success. Throws a `UserError` for any other answer. */
export function bodyOf(api: ServerApi, path: string, response: PublicResponse): unknown {
  if (response.status === 200) return response.body;
  const { message } = apiErrorOf(response);
  throw new UserError(
    `GET ${api.url}${path}: ${response.status}${message === undefined ? "" : ` ${api.sanitize(message)}`}${response.status === 401 ? "; check the API key" : ""}`,
  );
}

/** The value with its type. Throws a `UserError` for a value of another type; `path` names the call. */
export function parsedBody<T extends z.ZodType>(
  api: ServerApi,
  path: string,
  body: unknown,
  schema: T,
): z.output<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw mismatch(api, path, parsed.error.issues[0]);
}

/**
 * All pages of a list. S: the cursor is `pagination.cursor` or, for branches, `pagination.next`; the last
 * page has none or is empty.
 */
export async function listAll(api: ServerApi, path: string, listKey: string): Promise<readonly unknown[]> {
  return listFrom(api, path, listKey, await api.get(path));
}

/** Reads the rest of a list, given the answer to the first call. */
async function listFrom(
  api: ServerApi,
  path: string,
  listKey: string,
  first: PublicResponse,
): Promise<readonly unknown[]> {
  const page = z.object({
    [listKey]: z.array(z.unknown()),
    pagination: z.object({ cursor: z.string().nullish(), next: z.string().nullish() }).nullish(),
  });
  const all: unknown[] = [];
  let [pagePath, response] = [path, first];
  let cursor: string | undefined;
  for (let pageCount = 0; pageCount < MAX_PAGES; pageCount += 1) {
    const body = parsedBody(api, pagePath, bodyOf(api, pagePath, response), page) as Record<string, unknown>;
    const elements = body[listKey] as readonly unknown[];
    const pagination = body["pagination"] as
      | { cursor?: string | null; next?: string | null }
      | null
      | undefined;
    const next = pagination?.next ?? pagination?.cursor ?? undefined;
    all.push(...elements);
    if (elements.length === 0 || next === undefined || next === cursor) return all;
    cursor = next;
    pagePath = `${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`;
    response = await api.get(pagePath);
  }
  throw new UserError(`GET ${api.url}${path}: the list has more than ${MAX_PAGES} pages`);
}

/** Lists the projects of all organizations if the server requires an organization. */
export async function listProjects(api: ServerApi): Promise<readonly unknown[]> {
  const path = `/projects?limit=${PROJECTS_PER_PAGE}`;
  const response = await api.get(path);
  if (response.status !== 400) return listFrom(api, path, "projects", response);
  const organizationsPath = "/users/me/organizations";
  const organizations = parsedBody(
    api,
    organizationsPath,
    await listAll(api, organizationsPath, "organizations"),
    z.array(z.object({ id: z.string() })),
  );
  const projects: unknown[] = [];
  for (const { id } of organizations)
    projects.push(...(await listAll(api, `${path}&org_id=${encodeURIComponent(id)}`, "projects")));
  return projects;
}
