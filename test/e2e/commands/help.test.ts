import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";

const ROOT = join(import.meta.dirname, "../../..");

const COMMANDS = [
  ...[
    "serve",
    "run",
    "worker",
    "report",
    "exec",
    "record",
    "status",
    "clock",
    "keys",
    "env",
    "psql",
    "open",
    "wait",
    "stop",
    "explain",
    "activity",
    "advise",
    "events",
    "requests",
    "drift",
    "mirror",
    "engines",
    "doctor",
    "hosts",
    "account",
    "shadow",
  ],
  ...[
    "snapshots",
    "worlds",
    "faults",
    "replay",
    "verify",
    "scrub",
    "export",
    "import",
    "compact",
    "init",
    "completion",
    "docs",
    "whatif",
  ],
];
const BELOW = {
  clock: ["show", "set", "advance"],
  keys: ["create", "list", "revoke"],
  snapshots: ["create", "list", "restore", "delete", "push", "pull"],
  worlds: ["create", "list", "delete", "move"],
  engines: ["list", "install", "upgrade", "remove"],
  hosts: ["install", "print", "check", "remove"],
  faults: ["set", "list", "clear"],
  report: ["merge"],
  account: ["pull", "show", "calibrate", "arrivals"],
  whatif: [
    "curve",
    "apply",
    "experiment",
    "compare",
    "backtest",
    "capacity",
    "attribute",
    "quota",
    "starts",
    "profiles",
    "fleet",
    "import",
  ],
};

test.each([
  ...COMMANDS,
  ...Object.entries(BELOW).flatMap(([command, below]) => below.map((name) => `${command} ${name}`)),
])("standin %s --help exits with code 0 and has examples", async (command) => {
  const { code, stdout, stderr } = await runStandin([...command.split(" "), "--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`^Usage: standin ${command} `));
  expect(stdout).toMatch(/^Examples:\n(.*\n)* {2}\$ .*standin /m);
  const [, page = "", topic = ""] = /\nDocs: (\S+\.md)\S* \(standin docs (.*)\)\n$/.exec(stdout) ?? [];
  expect(topic).toBe(command);
  expect(existsSync(join(ROOT, page))).toBe(true);
});

test.each([
  ["serve", ["STANDIN_DATA", "STANDIN_API_KEY", "STANDIN_CONTROL_TOKEN"]],
  ["clock advance", ["STANDIN_DATA", "STANDIN_WORLD"]],
  ["replay", ["STANDIN_DATA", "STANDIN_WORLD"]],
  ["record", ["STANDIN_DATA", "STANDIN_WORLD"]],
])("standin %s --help names the variables %j, set or not", async (command, variables) => {
  for (const env of [{}, Object.fromEntries(variables.map((name) => [name, "something"]))]) {
    const { stdout } = await runStandin([...command.split(" "), "--help"], env);
    for (const name of variables) expect(stdout.match(new RegExp(`env:\\s+${name}\\b`, "g"))).toHaveLength(1);
  }
});

test("standin --help lists every command and nothing else", async () => {
  const { code, stdout } = await runStandin(["--help"]);
  expect(code).toBe(0);
  const listed = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
  expect(listed.filter((name) => name !== "help").sort()).toEqual([...COMMANDS].sort());
  expect(stdout).toMatch(/\nDocs: docs\/index\.md \(standin docs\)\n$/);
});

test("the version is that of the package", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  expect(await runStandin(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test.each([[[]], [["sreve"]], [["--colour"]], [["keys"]]])(
  "standin %j is a usage error: code 2, and a pointer to the help",
  async (args) => {
    const { code, stdout, stderr } = await runStandin(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^(standin: (?!error)[\s\S]*--help|Usage: standin)/);
  },
);
