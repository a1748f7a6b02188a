import { expect, onTestFinished, test } from "vitest";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";
import { doubleOfWorld } from "../../support/double/storage-double.ts";

async function doubleWith(...faults: object[]): Promise<Double> {
  const double = await createDouble();
  onTestFinished(double.close);
  await setFaults(double, ...faults);
  return double;
}

async function setFaults(double: Double, ...faults: object[]): Promise<void> {
  expect(await double.sim("PUT", "/faults", faults)).toMatchObject({ status: 200 });
}

async function faultOf(double: Double, name = "f") {
  return (await double.sim("GET", `/faults/${name}`)).body.fault;
}

async function statuses(double: Double, times: number, path = "/projects"): Promise<number[]> {
  const responses: number[] = [];
  for (let time = 0; time < times; time += 1) responses.push((await double.api("GET", path)).status);
  return responses;
}

const ANSWER_503 = { answer: { status: 503 } };
const eventsOf = async (double: Double, type: string) =>
  (await double.sim("GET", "/events?limit=10000")).body.events.filter((event) => event.type === type);

test("without faults, requests are unaffected and nothing is counted", async () => {
  const double = await doubleWith();
  expect((await double.sim("GET", "/faults")).body).toEqual({ faults: [] });
  const { seq } = (await double.sim("GET", "/state")).body;
  await statuses(double, 3);
  expect((await double.sim("GET", "/state")).body.seq).toBe(seq);
});

test("a fault answers instead of the handler, in the format of the platform's errors, and changes nothing", async () => {
  const double = await doubleWith({
    name: "f",
    on: { operation: "createProject" },
    effect: { answer: { status: 500, code: "OOPS", message: "so sorry" } },
  });
  const response = await double.api("POST", "/projects", { project: {} });
  expect(response).toMatchObject({
    status: 500,
    body: { code: "OOPS", message: "so sorry", request_id: expect.any(String) },
  });
  expect((await double.api("GET", "/projects")).body.projects).toEqual([]);
  expect(await faultOf(double)).toMatchObject({ seen: 1, hits: 1 });
});

test.each([
  [423, "", null],
  [429, "TOO_MANY_REQUESTS", "1"],
  [500, "INTERNAL_SERVER_ERROR", null],
  [503, "SERVICE_UNAVAILABLE", "1"],
  [418, "HTTP_418", null],
])("a fault with only the status %i answers like the platform", async (status, code, retryAfter) => {
  const double = await createDouble();
  onTestFinished(double.close);
  await setFaults(double, { name: "f", effect: { answer: { status } } });
  const response = await double.fetch(
    new Request("http://localhost/api/v2/projects", {
      headers: { Authorization: `Bearer ${"k".repeat(64)}` },
    }),
  );
  expect([response.status, response.headers.get("retry-after")]).toEqual([status, retryAfter]);
  expect(await response.json()).toMatchObject({ code, message: expect.stringMatching(/./) });
});

test.each([
  ["1500ms", "2"],
  ["2m", "120"],
  [30, "30"],
  ["30", "30"],
  [0, "0"],
])("retry_after %j gives %s seconds in the Retry-After header", async (retry_after, seconds) => {
  const double = await doubleWith({ name: "f", effect: { answer: { status: 503, retry_after } } });
  expect((await double.api("GET", "/projects")).headers.get("retry-after")).toBe(seconds);
  const { effect } = await faultOf(double);
  expect((await double.sim("PUT", "/faults/f", { effect })).body.fault.effect).toEqual(effect);
});

test.each([[1.5], ["1.5"], [-1], ["soon"], ["99999999999d"], [1e300]])(
  "a retry_after of %j is rejected",
  async (retry_after) => {
    const double = await createDouble();
    const { status, body } = await double.sim("PUT", "/faults/f", {
      effect: { answer: { status: 503, retry_after } },
    });
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining("effect.answer.retry_after: must be whole seconds"),
    ]);
  },
);

test("an unauthenticated request matches no fault", async () => {
  const double = await doubleWith({ name: "f", effect: ANSWER_503 });
  expect((await double.api("GET", "/projects", undefined, "nobody")).status).toBe(401);
  expect(await faultOf(double)).toMatchObject({ seen: 0, hits: 0 });
});

test("first: 2 affects the first two requests; then the fault is over and stops counting", async () => {
  const double = await doubleWith({ name: "f", when: { first: 2 }, effect: ANSWER_503 });
  expect(await statuses(double, 4)).toEqual([503, 503, 200, 200]);
  expect(await faultOf(double)).toMatchObject({ seen: 2, hits: 2 });
});

test("every: 3 affects every third request", async () => {
  const double = await doubleWith({ name: "f", when: { every: 3 }, effect: ANSWER_503 });
  expect(await statuses(double, 7)).toEqual([200, 200, 503, 200, 200, 503, 200]);
  expect(await faultOf(double)).toMatchObject({ seen: 7, hits: 2 });
  expect((await eventsOf(double, "FaultHit")).map(({ number }) => number)).toEqual([3, 6]);
  expect((await eventsOf(double, "FaultMatched")).map(({ number }) => number)).toEqual([1, 2, 4, 5, 7]);
});

test("limit ends a fault after that number of hits", async () => {
  const double = await doubleWith({ name: "f", when: { every: 2, limit: 2 }, effect: ANSWER_503 });
  expect(await statuses(double, 8)).toEqual([200, 503, 200, 503, 200, 200, 200, 200]);
  expect(await faultOf(double)).toMatchObject({ seen: 4, hits: 2 });
});

test("a fault applies from its start, inclusive, until its end, exclusive", async () => {
  const double = await doubleWith({
    name: "f",
    when: { from: "2026-01-01T00:00:10Z", until: "2026-01-01T00:00:20Z" },
    effect: ANSWER_503,
  });
  const found: number[][] = [];
  for (const by of ["9999ms", "1ms", "9999ms", "1ms"]) {
    await double.advance(by);
    found.push(await statuses(double, 1));
  }
  expect(found.flat()).toEqual([200, 503, 503, 200]);
  expect(await faultOf(double)).toMatchObject({ seen: 2, hits: 2 });
});

test("probability 0 never triggers and 1 always does; otherwise the event holds the draw", async () => {
  const double = await doubleWith({ name: "never", when: { probability: 0 }, effect: ANSWER_503 });
  expect(new Set(await statuses(double, 20))).toEqual(new Set([200]));
  await setFaults(double, { name: "always", when: { probability: 1 }, effect: ANSWER_503 });
  expect(new Set(await statuses(double, 20))).toEqual(new Set([503]));
  await setFaults(double, { name: "f", when: { probability: 0.5 }, effect: ANSWER_503 });
  const drawn = await statuses(double, 40);
  expect(new Set(drawn)).toEqual(new Set([200, 503]));
  const met = [...(await eventsOf(double, "FaultHit")), ...(await eventsOf(double, "FaultMatched"))].filter(
    ({ fault }) => fault === "f",
  );
  expect(met).toHaveLength(40);
  for (const event of met) expect(event.drawn < 0.5).toBe(event.type === "FaultHit");
});

test("a seed determines which requests trigger, independently of other faults", async () => {
  const half = (name: string) => ({ name, when: { probability: 0.5 }, effect: ANSWER_503 });
  const strikes = async (seed: number, ...faults: object[]) => {
    const double = await createDouble({ seed });
    onTestFinished(double.close);
    await setFaults(double, ...faults);
    return statuses(double, 40);
  };
  const first = await strikes(1, half("f"));
  expect(await strikes(1, half("f"))).toEqual(first);
  expect(await strikes(2, half("f"))).not.toEqual(first);
  expect(await strikes(1, { ...half("other"), on: { operation: "createProject" } }, half("f"))).toEqual(
    first,
  );
  expect(await strikes(1, half("g"))).not.toEqual(first);
});

test("a fault matches by operation, list of operations, project, account and method", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const one = await createProject(double);
  const two = await createProject(double);
  const project = ({ projectId }: { projectId: string }) => `/projects/${projectId}`;
  const hits = async (on: object, method: string, path: string) => {
    await setFaults(double, { name: "f", on, effect: ANSWER_503 });
    return (await double.api(method, path)).status === 503;
  };
  expect(await hits({ operation: "getProject" }, "GET", project(one))).toBe(true);
  expect(await hits({ operation: "getProject" }, "GET", "/projects")).toBe(false);
  expect(await hits({ operation: ["listProjects", "getProject"] }, "GET", "/projects")).toBe(true);
  expect(await hits({ operation: "*" }, "GET", "/projects")).toBe(true);
  expect(await hits({ operation: "*" }, "GET", "/nowhere")).toBe(false);
  expect(await hits({ match: { project_id: one.projectId } }, "GET", project(one))).toBe(true);
  expect(await hits({ match: { project_id: one.projectId } }, "GET", project(two))).toBe(false);
  expect(await hits({ match: { project_id: one.projectId } }, "GET", "/projects")).toBe(false);
  expect(await hits({ match: { endpoint_id: one.endpointId } }, "GET", one.path)).toBe(true);
  expect(await hits({ match: { endpoint_id: one.endpointId } }, "GET", two.path)).toBe(false);
  expect(
    await hits({ match: { branch_id: one.branchId } }, "GET", `${project(one)}/branches/${one.branchId}`),
  ).toBe(true);
  expect(await hits({ match: { method: "GET" } }, "GET", "/projects")).toBe(true);
  expect(await hits({ match: { method: "GET" } }, "HEAD", "/projects")).toBe(true);
  expect(await hits({ match: { method: "POST" } }, "GET", "/projects")).toBe(false);
  const [account] = (await double.sim("GET", "/accounts")).body.accounts;
  expect(await hits({ match: { account_id: account.id } }, "GET", "/projects")).toBe(true);
  expect(await hits({ match: { account_id: "another" } }, "GET", "/projects")).toBe(false);
  expect(await hits({ match: { org_id: account.organization_id } }, "GET", "/projects")).toBe(true);
  expect(await hits({ match: { org_id: "org-another" } }, "GET", "/projects")).toBe(false);
});

test("faults are matched in the order in which they were set, up to the first that ends the request", async () => {
  const double = await doubleWith(
    { name: "slow", effect: { latency: { takes: "1s" } } },
    { name: "a", effect: { answer: { status: 503 } } },
    { name: "b", effect: { answer: { status: 500 } } },
  );
  expect(await statuses(double, 1)).toEqual([503]);
  const { faults } = (await double.sim("GET", "/faults")).body;
  expect(faults.map(({ name, hits }) => [name, hits])).toEqual([
    ["slow", 1],
    ["a", 1],
    ["b", 0],
  ]);
  // Setting a fault again moves it after the others.
  await double.sim("PUT", "/faults/a", { effect: { answer: { status: 503 } } });
  expect(await statuses(double, 1)).toEqual([500]);
});

test("on a manual clock, a delayed request advances the clock, runs due work and takes effect exactly then", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const { path } = await createProject(double);
  const before = (await double.sim("GET", "/clock")).body.now;
  await setFaults(double, { name: "f", on: { operation: "createApiKey" }, effect: { latency: "5m" } });
  const { created_at } = (await double.api("POST", "/api_keys", { key_name: "late" })).body;
  expect(Date.parse(created_at) - Date.parse(before)).toBe(300_000);
  expect((await double.sim("GET", "/clock")).body.now).toBe(created_at.replace("Z", ".000Z"));
  // The compute had no activity for five minutes.
  expect((await double.api("GET", path)).body.endpoint.current_state).toBe("idle");
});

test("a key revoked during the delay of its request gets 401", async () => {
  const double = await createDouble({ clock: { mode: "scaled", factor: 100 } });
  onTestFinished(double.close);
  const { id, key } = (await double.sim("POST", "/api_keys", { key_name: "short" })).body;
  await setFaults(double, { name: "f", effect: { latency: "20s" } });
  const response = double.api("GET", "/projects", undefined, key);
  await double.sim("DELETE", `/api_keys/${id}`);
  expect((await response).status).toBe(401);
});

test("on a real or scaled clock, latency ends when the world's clock has advanced that far", async () => {
  const double = await createDouble({ clock: { mode: "scaled", factor: 1_000 } });
  onTestFinished(double.close);
  await setFaults(double, { name: "f", on: { operation: "createApiKey" }, effect: { latency: "60s" } });
  const before = double.world.now();
  const { created_at } = (await double.api("POST", "/api_keys", { key_name: "late" })).body;
  expect(Date.parse(created_at)).toBeGreaterThanOrEqual(Math.floor((before + 60_000) / 1_000) * 1_000);
});

test("latency in wall-clock time does not advance the world's clock", async () => {
  const double = await doubleWith({ name: "f", effect: { latency: { takes: "1ms..20ms", clock: "wall" } } });
  const before = (await double.sim("GET", "/clock")).body.now;
  expect(await statuses(double, 3)).toEqual([200, 200, 200]);
  expect((await double.sim("GET", "/clock")).body.now).toBe(before);
  for (const { outcome } of await eventsOf(double, "FaultHit")) {
    expect(outcome).toMatchObject({ kind: "latency", clock: "wall" });
    expect(outcome.ms).toBeGreaterThanOrEqual(1);
    expect(outcome.ms).toBeLessThanOrEqual(20);
  }
});

test("a dropped request changes nothing; a lost response belongs to a request that took effect", async () => {
  const double = await doubleWith({ name: "f", on: { operation: "createApiKey" }, effect: "drop" });
  const keys = async () => (await double.sim("GET", "/api_keys")).body.api_keys.map(({ name }) => name);
  const before = await keys();
  await expect(double.api("POST", "/api_keys", { key_name: "one" })).rejects.toThrow(TypeError);
  expect(await keys()).toEqual(before);
  await setFaults(double, { name: "f", on: { operation: "createApiKey" }, effect: { lose_response: {} } });
  await expect(double.api("POST", "/api_keys", { key_name: "two" })).rejects.toThrow("fetch failed");
  expect(await keys()).toEqual([...before, "two"]);
  expect(await faultOf(double)).toMatchObject({ seen: 1, hits: 1 });
});

test("each world has its own faults", async () => {
  const double = await doubleWith({ name: "f", on: { operation: "listProjects" }, effect: "drop" });
  expect((await double.sim("POST", "/worlds", { name: "other" })).status).toBe(201);
  await double.sim("DELETE", "/faults");
  const other = doubleOfWorld(double, "other");
  expect(await statuses(double, 1)).toEqual([200]);
  await expect(other.api("GET", "/projects")).rejects.toThrow("fetch failed");
  expect((await other.sim("GET", "/faults")).body.faults).toMatchObject([{ name: "f", hits: 1 }]);
});

test("a rate limit counts in windows of the world's clock, and says how long to wait", async () => {
  const double = await doubleWith({ name: "f", effect: { rate_limit: { requests: 2, per: "10s" } } });
  expect(await statuses(double, 3)).toEqual([200, 200, 429]);
  await double.advance("3s");
  const refused = await double.api("GET", "/projects");
  expect([refused.status, refused.headers.get("retry-after"), refused.body.code]).toEqual([
    429,
    "7",
    "TOO_MANY_REQUESTS",
  ]);
  await double.advance("6999ms");
  expect(await statuses(double, 1)).toEqual([429]);
  await double.advance("1ms");
  expect(await statuses(double, 3)).toEqual([200, 200, 429]);
  expect(await faultOf(double)).toMatchObject({ seen: 8, hits: 4 });
});

test("a project in maintenance shows it and can be read but not changed until it ends", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const { projectId, path } = await createProject(double);
  const other = await createProject(double);
  const now = (await double.sim("GET", "/clock")).body.now;
  await setFaults(double, {
    name: "f",
    on: { match: { project_id: projectId } },
    effect: { maintenance: { for: "10m" } },
  });
  const rename = (id: string) => double.api("PATCH", `/projects/${id}`, { project: { name: "x" } });
  expect(await rename(projectId)).toMatchObject({ status: 423, body: { code: "PROJECT_IN_MAINTENANCE" } });
  expect((await double.api("POST", `${path}/restart`)).status).toBe(423);
  expect((await rename(other.projectId)).status).toBe(200);
  const shown = async (id: string) =>
    (await double.api("GET", `/projects/${id}`)).body.project.maintenance_scheduled_for;
  expect(await shown(projectId)).toBe(now.replace(".000Z", "Z"));
  expect(await shown(other.projectId)).toBeUndefined();
  await double.advance("599999ms");
  expect((await rename(projectId)).status).toBe(423);
  await double.advance("1ms");
  expect((await rename(projectId)).status).toBe(200);
  expect(await shown(projectId)).toBeUndefined();
});

test("setting a fault again resets its counts; deleting it ends it", async () => {
  const double = await doubleWith({ name: "f", when: { first: 1 }, effect: ANSWER_503 });
  expect(await statuses(double, 2)).toEqual([503, 200]);
  expect(
    (await double.sim("PUT", "/faults/f", { when: { first: 1 }, effect: ANSWER_503 })).body.fault,
  ).toMatchObject({ seen: 0, hits: 0 });
  expect(await statuses(double, 2)).toEqual([503, 200]);
  await double.sim("PUT", "/faults/g", { effect: ANSWER_503 });
  expect((await double.sim("DELETE", "/faults/g")).body.removed).toMatchObject({ name: "g" });
  expect(await statuses(double, 1)).toEqual([200]);
  expect((await double.sim("DELETE", "/faults")).body.removed).toMatchObject([{ name: "f", hits: 1 }]);
  expect((await double.sim("GET", "/faults")).body.faults).toEqual([]);
  expect(await double.sim("DELETE", "/faults/f")).toMatchObject({
    status: 404,
    body: { code: "FAULT_NOT_FOUND" },
  });
});

test("a reset world has no faults", async () => {
  const double = await doubleWith({ name: "f", effect: ANSWER_503 });
  await double.sim("POST", "/reset", {});
  expect((await double.sim("GET", "/faults")).body.faults).toEqual([]);
});

test("a listed fault can be set again unchanged, except for its counts", async () => {
  const written = [
    {
      name: "a",
      on: { operation: ["getProject", "listProjects"] },
      when: { every: 2, limit: 3 },
      effect: { answer: { status: 429, retry_after: "5s" } },
    },
    {
      name: "b",
      when: { probability: 0.25, from: "2026-01-01T00:00:00.000Z", until: "2026-01-02T00:00:00.000Z" },
      effect: "drop",
    },
    { name: "c", effect: { latency: { takes: "3s~0.5", clock: "wall" } } },
    { name: "d", on: { match: { project_id: "p" } }, effect: { maintenance: { for: "10m" } } },
    { name: "e", on: { action: "apply_config" }, effect: { operation_fails: { times: 2, ends: "failed" } } },
    { name: "f", effect: { start_slower: { by: "1s..2s", factor: 3 } } },
    { name: "g", effect: "start_fails" },
    { name: "h", effect: { rate_limit: { requests: 5, per: "1m" } } },
    { name: "i", effect: { lose_response: {} } },
    { name: "j", on: { action: "start_compute" }, effect: "start_fails" },
  ];
  const double = await doubleWith(...written);
  const shown = (await double.sim("GET", "/faults")).body;
  const kept = async () =>
    (await double.sim("GET", "/state")).body.faults.map(({ set_at: _, number: __, ...fault }) => fault);
  const before = await kept();
  expect(shown.faults.map(({ name }) => name)).toEqual(written.map(({ name }) => name));
  expect((await double.sim("PUT", "/faults", shown)).body).toEqual(shown);
  expect(await kept()).toEqual(before);
});

test.each([
  [
    { on: { operation: "createProjects" }, effect: "drop" },
    'there is no operation "createProjects"; did you mean "createProject"?',
  ],
  [{ on: { action: "start_computer" }, effect: "start_fails" }, 'did you mean "start_compute"?'],
  [{ on: { operations: "*" }, effect: "drop" }, 'did you mean "operation"?'],
  [{ effect: { latancy: "1s" } }, 'did you mean "latency"?'],
  [{ effect: { drop: {}, lose_response: {} } }, "must be exactly one of answer, latency"],
  [{ effect: {} }, "must be exactly one of"],
  [{ effect: { answer: { status: 399 } } }, "effect.answer.status"],
  [{ effect: { answer: { status: 600 } } }, "effect.answer.status"],
  [{ effect: { latency: "soon" } }, "must be a duration like 3s"],
  [{ when: { first: 1, every: 2 }, effect: "drop" }, "at most one of first, every and probability"],
  [{ when: { probability: 1.1 }, effect: "drop" }, "when.probability"],
  [{ when: { every: 0 }, effect: "drop" }, "when.every"],
  [{ on: { operation: "getProject" }, effect: "start_fails" }, "on.operation: start_fails"],
  [{ on: { action: "start_compute" }, effect: "drop" }, "on.action: drop applies to requests"],
  [{ on: { match: { method: "GET" } }, effect: "start_fails" }, "on.match.method"],
  [{ when: { every: 2 }, effect: { rate_limit: { requests: 1, per: "1s" } } }, "when: rate_limit"],
  [{ effect: { latency: "8d" } }, "must not be longer than 7d"],
  [{ effect: { start_slower: {} } }, "must have by (a duration) or factor"],
  [{ effect: { operation_fails: { times: 0 } } }, "effect.operation_fails.times"],
  [{ effect: { operation_fails: { times: 1_001 } } }, "effect.operation_fails.times"],
])("an invalid fault is rejected with what is expected: %j", async (fault, message) => {
  const double = await doubleWith({ name: "kept", effect: "drop" });
  const refused = await double.sim("PUT", "/faults", [{ name: "f", ...fault }]);
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
  expect(await double.sim("PUT", "/faults/f", fault)).toMatchObject({ status: 400 });
  expect((await double.sim("GET", "/faults")).body.faults).toMatchObject([{ name: "kept" }]);
});

test("fault names must be valid, unique in a list and equal to the name in the path", async () => {
  const double = await doubleWith();
  const f = { name: "f", effect: "drop" };
  expect(await double.sim("PUT", "/faults", [f, f])).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("1.name") },
  });
  expect((await double.sim("PUT", "/faults", [{ ...f, name: "F!" }])).status).toBe(400);
  expect((await double.sim("PUT", "/faults/g", f)).status).toBe(400);
  expect((await double.sim("PUT", "/faults/f", f)).status).toBe(200);
  expect(await double.sim("GET", "/faults/ff")).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining('did you mean "f"?') },
  });
});

test.each([
  [
    { when: { from: "2026-01-02T00:00:00Z", until: "2026-01-02T00:00:00Z" }, effect: "drop" },
    "when.until: must be after from",
  ],
  [
    { on: { operation: "listProjects" }, effect: "start_fails" },
    "on.operation: start_fails applies to operations of the platform; use on.action instead",
  ],
  [
    { on: { match: { method: "GET" } }, effect: "start_fails" },
    "on.match.method: operations of the platform do not have this field",
  ],
  [
    { on: { action: "start_compute" }, effect: "drop" },
    "on.action: drop applies to requests; use on.operation instead",
  ],
  [
    { on: { action: "start_compute" }, effect: "drop_connection" },
    "on.action: drop_connection applies to connections of Postgres clients; use on.match",
  ],
  [
    { on: { match: { org_id: "org-one" } }, effect: { end_connection: { after: 1 } } },
    "on.match.org_id: connections do not have this field",
  ],
  [
    { effect: { reject_connection: { code: 53300 } } },
    'effect.reject_connection.code: must be a SQLSTATE of five characters, such as "53300"',
  ],
])("%j is rejected with the field name", async (fault, message) => {
  const double = await createDouble();
  expect((await double.sim("PUT", "/faults/f", fault)).body).toMatchObject({ code: "BAD_REQUEST", message });
});
