// @ts-nocheck
import type { ClientConfig } from "pg";

type Target = Required<Pick<ClientConfig, "host" | "port" | "user" | "database">>;

/**
 * A session on the socket of an engine. It sets whatever `pg` would read from variables such as PGSSLMODE and
 * PGOPTIONS, which are those of the operator's own clients.
 */
export function localSession(target: Target): ClientConfig {
  return {
    ...target,
    ssl: false,
    // An empty value would be replaced by that of PGOPTIONS.
    options: "-c client_encoding=UTF8",
    client_encoding: "UTF8",
    application_name: "standin",
  };
}
