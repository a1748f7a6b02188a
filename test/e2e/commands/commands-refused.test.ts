import { afterAll, beforeAll, expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { type ServerProcess, serve, temporaryDirectory } from "../../support/process/process.ts";
import {
  journalOf,
  type ServerClient,
  serverClient,
  testDirectory,
} from "../../support/server/running-server.ts";

const directory = temporaryDirectory();
let served: ServerProcess;
let client: ServerClient;

beforeAll(async () => {
  served = await serve(directory.path, ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z"]);
  client = serverClient(served.ready);
});

afterAll(async () => {
  await served.kill("SIGKILL");
  directory.remove();
});

test.each([
  [["keys", "revoke", "99"], 1, /not found/],
  [["keys", "revoke", "first"], 2, /whole number/],
  [["keys", "create"], 2, /missing required argument 'name'/],
  [["keys", "create", ""], 1, /key_name: must have 1 to 64 characters/],
  [["keys", "create", "n".repeat(65)], 1, /key_name.*64/],
  [["clock", "advance"], 2, /a duration such as 5m, --to <instant>, --next/],
  [["clock", "advance", "5m", "--next"], 2, /one of/],
  [["clock", "advance", "5"], 2, /expected a unit, such as 5s or 5ms/],
  [["clock", "advance", "later"], 2, /90s, 10m, 2h or 7d/],
  [["clock", "advance", "--to", "2025-01-01T00:00:00Z"], 1, /to: must be at or after the/],
  [["clock", "advance", "-5m"], 2, /the clock cannot go backwards: .* got "-5m"/],
  [["clock", "advnce"], 2, /unknown command 'advnce'; did you mean advance\?/],
  [["clock", "set", "1000001x"], 2, /up to 1000000x/],
  [["clock", "set", "fast"], 2, /real, manual, or a factor like 60x/],
  [["clock", "set"], 2, /missing required argument 'mode'/],
  [["wait", "--endpoint", "ep-none-1"], 2, /--endpoint and --state must be given together/],
  [
    ["wait", "--endpoint", "ep-none-1", "--state", "asleep"],
    2,
    /--state: expected init, active or idle, got "asleep"/,
  ],
  [["wait", "--operation", "none", "--project", "none"], 2, /give only one of/],
  [["wait", "--project", "none"], 1, /^standin: --project: project "none" not found/],
  [["wait", "--operation", "none"], 1, /^standin: --operation: operation "none" not found/],
  [["wait", "--timeout", "soon"], 2, /90s, 10m/],
])("%j against a server exits with code %i and prints the reason", async (args, code, message) => {
  const before = await journalOf(client);
  const refused = await runStandin([...args, "--data", directory.path]);
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code, stdout: "" });
  expect(refused.stderr).toMatch(message);
  expect(refused.stderr).toMatch(/^standin: (?!error:)/);
  expect(refused.stderr).not.toMatch(/^ {4}at /m);
  expect(await journalOf(client)).toEqual(before);
});

test.each([[["status"]], [["clock", "show"]], [["clock", "advance", "5m"]], [["wait", "--project", "p"]]])(
  "%j without a server exits with code 1 and prints how to start one",
  async (args) => {
    const data = testDirectory();
    const refused = await runStandin([...args, "--data", data]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`standin serve --data ${data}`);
  },
);

test("a command ignores the server file of a killed server", async () => {
  const data = testDirectory();
  const killed = await serve(data);
  await killed.kill("SIGKILL");
  const refused = await runStandin(["status", "--data", data]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("no server is running");
});
