import { afterAll, beforeAll } from "vitest";
import type { Installation } from "../../../src/postgres/installations/installation.ts";
import { fillScene, type Scene, type SceneApi } from "../../support/document/contract-scene.ts";
import { API_KEY } from "../../support/double/double.ts";
import { type PostgresServer, startPostgresServer } from "../../support/postgres/postgres.ts";
import type { ServerClient } from "../../support/server/running-server.ts";
import { openClient } from "./clients.ts";
import { plant } from "./hostile-database.ts";
import { stableFiles } from "./judge.ts";
import { Observer } from "./observer.ts";

/** A server with a scene, in whose first database a client has stored hostile code. */
export type HostileServer = {
  readonly server: PostgresServer;
  readonly observer: Observer;
  readonly scene: Scene<SceneApi>;
  readonly places: readonly string[];
  /** Those of its data directory that clients cannot change, with their hashes. */
  readonly files: ReadonlyMap<string, string>;
};

export const SERVER_ARGS = [
  ...["--api-key", API_KEY, "--seed", "1", "--start-at", "2026-01-01T00:00:00Z"],
  ...["--clock", "manual", "--operations", "immediate"],
];

/** What the examples of operations call. */
export function sceneApi({ api, sim }: ServerClient): SceneApi {
  return { api, sim, advance: (by) => sim("POST", "/clock/advance", { by }) };
}

/** The server is started before the tests of a file, and ended after them. */
export function hostileServerForTests({ binDirectory, version }: Installation): () => HostileServer {
  let hostile: HostileServer | undefined;
  beforeAll(async () => {
    const server = await startPostgresServer([...SERVER_ARGS, "--engine-bin", binDirectory]);
    const observer = new Observer();
    let places: readonly string[] = [];
    const scene = await fillScene(
      {
        onProject: async ({ project_id, branch_id }) => {
          const client = await openClient(server, { project_id, branch_id });
          places = await plant(client, observer, version);
          await client.end();
        },
      },
      sceneApi(server),
    );
    hostile = { server, observer, scene, places, files: stableFiles(server.data) };
  });
  afterAll(async () => {
    await hostile?.server.end();
    hostile?.observer.remove();
  });
  return () => {
    if (hostile === undefined) throw new Error("the server is not started yet");
    return hostile;
  };
}
