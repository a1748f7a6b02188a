import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import {
  connect,
  createBranch,
  letSuspend,
  serverForTests,
  startPostgresServer,
  stateOf,
  withoutVerification,
} from "../support/postgres/postgres.ts";

const server = await serverForTests(["--clock", "manual", "--start-delay", "3s", "--max-engines", "2"]);
const branch = await createBranch(server);

type Refused = { severity?: string | undefined; code?: string | undefined; message: string };

/** The error that a client of this URI gets instead of a session. */
async function refused(uri: string, ssl?: pg.ClientConfig["ssl"]): Promise<Refused> {
  const url = new URL(withoutVerification(uri).connectionString);
  if (ssl !== undefined) url.searchParams.delete("sslmode");
  const client = new pg.Client({ connectionString: url.href, ...(ssl === undefined ? {} : { ssl }) });
  client.on("error", () => undefined);
  onTestFinished(() => client.end().catch(() => undefined));
  try {
    await client.connect();
  } catch (error) {
    const { severity, code, message } = error as pg.DatabaseError;
    return { severity, code, message };
  }
  throw new Error("the client was connected");
}

/** The URI with other options, user, password or database. */
function uriWith(change: (url: URL) => void): string {
  const url = new URL(branch.uri);
  change(url);
  return url.href;
}

const suspend = () => letSuspend(server, branch);

test("no compute is named", async () => {
  expect(await refused(uriWith((url) => url.searchParams.delete("options")))).toMatchObject({
    severity: "ERROR",
    code: "XX000",
    message: expect.stringMatching(/^Endpoint ID is not specified\. /),
  });
});

test("host name and option differ", async () => {
  const ssl = { rejectUnauthorized: false, servername: "ep-other-name-1.us-east-2.aws.example.com" };
  expect(await refused(branch.uri, ssl)).toEqual({
    severity: "ERROR",
    code: "XX000",
    message: `Inconsistent project name inferred from SNI ('ep-other-name-1') and project option ('${branch.endpointId}').`,
  });
});

test.each([
  ["compute", "endpoint=ep-unknown-1", /^The requested endpoint could not be found/],
  ["world", "endpoint=ep-unknown-1 -c standin.world=none", /^there is no world "none"/],
])("the %s does not exist", async (_what, options, message) => {
  expect(await refused(uriWith((url) => url.searchParams.set("options", options)))).toEqual({
    severity: "ERROR",
    code: "XX000",
    message: expect.stringMatching(message),
  });
});

test.each([
  ["a wrong password", "neondb_owner", "wrong"],
  ["an unknown role", "nobody_here", "wrong"],
  ["the superuser of the engine", "cloud_admin", ""],
])("%s is rejected, and wakes nothing", async (_what, role, password) => {
  await suspend();
  const uri = uriWith((url) => Object.assign(url, { username: role, password }));
  expect(await refused(password === "" ? uri.replace("cloud_admin@", "cloud_admin:x@") : uri)).toEqual({
    severity: "ERROR",
    code: "28P01",
    message: `password authentication failed for user '${role}'`,
  });
  expect(await stateOf(server, branch)).toBe("idle");
});

test("the database does not exist", async () => {
  expect(await refused(uriWith((url) => Object.assign(url, { pathname: "/none" })))).toEqual({
    severity: "FATAL",
    code: "3D000",
    message: 'database "none" does not exist',
  });
});

test("the compute is disabled", async () => {
  await suspend();
  await server.api("PATCH", branch.path, { endpoint: { disabled: true } });
  await server.sim("POST", "/clock/advance", { by: "1m" });
  const answer = await refused(branch.uri);
  await server.api("PATCH", branch.path, { endpoint: { disabled: false } });
  await server.sim("POST", "/clock/advance", { by: "1m" });
  expect(answer).toEqual({
    severity: "ERROR",
    code: "XX000",
    message: "The endpoint has been disabled. Enable it using the API and retry.",
  });
});

test("the quota of compute time is reached", async () => {
  const limited = await createBranch(server, { settings: { quota: { active_time_seconds: 60 } } });
  const client = await connect(limited.uri);
  await server.sim("POST", "/clock/advance", { by: "10m" });
  await expect(client.query("select 1")).rejects.toThrow();
  expect(await refused(limited.uri)).toEqual({
    severity: "ERROR",
    code: "XX000",
    message:
      "Your account or project has exceeded the compute time quota. Upgrade your plan to increase limits.",
  });
});

test("the compute cannot be started, also after the retries of its operation", async () => {
  await suspend();
  const { status } = await server.sim("PUT", "/faults/broken", { effect: "start_fails" });
  expect(status).toBe(200);
  const answer = await refused(branch.uri);
  await server.sim("DELETE", "/faults");
  expect(answer).toEqual({
    severity: "ERROR",
    code: "XX000",
    message: "Couldn't connect to compute node",
  });
  expect((await (await connect(branch.uri)).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("connection 113 of the smallest compute is one too many", async () => {
  const clients = await Promise.all(Array.from({ length: 112 }, () => connect(branch.uri)));
  expect(await refused(branch.uri)).toEqual({
    severity: "FATAL",
    code: "53300",
    message: "sorry, too many clients already",
  });
  await clients[0]?.end();
  const answers = [clients[1], await connect(branch.uri)].map((client) => client?.query("select 1 as one"));
  for (const answer of answers) expect((await answer)?.rows).toEqual([{ one: 1 }]);
  await suspend();
});

test("more computes than --max-engines have clients", async () => {
  const others = [await createBranch(server), await createBranch(server), await createBranch(server)];
  const [first, second, third] = others;
  await suspend();
  await connect(first?.uri ?? "");
  await connect(second?.uri ?? "");
  expect(await refused(third?.uri ?? "")).toEqual({
    severity: "FATAL",
    code: "53000",
    message: expect.stringContaining("--max-engines"),
  });
  await server.sim("POST", "/clock/advance", { by: "10m" });
  expect((await (await connect(third?.uri ?? "")).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test.each([
  ["an HTTP request", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "invalid length of startup packet"],
  ["a packet over 10 kB", Buffer.from([0, 0, 0x27, 0x11, 0, 3, 0, 0]), "invalid length of startup packet"],
  ["another protocol", Buffer.from([0, 0, 0, 9, 0, 2, 0, 0, 0]), "unsupported frontend protocol 2.0"],
])("%s gets an error that a client can read", async (_what, bytes, message) => {
  const socket = connectTcp(server.pgPort, "127.0.0.1");
  socket.write(bytes);
  const answer = await text(socket);
  expect(answer).toMatch(/^E/);
  expect(answer).toContain("C08P01");
  expect(answer).toContain(message);
});

test("with --require-tls, a connection without TLS is rejected", async () => {
  const strict = await startPostgresServer(["--require-tls", "--operations", "immediate"]);
  try {
    const uri = (await createBranch(strict)).uri;
    const url = new URL(uri);
    url.searchParams.set("sslmode", "disable");
    expect(await refused(url.href, false)).toEqual({
      severity: "ERROR",
      code: "XX000",
      message: "connection is insecure (try using `sslmode=require`)",
    });
    expect((await (await connect(uri)).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  } finally {
    await strict.end();
  }
});

test("clients that wait for the same start advance a manual clock once", async () => {
  await suspend();
  const before = Date.parse((await server.sim("GET", "/clock")).body.now);
  await Promise.all([connect(branch.uri), connect(branch.uri), connect(branch.uri)]);
  const after = Date.parse((await server.sim("GET", "/clock")).body.now);
  expect(after - before).toBe(3_000);
});

test("a manual clock stands still where operations are immediate", async () => {
  const still = await startPostgresServer(["--operations", "immediate", "--clock", "manual"]);
  try {
    const { uri } = await createBranch(still);
    const before = (await still.sim("GET", "/clock")).body.now;
    await (await connect(uri)).query("select 1");
    expect((await still.sim("GET", "/clock")).body.now).toBe(before);
  } finally {
    await still.end();
  }
});
