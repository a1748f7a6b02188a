import { Socket } from "node:net";
import pg from "pg";
import { expect, test } from "vitest";
import { createBranch, serverForTests, withoutVerification } from "../support/postgres/postgres.ts";

const server = await serverForTests(["--operations", "immediate", "--proxy-protocol"]);
const branch = await createBranch(server);

async function setRules(settings: Record<string, unknown>): Promise<void> {
  const defaults = {
    allowed_ips: { ips: [], protected_branches_only: false },
    block_public_connections: false,
  };
  const body = { project: { settings: { ...defaults, ...settings } } };
  expect((await server.api("PATCH", `/projects/${branch.projectId}`, body)).status).toBe(200);
}

/** What a client with this address gets, through a proxy: `connected`, or the message of its error. */
async function connectFrom(address: string): Promise<string> {
  const stream = new Socket();
  const family = address.includes(":") ? "TCP6" : "TCP4";
  stream.once("connect", () => stream.write(`PROXY ${family} ${address} 127.0.0.1 5000 5432\r\n`));
  const client = new pg.Client({ ...withoutVerification(branch.uri), stream: () => stream });
  try {
    await client.connect();
    await client.end();
    return "connected";
  } catch (error) {
    return (error as Error).message;
  }
}

const rejected = (address: string) =>
  `This IP address ${address} is not allowed to connect to this endpoint. Add it to the project's allowed_ips.`;

test("without rules, all addresses may connect", async () => {
  await setRules({});
  expect(await connectFrom("203.0.113.9")).toBe("connected");
});

test.each([
  ["192.0.2.7", ["192.0.2.7"], ["192.0.2.8"]],
  ["192.0.2.0/30", ["192.0.2.0", "192.0.2.3"], ["192.0.2.4"]],
  ["192.0.2.5-192.0.2.7", ["192.0.2.5", "192.0.2.7"], ["192.0.2.4", "192.0.2.8"]],
  ["2001:db8::/32", ["2001:db8::1"], ["2001:db9::1", "192.0.2.1"]],
])("allowed_ips %s", async (entry, allowed, others) => {
  await setRules({ allowed_ips: { ips: [entry] } });
  for (const address of allowed) expect(await connectFrom(address)).toBe("connected");
  for (const address of others) expect(await connectFrom(address)).toBe(rejected(address));
});

test("protected_branches_only leaves other branches open", async () => {
  await setRules({ allowed_ips: { ips: ["192.0.2.7"], protected_branches_only: true } });
  expect(await connectFrom("203.0.113.9")).toBe("connected");
  const path = `/projects/${branch.projectId}/branches/${branch.branchId}`;
  await server.api("PATCH", path, { branch: { protected: true } });
  expect(await connectFrom("203.0.113.9")).toBe(rejected("203.0.113.9"));
  expect(await connectFrom("192.0.2.7")).toBe("connected");
  await server.api("PATCH", path, { branch: { protected: false } });
});

test("block_public_connections rejects all addresses", async () => {
  await setRules({ block_public_connections: true });
  expect(await connectFrom("192.0.2.7")).toBe(
    "This connection is trying to access this endpoint from a blocked network.",
  );
});

test("SQL over HTTP has the address of its socket", async () => {
  await setRules({ allowed_ips: { ips: ["192.0.2.7"] } });
  const response = await fetch(`${new URL(server.ready.api_url).origin}/sql`, {
    method: "POST",
    headers: { "Neon-Connection-String": branch.uri },
    body: JSON.stringify({ query: "select 1" }),
  });
  expect(response.status).toBe(400);
  expect(((await response.json()) as { message: string }).message).toBe(rejected("127.0.0.1"));
});

test("a connection without the header is rejected", async () => {
  await setRules({});
  const connectionString = branch.uri.replace("sslmode=require", "sslmode=disable");
  const client = new pg.Client({ connectionString });
  await expect(client.connect()).rejects.toMatchObject({
    code: "08P01",
    message: expect.stringContaining("PROXY protocol"),
  });
});
