// @ts-nocheck
import { CliError } from "../terminal/cli-error.ts";
import { type ControlCall, findServer, type ServerTarget } from "./client.ts";

/**
 * Uses the control API of the running server, or of a temporary in-process server on the world's file if none
 * runs.
 */
export async function withControlApi<T>(
  target: ServerTarget,
  use: (call: ControlCall) => Promise<T>,
): Promise<T> {
  const server = await findServer(target);
  if (server !== undefined) return use((method, path, body) => server.call(method, path, body));
  if (target.url !== undefined) throw new CliError(`no server responds at ${target.url}`);
  const { withStoredWorld } = await import("./stored-world.ts");
  return withStoredWorld(target, use);
}
