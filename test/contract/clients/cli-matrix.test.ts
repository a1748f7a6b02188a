import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { bundledProgram, type Cli, installedProgram } from "../../support/clients/cli-bundle.ts";
import { commandsOf } from "../../support/clients/cli-commands.ts";
import { CLI_LEFT_OUT, CLI_RUNS, CLI_STEPS, type CliState } from "../../support/clients/cli-matrix.ts";
import { Neonctl } from "../../support/clients/neonctl.ts";
import { control } from "../../support/document/public-client.ts";
import { serve, temporaryDirectory } from "../../support/process/process.ts";

// The public command lines against `standin serve` as it starts by default: real clock, timed operations. C: on
// 423, both retry five times, every three seconds; for update, deletion and recovery of a project they do not.

const CLIENTS: readonly Cli[] = ["neonctl", "neon", "neonctl-newest"];
const RUN_TIMEOUT_MS = 1_800_000;

test.each(CLIENTS)("%s has no command that the matrix does not know", async (cli) => {
  const commands = await commandsOf(cli);
  expect(commands.length).toBeGreaterThan(30);
  const isRun = (command: string) => CLI_STEPS.some((step) => step.command === command);
  const isLeftOut = (command: string) =>
    Object.values(CLI_LEFT_OUT).some((patterns) => patterns.some((pattern) => pattern.test(command)));
  expect(commands.filter((command) => isRun(command) === isLeftOut(command))).toEqual([]);
  const expected = CLI_STEPS.filter(({ newer }) => cli !== "neonctl" || newer === undefined);
  expect(expected.map(({ command }) => command).filter((command) => !commands.includes(command))).toEqual([]);
});

test.each(CLIENTS)("%s as installed is the program that the tests run from a bundle", (cli) => {
  const [installed, bundled] = [installedProgram(cli), bundledProgram(cli)].map((program) =>
    execFileSync(process.execPath, [program, "projects", "--help"], { encoding: "utf8" }),
  );
  expect(bundled).toBe(installed);
});

test.each(CLI_RUNS)(
  "no command of $cli fails, although operations of earlier commands still run",
  async ({ cli, steps }) => {
    const [directory, home] = [temporaryDirectory(), temporaryDirectory()];
    const served = await serve(directory.path);
    const client = new Neonctl(served.ready.api_url, served.ready.api_key ?? "", home.path, cli);
    const state: CliState = {
      ...{ org: "", project: "", main: "", branch: "" },
      ...{ key: "", snapshot: "", restored: "", past: "", credential: "" },
    };
    const failures: string[] = [];
    for (const { command, args, keep } of steps) {
      const { code, stdout, stderr } = await client.run(args(state));
      if (code !== 0) failures.push(`${command}: exit code ${code}: ${stderr}`);
      else keep?.(JSON.parse(stdout), state);
    }
    expect(failures).toEqual([]);
    const { requests } = await control(served.ready.control_url, "GET", "/requests?limit=1000");
    const isExpected = ({ status, code }: { status: number; code?: string }) =>
      status < 400 || status === 423 || code === "NOT_ENABLED";
    expect(requests.filter((request: { status: number }) => !isExpected(request))).toEqual([]);
    await served.kill("SIGTERM");
    directory.remove();
    home.remove();
  },
  RUN_TIMEOUT_MS,
);
