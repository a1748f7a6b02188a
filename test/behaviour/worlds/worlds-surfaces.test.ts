import { expect, test } from "vitest";
import { createApp } from "../../../src/app/create-app.ts";
import { API_KEY, createProject, type Double } from "../../support/double/double.ts";
import { callPath, createTestDouble, forkWorld, fullState } from "../../support/double/history-requests.ts";

const AUTHORIZED = { Authorization: `Bearer ${API_KEY}` };

test.each([
  ["GET", "/w/nowhere/api/v2/projects"],
  ["POST", "/w/nowhere/api/v2/projects"],
  ["GET", "/w/nowhere/api/v2/nonsense"],
  ["GET", "/w/nowhere/_sim/clock"],
  ["POST", "/w/nowhere/_sim/clock/advance"],
  ["POST", "/w/nowhere/_sim/worlds"],
  ["GET", "/w/nowhere/_sim/health"],
  ["GET", "/w/nowhere/_sim/events/stream"],
  ["GET", "/_sim/worlds/nowhere"],
  ["DELETE", "/_sim/worlds/nowhere"],
] as const)("%s %s names the unknown world and the existing ones", async (method, path) => {
  const double = (await createTestDouble("in memory")).double();
  await forkWorld(double, { name: "here" });
  const headers = path.includes("/api/v2") ? AUTHORIZED : {};
  const { status, body } = await callPath(double, method, path, {
    headers,
    ...(method === "POST" ? { body: {} } : {}),
  });
  expect([status, body.code]).toEqual([404, path.includes("/api/v2") ? "" : "WORLD_NOT_FOUND"]);
  expect(body.message).toBe('there is no world "nowhere"; there are default, here');
});

test.each([
  ["/w/here", "the API is at /w/here/api/v2, the control API at /w/here/_sim"],
  ["/w/here/", "the API is at /w/here/api/v2, the control API at /w/here/_sim"],
  ["/w/here/nonsense", "did you mean /w/here/api/v2/nonsense?"],
  ["/w/here/projects", "did you mean /w/here/api/v2/projects?"],
  ["/w/here/v2/projects", "did you mean /w/here/api/v2/projects?"],
  ["/w/here/api/projects", "did you mean /w/here/api/v2/projects?"],
] as const)("%s is not a path, and the error suggests one", async (path, hint) => {
  const double = (await createTestDouble("in memory")).double();
  await forkWorld(double, { name: "here" });
  const { status, body } = await callPath(double, "GET", path);
  expect([status, body.code]).toEqual([404, "UNKNOWN_PATH"]);
  expect(body.message).toBe(`there is no path ${path} here; ${hint}`);
});

test("an unknown path within a surface of a world is answered as in the default one", async () => {
  const double = (await createTestDouble("in memory")).double();
  await forkWorld(double, { name: "here" });
  const api = await callPath(double, "GET", "/w/here/api/v2/nonsense", { headers: AUTHORIZED });
  expect(api).toMatchObject({
    status: 404,
    body: { code: "", message: "there is no path /nonsense in this API" },
  });
  const doubled = await callPath(double, "GET", "/w/here/api/v2/api/v2/projects", { headers: AUTHORIZED });
  expect(doubled.body.message).toContain("it contains /api/v2 twice");
  const method = await callPath(double, "PUT", "/w/here/api/v2/projects", { headers: AUTHORIZED });
  expect(method).toMatchObject({
    status: 405,
    body: { message: "PUT is not allowed for /projects; allowed: GET, POST" },
  });
  const control = await callPath(double, "GET", "/w/here/_sim/nonsense");
  expect(control).toMatchObject({ status: 404, body: { code: "UNKNOWN_PATH" } });
  expect(control.body.message).toMatch(
    /GET \/w\/here\/_sim\/nonsense; available under \/_sim: .*POST \/worlds/,
  );
  expect((await callPath(double, "GET", "/w/here/api/v2/projects")).status).toBe(401);
});

test("each world counts its own requests against the rate limit", async () => {
  const double = (await createTestDouble("in memory", { rateLimit: true })).double();
  const copy = await forkWorld(double, { name: "copy" });
  const statuses = async (world: Double, count: number) =>
    (await Promise.all(Array.from({ length: count }, () => world.api("GET", "/projects")))).map(
      ({ status }) => status,
    );
  expect(new Set(await statuses(double, 40))).toEqual(new Set([200]));
  expect(await statuses(double, 1)).toEqual([429]);
  expect(new Set(await statuses(copy, 40))).toEqual(new Set([200]));
  expect(await statuses(copy, 1)).toEqual([429]);
  await copy.advance("1s");
  expect(await statuses(copy, 1)).toEqual([200]);
  expect(await statuses(double, 1)).toEqual([429]);
});

test("a world that reuses the name of a deleted one starts with a fresh rate limit", async () => {
  const double = (await createTestDouble("in memory", { rateLimit: true })).double();
  const first = await forkWorld(double, { name: "copy" });
  await first.advance("1h");
  expect((await first.api("GET", "/projects")).status).toBe(200);
  await double.sim("DELETE", "/worlds/copy");
  const second = await forkWorld(double, { name: "copy" });
  const statuses: number[] = [];
  for (let request = 0; request < 60; request += 1) {
    statuses.push((await second.api("GET", "/projects")).status);
    await second.advance("1s");
  }
  expect(statuses).toEqual(statuses.map(() => 200));
});

test("the Date header and Retry-After follow the clock of the addressed world", async () => {
  const double = (await createTestDouble("in memory")).double();
  const { path, projectId, branchId } = await createProject(double);
  const roles = `/projects/${projectId}/branches/${branchId}/roles`;
  const manual = await forkWorld(double, { name: "manual" });
  const real = await forkWorld(double, { name: "real", clock: "real" });
  await manual.advance("36h");
  for (let round = 0; round < 2; round += 1) {
    expect((await double.api("GET", "/projects")).headers.get("date")).toBe("Thu, 01 Jan 2026 00:00:10 GMT");
    expect((await manual.api("GET", "/projects")).headers.get("date")).toBe("Fri, 02 Jan 2026 12:00:10 GMT");
  }
  expect(
    (await callPath(double, "GET", "/w/manual/api/v2/nonsense", { headers: AUTHORIZED })).headers.get("date"),
  ).toBe("Fri, 02 Jan 2026 12:00:10 GMT");
  for (const world of [double, manual, real]) await world.api("POST", `${path}/restart`);
  const hints: (string | null)[] = [];
  for (const world of [double, manual, real]) {
    const { status, headers } = await world.api("POST", roles, { role: { name: "app" } });
    expect(status).toBe(423);
    hints.push(headers.get("x-standin-hint"));
  }
  expect(hints).toEqual(['advance {"next":true}', 'advance {"next":true}', null]);
});

test("metrics of a world have its name as label, and those of the server contain all open worlds", async () => {
  const double = (await createTestDouble("in memory")).double();
  const copy = await forkWorld(double, { name: "copy" });
  await createProject(copy);
  const own = (await callPath(double, "GET", "/w/copy/_sim/metrics")).body as unknown as string;
  const origin = (await callPath(double, "GET", "/_sim/metrics")).body as unknown as string;
  expect(own).toContain('standin_endpoints{world="copy",state="active"} 1\n');
  expect(origin).toContain('standin_endpoints{world="default",state="active"} 0\n');
  expect(own).not.toContain('world="default"');
  expect(origin).toContain('standin_endpoints{world="copy",state="active"} 1\n');
  expect(own).toMatch(/^standin_worlds_open 2$/m);
});

test("the control token and the guard apply to every world's control API and do not reveal which worlds exist", async () => {
  const double = (await createTestDouble("in memory")).double();
  await forkWorld(double, { name: "here" });
  const options = {
    worlds: double.worlds,
    version: "test",
    rateLimit: false,
    hosts: ["double.internal"],
    onBug: () => undefined,
  };
  const guarded = createApp({ ...options, controlToken: "t0ken" });
  const open = createApp({ ...options, controlToken: undefined });
  const before = await fullState(double);
  for (const path of [
    "/w/here/_sim",
    "/w/here/_sim/",
    "/w/here/_sim/clock",
    "/w/here/_sim/worlds",
    "/w/nowhere/_sim/clock",
  ]) {
    for (const headers of [{}, { Authorization: "Bearer wrong" }, AUTHORIZED]) {
      const { status, body } = await callPath(guarded as Pick<Double, "fetch">, "GET", path, { headers });
      expect({ path, status, code: body.code }).toEqual({ path, status: 401, code: "UNAUTHORIZED" });
      expect(body.message).not.toContain("here");
    }
    for (const [name, value] of [
      ["Host", "evil.example"],
      ["Origin", "https://evil.example"],
    ] as const) {
      const { status, body } = await callPath(open as Pick<Double, "fetch">, "GET", path, {
        headers: { Host: "localhost", [name]: value },
      });
      expect({ path, name, status, code: body.code }).toEqual({ path, name, status: 403, code: "FORBIDDEN" });
    }
  }
  const deleting = await callPath(guarded as Pick<Double, "fetch">, "DELETE", "/w/here/_sim/worlds/here");
  expect(deleting.status).toBe(401);
  expect(await fullState(double)).toEqual(before);
  const token = { Authorization: "Bearer t0ken" };
  expect(
    (await callPath(guarded as Pick<Double, "fetch">, "GET", "/w/here/_sim/clock", { headers: token }))
      .status,
  ).toBe(200);
  for (const [path, status] of [
    ["/_sim/health/ready", 200],
    ["/w/here/_sim/health/ready", 401],
    ["/w/nowhere/_sim/health/ready", 401],
  ] as const)
    expect((await callPath(guarded as Pick<Double, "fetch">, "GET", path)).status, path).toBe(status);
  expect(
    (
      await callPath(guarded as Pick<Double, "fetch">, "GET", "/w/here/api/v2/projects", {
        headers: AUTHORIZED,
      })
    ).status,
  ).toBe(200);
  expect(
    (await callPath(guarded as Pick<Double, "fetch">, "GET", "/w/here/api/v2/projects", { headers: token }))
      .status,
  ).toBe(401);
});
