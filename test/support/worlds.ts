import { expect } from "vitest";
import { type RunningServer, type ServerClient, serverClient } from "./running-server.ts";

/** A client of a further world of a server, by the addresses that the server gives, and with its first key. */
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

/** Forks a world of this server, which must come about. */
export async function forkWorldOn(
  server: Pick<RunningServer, "ready"> & Pick<ServerClient, "sim">,
  body: { readonly name: string } & Readonly<Record<string, unknown>>,
  key?: string,
  token?: string,
): Promise<WorldClient> {
  const answer = await server.sim("POST", "/worlds", body);
  expect(answer).toMatchObject({ status: 201 });
  return clientOfWorld(server, answer.body.world, key, token);
}
