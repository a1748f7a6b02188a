import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runStandinProcess } from "../../support/process/process.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const TOKEN = "token-of-the-data-directory";

/** A program on the port of a server that has ended. It answers every request as that server would. */
async function impostor(pid: number) {
  const received: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => {
    received.push(request.headers);
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ status: "live", ready: true, pid, proof: "0".repeat(64), worlds: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

test.each([
  ["another process", 1],
  ["a process that pretends to have the same id", 4711],
])("the control token is not sent to %s on the port of the server", async (_, pid) => {
  const data = testDirectory();
  const { url, received } = await impostor(pid);
  const server = { pid: 4711, control_url: `${url}/_sim`, api_url: `${url}/api/v2`, control_token: TOKEN };
  writeFileSync(`${data}/server.json`, JSON.stringify(server));
  const { code, stderr } = await runStandinProcess(["status", "--data", data]);
  expect(code).toBe(1);
  expect(stderr).toMatch(pid === 4711 ? /does not have this control token/ : /no server is running/);
  expect(received.length).toBeGreaterThan(0);
  for (const headers of received) expect(JSON.stringify(headers)).not.toContain(TOKEN);
});

test("the control token is not sent to a server that does not have it, even if --url names that server", async () => {
  const { url, received } = await impostor(4711);
  const { code, stderr } = await runStandinProcess(["status", "--url", url, "--control-token", TOKEN]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("check --control-token and --url")]);
  for (const headers of received) expect(headers.authorization).toBe(undefined);
});

const SCENARIO = `version: 1
world: { projects: { app: {} } }
steps: [{ advance: 1m }]
`;

test("standin run sends the control token only to a target that has proved that it has it", async () => {
  const directory = testDirectory();
  const file = `${directory}/scenario.yaml`;
  writeFileSync(file, SCENARIO);
  const runOn = (url: string, token: string) =>
    runStandinProcess(["run", file, "--target", url, "--control-token", token]);
  const { url, received } = await impostor(4711);
  const refused = await runOn(url, TOKEN);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("was therefore not sent")]);
  expect(received.length).toBeGreaterThan(0);
  for (const headers of received) expect(JSON.stringify(headers)).not.toContain(TOKEN);
  const args = ["--clock", "manual", "--control-token", TOKEN];
  const { ready } = await startServer(`${directory}/data`, args, { controlToken: TOKEN });
  expect((await runOn(ready.api_url, TOKEN)).code).toBe(0);
  expect((await runOn(ready.api_url, "wrong")).stderr).toContain("check --target and --control-token");
});

test("a server that has the token proves it, and a wrong token is reported", async () => {
  const data = testDirectory();
  const server = await startServer(data, ["--control-token", TOKEN], { controlToken: TOKEN });
  const status = (...args: string[]) => runStandinProcess(["status", ...args]);
  expect((await status("--data", data)).code).toBe(0);
  expect((await status("--url", server.ready.api_url, "--control-token", TOKEN)).code).toBe(0);
  const wrong = await status("--data", data, "--control-token", "wrong");
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("was therefore not sent")]);
});
