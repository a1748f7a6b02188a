import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

test("open prints the console's URL, also of a world, and the page is there", async () => {
  const data = testDirectory();
  const server = await startServer(data, ["--pg-port", "none"]);
  await server.sim("POST", "/worlds", { name: "experiment" });
  const root = new URL("/", server.ready.api_url).href;
  expect(await runStandin(["open", "--data", data, "--print"])).toMatchObject({
    code: 0,
    stdout: `${root}\n`,
  });
  const world = await runStandin(["open", "--data", data, "--print", "--world", "experiment"]);
  expect(world).toMatchObject({ code: 0, stdout: `${root}w/experiment/\n` });
  expect(server.ready).toMatchObject({ console_url: root });
});

test("open says that the server has no console, or that there is no server", async () => {
  const data = testDirectory();
  const { stderr: none } = await runStandin(["open", "--data", data, "--print"]);
  expect(none).toContain("no server");
  await startServer(data, ["--pg-port", "none", "--console", "off"]);
  const { code, stderr } = await runStandin(["open", "--data", data, "--print"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain("--console off");
});
