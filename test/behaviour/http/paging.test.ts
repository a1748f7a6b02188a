import { expect, test } from "vitest";
import type { AnyBody } from "../../support/answers/api-response.ts";
import { createAccount, createBranch } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

async function createProjects(count: number) {
  const double = await createDouble();
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { body } = await double.api("POST", "/projects", { project: { name: `project ${index}` } });
    ids.push(body.project.id);
  }
  return { double, ids };
}

const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

/** All pages of a list; `next` reads the cursor from each response. */
async function walk(
  double: Double,
  path: string,
  items: "projects" | "branches" | "operations",
  next: (body: AnyBody) => string | undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const { status, body } = await double.api("GET", `${path}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    if (status !== 200) throw new Error(`GET ${path}: ${status}`);
    if (body[items].length > 0) pages.push(idsOf(body[items]));
    cursor = next(body);
  }
  return pages;
}

test("projects come in pages of ten, oldest first, and the cursor reaches all of them", async () => {
  const { double, ids } = await createProjects(25);
  const first = await double.api("GET", "/projects");
  expect(idsOf(first.body.projects)).toEqual(ids.slice(0, 10));
  expect(typeof first.body.pagination.cursor).toBe("string");
  const pages = await walk(double, "/projects?", "projects", (body) => body.pagination?.cursor);
  expect(pages).toEqual([ids.slice(0, 10), ids.slice(10, 20), ids.slice(20)]);
});

test("paging neither skips nor repeats while projects are created and deleted", async () => {
  const { double, ids } = await createProjects(4);
  await double.advance("10s");
  const { body } = await double.api("GET", "/projects?limit=2");
  await double.api("DELETE", `/projects/${ids[1]}`);
  const added = await double.api("POST", "/projects", { project: {} });
  const rest = await double.api("GET", `/projects?limit=400&cursor=${body.pagination.cursor}`);
  expect(idsOf(rest.body.projects)).toEqual([ids[2], ids[3], added.body.project.id]);
});

test("a search finds projects by name or id, ignoring case, and pages its results", async () => {
  const { double, ids } = await createProjects(12);
  const search = async (text: string) =>
    idsOf((await double.api("GET", `/projects?search=${text}`)).body.projects);
  expect(await search("PROJECT%201")).toEqual([ids[1], ids[10], ids[11]]);
  expect(await search(ids[7] ?? "")).toEqual([ids[7]]);
  expect(await search("nothing")).toEqual([]);
  const pages = await walk(
    double,
    "/projects?search=project%201&limit=2",
    "projects",
    (body) => body.pagination?.cursor,
  );
  expect(pages).toEqual([[ids[1], ids[10]], [ids[11]]]);
});

test("a cursor does not tell whether a project of another account exists", async () => {
  const { double } = await createProjects(3);
  const { body } = await double.api("GET", "/projects?limit=1");
  const cursor = body.pagination?.cursor ?? "";
  const { key } = await createAccount(double);
  for (const path of ["/projects", "/projects/shared", "/projects?recoverable=true"] as const) {
    const read = async (id: string) => {
      const sent = `${path}${path.includes("?") ? "&" : "?"}cursor=${id}` as "/projects?cursor=";
      const { status, body: answer } = await double.api("GET", sent, undefined, key);
      return { status, message: (answer as AnyBody).message };
    };
    expect([path, await read(cursor)]).toEqual([path, await read("quiet-field-12345678")]);
    expect((await read(cursor)).status).toBe(400);
  }
});

test("a cursor does not tell whether a branch of another account exists", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { branchId } = await createProject(double);
  const { key } = await createAccount(double);
  const { body } = await double.api("POST", "/projects", { project: {} }, key);
  const read = async (branch_id: string) => {
    const position = { branch_id, sort_by: "name", sort_by_value: "a", sort_order: "ASC" };
    const cursor = Buffer.from(JSON.stringify(position)).toString("base64url");
    const path = `/projects/${body.project.id}/branches?cursor=${cursor}` as const;
    const answer = await double.api("GET", path, undefined, key);
    return [answer.status, idsOf(answer.body.branches)];
  };
  expect(await read(branchId)).toEqual([200, [body.branch.id]]);
  expect(await read("br-quiet-field-12345678")).toEqual([200, [body.branch.id]]);
});

test("operations come newest first, and the cursor reaches all of them", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, path } = await createProject(double);
  for (let round = 0; round < 5; round += 1) await double.api("POST", `${path}/restart`);
  const list = `/projects/${projectId}/operations`;
  const all = (await double.api("GET", list)).body.operations;
  expect(all).toHaveLength(12);
  const pages = await walk(double, `${list}?limit=5`, "operations", (body) => body.pagination?.cursor);
  expect(pages.map((page) => page.length)).toEqual([5, 5, 2]);
  expect(pages.flat()).toEqual(idsOf(all));
  expect(all.at(-1).action).toBe("create_timeline");
});

test("branches are sorted as requested, and a cursor keeps its sort", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, branchId } = await createProject(double);
  const ids = [branchId];
  for (const name of ["delta", "alpha", "charlie", "bravo"]) {
    await double.advance("1s");
    ids.push((await createBranch(double, projectId, [], { name })).branchId);
  }
  const [main, delta, alpha, charlie, bravo] = ids;
  const list = `/projects/${projectId}/branches`;
  const sorted = async (query: string) => idsOf((await double.api("GET", `${list}?${query}`)).body.branches);
  expect(await sorted("sort_by=name&sort_order=asc")).toEqual([alpha, bravo, charlie, delta, main]);
  expect(await sorted("sort_by=name&sort_order=desc")).toEqual([main, delta, charlie, bravo, alpha]);
  expect(await sorted("sort_by=created_at&sort_order=asc")).toEqual(ids);
  expect(await sorted("")).toEqual([...ids].reverse());
  await double.api("PATCH", `${list}/${alpha}`, { branch: { protected: true } });
  expect((await sorted("sort_by=updated_at"))[0]).toBe(alpha);
  const pages = await walk(
    double,
    `${list}?sort_by=name&sort_order=asc&limit=2`,
    "branches",
    (body) => body.pagination.next,
  );
  expect(pages).toEqual([[alpha, bravo], [charlie, delta], [main]]);
  const { body } = await double.api("GET", `${list}?sort_by=name&sort_order=asc&limit=2`);
  expect(body.pagination).toMatchObject({ sort_by: "name", sort_order: "ASC" });
  expect(await sorted(`cursor=${body.pagination.next}`)).toEqual([charlie, delta, main]);
});

test("branches created at the same instant are sorted by age", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId } = await createProject(double);
  const made = await Promise.all(
    Array.from(
      { length: 20 },
      async () => (await double.api("POST", `/projects/${projectId}/branches`, {})).body.branch.id as string,
    ),
  );
  const list = `/projects/${projectId}/branches?sort_by=created_at&sort_order=asc`;
  const all = idsOf((await double.api("GET", list)).body.branches).slice(1);
  expect(all).toEqual(made);
  expect(
    (await walk(double, `${list}&limit=3`, "branches", (body) => body.pagination.next)).flat().slice(1),
  ).toEqual(made);
});

const LISTS: readonly (readonly [string, number])[] = [
  ["projects", 400],
  ["operations", 1_000],
  ["branches", 10_000],
];

test.each(LISTS)("the limit of %s is 1 to %i", async (list, maximum) => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const path = list === "projects" ? "/projects" : `/projects/${projectId}/${list}`;
  for (const limit of [1, maximum])
    expect([limit, (await double.api("GET", `${path}?limit=${limit}`)).status]).toEqual([limit, 200]);
  for (const limit of ["0", `${maximum + 1}`, "-1", "1.5", "all", "", "1e2", "99999999999999999999"]) {
    const { status, body } = await double.api("GET", `${path}?limit=${limit}`);
    expect([limit, status]).toEqual([limit, 400]);
    expect(body.message).toContain("limit");
    expect(body.message).toContain(String(maximum));
  }
});

test.each(LISTS)("%s rejects a cursor that it has not issued", async (list) => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const pathOf = (name: string) => (name === "projects" ? "/projects" : `/projects/${projectId}/${name}`);
  const { pagination } = (
    await double.api("GET", `${pathOf(list === "projects" ? "operations" : "projects")}?limit=1`)
  ).body;
  const forged = Buffer.from(JSON.stringify([list, "1 OR 1=1"])).toString("base64url");
  for (const cursor of ["nonsense", "", "%00", forged, pagination.cursor, "e30", "a".repeat(5_000)]) {
    const { status, body } = await double.api("GET", `${pathOf(list)}?cursor=${cursor}`);
    expect([cursor, status, body.message]).toEqual([cursor, 400, expect.stringContaining("cursor")]);
  }
});

test("a cursor is valid only for its own list and order", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId } = await createProject(double);
  const { projectId: otherId } = await createProject(double);
  await createBranch(double, projectId, []);
  const page = async (path: string) => {
    const { status, body } = await double.api("GET", path);
    return { status, message: body.message, cursor: body.pagination?.next ?? body.pagination?.cursor };
  };
  const refused = { status: 400, message: expect.stringContaining("cursor") };
  const branches = `/projects/${projectId}/branches`;
  const { cursor } = await page(`${branches}?sort_by=name&sort_order=asc&limit=1`);
  for (const same of ["sort_by=name&sort_order=asc", "sort_by=name", "sort_order=asc", "search=b"]) {
    expect([same, (await page(`${branches}?${same}&cursor=${cursor}`)).status]).toEqual([same, 200]);
  }
  for (const other of ["sort_by=created_at", "sort_by=name&sort_order=desc", "sort_order=desc"]) {
    expect([other, await page(`${branches}?${other}&cursor=${cursor}`)]).toEqual([
      other,
      expect.objectContaining(refused),
    ]);
  }
  expect(await page(`/projects/${otherId}/branches?cursor=${cursor}`)).toMatchObject(refused);
  const operations = await page(`/projects/${projectId}/operations?limit=1`);
  expect(await page(`/projects/${projectId}/operations?cursor=${operations.cursor}`)).toMatchObject({
    status: 200,
  });
  // An instant is a cursor of every list of operations.
  expect(await page(`/projects/${otherId}/operations?cursor=${operations.cursor}`)).toMatchObject({
    status: 200,
  });
  expect(await page(`/projects/${projectId}/operations?cursor=${cursor}`)).toMatchObject(refused);
});

test("cursors have the platform's forms, and those of earlier releases are still accepted", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, branchId } = await createProject(double);
  const project = `/projects/${projectId}` as const;
  await createBranch(double, projectId, []);
  const { body: projects } = await double.api("GET", "/projects?limit=1");
  expect(projects.pagination?.cursor).toBe(projectId);
  const { body: operations } = await double.api("GET", `${project}/operations?limit=1`);
  expect(operations.pagination?.cursor).toMatch(/^2026-01-01T\d\d:\d\d:\d\d\.\d{6}Z$/);
  const { body: branches } = await double.api(
    "GET",
    `${project}/branches?sort_by=name&sort_order=desc&limit=1`,
  );
  expect(JSON.parse(Buffer.from(branches.pagination?.next ?? "", "base64").toString())).toEqual({
    branch_id: branchId,
    sort_by: "name",
    sort_by_value: "main",
    sort_order: "DESC",
  });

  const earlier = (...position: readonly unknown[]) =>
    Buffer.from(JSON.stringify(position)).toString("base64url");
  const listed = async (path: `/projects/${string}/operations?cursor=${string}`) =>
    (await double.api("GET", path)).body.operations;
  expect((await double.api("GET", `/projects?cursor=${earlier("projects", 1)}`)).body.projects).toEqual([]);
  expect(await listed(`${project}/operations?cursor=${earlier("operations", projectId, 2)}`)).toHaveLength(1);
  const position = earlier("branches", projectId, "name", "desc", "main", 1);
  const rest = await double.api("GET", `${project}/branches?cursor=${position}`);
  expect(rest.body.branches).toHaveLength(1);
});

test("a cursor of branches works after its branch has been deleted", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId } = await createProject(double);
  for (const name of ["a", "b", "c"])
    await double.api("POST", `/projects/${projectId}/branches`, { branch: { name } });
  const path = `/projects/${projectId}/branches` as const;
  const { body } = await double.api("GET", `${path}?sort_by=name&sort_order=asc&limit=2`);
  await double.api("DELETE", `${path}/${body.branches[1]?.id ?? ""}?hard_delete=T`);
  const rest = await double.api("GET", `${path}?cursor=${encodeURIComponent(body.pagination?.next ?? "")}`);
  expect(rest.body.branches.map(({ name }) => name)).toEqual(["c", "main"]);
});

test.each(["sort_by=size", "sort_order=random", "sort_by=", "include_deleted=maybe"])(
  "branches reject %s",
  async (query) => {
    const double = await createDouble();
    const { projectId } = await createProject(double);
    const { status, body } = await double.api("GET", `/projects/${projectId}/branches?${query}`);
    expect([status, body.message]).toEqual([400, expect.stringContaining(query.split("=")[0] ?? "")]);
  },
);

test("the list of API keys takes no parameters and is one array", async () => {
  const double = await createDouble({ operations: "immediate" });
  for (let made = 0; made < 450; made += 1)
    await double.api("POST", "/api_keys", { key_name: `key ${made}` });
  const { body } = await double.api("GET", "/api_keys?limit=10");
  expect(body).toHaveLength(451);
});
