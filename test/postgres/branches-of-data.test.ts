import { expect, test } from "vitest";
import { connect, createBranch, serverForTests, type TestBranch } from "../support/postgres/postgres.ts";
import { forkWorldOn } from "../support/server/worlds.ts";

const server = await serverForTests(["--operations", "immediate", "--clock", "manual"]);

/** The names that a branch stores, in the order of the alphabet. */
async function namesOf(uri: string): Promise<string[]> {
  const client = await connect(uri);
  const { rows } = await client.query("select name from names order by name");
  await client.end();
  return rows.map(({ name }) => name);
}

async function store(uri: string, ...names: string[]): Promise<void> {
  const client = await connect(uri);
  await client.query("create table if not exists names (name text)");
  for (const name of names) await client.query("insert into names values ($1)", [name]);
  await client.end();
}

type Child = { readonly id: string; readonly uri: string; readonly endpointId: string };

async function createChild(projectId: string, branch: Record<string, unknown>): Promise<Child> {
  const { status, body } = await server.api("POST", `/projects/${projectId}/branches`, {
    branch,
    endpoints: [{ type: "read_write" }],
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return {
    id: body.branch.id,
    uri: body.connection_uris[0].connection_uri,
    endpointId: body.endpoints[0].id,
  };
}

async function advance(by: string): Promise<void> {
  expect((await server.sim("POST", "/clock/advance", { by })).status).toBe(200);
}

async function now(): Promise<string> {
  return (await server.sim("GET", "/clock")).body.now;
}

function inWorld(uri: string, world: string): string {
  return uri.replace("options=", `options=-cstandin.world%3D${world}%20`);
}

async function newBranch(...names: string[]): Promise<TestBranch> {
  const branch = await createBranch(server);
  await store(branch.uri, ...names);
  return branch;
}

test("a branch has the rows of its parent, and both change on their own", async () => {
  const parent = await newBranch("a");
  await advance("10m");
  const child = await createChild(parent.projectId, { parent_id: parent.branchId });
  await store(parent.uri, "b");
  await store(child.uri, "c");
  expect(await namesOf(parent.uri)).toEqual(["a", "b"]);
  expect(await namesOf(child.uri)).toEqual(["a", "c"]);
});

test("three generations of branches are created from running parents", async () => {
  const parent = await newBranch("a");
  const client = await connect(parent.uri);
  const child = await createChild(parent.projectId, { parent_id: parent.branchId });
  await client.query("insert into names values ('not in the child')");
  await store(child.uri, "b");
  const grandchild = await createChild(parent.projectId, { parent_id: child.id });
  await store(child.uri, "not in the grandchild");
  await store(grandchild.uri, "c");
  const last = await createChild(parent.projectId, { parent_id: grandchild.id });
  expect(await namesOf(last.uri)).toEqual(["a", "b", "c"]);
  // The parent was not disturbed.
  expect((await client.query("select count(*) from names")).rows).toEqual([{ count: "2" }]);
});

test("a branch at an instant has the rows of then", async () => {
  const parent = await newBranch("a");
  await advance("1m");
  const then = await now();
  await store(parent.uri, "b");
  await advance("1m");
  await store(parent.uri, "c");
  const child = await createChild(parent.projectId, { parent_id: parent.branchId, parent_timestamp: then });
  expect(await namesOf(child.uri)).toEqual(["a", "b"]);
});

test("a restore to an instant gives the rows of then, and preserves those of now", async () => {
  const parent = await newBranch("a");
  await advance("1m");
  const then = await now();
  await advance("1m");
  await store(parent.uri, "b");
  const path = `/projects/${parent.projectId}/branches/${parent.branchId}`;
  const { status, body } = await server.api("POST", `${path}/restore`, {
    source_branch_id: parent.branchId,
    source_timestamp: then,
    preserve_under_name: "before",
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(await namesOf(parent.uri)).toEqual(["a"]);
  await store(parent.uri, "c");
  const { body: list } = await server.api("GET", `/projects/${parent.projectId}/branches`);
  const preserved = list.branches.find(({ name }: { name: string }) => name === "before").id;
  const reader = await createChild(parent.projectId, { parent_id: preserved });
  expect(await namesOf(reader.uri)).toEqual(["a", "b"]);
  expect(await namesOf(parent.uri)).toEqual(["a", "c"]);
});

test("a reset gives a branch the rows of its parent", async () => {
  const parent = await newBranch("a");
  const child = await createChild(parent.projectId, { parent_id: parent.branchId });
  await store(child.uri, "lost");
  await store(parent.uri, "b");
  const { status } = await server.api("POST", `/projects/${parent.projectId}/branches/${child.id}/restore`, {
    source_branch_id: parent.branchId,
  });
  expect(status).toBe(200);
  expect(await namesOf(child.uri)).toEqual(["a", "b"]);
});

test("a schema-only branch has the tables without rows", async () => {
  const parent = await newBranch("a");
  const child = await createChild(parent.projectId, {
    parent_id: parent.branchId,
    init_source: "schema-only",
  });
  expect(await namesOf(child.uri)).toEqual([]);
  await store(child.uri, "b");
  await advance("1m");
  const copy = await createChild(parent.projectId, { parent_id: child.id });
  expect(await namesOf(copy.uri)).toEqual(["b"]);
  expect(await namesOf(parent.uri)).toEqual(["a"]);
});

test("a restored snapshot has the rows of its instant", async () => {
  const parent = await newBranch("a");
  const path = `/projects/${parent.projectId}`;
  const { body } = await server.api("POST", `${path}/branches/${parent.branchId}/snapshot?name=first`);
  await store(parent.uri, "b");
  const restored = await server.api("POST", `${path}/snapshots/${body.snapshot.id}/restore`, {
    name: "restored",
  });
  expect(restored.status, JSON.stringify(restored.body)).toBe(200);
  const reader = await createChild(parent.projectId, { parent_id: restored.body.branch.id });
  expect(await namesOf(reader.uri)).toEqual(["a"]);
});

test("forks of a world have the data of the fork, and of an earlier instant", async () => {
  const parent = await newBranch("a");
  await advance("1m");
  const then = await now();
  await advance("1m");
  await store(parent.uri, "b");
  await forkWorldOn(server, { name: "side" });
  await store(parent.uri, "c");
  await forkWorldOn(server, { name: "earlier", at: then });
  expect(await namesOf(inWorld(parent.uri, "side"))).toEqual(["a", "b"]);
  await store(inWorld(parent.uri, "side"), "d");
  expect(await namesOf(inWorld(parent.uri, "earlier"))).toEqual(["a"]);
  expect(await namesOf(inWorld(parent.uri, "side"))).toEqual(["a", "b", "d"]);
  expect(await namesOf(parent.uri)).toEqual(["a", "b", "c"]);
});

test("a restored world has the data of its snapshot", async () => {
  const parent = await newBranch("a");
  await server.sim("POST", "/snapshots", { name: "before" });
  await store(parent.uri, "b");
  const { status, body } = await server.sim("POST", "/snapshots/before/restore", {});
  expect(status).toBe(200);
  expect(await namesOf(parent.uri)).toEqual(["a"]);
  await server.sim("POST", `/snapshots/${body.former_kept_as}/restore`, {});
  expect(await namesOf(parent.uri)).toEqual(["a", "b"]);
});

test("the size, the log and the transfer of a branch are those of its Postgres, also of a suspended compute", async () => {
  const parent = await newBranch("a");
  const client = await connect(parent.uri);
  await client.query("create table numbers as select n from generate_series(1, 20000) n");
  await client.query("select n from numbers");
  await client.end();
  await advance("10m");
  const figuresOf = async (id: string) => {
    const { body } = await server.api("GET", `/projects/${parent.projectId}/branches/${id}`);
    const { logical_size, written_data_bytes, data_transfer_bytes } = body.branch;
    return { logical_size, written_data_bytes, data_transfer_bytes };
  };
  const { logical_size, written_data_bytes, data_transfer_bytes } = await figuresOf(parent.branchId);
  expect(logical_size).toBeGreaterThan(6_000_000);
  expect(written_data_bytes).toBeGreaterThan(1_000_000);
  // 20,000 rows of 12 to 16 bytes.
  expect(data_transfer_bytes).toBeGreaterThan(240_000);
  expect(data_transfer_bytes).toBeLessThan(400_000);
  const stored = async () => {
    const { body } = await server.api("GET", `/projects/${parent.projectId}`);
    return body.project.synthetic_storage_size;
  };
  expect(await stored()).toBe(logical_size + written_data_bytes);
  const child = await createChild(parent.projectId, { parent_id: parent.branchId });
  expect(await stored()).toBe(logical_size + written_data_bytes);
  expect(await figuresOf(child.id)).toEqual({ logical_size, written_data_bytes: 0, data_transfer_bytes: 0 });
});

test("an LSN that SQL reports gives the rows of then, also within one instant", async () => {
  const parent = await newBranch("a");
  const client = await connect(parent.uri);
  const lsn = async () => (await client.query("select pg_current_wal_insert_lsn() as lsn")).rows[0].lsn;
  const first = await lsn();
  await client.query("insert into names values ('b')");
  const second = await lsn();
  await client.query("insert into names values ('c')");
  const branch = { parent_id: parent.branchId };
  const child = await createChild(parent.projectId, { ...branch, parent_lsn: first });
  expect(await namesOf(child.uri)).toEqual(["a"]);
  await advance("10m");
  const later = await createChild(parent.projectId, { ...branch, parent_lsn: second });
  expect(await namesOf(later.uri)).toEqual(["a", "b"]);
  const path = `/projects/${parent.projectId}/branches/${parent.branchId}`;
  const snapshot = await server.api("POST", `${path}/snapshot?lsn=${second}&name=then`);
  expect(snapshot.status, JSON.stringify(snapshot.body)).toBe(200);
  const source = { source_branch_id: parent.branchId, source_lsn: first, preserve_under_name: "now" };
  expect((await server.api("POST", `${path}/restore`, source)).status).toBe(200);
  expect(await namesOf(parent.uri)).toEqual(["a"]);
  const unwritten = await server.api("POST", `/projects/${parent.projectId}/branches`, {
    branch: { ...branch, parent_lsn: "FF/0" },
  });
  expect(unwritten.status).toBe(422);
});

test("a branch has the rows of a database that the API renamed while its parent was idle", async () => {
  const parent = await newBranch("a");
  await advance("10m");
  const databases = `/projects/${parent.projectId}/branches/${parent.branchId}/databases`;
  const renamed = await server.api("PATCH", `${databases}/neondb`, { database: { name: "shop" } });
  expect(renamed.status).toBe(200);
  const child = await createChild(parent.projectId, { parent_id: parent.branchId });
  expect(new URL(child.uri).pathname).toBe("/shop");
  expect(await namesOf(child.uri)).toEqual(["a"]);
  await server.api("PATCH", `/projects/${parent.projectId}/branches/${child.id}/databases/shop`, {
    database: { name: "store" },
  });
  const grandchild = await createChild(parent.projectId, { parent_id: child.id });
  expect(await namesOf(grandchild.uri)).toEqual(["a"]);
  expect(await namesOf(parent.uri.replace("/neondb?", "/shop?"))).toEqual(["a"]);
});
