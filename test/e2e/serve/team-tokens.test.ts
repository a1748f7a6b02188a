import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { runStandinProcess } from "../../support/process/process.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const CONTROL = ["--control-token", "the-token-of-who-runs-the-server"];
const TEAM_TOKEN = "the-token-of-team-a";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const TEAM = { name: "team-a", sha256: sha256(TEAM_TOKEN), worlds: ["team-a"], may: ["read", "advance"] };

function tokensFile(...teams: readonly object[]): string {
  const path = join(testDirectory(), "teams.yaml");
  writeFileSync(path, stringify({ version: 1, teams }));
  return path;
}

test("commands use the token of a team as the control token, and say which right it lacks", async () => {
  const other = { name: "team-b", env: "TEAM_B", worlds: ["default"], may: ["restore"] };
  const data = testDirectory();
  const server = await startServer(
    data,
    ["--clock", "manual", "--pg-port", "none", "--team-tokens", tokensFile(TEAM, other), ...CONTROL],
    { env: { TEAM_B: "the-token-of-team-b" } },
  );
  const standin = (token: string, ...args: readonly string[]) =>
    runStandinProcess([...args, "--url", new URL("/", server.ready.api_url).href, "--control-token", token]);
  expect(await standin(CONTROL[1] ?? "", "worlds", "create", "team-a")).toMatchObject({ code: 0 });
  expect(await standin(TEAM_TOKEN, "clock", "advance", "5m", "--world", "team-a")).toMatchObject({ code: 0 });
  const restore = await standin(TEAM_TOKEN, "snapshots", "create", "one", "--world", "team-a");
  expect([restore.code, restore.stderr]).toEqual([
    1,
    expect.stringContaining('requires the right "restore"'),
  ]);
  const foreign = await standin(TEAM_TOKEN, "clock", "advance", "5m");
  expect([foreign.code, foreign.stderr]).toEqual([
    1,
    expect.stringContaining('is not for the world "default"'),
  ]);
  const status = await standin(TEAM_TOKEN, "status", "--world", "team-a");
  expect(status).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("data: only shown with the control token"),
  });
  const statusJson = await standin(TEAM_TOKEN, "status", "--world", "team-a", "--json");
  expect(JSON.parse(statusJson.stdout)).toMatchObject({ endpoints: [], data: null });
  expect(await standin("the-token-of-team-b", "snapshots", "create", "one")).toMatchObject({ code: 0 });
});

test.each([
  ["a right that does not exist", [{ ...TEAM, may: ["rewind"] }], /teams\.yaml:\d+:\d+: teams\.team-a\.may/],
  ["no token", [{ ...TEAM, sha256: undefined }], /needs either sha256 or env/],
  ["two tokens", [{ ...TEAM, env: "TEAM_A" }], /needs either sha256 or env/],
  ["a token in plain text", [{ ...TEAM, sha256: TEAM_TOKEN }], /the SHA-256 of the token/],
  [
    "a variable that is not set",
    [{ ...TEAM, sha256: undefined, env: "TEAM_X" }],
    /variable TEAM_X is not set/,
  ],
  ["the same token twice", [TEAM, { ...TEAM, name: "other" }], /another team has this token/],
  ["the same name twice", [TEAM, { ...TEAM, sha256: sha256("x") }], /another team has this name/],
  ["a world that no world can be called", [{ ...TEAM, worlds: ["*-a"] }], /name of a world/],
])("a file with %s is a usage error", async (_, teams, problem) => {
  const args = [
    "serve",
    "--data",
    testDirectory(),
    "--port",
    "0",
    "--team-tokens",
    tokensFile(...teams),
    ...CONTROL,
  ];
  const { code, stderr } = await runStandinProcess(args);
  expect([code, stderr]).toEqual([2, expect.stringMatching(problem)]);
  expect(stderr).not.toContain(TEAM_TOKEN);
});

test("team tokens without a control token, or in a file that is missing, are usage errors", async () => {
  const serve = (...args: readonly string[]) =>
    runStandinProcess(["serve", "--data", testDirectory(), "--port", "0", ...args]);
  expect(await serve("--team-tokens", tokensFile(TEAM))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--team-tokens: without a control token, every client has all rights"),
  });
  expect(await serve("--team-tokens", "absent.yaml", ...CONTROL)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--team-tokens: absent.yaml: does not exist"),
  });
});
