import { expect, test } from "vitest";
import { createApp } from "../../../src/app/create-app.ts";
import { CONTROL_ANSWERS } from "../../../src/control-api/document/answers.ts";
import { RIGHT_OF_CALL, TEAM_RIGHTS, type TeamRight } from "../../../src/control-api/http/rights.ts";
import { hashSecret } from "../../../src/worlds/secrets.ts";
import { createDouble } from "../../support/double/double.ts";

const CONTROL_TOKEN = "the-token-of-who-runs-the-server";

/** A server with the worlds `team-a` and `team-b`. Each right has a token for the worlds of team a. */
async function createTeamServer() {
  const { worlds, sim } = await createDouble();
  for (const name of ["team-a", "team-b"]) expect((await sim("POST", "/worlds", { name })).status).toBe(201);
  const rights = Object.keys(TEAM_RIGHTS) as TeamRight[];
  const { fetch } = createApp({
    ...{ worlds, version: "test", rateLimit: false, hosts: [] },
    controlToken: CONTROL_TOKEN,
    teamTokens: rights.map((right) => ({
      name: `a-${right}`,
      hash: hashSecret(`token-${right}`),
      worlds: ["team-a", "team-a-*"],
      may: [right],
    })),
    onBug: () => undefined,
  });
  const call = async (token: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const answer = (await response.json().catch(() => ({}))) as { message?: string };
    return { status: response.status, message: answer.message, answer };
  };
  return { worlds, rights, call };
}

test("each call of the control API is refused to a token without its right, by the name of the right", async () => {
  const { rights, call } = await createTeamServer();
  const calls = Object.keys(CONTROL_ANSWERS) as (keyof typeof RIGHT_OF_CALL)[];
  for (const each of calls.filter((one) => !one.endsWith("/stream"))) {
    const [method = "", route = ""] = each.split(" ");
    const path = `/w/team-a/_sim${route.replaceAll(/:\w+/g, "none")}`;
    const needed = RIGHT_OF_CALL[each];
    for (const right of rights.filter((one) => one !== needed)) {
      const { status, message } = await call(`token-${right}`, method, path);
      expect([each, right, status]).toEqual([each, right, 403]);
      expect(message).toContain(
        needed === "operate" ? "requires the control token" : `requires the right "${needed}"`,
      );
    }
  }
});

test("a token with a right may make the calls of that right, in its worlds only", async () => {
  const { call } = await createTeamServer();
  expect(await call("token-read", "GET", "/w/team-a/_sim/clock")).toMatchObject({ status: 200 });
  expect(await call("token-advance", "POST", "/w/team-a/_sim/clock/advance", { by: "1h" })).toMatchObject({
    status: 200,
  });
  expect(await call("token-restore", "POST", "/w/team-a/_sim/snapshots", { name: "one" })).toMatchObject({
    status: 201,
  });
  expect(await call("token-change", "DELETE", "/w/team-a/_sim/faults")).toMatchObject({ status: 200 });
  for (const path of ["/w/team-b/_sim", "/_sim", "/w/absent/_sim", "/w/team-b/_sim/health/live/.."]) {
    const { status, message } = await call("token-restore", "POST", `${path}/reset`, {});
    expect([path, status, message]).toEqual([path, 403, expect.stringContaining("is not for the world")]);
  }
  expect((await call(CONTROL_TOKEN, "GET", "/w/team-b/_sim/clock")).answer).toMatchObject({
    now: "2026-01-01T00:00:00.000Z",
  });
  expect((await call("token-unknown", "GET", "/w/team-a/_sim/clock")).status).toBe(401);
});

test("a token creates, lists and deletes the worlds of its names only", async () => {
  const { call, worlds } = await createTeamServer();
  const create = (body: object) => call("token-worlds", "POST", "/w/team-a/_sim/worlds", body);
  expect((await create({ name: "team-a-1" })).status).toBe(201);
  expect((await create({ name: "team-b-1" })).status).toBe(403);
  expect((await create({ name: "team-a-2", from: "team-b" })).status).toBe(403);
  expect((await call("token-worlds", "PUT", "/w/team-a-3/_sim/world", { from: "team-a" })).status).toBe(200);
  expect((await call("token-worlds", "PUT", "/w/team-a-4/_sim/world", {})).message).toContain(
    'the world "default"',
  );
  expect((await call("token-worlds", "DELETE", "/w/team-a/_sim/worlds/team-b")).status).toBe(403);
  expect((await call("token-worlds", "DELETE", "/w/team-a/_sim/worlds/team-a-1")).status).toBe(200);
  const { answer } = await call("token-read", "GET", "/w/team-a/_sim/worlds");
  expect((answer as { worlds?: { name: string }[] }).worlds?.map(({ name }) => name)).toEqual([
    "team-a",
    "team-a-3",
  ]);
  expect(worlds.list().map(({ name }) => name)).toEqual(["default", "team-a", "team-a-3", "team-b"]);
});

test("the platform API for an account without a key needs the right to change", async () => {
  const { call } = await createTeamServer();
  const path = "/w/team-a/_sim/accounts/none/api/v2/projects";
  expect((await call("token-read", "GET", path)).message).toContain('the right "change"');
  expect((await call("token-change", "GET", path)).status).not.toBe(403);
});
