import type * as public_ from "@neondatabase/api-client";
import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// Objects of buckets: uploaded and downloaded by presigned URLs, and inherited by new branches.

const { advance, client, sim } = await startServedClient();
const UPLOAD = { operation: "upload" as public_.PresignRequest["operation"] };
const DOWNLOAD = { operation: "download" as public_.PresignRequest["operation"] };

async function createShop(): Promise<[projectId: string, branchId: string]> {
  const { project, branch } = (await client.createProject({ project: { name: "shop" } })).data;
  await advance("20s");
  await client.createProjectBranchBucket(project.id, branch.id, { name: "files" });
  return [project.id, branch.id];
}

async function upload(
  [projectId, branchId]: [string, string],
  key: string,
  body: string | Uint8Array<ArrayBuffer>,
) {
  const { url, method } = (
    await client.presignProjectBranchBucketObject(projectId, branchId, "files", key, UPLOAD)
  ).data;
  return fetch(url, { method, body });
}

async function list([projectId, branchId]: [string, string], query: object = {}) {
  const place = { projectId, branchId, bucketName: "files" };
  return (await client.listProjectBranchBucketObjects({ ...place, ...query })).data;
}

test("an object is uploaded, listed, downloaded and deleted", async () => {
  const shop = await createShop();
  const object = [...shop, "files", "a/b c.txt"] as const;
  expect((await upload(shop, "a/b c.txt", "one")).status).toBe(200);
  expect((await upload(shop, "a/b c.txt", "second")).headers.get("etag")).toBe(
    '"a9f0e61a137d86aa9db53465e0801612"',
  );
  expect(await list(shop)).toMatchObject({
    folders: [],
    objects: [{ key: "a/b c.txt", size: 6, etag: "a9f0e61a137d86aa9db53465e0801612" }],
    prefix: "",
    is_truncated: false,
  });
  const { data, headers } = await client.getProjectBranchBucketObject(...object);
  expect([data, headers["content-type"], headers["content-length"]]).toEqual([
    "second",
    "application/octet-stream",
    "6",
  ]);
  const { url } = (await client.presignProjectBranchBucketObject(...object, DOWNLOAD)).data;
  expect(await (await fetch(url)).text()).toBe("second");
  await client.deleteProjectBranchBucketObject(...object);
  expect(await errorOf(client.deleteProjectBranchBucketObject(...object))).toMatchObject({ status: 404 });
  expect((await fetch(url)).status).toBe(404);
});

test("folders are collapsed, and pages continue after the last item", async () => {
  const shop = await createShop();
  for (const key of ["a", "d/1", "d/2", "e/f/1", "z"]) await upload(shop, key, key);
  const first = await list(shop, { delimiter: "/", limit: 2 });
  expect(first).toMatchObject({ folders: ["d/"], objects: [{ key: "a" }], is_truncated: true });
  const second = await list(shop, { delimiter: "/", limit: 2, cursor: first.next_cursor });
  expect(second).toMatchObject({ folders: ["e/"], objects: [{ key: "z" }], next_cursor: "" });
  expect((await list(shop, { prefix: "e/", delimiter: "/" })).folders).toEqual(["e/f/"]);
});

test("a new branch has the objects of its parent, and deletes only its own by their prefix", async () => {
  const [projectId, branchId] = await createShop();
  await upload([projectId, branchId], "d/old", "old");
  const { branch } = (await client.createProjectBranch(projectId, {})).data;
  await advance("20s");
  const child: [string, string] = [projectId, branch.id];
  await upload(child, "d/new", "new");
  await upload([projectId, branchId], "d/old", "changed");
  const read = async (id: string) =>
    (await client.getProjectBranchBucketObject(projectId, id, "files", "d/old")).data;
  expect([await read(branchId), await read(branch.id)]).toEqual(["changed", "old"]);
  const remove = (id: string, prefix: string) =>
    client.deleteProjectBranchBucketObjectsByPrefix({
      projectId,
      branchId: id,
      bucketName: "files",
      prefix,
    });
  expect((await remove(branch.id, "d/")).data).toEqual({ deleted: 1 });
  expect((await list(child)).objects.map(({ key }) => key)).toEqual(["d/old"]);
  expect((await remove(branchId, "d/")).data).toEqual({ deleted: 1 });
  expect(await errorOf(remove(branchId, "d"))).toMatchObject({ status: 400 });
  await client.deleteProjectBranchBucket(...child, "files");
  await client.createProjectBranchBucket(...child, { name: "files" });
  expect((await list(child)).objects).toEqual([]);
});

test("a presigned URL allows what it says, until it expires", async () => {
  const shop = await createShop();
  const presigned = (
    await client.presignProjectBranchBucketObject(...shop, "files", "a", {
      ...UPLOAD,
      content_type: "text/plain",
      expires_in_seconds: 60,
    })
  ).data;
  const put = (url: string, type = "text/plain") =>
    fetch(url, { method: "PUT", body: "x", headers: { "Content-Type": type } }).then(({ status }) => status);
  expect(presigned).toMatchObject({ method: "PUT", headers: { "Content-Type": "text/plain" } });
  expect(await put(presigned.url, "image/png")).toBe(400);
  expect(await put(presigned.url.replace("/files/a?", "/files/b?"))).toBe(403);
  expect((await fetch(presigned.url)).status).toBe(403);
  expect(await put(presigned.url)).toBe(200);
  await advance("60s");
  expect(await put(presigned.url)).toBe(403);
  const { length: tooMuch } = Buffer.alloc(1024 ** 2 + 1);
  expect((await upload(shop, "large", new Uint8Array(tooMuch))).status).toBe(413);
  expect((await upload(shop, "large", new Uint8Array(tooMuch - 1))).status).toBe(200);
});

test("the secrets of a bucket are in no answer and in no event", async () => {
  const shop = await createShop();
  await upload(shop, "a", "the bytes of an object");
  const { buckets } = (await client.listProjectBranchBuckets(...shop)).data;
  expect(Object.keys(buckets[0] ?? {}).sort()).toEqual(["access_level", "created_at", "name"]);
  const history = JSON.stringify(await sim("GET", "/events?limit=1000"));
  expect(history).toContain("bucketObject");
  expect(history).not.toContain(Buffer.from("the bytes of an object").toString("base64"));
});
