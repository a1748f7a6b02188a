import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseError } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { mountSmallDisk } from "../../support/durability/small-disk.ts";
import { connect, createBranch, startPostgresServer } from "../../support/postgres/postgres.ts";

const DISK_MIB = 256;

test("on a full disk clients get an error, branches are not half made, and all rows are there afterwards", async (context) => {
  const disk = mountSmallDisk(context, DISK_MIB);
  const server = await startPostgresServer(["--operations", "immediate", "--max-data", "none"], disk.path);
  onTestFinished(() => server.end());
  const branch = await createBranch(server);
  const client = await connect(branch.uri);
  const ends: Error[] = [];
  client.on("error", (reason) => ends.push(reason));
  await client.query("create table numbers as select n from generate_series(1, 1000) n");
  const { body } = await server.api("POST", `/projects/${branch.projectId}/branches`, {
    branch: { parent_id: branch.branchId },
    endpoints: [{ type: "read_write" }],
  });
  const childUri: string = body.connection_uris[0].connection_uri;
  const volumes = () =>
    readdirSync(join(disk.path, "volumes"), { recursive: true, encoding: "utf8" }).filter((path) =>
      /^[^/]+\/br-[^/]+$/.test(path),
    );
  const before = volumes();

  disk.leaveRoom(0);
  const write = "insert into numbers select n from generate_series(1, 300000) n";
  const error = await client.query(write).catch((reason: DatabaseError) => reason);
  expect(error).toMatchObject({ code: "53100" });
  const rejected = await connect(childUri).catch((reason: DatabaseError) => reason);
  // The data of the branch cannot be copied, or the connection cannot be stored in the world (decision 0060).
  const diskFull = { code: "53100", message: expect.stringMatching(/disk is full|no space left/) };
  expect(rejected).toMatchObject(diskFull);
  expect(volumes()).toEqual(before);
  // The failed commit of a connection ends the others.
  for (const reason of ends.slice(0, 1)) expect(reason).toMatchObject(diskFull);
  const refused = await server.api("POST", "/projects", { project: { name: "x".repeat(60) } });
  expect(refused.status).toBe(503);

  disk.leaveRoom();
  for (const uri of [branch.uri, childUri]) {
    const reader = await connect(uri);
    expect((await reader.query("select count(*) from numbers")).rows).toEqual([{ count: "1000" }]);
  }
  expect((await server.api("POST", "/projects", { project: { name: "afterwards" } })).status).toBe(201);
});
