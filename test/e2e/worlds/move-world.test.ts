import { createHash } from "node:crypto";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { runStandinProcess } from "../../support/process/process.ts";
import {
  createProjectOn,
  journalOf,
  type RunningServer,
  type ServerClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";
import { clientOfWorld, forkWorldOn, type WorldClient } from "../../support/server/worlds.ts";

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

const stateOf = async ({ sim }: Pick<ServerClient, "sim">) =>
  JSON.stringify((await sim("GET", "/state")).body);
const urlOf = ({ ready }: Pick<RunningServer, "ready">) => new URL(ready.api_url).origin;
/** The world `team` on another server, with the key of the first one. */
const teamOn = (server: RunningServer, from: RunningServer): WorldClient =>
  clientOfWorld(
    server,
    { api_url: `${urlOf(server)}/w/team/api/v2`, control_url: `${urlOf(server)}/w/team/_sim` },
    from.ready.api_key,
  );

/** Two servers, and the world `team` with a project on the first. */
async function twoServers() {
  const data = [testDirectory(), testDirectory()] as const;
  const [first, second] = await Promise.all([startServer(data[0], MANUAL), startServer(data[1], MANUAL)]);
  const team = await forkWorldOn(first, { name: "team" });
  const { projectId, branchId } = await createProjectOn(team, { name: "shop" });
  return { data, first, second, team, projectId, branchId };
}

test("a moved world is the same on the other server: history, clock, passwords, snapshots", async () => {
  const { data, first, second, team, projectId } = await twoServers();
  await team.sim("POST", "/snapshots", { name: "before" });
  await team.sim("POST", "/clock/advance", { by: "1h" });
  const uri = `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner`;
  const [state, history, { body: connection }] = await Promise.all([
    stateOf(team),
    journalOf(team),
    team.api("GET", uri),
  ]);
  const { stdout, code } = await runStandinProcess([
    ...["worlds", "move", "team", "--to", urlOf(second), "--data", data[0]],
  ]);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`moved world team to ${urlOf(second)}`)]);

  const moved = teamOn(second, first);
  expect(await journalOf(moved)).toEqual(history);
  expect((await moved.api("GET", uri)).body).toEqual(connection);
  expect(await stateOf(moved)).toBe(state);
  expect((await moved.sim("GET", "/snapshots")).body.snapshots).toMatchObject([{ name: "before" }]);
  expect((await moved.api("POST", "/api_keys", { key_name: "later" })).status).toBe(200);

  const answer = await team.api("GET", "/projects");
  expect([answer.status, answer.headers.get("retry-after"), answer.body.code]).toEqual([
    503,
    "1",
    "WORLD_MOVED",
  ]);
  expect(answer.body.message).toBe(`world "team" has moved to ${urlOf(second)}`);
  await first.kill("SIGKILL");
  const again = await startServer(data[0], ["--pg-port", "none"], { key: first.ready.api_key as string });
  expect((await teamOn(again, first).api("GET", "/projects")).body.code).toBe("WORLD_MOVED");

  // And back, to the server that it has left.
  const back = await second.sim("POST", "/worlds/team/move", { to: urlOf(again) });
  expect(back).toMatchObject({ status: 200, body: { name: "team", to: urlOf(again) } });
  const keys = (await teamOn(again, first).api("GET", "/api_keys")).body;
  expect(keys.map(({ name }: { name: string }) => name)).toContain("later");
});

test("every change that was acknowledged during a move is on the other server", async () => {
  const { first, second, team } = await twoServers();
  const acknowledged: string[] = [];
  const write = async (writer: number) => {
    for (let index = 0; ; index += 1) {
      const key_name = `${writer}-${index}`;
      const { status, body } = await team.api("POST", "/api_keys", { key_name });
      if (status === 503) {
        expect(["WORLD_MOVED", "STORE_UNAVAILABLE"]).toContain(body.code);
        return;
      }
      expect(status).toBe(200);
      acknowledged.push(key_name);
    }
  };
  const writers = [1, 2, 3, 4].map(write);
  while (acknowledged.length < 20) await sleep(1);
  expect((await first.sim("POST", "/worlds/team/move", { to: urlOf(second) })).status).toBe(200);
  await Promise.all(writers);
  expect(acknowledged.length).toBeGreaterThanOrEqual(20);
  const keys = (await teamOn(second, first).api("GET", "/api_keys")).body;
  const names = new Set(keys.map(({ name }: { name: string }) => name));
  expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
});

test("a client with a key of the moved world only is told to try again, and not where the world is", async () => {
  const { first, second, team } = await twoServers();
  const { key } = (await team.api("POST", "/api_keys", { key_name: "of the team" })).body;
  const read = (server: RunningServer) => teamOn(server, first).api("GET", "/projects", undefined, key);
  expect((await read(first)).status).toBe(200);
  expect((await first.sim("POST", "/worlds/team/move", { to: urlOf(second) })).status).toBe(200);
  const answer = await read(first);
  expect([answer.status, answer.headers.get("retry-after"), answer.body.code, answer.body.message]).toEqual([
    503,
    "1",
    "WORLD_MOVED",
    "this world has moved, or is about to move; try again",
  ]);
  expect((await read(second)).status).toBe(200);
});

test("a move that fails leaves the world in service, and nothing on the other server", async () => {
  const { data, first, second, team } = await twoServers();
  const move = (to: string, world = "team") => first.sim("POST", `/worlds/${world}/move`, { to });
  const nobody = "http://127.0.0.1:9";
  expect(await move(nobody)).toMatchObject({
    status: 503,
    body: { message: expect.stringContaining(`no server responds at ${nobody}`) },
  });
  expect((await move("ftp://elsewhere")).status).toBe(400);
  expect((await move(`${urlOf(second)}/w/other`)).status).toBe(400);
  expect((await move(urlOf(second), "default")).body.code).toBe("WORLD_IS_DEFAULT");
  expect((await move(urlOf(second), "nothing")).body.code).toBe("WORLD_NOT_FOUND");
  expect((await move(urlOf(first))).body.message).toContain("already exists");
  await forkWorldOn(second, { name: "team" });
  expect((await move(urlOf(second))).body.message).toContain('world "team" already exists');
  expect((await team.api("POST", "/api_keys", { key_name: "still here" })).status).toBe(200);
  const interrupted = await runStandinProcess(["worlds", "move", "team", "--data", data[0]]);
  expect([interrupted.code, interrupted.stderr]).toEqual([2, expect.stringContaining("--to")]);
});

test("a part that arrives damaged, late or twice is refused", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const begin = (history_id = "h") =>
    server.sim("POST", "/worlds/team/arrival", { history_id, size_bytes: 3 });
  const { id } = (await begin()).body;
  expect((await begin("of another world")).body.code).toBe("WORLD_EXISTS");
  const write = (offset: number, arrival = id, part = "file") =>
    server.sim("PUT", `/worlds/team/arrival/${arrival}/${part}?offset=${offset}`, "abc");
  expect((await write(0)).status).toBe(200);
  expect((await write(0)).body).toMatchObject({
    code: "ARRIVAL_REFUSED",
    message: expect.stringContaining("byte 3"),
  });
  expect((await write(3, "another")).body.code).toBe("ARRIVAL_NOT_FOUND");
  const finish = (step: "prepare" | "complete", sha256: string, arrival = id) =>
    server.sim("POST", `/worlds/team/arrival/${arrival}/${step}`, {
      ...(step === "complete" ? { history_id: "h", seq: 1 } : {}),
      ...{ secrets: [], parts: [{ name: "file", bytes: 3, sha256 }] },
    });
  expect((await finish("prepare", "0".repeat(64))).body).toMatchObject({
    code: "ARRIVAL_REFUSED",
    message: expect.stringContaining("file did not arrive as it was sent"),
  });
  const sha256 = createHash("sha256").update("abc").digest("hex");
  expect((await finish("prepare", sha256)).body).toMatchObject({
    code: "ARRIVAL_REFUSED",
    message: expect.stringContaining("not a database"),
  });
  expect((await write(3)).body.message).toContain("complete already");
  expect((await write(0, id, "log")).status).toBe(200);
  expect((await finish("complete", "0".repeat(64))).body.code).toBe("ARRIVAL_REFUSED");
  expect((await finish("complete", sha256)).body.code).toBe("ARRIVAL_NOT_FOUND");

  // A server that begins again was restarted.
  const first = (await begin()).body.id;
  const second = (await begin()).body.id;
  expect((await write(0, first)).body.code).toBe("ARRIVAL_NOT_FOUND");
  expect((await write(0, second)).status).toBe(200);
  expect((await server.sim("DELETE", "/worlds/team/arrival?history_id=h")).body).toEqual({ arrived: false });
  expect((await server.sim("GET", "/worlds")).body.worlds).toHaveLength(1);
});

test("a move whose last answer is lost is finished by repeating it, and the world is never served twice", async () => {
  const { data, first, second, team } = await twoServers();
  const proxy = await swallowingProxy(second);
  const lost = await first.sim("POST", "/worlds/team/move", { to: proxy.url });
  expect(lost).toMatchObject({ status: 503, body: { code: "OUTCOME_UNKNOWN" } });
  const refused = {
    status: 503,
    body: { code: "WORLD_MOVED", message: expect.stringContaining("repeat it") },
  };
  expect(await team.api("GET", "/projects")).toMatchObject(refused);
  // Nor after a kill.
  await first.kill("SIGKILL");
  const again = await startServer(data[0], ["--pg-port", "none"], { key: first.ready.api_key as string });
  expect(await teamOn(again, first).api("GET", "/projects")).toMatchObject(refused);
  expect((await again.sim("POST", "/worlds/team/move", { to: urlOf(second) })).body.message).toContain(
    proxy.url,
  );
  proxy.restore();
  expect(await again.sim("POST", "/worlds/team/move", { to: proxy.url })).toMatchObject({
    status: 200,
    body: { to: proxy.url },
  });
  expect((await teamOn(second, first).api("GET", "/projects")).body.projects).toHaveLength(1);
  expect((await teamOn(again, first).api("GET", "/projects")).body.message).toBe(
    `world "team" has moved to ${proxy.url}`,
  );
  expect(await again.sim("DELETE", "/worlds/team/move")).toMatchObject({ status: 200 });
  expect((await teamOn(again, first).api("GET", "/projects")).headers.get("x-standin-code")).toBe(
    "WORLD_NOT_FOUND",
  );
});

/** Forwards to a server, but drops the connection of the last call of a move, and all later ones until `restore`. */
async function swallowingProxy(server: RunningServer): Promise<{ url: string; restore: () => void }> {
  let isCut = false;
  let isRestored = false;
  const proxy = createServer((incoming, outgoing) => {
    if (isCut && !isRestored) return void incoming.socket.destroy();
    const { method, url, headers } = incoming;
    if (url?.endsWith("/complete") === true) isCut = true;
    const { host, ...rest } = headers;
    const forwarded = httpRequest(`${urlOf(server)}${url}`, { method, headers: rest }, (response) => {
      if (isCut && !isRestored) {
        response.resume();
        incoming.socket.destroy();
        return;
      }
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((listening) => {
    proxy.listen(0, "127.0.0.1", listening);
  });
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    restore: () => {
      isRestored = true;
    },
  };
}
