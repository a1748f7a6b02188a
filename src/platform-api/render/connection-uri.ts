import type * as public_ from "@neondatabase/api-client";
import type { Branch } from "../../platform/model/branch.ts";
import type { Compute } from "../../platform/model/compute.ts";
import { computeHost, hostInWorld, poolerHost } from "../../platform/rules/compute/host-name.ts";
import { profileOfWorld, type World } from "../../platform/world/world.ts";

/** How Postgres clients reach the computes of this server. */
export type PostgresAddress = {
  readonly host: string;
  readonly port: number;
  /** Whether every client resolves this host name of a compute to this address. */
  readonly resolves: (hostName: string) => boolean;
};

/** The port that clients use if the URI names none. */
const DEFAULT_PORT = 5432;
const POOLER_SUFFIX = "-pooler";

/** The connection URIs of one world, as clients of this server can use them. */
export class ConnectionUris {
  readonly #address: PostgresAddress | undefined;
  readonly #namedWorld: string | undefined;

  /** Without an address, URIs name the host only. `namedWorld`: unless it is the default world. */
  constructor(address: PostgresAddress | undefined, namedWorld: string | undefined) {
    this.#address = address;
    this.#namedWorld = namedWorld;
  }

  uri(
    world: World,
    compute: Compute,
    role: string,
    password: string,
    database: string,
    pooled: boolean,
  ): string {
    const { connectionQuery } = profileOfWorld(world);
    const login = `${encodeURIComponent(role)}:${encodeURIComponent(password)}`;
    const path = encodeURIComponent(database);
    const address = this.#address;
    const host = this.#hostOf(world, compute, pooled);
    if (address === undefined || address.resolves(host)) {
      const port = address === undefined || address.port === DEFAULT_PORT ? "" : `:${address.port}`;
      return `postgresql://${login}@${host}${port}/${path}?${connectionQuery}`;
    }
    const endpoint = `endpoint=${compute.id}${pooled ? POOLER_SUFFIX : ""}`;
    const options =
      this.#namedWorld === undefined ? endpoint : `${endpoint} -c standin.world=${this.#namedWorld}`;
    return `postgresql://${login}@${address.host}:${address.port}/${path}?options=${encodeURIComponent(options)}&${connectionQuery}`;
  }

  /** One for each database whose owner's password `passwordOf` knows. */
  ofBranch(
    world: World,
    branch: Branch,
    compute: Compute,
    passwordOf: (secretId: string) => string | undefined,
  ): public_.ConnectionDetails[] {
    return branch.databases.flatMap((database) => {
      const secretId = branch.roles.find((role) => role.name === database.ownerName)?.secretId;
      const password = secretId === undefined ? undefined : passwordOf(secretId);
      if (password === undefined) return [];
      return {
        connection_uri: this.uri(world, compute, database.ownerName, password, database.name, false),
        connection_parameters: {
          database: database.name,
          password,
          role: database.ownerName,
          host: this.#hostOf(world, compute, false),
          pooler_host: this.#hostOf(world, compute, true),
        },
      };
    });
  }

  #hostOf(world: World, compute: Compute, pooled: boolean): string {
    const host = pooled ? poolerHost(world, compute) : computeHost(world, compute);
    if (this.#namedWorld === undefined || this.#address === undefined) return host;
    return hostInWorld(host, this.#namedWorld);
  }
}
