import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { apiErrorOf, type ServerApi } from "../../ports/server-api.ts";
import { UserError } from "../../ports/user-error.ts";

/** Target of a connection. Without `target`, the default branch of the only project. */
export type ConnectionRequest = {
  /** The id of a compute, or the id or name of a branch. */
  readonly target?: string | undefined;
  readonly pooled?: boolean | undefined;
  /** Default: the owner of the database. */
  readonly role?: string | undefined;
  /** Default: the first database of the branch. */
  readonly database?: string | undefined;
};

/** A compute, as the control API lists it. */
export type ListedEndpoint = {
  readonly endpoint_id: string;
  readonly project_id: string;
  readonly branch_id: string;
  readonly branch_name?: string;
};
type PublicReader = Pick<ServerApi, "get">;
type Place = { readonly projectId: string; readonly branchId: string; readonly endpointId?: string };

/** The URI that a server returns for a branch. Rejects with a `UserError` if the request names none. */
export async function connectionUri(
  api: PublicReader,
  endpoints: readonly ListedEndpoint[],
  request: ConnectionRequest,
): Promise<string> {
  const { projectId, branchId, endpointId } =
    request.target === undefined ? await defaultPlace(api, endpoints) : placeOf(endpoints, request.target);
  const { databases } = await get<{ databases: readonly { name: string; owner_name: string }[] }>(
    api,
    `/projects/${projectId}/branches/${branchId}/databases`,
  );
  const { database: wanted } = request;
  const database = wanted === undefined ? databases[0] : databases.find(({ name }) => name === wanted);
  const databaseName = database?.name ?? wanted;
  const role = request.role ?? database?.owner_name;
  if (databaseName === undefined) throw new UserError(`branch ${branchId} has no database`);
  if (role === undefined)
    throw new UserError(
      `branch ${branchId} has no database "${databaseName}"; it has ${databases.map(({ name }) => name).join(", ")}`,
    );
  const query = new URLSearchParams(
    omitUndefined({
      branch_id: branchId,
      endpoint_id: endpointId,
      database_name: databaseName,
      role_name: role,
      pooled: request.pooled === true ? "true" : undefined,
    }),
  );
  return (await get<{ uri: string }>(api, `/projects/${projectId}/connection_uri?${query}`)).uri;
}

function placeOf(endpoints: readonly ListedEndpoint[], target: string): Place {
  const endpoint = endpoints.find(({ endpoint_id }) => endpoint_id === target);
  if (endpoint !== undefined)
    return { projectId: endpoint.project_id, branchId: endpoint.branch_id, endpointId: target };
  const byId = endpoints.filter(({ branch_id }) => branch_id === target);
  const named = byId.length > 0 ? byId : endpoints.filter(({ branch_name }) => branch_name === target);
  const [first] = named;
  if (first === undefined)
    throw new UserError(`no compute and no branch with a compute is named "${target}"; see: standin status`);
  const branches = [...new Set(named.map(({ branch_id }) => branch_id))];
  if (branches.length > 1)
    throw new UserError(`several branches are named "${target}"; use one of the ids ${branches.join(", ")}`);
  return { projectId: first.project_id, branchId: first.branch_id };
}

async function defaultPlace(api: PublicReader, endpoints: readonly ListedEndpoint[]): Promise<Place> {
  const projects = [...new Set(endpoints.map(({ project_id }) => project_id))];
  const [projectId] = projects;
  if (projectId === undefined) throw new UserError("no project has a compute; create a project first");
  if (projects.length > 1)
    throw new UserError("there are several projects; name a branch or a compute, see: standin status");
  const { branches } = await get<{ branches: readonly { id: string; default: boolean }[] }>(
    api,
    `/projects/${projectId}/branches`,
  );
  const branchId = branches.find((branch) => branch.default)?.id;
  if (branchId === undefined) throw new UserError(`project ${projectId} has no default branch`);
  return { projectId, branchId };
}

async function get<T>(api: PublicReader, path: string): Promise<T> {
  const response = await api.get(path);
  if (response.status === 200) return response.body as T;
  throw new UserError(apiErrorOf(response).message ?? `the server responded with status ${response.status}`);
}
