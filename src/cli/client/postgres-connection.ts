import { resolve } from "node:path";
import { omitUndefined } from "../../platform/core/omit-undefined.ts";
import { apiErrorOf, PublicApi } from "../../remote/public-api.ts";
import { readServerFile } from "../server/server-file.ts";
import { CliError } from "../terminal/cli-error.ts";
import { type ControlClient, requireServer, type ServerTarget } from "./client.ts";
import { shellKey } from "./shell-key.ts";

/** What a user wants to connect to. Without `target`: the default branch of the only project. */
export type ConnectionRequest = {
  /** The id of a compute, or the id or name of a branch. */
  readonly target?: string | undefined;
  readonly pooled?: boolean | undefined;
  /** Default: the owner of the database. */
  readonly role?: string | undefined;
  /** Default: the first database of the branch. */
  readonly database?: string | undefined;
};

type Endpoint = {
  readonly endpoint_id: string;
  readonly project_id: string;
  readonly branch_id: string;
  readonly branch_name?: string;
};
type Place = { readonly projectId: string; readonly branchId: string; readonly endpointId?: string };

/** Variables that psql, libpq and Node read. The password is in none of the arguments of a process. */
export type PostgresVariables = Readonly<Record<string, string>> & { readonly DATABASE_URL: string };

/** The variables for connecting to a branch of a running server. */
export async function postgresVariables(
  target: ServerTarget,
  request: ConnectionRequest,
): Promise<PostgresVariables> {
  const server = await requireServer(target);
  const found = target.url === undefined ? readServerFile(resolve(target.data)) : undefined;
  if (found !== undefined && found.postgres_url === undefined)
    throw new CliError("the server accepts no Postgres clients; start it without --pg-port none");
  const api = new PublicApi(server.apiUrl, await shellKey(server, target));
  const uri = await connectionUri(server, api, request);
  const caFile = found?.postgres_tls === undefined ? undefined : await authorityFile(found.postgres_tls);
  return omitUndefined({
    DATABASE_URL: uri,
    ...libpqVariables(new URL(uri)),
    PGSSLROOTCERT: caFile,
    NODE_EXTRA_CA_CERTS: caFile,
  }) as PostgresVariables;
}

/** The server creates it only when a client asks for TLS, which may be later. */
async function authorityFile(directory: string): Promise<string> {
  const { TlsIdentity } = await import("../../gateway/login/tls-identity.ts");
  return new TlsIdentity(directory).authorityFile();
}

async function connectionUri(
  server: ControlClient,
  api: PublicApi,
  request: ConnectionRequest,
): Promise<string> {
  const { endpoints } = await server.call<{ endpoints: readonly Endpoint[] }>("GET", "/endpoints");
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
  if (databaseName === undefined) throw new CliError(`branch ${branchId} has no database`);
  if (role === undefined)
    throw new CliError(
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

function placeOf(endpoints: readonly Endpoint[], target: string): Place {
  const endpoint = endpoints.find(({ endpoint_id }) => endpoint_id === target);
  if (endpoint !== undefined)
    return { projectId: endpoint.project_id, branchId: endpoint.branch_id, endpointId: target };
  const byId = endpoints.filter(({ branch_id }) => branch_id === target);
  const named = byId.length > 0 ? byId : endpoints.filter(({ branch_name }) => branch_name === target);
  const [first] = named;
  if (first === undefined)
    throw new CliError(`no compute and no branch with a compute is named "${target}"; see: standin status`);
  const branches = [...new Set(named.map(({ branch_id }) => branch_id))];
  if (branches.length > 1)
    throw new CliError(`several branches are named "${target}"; use one of the ids ${branches.join(", ")}`);
  return { projectId: first.project_id, branchId: first.branch_id };
}

async function defaultPlace(api: PublicApi, endpoints: readonly Endpoint[]): Promise<Place> {
  const projects = [...new Set(endpoints.map(({ project_id }) => project_id))];
  const [projectId] = projects;
  if (projectId === undefined) throw new CliError("no project has a compute; create a project first");
  if (projects.length > 1)
    throw new CliError("there are several projects; name a branch or a compute, see: standin status");
  const { branches } = await get<{ branches: readonly { id: string; default: boolean }[] }>(
    api,
    `/projects/${projectId}/branches`,
  );
  const branchId = branches.find((branch) => branch.default)?.id;
  if (branchId === undefined) throw new CliError(`project ${projectId} has no default branch`);
  return { projectId, branchId };
}

async function get<T>(api: PublicApi, path: string): Promise<T> {
  const response = await api.get(path);
  if (response.status === 200) return response.body as T;
  throw new CliError(apiErrorOf(response).message ?? `the server responded with status ${response.status}`);
}

function libpqVariables(uri: URL): Record<string, string | undefined> {
  const parameter = (name: string) => uri.searchParams.get(name) ?? undefined;
  return {
    PGHOST: uri.hostname.replace(/^\[|\]$/g, ""),
    PGPORT: uri.port === "" ? undefined : uri.port,
    PGUSER: decodeURIComponent(uri.username),
    PGPASSWORD: decodeURIComponent(uri.password),
    PGDATABASE: decodeURIComponent(uri.pathname.slice(1)),
    PGOPTIONS: parameter("options"),
    PGSSLMODE: parameter("sslmode"),
    PGCHANNELBINDING: parameter("channel_binding"),
  };
}
