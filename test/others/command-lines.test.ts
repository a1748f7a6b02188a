import { expect, test } from "vitest";
import { type Cli, versionOf } from "../support/clients/cli-bundle.ts";
import { commandsOf } from "../support/clients/cli-commands.ts";
import { CLI_STEPS, type CliState, type CliStep } from "../support/clients/cli-matrix.ts";
import { Neonctl } from "../support/clients/neonctl.ts";
import { expectRow } from "../support/others/client-table.ts";
import { JudgingProxy } from "../support/others/judging-proxy.ts";
import { serve, temporaryDirectory } from "../support/process/process.ts";

// Releases of the public command line, from the oldest to the newest. Operations end at once: here the answers
// are judged, and test/contract/clients/cli-matrix.test.ts judges the waiting.

const CLIS: readonly Cli[] = [
  "neonctl-oldest",
  "neonctl-1",
  "neonctl-2",
  "neonctl",
  "neonctl-newest",
  "neon",
];
const TIMEOUT_MS = 900_000;

/** Releases that take the ids that branches have since 2024 for names, so that only names select a branch. */
const SELECT_BY_NAME: readonly Cli[] = ["neonctl-oldest"];

test.each(CLIS)(
  "every command of %s succeeds, and its answers fit the document",
  async (cli) => {
    const [directory, home] = [temporaryDirectory(), temporaryDirectory()];
    const served = await serve(directory.path, [
      ...["--operations", "immediate", "--clock", "manual", "--seed", "1"],
      ...["--start-at", "2026-01-01T00:00:00Z"],
    ]);
    const proxy = await JudgingProxy.inFrontOfServer(served.ready.api_url);
    const client = new Neonctl(proxy.url, served.ready.api_key ?? "", home.path, cli);
    const state: CliState = {
      ...{ org: "", project: "", main: "", branch: "" },
      ...{ key: "", snapshot: "", restored: "", past: "", credential: "" },
    };
    const steps = await stepsOf(cli);
    const failures: string[] = [];
    for (const { command, args, keep } of steps) {
      const { code, stdout, stderr } = await client.run(args(state));
      if (code !== 0) failures.push(`${command}: exit code ${code}: ${stderr}`);
      else keep?.(JSON.parse(stdout), state);
      if (SELECT_BY_NAME.includes(cli)) selectByName(command, state);
    }
    const calls = proxy.take();
    await proxy.close();
    await served.kill("SIGTERM");
    directory.remove();
    home.remove();
    expect(failures).toEqual([]);
    expectRow(cli === "neon" ? "neon" : "neonctl", versionOf(cli), steps.length, calls);
  },
  TIMEOUT_MS,
);

/** The commands that this release has. */
async function stepsOf(cli: Cli): Promise<readonly CliStep[]> {
  const commands = await commandsOf(cli);
  return CLI_STEPS.filter(({ command }) => commands.includes(command));
}

/** Replaces the ids of the branches by the names that they have after this command. */
function selectByName(command: string, state: CliState): void {
  if (command === "branches create") Object.assign(state, { branch: "dev", main: "main" });
  if (command === "branches rename") state.branch = "next";
}
