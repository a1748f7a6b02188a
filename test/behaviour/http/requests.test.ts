import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  API_KEY,
  createDouble,
  createProject,
  type Double,
  type DoubleOptions,
} from "../../support/double/double.ts";
import {
  createStorageDouble,
  STORAGE_KINDS,
  type StorageDouble,
  type StorageKind,
} from "../../support/double/storage-double.ts";

async function shelved(kind: StorageKind, options: DoubleOptions = {}): Promise<StorageDouble> {
  const made = await createStorageDouble(kind, options);
  onTestFinished(made.end);
  return made;
}

async function requestsOf(double: Double, query: `?${string}` | "" = "") {
  return (await double.sim("GET", `/requests${query}`)).body.requests;
}

describe.each(STORAGE_KINDS)("%s", (kind) => {
  test("newest starts with the newest requests, also of a log that has dropped older ones", async () => {
    const double = (await shelved(kind, { requestsLimit: 5 })).double();
    for (let limit = 1; limit <= 9; limit += 1) await double.api("GET", `/projects?limit=${limit}`);
    const paths = async (query: `?${string}`) =>
      (await requestsOf(double, query)).map(({ path }) => path.replace("/api/v2/projects?limit=", ""));
    expect(await paths("?newest=2")).toEqual(["8", "9"]);
    expect(await paths("?newest=100")).toEqual(["5", "6", "7", "8", "9"]);
    expect(await paths("?newest=3&since=8")).toEqual(["9"]);
    expect(await paths("?newest=0")).toEqual([]);
    expect((await double.sim("GET", "/requests?newest=-1")).status).toBe(400);
  });

  test("the stream gives each request when it is answered, and goes on when the log is cleared", async () => {
    const double = (await shelved(kind)).double();
    await double.api("GET", "/projects");
    const response = await double.fetch(new Request("http://localhost/_sim/requests/stream"));
    const reader = (response.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
    onTestFinished(() => reader.cancel());
    const next = async () => {
      for (let text = ""; ; ) {
        const [, data] = /^data: (.*)$/m.exec(text) ?? [];
        if (data !== undefined) return JSON.parse(data).path;
        const { done, value } = await reader.read();
        if (done) throw new Error(`the stream ended: ${text}`);
        text += value;
      }
    };
    await double.api("GET", "/projects?limit=1");
    expect(await next()).toBe("/api/v2/projects?limit=1");
    await double.sim("DELETE", "/requests");
    await double.api("GET", "/projects?limit=2");
    expect(await next()).toBe("/api/v2/projects?limit=2");
  });

  test("every request is logged in order, with its caller, operation and status", async () => {
    const double = (await shelved(kind)).double();
    await double.api("GET", "/projects?limit=5");
    await double.api("GET", "/projects", undefined, "nobody");
    await double.api("GET", "/nowhere");
    await double.api("GET", "/projects/none-at-all-12345678");
    await double.fetch(new Request("http://localhost/projects"));
    const [account] = (await double.sim("GET", "/accounts")).body.accounts;
    const of = { account_id: account.id, key_id: 1 };
    const at = "2026-01-01T00:00:00.000Z";
    expect(await requestsOf(double)).toEqual([
      {
        number: 1,
        at,
        request_id: expect.any(String),
        seq: expect.any(Number),
        method: "GET",
        path: "/api/v2/projects?limit=5",
        operation_id: "listProjects",
        status: 200,
        ...of,
      },
      {
        ...{
          number: 2,
          at,
          request_id: expect.any(String),
          seq: expect.any(Number),
          method: "GET",
          path: "/api/v2/projects",
          operation_id: "listProjects",
        },
        ...{ status: 401, code: "UNAUTHORIZED", account_id: null, key_id: null },
      },
      {
        ...{
          number: 3,
          at,
          request_id: expect.any(String),
          seq: expect.any(Number),
          method: "GET",
          path: "/api/v2/nowhere",
          operation_id: null,
        },
        ...{ status: 404, code: "UNKNOWN_PATH", ...of },
      },
      {
        ...{
          number: 4,
          at,
          request_id: expect.any(String),
          seq: expect.any(Number),
          method: "GET",
          path: "/api/v2/projects/none-at-all-12345678",
        },
        ...{ operation_id: "getProject", status: 404, code: "PROJECT_NOT_FOUND", ...of },
      },
      {
        ...{
          number: 5,
          at,
          request_id: expect.any(String),
          seq: expect.any(Number),
          method: "GET",
          path: "/projects",
          operation_id: null,
        },
        ...{ status: 404, code: "UNKNOWN_PATH", account_id: null, key_id: null },
      },
    ]);
  });

  test("a changing request is logged with its body and the ids that it created", async () => {
    const double = (await shelved(kind)).double();
    const { created, projectId, path } = await createProject(double, {
      name: "shop",
      branch: { name: "trunk" },
    });
    await double.api("DELETE", path);
    const [create, remove] = await requestsOf(double);
    expect(create).toMatchObject({
      method: "POST",
      operation_id: "createProject",
      status: 201,
      body: { project: { name: "shop", branch: { name: "trunk" } } },
      answered: {
        project: projectId,
        branch: created.branch.id,
        endpoints: [created.endpoints[0].id],
        operations: created.operations.map(({ id }) => id),
      },
    });
    expect(remove).toMatchObject({
      method: "DELETE",
      operation_id: "deleteProjectEndpoint",
      answered: { endpoint: created.endpoints[0].id },
    });
    expect(remove).not.toHaveProperty("body");
  });

  test("filters and counts", async () => {
    const double = (await shelved(kind)).double();
    const { projectId } = await createProject(double);
    const { id, key } = (await double.sim("POST", "/api_keys", { key_name: "other" })).body;
    await double.api("GET", `/projects/${projectId}`, undefined, key);
    await double.api("GET", "/nowhere");
    await double.advance("1m");
    await double.sim("PUT", "/faults", [{ name: "f", on: { operation: "listApiKeys" }, effect: "drop" }]);
    await expect(double.api("GET", "/api_keys")).rejects.toThrow();
    const numbers = async (query: `?${string}` | "") =>
      (await requestsOf(double, query)).map(({ number }) => number);
    expect(await numbers("")).toEqual([1, 2, 3, 4]);
    expect(await numbers("?method=post")).toEqual([1]);
    expect(await numbers("?operation_id=getProject")).toEqual([2]);
    expect(await numbers("?status=404")).toEqual([3]);
    expect(await numbers("?status=2xx")).toEqual([1, 2]);
    expect(await numbers("?status=none")).toEqual([4]);
    expect(await numbers(`?path=${projectId}`)).toEqual([2]);
    expect(await numbers(`?key_id=${id}`)).toEqual([2]);
    expect(await numbers("?matched=false")).toEqual([3]);
    expect(await numbers("?matched=true")).toEqual([1, 2, 4]);
    expect(await numbers("?fault=f")).toEqual([4]);
    expect(await numbers("?from=2026-01-01T00:00:10Z")).toEqual([2, 3, 4]);
    expect(await numbers("?until=2026-01-01T00:00:10Z")).toEqual([1]);
    expect(await numbers("?since=2")).toEqual([3, 4]);
    expect((await double.sim("GET", "/requests?limit=2")).body).toMatchObject({
      requests: [{ number: 1 }, { number: 2 }],
      next_since: 2,
    });
    expect((await double.sim("GET", "/requests?since=2&limit=2")).body).toMatchObject({ next_since: 4 });
    expect((await double.sim("GET", "/requests?since=4")).body).toEqual({ requests: [], next_since: 4 });
    expect((await double.sim("GET", "/requests?count=true&status=2xx")).body).toEqual({ count: 2 });
    expect((await double.sim("GET", "/requests?status=600")).status).toBe(400);
    expect((await double.sim("GET", "/requests?opperation_id=x")).status).toBe(400);
  });

  test("only the newest requests are retained, across restarts and writes", async () => {
    const made = await shelved(kind, { requestsLimit: 3 });
    for (let time = 0; time < 5; time += 1) await made.double().api("GET", "/projects");
    const numbers = async () => (await requestsOf(made.double())).map(({ number }) => number);
    expect(await numbers()).toEqual([3, 4, 5]);
    await made.reopen();
    expect(await numbers()).toEqual([3, 4, 5]);
    for (let time = 0; time < 2; time += 1) await made.double().api("POST", "/api_keys", { key_name: "k" });
    expect(await numbers()).toEqual([5, 6, 7]);
    for (let time = 0; time < 20; time += 1) await made.double().api("GET", "/projects");
    expect(await numbers()).toEqual([25, 26, 27]);
  });

  test("with a limit of 0 no request is logged", async () => {
    const double = (await shelved(kind, { requestsLimit: 0 })).double();
    await double.api("GET", "/projects");
    await double.fetch(new Request("http://localhost/projects"));
    expect((await double.sim("GET", "/requests")).body).toEqual({ requests: [], next_since: 0 });
  });

  test("after clearing, numbers restart at 1", async () => {
    const made = await shelved(kind);
    await made.double().api("GET", "/projects");
    await made.double().sim("GET", "/requests");
    await made.double().api("GET", "/projects");
    expect((await made.double().sim("DELETE", "/requests")).status).toBe(200);
    expect(await requestsOf(made.double())).toEqual([]);
    await made.double().api("GET", "/regions");
    expect(await requestsOf(made.double())).toMatchObject([{ number: 1, operation_id: "getActiveRegions" }]);
  });

  test("a fork has the requests up to its fork point, and its own afterwards", async () => {
    const made = await shelved(kind);
    const double = made.double();
    await double.api("POST", "/api_keys", { key_name: "early" });
    await double.advance("1m");
    await double.api("POST", "/api_keys", { key_name: "late" });
    expect((await double.sim("POST", "/worlds", { name: "past", at: "2026-01-01T00:00:30Z" })).status).toBe(
      201,
    );
    const past = made.world("past");
    await past.api("GET", "/projects");
    expect((await requestsOf(past)).map(({ number, path }) => [number, path])).toEqual([
      [1, "/api/v2/api_keys"],
      [2, "/w/past/api/v2/projects"],
    ]);
    expect(await requestsOf(double)).toHaveLength(2);
  });

  test("no log entry contains secrets: passwords, keys, connection URIs, under any field name", async () => {
    const made = await shelved(kind);
    const double = made.double();
    const secrets: string[] = [API_KEY];
    const { projectId, branchId, created } = await createProject(double);
    secrets.push(created.roles[0].password, created.connection_uris[0].connection_uri);
    const onBranch = `/projects/${projectId}/branches/${branchId}`;
    const role = (await double.api("POST", `${onBranch}/roles`, { role: { name: "app" } })).body.role;
    await double.advance("10s");
    const reset = (await double.api("POST", `${onBranch}/roles/app/reset_password`)).body.role;
    const revealed = (await double.api("GET", `${onBranch}/roles/app/reveal_password`)).body;
    const key = (await double.api("POST", "/api_keys", { key_name: "ci" })).body.key;
    const uri = (
      await double.api("GET", `/projects/${projectId}/connection_uri?database_name=neondb&role_name=app`)
    ).body.uri;
    secrets.push(role.password, reset.password, revealed.password, key, uri);
    // A client sends what it should not.
    const sent = {
      password: "hunter2-a",
      nested: [{ apiKey: "hunter2-b", note: "postgres://u:hunter2-c@h/d" }],
      "Auth-Token": "hunter2-d",
    };
    await double.api("PATCH", `/projects/${projectId}`, { project: { name: "x", ...sent } });
    await double.api("GET", "/projects?api_key=hunter2-e&search=postgres%3A%2F%2Fu%3Ahunter2-f%40h&limit=3");
    await double.api("POST", "/api_keys", '{"key_name": "hunter2-g"');
    await double.api("POST", "/nowhere", { password: "hunter2-h" });
    expect(secrets.every((secret) => secret.length > 8)).toBe(true);
    secrets.push("hunter2");
    const log = JSON.stringify(await requestsOf(double));
    for (const secret of secrets) expect(log).not.toContain(secret);
    expect(log).toContain("[removed]");
    expect((await requestsOf(double, "?path=limit%3D3"))[0].path).toBe(
      "/api/v2/projects?api_key=[removed]&search=[removed]&limit=3",
    );
    // The flag that says whether passwords are stored is not a password.
    const settings = { store_passwords: true, default_endpoint_settings: { pg_settings: { jit: "on" } } };
    await double.api("POST", "/projects", { project: settings });
    expect((await requestsOf(double, "?operation_id=createProject"))[1].body).toEqual({ project: settings });
    // Fields with similar names stay.
    expect((await requestsOf(double, "?operation_id=createApiKey"))[0]).toMatchObject({
      body: { key_name: "ci" },
      answered: { id: expect.any(Number) },
    });
    if (kind === "in memory") return;
    await made.release();
    const files = readdirSync(`${made.directory}/worlds`).map((file) =>
      readFileSync(`${made.directory}/worlds/${file}`, "latin1"),
    );
    expect(files.join().includes("hunter2")).toBe(false);
  });
});

test("a body is logged up to a limit; of a larger or non-JSON body only the size is logged", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const named = (length: number) => JSON.stringify({ key_name: "n".repeat(length) });
  const overhead = named(0).length;
  const bodyFor = async (text: string) => {
    await double.api("POST", "/api_keys", text);
    return (await requestsOf(double)).at(-1).body;
  };
  expect(await bodyFor(named(8 * 1024 - overhead))).toEqual({ key_name: "n".repeat(8 * 1024 - overhead) });
  expect(await bodyFor(named(8 * 1024 - overhead + 1))).toEqual({
    not_kept: "too large",
    characters: 8 * 1024 + 1,
  });
  expect(await bodyFor("{")).toEqual({ not_kept: "no JSON", characters: 1 });
});

test("an entry names the matched fault; for a lost response it shows the effects", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  await double.sim("PUT", "/faults", [
    { name: "busy", on: { operation: "listProjects" }, effect: { answer: { status: 423 } } },
    { name: "gone", on: { operation: "createApiKey" }, effect: "lose_response" },
    { name: "away", on: { operation: "getActiveRegions" }, effect: "drop" },
    { name: "late", on: { operation: "getCurrentUserInfo" }, effect: { latency: "5s" } },
  ]);
  await double.api("GET", "/projects");
  await expect(double.api("POST", "/api_keys", { key_name: "k" })).rejects.toThrow();
  await expect(double.api("GET", "/regions")).rejects.toThrow();
  await double.api("GET", "/users/me");
  expect(await requestsOf(double)).toMatchObject([
    { fault: "busy", status: 423, code: "OPERATIONS_IN_PROGRESS" },
    { fault: "gone", status: null, body: { key_name: "k" }, answered: { id: expect.any(Number) } },
    { fault: "away", status: null },
    { fault: "late", status: 200, at: "2026-01-01T00:00:05.000Z" },
  ]);
});

test("reads are logged across a restart too", async () => {
  const made = await shelved("in files");
  await made.double().api("GET", "/projects");
  await made.reopen();
  expect(await requestsOf(made.double())).toMatchObject([{ number: 1, operation_id: "listProjects" }]);
});

test("an unknown operation is rejected with the closest known one", async () => {
  const double = await createDouble();
  const { status, body } = await double.sim("GET", "/requests?operation_id=creatProject");
  expect([status, body.message]).toEqual([
    400,
    'operation_id: there is no operation "creatProject"; did you mean "createProject"?',
  ]);
});
