import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const NO_SERVER = ["--data", "/nothing/here"];

test("without a server, standin docs prints the path of a page in the package", async () => {
  for (const [topic, page] of [
    [[], "docs/index.md"],
    [["faults"], "docs/reference/faults.md"],
    [["seed", "files"], "docs/reference/seed-file.md"],
    [["decisions"], "docs/explanation/decisions/README.md"],
    [["whatif", "curve"], "docs/reference/whatif.md"],
    [["branch_not_found"], "docs/reference/errors.md"],
  ] as const) {
    const { code, stdout, stderr } = await runStandin(["docs", ...topic, ...NO_SERVER]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.trimEnd().endsWith(page)).toBe(true);
    expect(existsSync(stdout.trimEnd())).toBe(true);
  }
});

test("with a server, standin docs prints a URL if the server has the page, or else the path", async () => {
  const directory = testDirectory();
  const server = await startServer(directory, ["--pg-port", "none"]);
  const origin = new URL(server.ready.api_url).origin;
  const isBuilt = existsSync("dist/docs/index.html");
  const { stdout } = await runStandin(["docs", "snapshots", "--data", directory]);
  if (isBuilt) expect(stdout).toBe(`${origin}/docs/reference/history.html#snapshots\n`);
  else expect(stdout).toMatch(/docs\/reference\/history\.md\n$/);
});

test("standin docs --list prints all topics, and each of them is one", async () => {
  const { stdout } = await runStandin(["docs", "--list"]);
  const names = [...stdout.matchAll(/^ {2}(\S+) /gm)].map(([, name = ""]) => name);
  expect(names).toContain("use-in-tests");
  for (const name of new Set(names)) expect((await runStandin(["docs", name, ...NO_SERVER])).code).toBe(0);
});

test.each([
  ["fualts", 'there is no topic "fualts"; did you mean "faults"?'],
  ["snapshot", 'there is no topic "snapshot"; did you mean "snapshots"?'],
  ["xyzzy", 'there is no topic "xyzzy"; list all topics with: standin docs --list'],
])("an unknown topic is a usage error with a suggestion: %s", async (topic, message) => {
  expect(await runStandin(["docs", topic])).toEqual({ code: 2, stdout: "", stderr: `standin: ${message}\n` });
});
