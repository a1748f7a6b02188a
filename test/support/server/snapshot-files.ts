import { readdirSync } from "node:fs";
import { expect } from "vitest";
import { runStandinProcess } from "../process/process.ts";
import {
  createProjectOn,
  type RunningServer,
  type ServerClient,
  startServer,
  testDirectory,
} from "./running-server.ts";
import { clientOfWorld, forkWorldOn } from "./worlds.ts";

const MANUAL = [
  ...["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z"],
  ...["--seed", "1", "--pg-port", "none"],
];

/** The state of the world, as text. */
export const stateOf = async ({ sim }: Pick<ServerClient, "sim">) =>
  JSON.stringify((await sim("GET", "/state")).body);
export const worldOn = (server: RunningServer, name: string, key: string | undefined) => {
  const { origin } = new URL(server.ready.api_url);
  const place = { api_url: `${origin}/w/${name}/api/v2`, control_url: `${origin}/w/${name}/_sim` };
  return clientOfWorld(server, place, key);
};
/** Expects no unfinished file in a directory. */
export const nothingLeft = (directory: string) =>
  expect(
    readdirSync(directory, { recursive: true }).filter((name) => /unfinished|pull-/.test(String(name))),
  ).toEqual([]);

/** A server with the world `team`, which has a project, and its snapshot `nightly`. */
export async function teamWithSnapshot() {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const team = await forkWorldOn(server, { name: "team" });
  const { projectId } = await createProjectOn(team, { name: "shop" });
  await team.sim("POST", "/snapshots", { name: "nightly" });
  return { data, server, team, projectId, backups: testDirectory() };
}

export const push = (data: string, to: string, ...more: string[]) =>
  runStandinProcess(["snapshots", "push", "nightly", "--world", "team", "--data", data, "--to", to, ...more]);
export const pull = (data: string, source: string, world: string, ...more: string[]) =>
  runStandinProcess(["snapshots", "pull", source, "--world", world, "--data", data, ...more]);
