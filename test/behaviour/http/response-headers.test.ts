import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { API_KEY, createDouble, createProject } from "../../support/double/double.ts";

async function listed(acceptEncoding: string | undefined) {
  const double = await createDouble({ operations: "immediate" });
  await createProject(double);
  await createProject(double);
  const headers = {
    Authorization: `Bearer ${API_KEY}`,
    ...(acceptEncoding === undefined ? {} : { "Accept-Encoding": acceptEncoding }),
  };
  return double.fetch(new Request("http://localhost/api/v2/projects", { headers }));
}

test.each(["gzip", "GZIP", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8"])(
  "a client that accepts %s gets a compressed list",
  async (acceptEncoding) => {
    const response = await listed(acceptEncoding);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    const { projects } = JSON.parse(gunzipSync(Buffer.from(await response.arrayBuffer())).toString());
    expect(projects).toHaveLength(2);
  },
);

test.each([undefined, "br", "identity", "gzip;q=0", "gzip; q=0.0, br", "gzip;Q=0"])(
  "a client that accepts %s gets text",
  async (acceptEncoding) => {
    const response = await listed(acceptEncoding);
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(((await response.json()) as { projects: unknown[] }).projects).toHaveLength(2);
  },
);

test.each([
  ["/projects", "projects"],
  ["/projects/:id/endpoints", "endpoints"],
  ["/projects/:id/branches", "branches"],
  ["/projects/:id/operations", "operations"],
])(
  "%s has an entity tag, and a client that sends it gets 304 until the list changes",
  async (path, property) => {
    const double = await createDouble({ operations: "immediate" });
    const { projectId } = await createProject(double);
    const list = (headers: Record<string, string> = {}) =>
      double.fetch(
        new Request(`http://localhost/api/v2${path.replace(":id", projectId)}`, {
          headers: { Authorization: `Bearer ${API_KEY}`, ...headers },
        }),
      );
    const first = await list();
    const tag = first.headers.get("etag") ?? "";
    expect(((await first.json()) as Record<string, unknown[]>)[property]).not.toHaveLength(0);
    const same = await list({ "If-None-Match": `"other", ${tag}` });
    expect([same.status, await same.text(), same.headers.get("etag")]).toEqual([304, "", tag]);
    expect((await list({ "If-None-Match": '"other"' })).status).toBe(200);
    await double.api("PATCH", `/projects/${projectId}`, { project: { name: "renamed" } });
    await double.api("POST", `/projects/${projectId}/branches`, {
      branch: { name: "other" },
      endpoints: [{ type: "read_write" }],
    });
    const changed = await list({ "If-None-Match": tag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(tag);
  },
);

test("a 304 to a tag without W/ has the headers that a cache needs", async () => {
  const double = await createDouble({ operations: "immediate" });
  for (let number = 0; number < 3; number += 1) await createProject(double);
  const list = (headers: Record<string, string> = {}) =>
    double.fetch(
      new Request("http://localhost/api/v2/projects", {
        headers: { Authorization: `Bearer ${API_KEY}`, ...headers },
      }),
    );
  const first = await list();
  const tag = first.headers.get("etag") ?? "";
  const same = await list({ "If-None-Match": tag.replace("W/", "") });
  expect(same.status).toBe(304);
  for (const name of ["ETag", "Vary", "Date"]) expect(same.headers.get(name)).toBe(first.headers.get(name));
  expect(same.headers.get("vary")).toBe("Accept-Encoding");
});

test("If-None-Match is a list of entity tags, and one that is not valid names none", async () => {
  const double = await createDouble({ operations: "immediate" });
  const read = async (tags?: string) => {
    const headers = {
      Authorization: `Bearer ${API_KEY}`,
      ...(tags === undefined ? {} : { "If-None-Match": tags }),
    };
    return double.fetch(new Request("http://localhost/api/v2/projects", { headers }));
  };
  const weak = (await read()).headers.get("etag") ?? "";
  const tag = weak.replace("W/", "");
  for (const valid of [weak, tag, "*", `"a,b" ,, ${tag}`, `,${weak},`, `W/"", ${weak}, "c"`])
    expect([valid, (await read(valid)).status]).toEqual([valid, 304]);
  for (const invalid of [
    `/${tag}`,
    `W/${weak}`,
    `w/${tag}`,
    `x ${tag}`,
    `${tag}${tag}`,
    `"a" ${tag}`,
    `${tag}, "`,
  ])
    expect([invalid, (await read(invalid)).status]).toEqual([invalid, 200]);
});

test.each([
  ["project", "/projects/:project", { project: { name: "renamed" } }],
  ["branch", "/projects/:project/branches/:branch", { branch: { name: "renamed" } }],
  ["endpoint", "/projects/:project/endpoints/:endpoint", { endpoint: { suspend_timeout_seconds: 600 } }],
])("a %s has an entity tag until it changes", async (name, path, changes) => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, created } = await createProject(double);
  const url = path
    .replace(":project", projectId)
    .replace(":branch", created.branch.id)
    .replace(":endpoint", created.endpoints[0]?.id ?? "");
  const read = (headers: Record<string, string> = {}) =>
    double.fetch(
      new Request(`http://localhost/api/v2${url}`, {
        headers: { Authorization: `Bearer ${API_KEY}`, ...headers },
      }),
    );
  const first = await read();
  const tag = first.headers.get("etag") ?? "";
  const same = await read({ "If-None-Match": tag });
  expect([same.status, await same.text(), same.headers.get("etag")]).toEqual([304, "", tag]);
  await double.api("PATCH", url, changes);
  const changed = await read({ "If-None-Match": tag });
  expect(changed.status).toBe(200);
  expect(((await changed.json()) as Record<string, object>)[name]).toMatchObject(
    Object.values(changes)[0] ?? {},
  );
});

test("the id of a request is in both headers", async () => {
  const { headers } = await listed(undefined);
  expect(headers.get("x-neon-ret-request-id")).toBe(headers.get("x-request-id"));
});

test.each(["true", "True", "TRUE", "t", "T", "1"])("?pooled=%s is true, as Go reads it", async (spelling) => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, created } = await createProject(double);
  const query = `database_name=neondb&role_name=${created.roles[0]?.name}&pooled=${spelling}`;
  const { body } = await double.api("GET", `/projects/${projectId}/connection_uri?${query}`);
  expect(body.uri).toContain("-pooler");
});

test("HIPAA cannot be disabled again, and the project stays as it is", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId } = await createProject(double);
  const change = (hipaa: boolean) =>
    double.api("PATCH", `/projects/${projectId}`, { project: { settings: { hipaa } } });
  expect((await change(true)).status).toBe(200);
  expect(await change(false)).toMatchObject({ status: 400, body: { code: "HIPAA_NOT_ALLOWED" } });
  expect((await double.api("GET", `/projects/${projectId}`)).body.project.settings).toMatchObject({
    hipaa: true,
  });
});
