import { expect, onTestFinished, test } from "vitest";
import { serve, temporaryDirectory } from "../../support/process/process.ts";
import { createProjectOn, serverClient } from "../../support/server/running-server.ts";

// The bytes of objects and the records of services are durable, and belong to copies of a world.

const FLAGS = ["--operations", "immediate", "--api-key", "k".repeat(64), "--seed", "1"];

test("objects survive a kill, and a fork of the world has its own", async () => {
  const directory = temporaryDirectory();
  onTestFinished(() => directory.remove());
  const first = await serve(directory.path, FLAGS);
  const client = serverClient(first.ready);
  const { projectId, branchId } = await createProjectOn(client, {});
  const bucket = `/projects/${projectId}/branches/${branchId}/buckets/files` as const;
  await client.api("POST", `/projects/${projectId}/branches/${branchId}/buckets`, { name: "files" });
  const presign = async (operation: string) => {
    const { body } = await client.api("POST", `${bucket}/objects/a/presign`, { operation });
    return (body as unknown as { url: string }).url;
  };
  const upload = (url: string, body: string) => fetch(url, { method: "PUT", body });
  expect((await upload(await presign("upload"), "before the kill")).status).toBe(200);
  await first.kill("SIGKILL");

  const second = await serve(directory.path, FLAGS);
  onTestFinished(() => second.kill("SIGKILL").then(() => undefined));
  const { sim, api } = serverClient(second.ready);
  const download = (base: string) =>
    fetch(`${base}${bucket}/objects/a/download`, { headers: { Authorization: `Bearer ${"k".repeat(64)}` } });
  const origin = new URL(second.ready.api_url).origin;
  expect(await (await download(second.ready.api_url)).text()).toBe("before the kill");

  expect((await sim("POST", "/worlds", { name: "copy" })).status).toBe(201);
  expect((await api("DELETE", `${bucket}/objects/a`)).status).toBe(204);
  expect((await download(second.ready.api_url)).status).toBe(404);
  expect(await (await download(`${origin}/w/copy/api/v2`)).text()).toBe("before the kill");
  const presigned = await fetch(`${origin}/w/copy/api/v2${bucket}/objects/b/presign`, {
    method: "POST",
    headers: { Authorization: `Bearer ${"k".repeat(64)}`, "Content-Type": "application/json" },
    body: JSON.stringify({ operation: "upload" }),
  });
  const { url } = (await presigned.json()) as { url: string };
  expect(new URL(url).pathname).toMatch(/^\/w\/copy\/storage\//);
  expect((await upload(url, "of the copy")).status).toBe(200);
  expect((await sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});
