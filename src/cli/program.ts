import { Command } from "commander";
import { clockCommand } from "./clock.ts";
import { compactCommand } from "./compact.ts";
import { driftCommand } from "./drift.ts";
import { envCommand } from "./env.ts";
import { explainCommand } from "./explain.ts";
import { exportCommand } from "./export.ts";
import { faultsCommand } from "./faults.ts";
import { importCommand } from "./import.ts";
import { keysCommand } from "./keys.ts";
import { mirrorCommand } from "./mirror.ts";
import { recordCommand } from "./record.ts";
import { replayCommand } from "./replay.ts";
import { runCommand } from "./run.ts";
import { serveCommand } from "./serve.ts";
import { snapshotsCommand } from "./snapshots.ts";
import { statusCommand } from "./status.ts";
import { verifyCommand } from "./verify.ts";
import { VERSION } from "./version.ts";
import { waitCommand } from "./wait.ts";
import { worldsCommand } from "./worlds.ts";

/** `words`: the command line. What only some commands need is loaded where they are named. */
export async function createProgram(words: readonly string[]): Promise<Command> {
  const program = new Command("standin")
    .description("a persistent, deterministic stand-in for a hosted Postgres platform's management API")
    .version(VERSION)
    .showHelpAfterError("(see --help)");
  for (const command of [
    serveCommand(),
    runCommand(),
    recordCommand(),
    statusCommand(),
    clockCommand(),
    keysCommand(),
    envCommand(),
    waitCommand(),
    explainCommand(),
    snapshotsCommand(),
    worldsCommand(),
    faultsCommand(),
    replayCommand(),
    verifyCommand(),
    exportCommand(),
    importCommand(),
    compactCommand(),
    driftCommand(),
    mirrorCommand(),
    await whatif(words),
  ]) {
    program.addCommand(command);
  }
  throwInsteadOfExit(program);
  return program;
}

/** Every other command would pay for its engine, too: a tenth of the time that it takes to start. */
async function whatif(words: readonly string[]): Promise<Command> {
  const command = new Command("whatif").description(
    "ask what another autosuspend delay, policy or size would have cost, in money and in waiting",
  );
  if (words.includes("whatif")) (await import("./whatif.ts")).addWhatIfCommands(command);
  return command;
}

/** So that `main` alone decides how the process ends. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}
