import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect, createBranch, serverForTests } from "../support/postgres/postgres.ts";
import { forkWorldOn } from "../support/server/worlds.ts";

const server = await serverForTests(["--operations", "immediate", "--clock", "manual"]);

/** How many worlds have data of this branch on disk. */
function countOnDisk(branchId: string): number {
  const volumes = join(server.data, "volumes");
  return readdirSync(volumes)
    .filter((name) => name !== "templates" && name !== "extension")
    .flatMap((history) => readdirSync(join(volumes, history)))
    .filter((name) => name.startsWith(branchId)).length;
}

/** Connects, and stores a row. */
async function storeRow(uri: string): Promise<void> {
  const client = await connect(uri);
  await client.query("create table if not exists stored (id int)");
}

const WAIT = { timeout: 30_000 };

test("the data of a deleted world is deleted with it, and that of other worlds stays", async () => {
  const { uri, branchId } = await createBranch(server);
  await storeRow(uri);
  await forkWorldOn(server, { name: "side" });
  await storeRow(uri.replace("options=", "options=-cstandin.world%3Dside%20"));
  expect(countOnDisk(branchId)).toBe(2);
  // Its client is still connected.
  expect((await server.sim("DELETE", "/worlds/side")).status).toBe(200);
  await expect.poll(() => countOnDisk(branchId), WAIT).toBe(1);
  expect((await (await connect(uri)).query("select from stored")).rowCount).toBe(0);
});

test("the data of a history that a restore replaced is deleted with the snapshot of it", async () => {
  await server.sim("POST", "/snapshots", { name: "before" });
  const { uri, branchId } = await createBranch(server);
  await storeRow(uri);
  const { body } = await server.sim("POST", "/snapshots/before/restore", {});
  const { body: stays } = await server.sim("GET", "/snapshots");
  expect(stays.snapshots).toHaveLength(2);
  expect(countOnDisk(branchId)).toBe(1);
  expect((await server.sim("DELETE", `/snapshots/${body.former_kept_as}`)).status).toBe(200);
  await expect.poll(() => countOnDisk(branchId), WAIT).toBe(0);
});

test("the data of a deleted branch stays for the week in which it can be recovered", async () => {
  const { projectId } = await createBranch(server);
  const { body } = await server.api("POST", `/projects/${projectId}/branches`, {
    branch: { name: "side" },
    endpoints: [{ type: "read_write" }],
  });
  const sideId: string = body.branch.id;
  await storeRow(body.connection_uris[0].connection_uri);
  await server.api("DELETE", `/projects/${projectId}/branches/${sideId}`);
  await server.sim("POST", "/clock/advance", { by: "6d" });
  // The deletion of a world looks for all data without an owner.
  const { branchId: otherId, uri } = await createBranch(server);
  await forkWorldOn(server, { name: "other" });
  await storeRow(uri.replace("options=", "options=-cstandin.world%3Dother%20"));
  await server.sim("DELETE", "/worlds/other");
  await expect.poll(() => countOnDisk(otherId), WAIT).toBe(0);
  expect(countOnDisk(sideId)).toBe(1);
  await server.sim("POST", "/clock/advance", { by: "2d" });
  await forkWorldOn(server, { name: "other" });
  await server.sim("DELETE", "/worlds/other");
  await expect.poll(() => countOnDisk(sideId), WAIT).toBe(0);
});

test("a branch of a reset world has no data of an earlier branch with the same id", async () => {
  await server.sim("POST", "/reset", {});
  const first = await createBranch(server);
  const client = await connect(first.uri);
  const ended = new Promise<Error>((resolve) => client.once("error", resolve));
  await client.query("create table stored (id int)");
  await server.sim("POST", "/reset", {});
  await expect(ended).resolves.toMatchObject({ code: "57P01" });
  const second = await createBranch(server);
  expect(second.branchId).toBe(first.branchId);
  await storeRow(second.uri);
});
