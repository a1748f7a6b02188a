import { expect } from "vitest";
import { type RunningServer, type ServerClient, serverClient } from "./running-server.ts";

/**
 * A client of another world of a server, with the addresses from the server and the first key of the world.
 */
export function clientOfWorld(
  { ready }: Pick<RunningServer, "ready">,
  world: { readonly api_url: string; readonly control_url: string },
  key?: string,
  token?: string,
) {
  const { api_url, control_url } = world;
  return {
    ...serverClient({ ...ready, api_url, control_url }, key ?? ready.api_key, token),
    api_url,
    control_url,
  };
}

export type WorldClient = ReturnType<typeof clientOfWorld>;

/** Forks a world of this server. Throws if that fails. */
export async function forkWorldOn(
  server: Pick<RunningServer, "ready"> & Pick<ServerClient, "sim">,
  body: { readonly name: string } & Readonly<Record<string, unknown>>,
  key?: string,
  token?: string,
): Promise<WorldClient> {
  const response = await server.sim("POST", "/worlds", body);
  expect(response).toMatchObject({ status: 201 });
  return clientOfWorld(server, response.body.world, key, token);
}
