import { resolve } from "node:path";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import {
  type ConnectionRequest,
  connectionUri,
  type ListedEndpoint,
} from "../../remote/client/connection-uri.ts";
import { PublicApi } from "../../remote/client/public-api.ts";
import { readServerFile } from "../server/server-file.ts";
import { CliError } from "../terminal/cli-error.ts";
import { requireServer, type ServerTarget } from "./client.ts";
import { shellKey } from "./shell-key.ts";

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
  const { endpoints } = await server.call<{ endpoints: readonly ListedEndpoint[] }>("GET", "/endpoints");
  const uri = await connectionUri(api, endpoints, request);
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
  const { TlsIdentity } = await import("../../postgres/login/tls-identity.ts");
  return new TlsIdentity(directory).authorityFile();
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
