import { copyFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROVOKED_ERRORS } from "../../support/errors/provoked-errors.ts";
import { writeWrongFiles } from "../../support/errors/wrong-files.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { closedPort } from "../../support/process/ports.ts";
import {
  runStandinProcess,
  type ServerProcess,
  serve,
  temporaryDirectory,
} from "../../support/process/process.ts";

const MESSAGES = join(import.meta.dirname, "provoked-errors.txt");
const SERVER = [
  "--clock",
  "manual",
  "--start-at",
  "2026-01-01T00:00:00Z",
  "--seed",
  "1",
  "--pg-port",
  "none",
];
const directory = temporaryDirectory();
const inDirectory = (name: string) => join(directory.path, name);
const messages: string[] = [];
let served: ServerProcess;
let guarded: ServerProcess;
/** A port that nothing listens on. */
let unusedPort: Awaited<ReturnType<typeof closedPort>>;

beforeAll(async () => {
  writeWrongFiles(directory.path);
  served = await serve(inDirectory("served"), SERVER);
  guarded = await serve(inDirectory("guarded"), [...SERVER, "--control-token", "secret-secret-secret"]);
  const stored = await serve(inDirectory("stored"), SERVER);
  await stored.kill("SIGTERM");
  const world = inDirectory("good.sqlite");
  expect(await runStandin(["export", "--data", inDirectory("stored"), "--out", world])).toMatchObject({
    code: 0,
  });
  copyFileSync(world, inDirectory("newer.sqlite"));
  const newer = new BetterSqlite3(inDirectory("newer.sqlite"));
  newer.pragma("user_version = 9999");
  newer.close();
  unusedPort = await closedPort();
});

afterAll(async () => {
  await Promise.all([served, guarded].map((server) => server?.kill("SIGKILL")));
  unusedPort?.release();
  directory.remove();
});

describe.each(Object.entries(PROVOKED_ERRORS))("%s", (subject, lines) => {
  test.each(lines.trim().split("\n").map(parsed))("standin %s", async (line, status, part) => {
    const args = argumentsOf(line);
    // `exec` starts the program that runs it, which here would be the test runner.
    const run = args[0] === "exec" ? runStandinProcess : runStandin;
    const { code, stdout, stderr } = await run(args, { STANDIN_DATA: inDirectory("none") });
    const message = readable(stderr);
    messages.push(`${subject}: standin ${line}\n${code}: ${message.replace(/^standin: /, "").trimEnd()}\n`);
    expect({ code, stdout }).toEqual({ code: status, stdout: expect.not.stringMatching(/ready/) });
    expect(message).toMatch(/^standin: /m);
    expect(message).toContain(part);
    expect(message).not.toMatch(RAW_TEXT);
  });
});

test("the messages are those that were reviewed", async () => {
  await expect(messages.join("\n")).toMatchFileSnapshot(MESSAGES);
});

/** Words of a parser, of a validator or of the system, and stacks. */
const RAW_TEXT =
  /^ {4}at |internal error|Unexpected token|Expected ','|Expected property|Invalid (input|URL)|\bE[A-Z]{4,}:|Flow (map|sequence)|Map keys|implicit|DataView|file is not a database|bad port|undefined|\[object/m;

function parsed(line: string): [line: string, status: number, part: string] {
  const [, command = "", status = "", part = ""] = /^(.*) => (\d+) (.*)$/.exec(line) ?? [];
  return [command, Number(status), part];
}

function argumentsOf(line: string): string[] {
  const { api_url: url } = served.ready;
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word = ""]) =>
      quoted ??
      word
        .replace(/(^|=)@/, `$1${directory.path}/`)
        .replace("CLOSED", String(unusedPort.port))
        .replace(/^PORT$/, new URL(url).port)
        .replace(/^SERVED$/, url),
  );
}

/** Without what differs from run to run. */
function readable(text: string): string {
  const portOf = ({ ready }: typeof served) => Number(new URL(ready.api_url).port);
  const names = new Map([
    [portOf(served), "PORT"],
    [portOf(guarded), "GUARDED"],
    [unusedPort.port, "CLOSED"],
  ]);
  return text
    .replaceAll(`${directory.path}/`, "")
    .replaceAll(/(?<=:|port )\d+\b/g, (port) => names.get(Number(port)) ?? port);
}
