import { existsSync, readdirSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { API_KEY } from "../../support/double/double.ts";
import { verify } from "../../support/durability/corruption.ts";
import {
  copyWorlds,
  inWorld,
  KILLS,
  killAtMoment,
  readContents,
  repeatCommand,
  type WorldContents,
} from "../../support/durability/crashes.ts";
import { serve, temporaryDirectory } from "../../support/process/process.ts";
import {
  createProjectOn,
  type RunningServer,
  serverClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

/** CI kills at every third step. */
const STEP = KILLS === 1 ? 3 : 1;
const MANUAL = [
  "--clock",
  "manual",
  "--start-at",
  "2026-01-01T00:00:00Z",
  "--seed",
  "1",
  "--pg-port",
  "none",
];

const template = temporaryDirectory();
beforeAll(async () => {
  const served = await serve(template.path, MANUAL, { STANDIN_API_KEY: API_KEY });
  const server = serverClient(served.ready, API_KEY);
  await createProjectOn(server, { name: "shop" });
  await server.sim("POST", "/worlds", { name: "team" });
  await served.kill("SIGTERM");
});
afterAll(() => template.remove());

type Place = { data: string; server: RunningServer; readonly url: string };

test.each(["source", "destination"] as const)(
  "with the %s killed at any directory change of a move, one server has the world, and it can be moved on",
  async (victim) => {
    for (let step = 1; ; step += STEP) {
      const { env, arm } = killAtMoment(testDirectory());
      const source = await place((data) => copyWorlds(template.path, data), victim === "source" ? env : {});
      const destination = await place(() => undefined, victim === "destination" ? env : {});
      const team = inWorld(source.server, "team");
      await team.sim("POST", "/snapshots", { name: "kept" });
      await team.api("POST", "/api_keys", { key_name: "last" });
      const before = await readContents(team);
      const killed = victim === "source" ? source : destination;
      arm(step);
      const moved = await move(source, destination);
      await killed.server.kill("SIGKILL");
      killed.server = await restartAfterKillOfMove(killed.data);

      const servedBy = await Promise.all([source, destination].map(hasTeam));
      expect(servedBy.filter(Boolean).length, repeatCommand()).toBeLessThanOrEqual(1);
      if (moved?.status === 200) expect(servedBy, repeatCommand()).toEqual([false, true]);
      const repeated = await move(source, destination);
      if (servedBy[1] && repeated?.status !== 200) expect(repeated?.body.code).toBe("WORLD_MOVED");
      else expect(repeated?.status, JSON.stringify(repeated?.body)).toBe(200);
      await expectMoved(source, destination, before);
      for (const { server } of [source, destination]) await server.kill("SIGKILL");
      if (moved?.status !== 200) continue;
      expect(step, "there were changes to be killed at").toBeGreaterThan(1);
      return;
    }
  },
);

/** A server behind an address that stays the same when it is restarted. */
async function place(prepare: (data: string) => void, env: Record<string, string>): Promise<Place> {
  const data = testDirectory();
  prepare(data);
  const server = await startServer(data, MANUAL, { key: API_KEY, env: { ...env, STANDIN_API_KEY: API_KEY } });
  const at: Place = { data, server, url: await forwarder(() => new URL(at.server.ready.api_url).origin) };
  return at;
}

async function forwarder(target: () => string): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const { host, ...rest } = headers;
    const forwarded = httpRequest(`${target()}${url}`, { method, headers: rest }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
      response.on("error", () => incoming.socket.destroy());
    });
    forwarded.on("error", () => incoming.socket.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((listening) => {
    proxy.listen(0, "127.0.0.1", listening);
  });
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

const move = (source: Place, destination: Place) =>
  source.server.sim("POST", "/worlds/team/move", { to: destination.url }).catch(() => undefined);

const hasTeam = async ({ server }: Place) =>
  (await inWorld(server, "team").api("GET", "/projects")).status === 200;

const restartAfterKillOfMove = async (data: string) => {
  const server = await startServer(data, MANUAL.slice(-2), { key: API_KEY });
  const leftovers = readdirSync(join(data, "worlds")).filter((name) => name.includes(".unfinished"));
  expect(leftovers, repeatCommand()).toEqual([]);
  return server;
};

async function expectMoved(source: Place, destination: Place, before: WorldContents): Promise<void> {
  expect(await Promise.all([source, destination].map(hasTeam)), repeatCommand()).toEqual([false, true]);
  const team = inWorld(destination.server, "team");
  expect(await readContents(team), repeatCommand()).toEqual(before);
  expect((await team.sim("GET", "/snapshots")).body.snapshots, repeatCommand()).toMatchObject([
    { name: "kept" },
  ]);
  expect((await team.api("POST", "/api_keys", { key_name: "later" })).status, repeatCommand()).toBe(200);
  expect(await verify(join(destination.data, "worlds/team.sqlite")), repeatCommand()).toBeUndefined();
  expect(existsSync(join(source.data, "worlds/team.sqlite")), repeatCommand()).toBe(false);
  expect(
    readdirSync(join(destination.data, "worlds")).filter((name) => name.includes(".unfinished")),
  ).toEqual([]);
}
