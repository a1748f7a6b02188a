import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import {
  type ServerProcess,
  serve,
  spawnStandin,
  temporaryDirectory,
  waitForExit,
} from "../../support/process/process.ts";

const SERVER = ["--clock", "manual", "--seed", "1", "--pg-port", "none"];
const TEAMS = `version: 1
teams:
  - { name: readers, env: READERS, worlds: [default], may: [read] }
  - { name: others, env: OTHERS, worlds: ["other-*"], may: [read, advance, restore, change, worlds] }
`;
const TOKENS = { READERS: "token-of-the-readers", OTHERS: "token-of-the-others", WRONG: "token-of-nobody" };
/** Root may read and write every file, so its commands run as another user. */
const AS_USER =
  process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
const directory = temporaryDirectory();
const at = (name: string) => join(directory.path, name);
let guarded: ServerProcess;

beforeAll(async () => {
  chmodSync(directory.path, 0o755);
  mkdirSync(at("tmp"));
  chmodSync(at("tmp"), 0o777);
  writeFileSync(at("teams.yaml"), TEAMS);
  writeFileSync(at("faults.yaml"), "[]\n");
  writeFileSync(at("good.yaml"), "version: 1\nlength: 1h\n");
  const tokens = ["--control-token", "secret-secret-secret", "--team-tokens", at("teams.yaml")];
  guarded = await serve(at("guarded"), [...SERVER, ...tokens], TOKENS);
  expect(await runStandin(["export", "--data", at("guarded"), "--out", at("world.sqlite")])).toMatchObject({
    code: 0,
  });
  for (const name of ["unread.yaml", "unread.csv", "unread.sqlite", "unread.standin-account"]) {
    copyFileSync(at("world.sqlite"), at(name));
    chmodSync(at(name), 0o000);
  }
  for (const [name, mode] of [
    ["stored", 0o555],
    ["closed", 0o000],
  ] as const) {
    mkdirSync(at(`${name}/worlds`), { recursive: true });
    copyFileSync(at("world.sqlite"), at(`${name}/worlds/default.sqlite`));
    chmodSync(at(`${name}/worlds/default.sqlite`), 0o444);
    chmodSync(at(`${name}/worlds`), 0o555);
    chmodSync(at(name), mode);
  }
  chmodSync(at("guarded/server.json"), 0o000);
});

afterAll(async () => {
  await guarded.kill("SIGKILL");
  for (const name of ["stored", "stored/worlds", "closed", "closed/worlds"]) chmodSync(at(name), 0o755);
  directory.remove();
});

test.each([
  ["clock advance 5m", "advance"],
  ["wait --project p", "advance"],
  ["activity ep-none", "advance"],
  ["snapshots create a", "restore"],
  ["snapshots restore a", "restore"],
  ["compact --keep 1h", "restore"],
  ["faults set @faults.yaml", "change"],
  ["keys create me", "change"],
  ["env", "change"],
  ["worlds delete default", "worlds"],
])("standin %s names the right that a token lacks, and the token's team and world", async (line, right) => {
  const run = (token: string) => {
    const url = new URL(guarded.ready.api_url).origin;
    return runStandin([...argumentsOf(line), "--url", url, "--control-token", token]);
  };
  const advice = line === "env" ? "; to use a key that exists, set --api-key or STANDIN_API_KEY" : "";
  const lacking = await run(TOKENS.READERS);
  expect([lacking.code, lacking.stderr]).toEqual([
    1,
    `standin: this call requires the right "${right}", which the token of readers does not have; it has read${advice}\n`,
  ]);
  const other = await run(TOKENS.OTHERS);
  expect([other.code, other.stderr]).toEqual([
    1,
    `standin: the token of others is not for the world "default"; it is for other-*${advice}\n`,
  ]);
  const wrong = await run(TOKENS.WRONG);
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^standin: the server at \S+ does not have this control token, .*; check --control-token/,
    ),
  ]);
});

const PERMISSION = "this user has no permission";

test.each([
  [
    "serve --data @stored/new --port 0",
    1,
    `--data @stored/new: cannot open the data directory: ${PERMISSION}; change the owner of the directory, or use another --data directory`,
  ],
  ["keys list --data @stored", 1, `--data @stored: cannot open the data directory: ${PERMISSION}; change`],
  ["export --data @closed --out @x.sqlite", 1, `@closed/worlds/default.sqlite: ${PERMISSION}`],
  ["export --data @stored --out @stored/x.sqlite", 1, `@stored/x.sqlite: ${PERMISSION}`],
  ["record --data @stored --out @stored/x.yaml", 1, `@stored/x.world.sqlite: ${PERMISSION}`],
  ["replay @closed/worlds/default.sqlite", 2, "@closed/worlds/default.sqlite: cannot be read by this user"],
  ["replay @unread.sqlite", 1, "@unread.sqlite: it cannot be opened by this user"],
  ["import @unread.sqlite --data @new", 1, "@unread.sqlite: it cannot be opened by this user"],
  ["account show @unread.standin-account", 1, "@unread.standin-account: it cannot be read by this user"],
  [
    "status --data @guarded",
    1,
    "@guarded/server.json cannot be read by this user; select the server of another",
  ],
  ["stop --data @guarded", 1, "@guarded/server.json cannot be read by this user; stop it as its user\n"],
  ["run @unread.yaml", 2, "@unread.yaml: cannot be read by this user"],
  ["run @good.yaml --keep @stored/x", 2, `@stored/x/worlds: ${PERMISSION}`],
  ["run @good.yaml --failures @stored/x", 2, `--failures "@stored/x": ${PERMISSION}; name another directory`],
  ["run @good.yaml --reporter json=@stored/x", 2, `--reporter: cannot write @stored/x: ${PERMISSION}`],
  ["open @unread.yaml", 2, "@unread.yaml: cannot be read by this user"],
  ["faults set @unread.yaml --data @stored", 2, "@unread.yaml: cannot be read by this user"],
  ["whatif curve @unread.csv", 1, `@unread.csv: ${PERMISSION}`],
  ["whatif fleet --days 1 --computes 1 --out @stored/x.csv", 1, `@stored/x.csv: ${PERMISSION}`],
  [
    "whatif fleet --days 1 --computes 1 --out @stored/x.standin-trace",
    1,
    `@stored/x.standin-trace: ${PERMISSION}`,
  ],
])(
  "standin %s, without permission: exit status %i, and an error that says so",
  async (line, status, part) => {
    const { code, stdout, stderr } = await waitForExit(
      spawnStandin(argumentsOf(line), { TMPDIR: at("tmp") }, AS_USER),
    );
    expect({ code, ready: stdout.includes("ready") }).toEqual({ code: status, ready: false });
    expect(stderr).toMatch(/^standin: /m);
    expect(stderr).toContain(part.replaceAll("@", `${directory.path}/`));
    expect(stderr).not.toMatch(/ {4}at |internal error|\bE[A-Z]{4,}:|unfinished/);
  },
);

function argumentsOf(line: string): string[] {
  return line.split(" ").map((word) => word.replace(/(^|=)@/, `$1${directory.path}/`));
}
