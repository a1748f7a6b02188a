import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

test("stop ends the server of the directory, and its world can be served again", async () => {
  const data = testDirectory();
  const server = await startServer(data);
  await server.api("POST", "/projects", { project: { name: "shop" } });
  const { code, stdout } = await runStandin(["stop", "--data", data]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "stopped\n" });
  expect(await server.ended).toBe(0);

  const again = await startServer(data, [], { key: server.ready.api_key ?? "" });
  expect((await again.api("GET", "/projects")).body.projects).toMatchObject([{ name: "shop" }]);
});

test("without a server, stop says so and exits with 1", async () => {
  const data = testDirectory();
  const { code, stderr } = await runStandin(["stop", "--data", data]);
  expect(code).toBe(1);
  expect(stderr).toContain(`no server is running at ${data}`);
});

test("stop does not send a signal to a program that has the process id of a killed server", async () => {
  const data = testDirectory();
  const server = await startServer(data);
  await server.kill("SIGKILL");
  const { code, stderr } = await runStandin(["stop", "--data", data]);
  expect({ code, stderr: stderr.includes("no server is running") }).toEqual({ code: 1, stderr: true });
});
