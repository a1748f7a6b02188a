import pg from "pg";
import type { ServerClient } from "../../support/server/running-server.ts";

export type Target = {
  readonly project_id: string;
  readonly branch_id: string;
  readonly endpoint_id?: string;
  readonly database?: string;
  readonly role?: string;
  readonly world?: string;
};

/** A client of a branch that looks up names in `pg_catalog` only, whatever the settings of its database say. */
export async function openClient(
  { api }: Pick<ServerClient, "api">,
  { project_id, branch_id, endpoint_id, database = "neondb", role = "neondb_owner", world }: Target,
): Promise<pg.Client> {
  const query = new URLSearchParams({ branch_id, database_name: database, role_name: role });
  if (endpoint_id !== undefined) query.set("endpoint_id", endpoint_id);
  const { status, body } = await api("GET", `/projects/${project_id}/connection_uri?${query}`);
  if (status !== 200) throw new Error(`GET connection_uri: ${status} ${JSON.stringify(body)}`);
  return openUri(body.uri, { database, ...(world === undefined ? {} : { world }) });
}

export type OpenOptions = {
  readonly database?: string;
  readonly role?: string;
  readonly password?: string;
  readonly world?: string;
  readonly replication?: string;
};

/** The same by a URI. The driver itself does not decode all names of databases. */
export async function openUri(uri: string, options: OpenOptions = {}): Promise<pg.Client> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(uri);
  const { world, replication } = options;
  const client = new pg.Client({
    host: hostname,
    port: Number(port),
    user: options.role ?? decodeURIComponent(username),
    password: options.password ?? decodeURIComponent(password),
    database: options.database ?? decodeURIComponent(pathname.slice(1)),
    ssl: { rejectUnauthorized: false },
    options: `${world === undefined ? "" : `-cstandin.world=${world} `}${searchParams.get("options") ?? ""}`,
    ...(replication === undefined ? {} : ({ replication } as pg.ClientConfig)),
  });
  client.on("error", () => undefined);
  await client.connect();
  if (replication === undefined) await client.query("set search_path = pg_catalog");
  return client;
}
