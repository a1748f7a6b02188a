import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { startupMessage } from "../../../../src/postgres/protocol/messages.ts";
import { answerOf, openFuzzedGateway } from "../../../support/postgres/fuzzed-gateway.ts";

const PASSWORD_IS_ASKED = "SCRAM-SHA-256";

async function openGateway(options: Parameters<typeof openFuzzedGateway>[0] = {}) {
  const opened = await openFuzzedGateway(options);
  onTestFinished(opened.close);
  const startup = startupMessage(
    new Map([
      ["user", "neondb_owner"],
      ["database", "neondb"],
      ["options", `endpoint=${opened.endpointId}`],
    ]),
  );
  /** What the gateway answers to these bytes: its error, or the mechanism of the login. */
  const answer = async (...bytes: readonly (string | Buffer)[]) => {
    const socket = opened.connect();
    await once(socket, "connect");
    const received = answerOf(socket);
    socket.once("data", () => socket.end());
    socket.write(Buffer.concat(bytes.map((part) => Buffer.from(part))));
    return (await received).toString();
  };
  return { ...opened, startup, answer };
}

const headerFrom = (address: string) => `PROXY TCP4 ${address} 10.0.0.1 5000 5432\r\n`;

test("a client without TLS is rejected if TLS is required, before it is asked for its password", async () => {
  const strict = await openGateway({ requireTls: true });
  const rejected = await strict.answer(strict.startup);
  expect(rejected).toContain("connection is insecure");
  expect(rejected).not.toContain(PASSWORD_IS_ASKED);
  const open = await openGateway();
  expect(await open.answer(open.startup)).toContain(PASSWORD_IS_ASKED);
});

test("a header of the PROXY protocol is rejected unless the server expects one", async () => {
  const { answer, startup } = await openGateway();
  const rejected = await answer(headerFrom("192.0.2.7"), startup);
  expect(rejected).toContain("invalid length of startup packet");
  expect(rejected).not.toContain(PASSWORD_IS_ASKED);
  const behindProxy = await openGateway({ proxyProtocol: true });
  expect(await behindProxy.answer(headerFrom("192.0.2.7"), behindProxy.startup)).toContain(PASSWORD_IS_ASKED);
  expect(await behindProxy.answer(behindProxy.startup)).toContain("expected a header of the PROXY protocol");
});

test("allowed_ips rejects other addresses before the password is asked for", async () => {
  const { double, projectId, answer, startup } = await openGateway({ proxyProtocol: true });
  const settings = { allowed_ips: { ips: ["192.0.2.7", "198.51.100.0/24"], protected_branches_only: false } };
  expect((await double.api("PATCH", `/projects/${projectId}`, { project: { settings } })).status).toBe(200);
  for (const address of ["192.0.2.7", "198.51.100.200"])
    expect(await answer(headerFrom(address), startup)).toContain(PASSWORD_IS_ASKED);
  const rejected = await answer(headerFrom("192.0.2.8"), startup);
  expect(rejected).toContain("This IP address 192.0.2.8 is not allowed");
  expect(rejected).not.toContain(PASSWORD_IS_ASKED);
});

test.each([
  ["2024", PASSWORD_IS_ASKED],
  ["2026", "This IP address 192.0.2.8 is not allowed"],
] as const)(
  "profile %s with primary_branch_only: a branch that is no longer the default one answers %j",
  async (profile, expected) => {
    const { double, projectId, answer, startup } = await openGateway({ proxyProtocol: true, profile });
    const settings = { allowed_ips: { ips: ["192.0.2.7"], primary_branch_only: true } };
    expect((await double.api("PATCH", `/projects/${projectId}`, { project: { settings } })).status).toBe(200);
    const connect = () => answer(headerFrom("192.0.2.8"), startup);
    expect(await connect()).toContain("This IP address 192.0.2.8 is not allowed");
    const { branch } = (await double.api("POST", `/projects/${projectId}/branches`, {})).body;
    const path = `/projects/${projectId}/branches/${branch.id}/set_as_default` as const;
    expect((await double.api("POST", path)).status).toBe(200);
    expect(await connect()).toContain(expected);
  },
);

test("SQL over HTTP with a wrong password is rejected before a compute starts", async () => {
  const { app, connectionString, projectId, endpointId, double } = await openGateway();
  const execute = async (uri: string) => {
    const headers = { "Neon-Connection-String": uri };
    const body = JSON.stringify({ query: "select 1" });
    const response = await app.fetch(new Request("http://localhost/sql", { method: "POST", headers, body }));
    return ((await response.json()) as { code: string }).code;
  };
  await double.api("POST", `/projects/${projectId}/endpoints/${endpointId}/suspend`);
  const wrong = new URL(connectionString);
  wrong.password = `${wrong.password}x`;
  expect(await execute(wrong.href)).toBe("28P01");
  const { body } = await double.api("GET", `/projects/${projectId}/endpoints/${endpointId}`);
  expect(body.endpoint.current_state).toBe("idle");
  // The right one gets as far as Postgres, which is missing in this test.
  expect(await execute(connectionString)).toBe("53000");
});
