import type { MirrorHost } from "@standin/standin/ports/mirror";
import type { ControlApi } from "@standin/standin/ports/server-api";
import { canBeFilled, type ReadCall } from "./read-calls.ts";

type RequestsPage = {
  readonly requests: readonly { readonly path: string; readonly operation_id?: string }[];
  readonly next_since: number;
};

const REQUESTS_PER_PAGE = 10_000;

/** Placeholders for query parameters whose values differ between the servers. */
const PLACEHOLDER_OF_PARAMETER: Readonly<Record<string, string>> = {
  org_id: "org_id",
  project_id: "project_id",
  project_ids: "project_id",
  branch_id: "branch_id",
  endpoint_id: "endpoint_id",
  db_name: "database_name",
  database_name: "database_name",
  role_name: "role_name",
};

/**
 * The successful GET calls of a server's request log, each route and query once, with placeholders for ids.
 */
export async function journaledCalls(
  { pathOf }: Pick<MirrorHost, "pathOf">,
  server: ControlApi,
): Promise<ReadCall[]> {
  const templates = new Set<string>();
  for (let since = 0; ; ) {
    const { requests, next_since } = await server.call<RequestsPage>(
      "GET",
      `/requests?method=GET&status=2xx&since=${since}&limit=${REQUESTS_PER_PAGE}`,
    );
    for (const { path, operation_id } of requests) {
      const template = templateOf(path, pathOf(operation_id ?? ""));
      if (template !== undefined) templates.add(template);
    }
    if (requests.length < REQUESTS_PER_PAGE) return [...templates].map((template) => ({ template }));
    since = next_since;
  }
}

/**
 * `undefined` for calls that the other server cannot repeat: a later page, or an object that is in no list.
 */
function templateOf(path: string, route: string | undefined): string | undefined {
  if (route === undefined || !canBeFilled(route)) return undefined;
  const query = new URLSearchParams(path.split("?")[1] ?? "");
  if (query.has("cursor")) return undefined;
  const parameters = [...query].map(
    ([name, value]) =>
      `${name}=${PLACEHOLDER_OF_PARAMETER[name] === undefined ? encodeURIComponent(value) : `{${PLACEHOLDER_OF_PARAMETER[name]}}`}`,
  );
  return parameters.length === 0 ? route : `${route}?${parameters.join("&")}`;
}
